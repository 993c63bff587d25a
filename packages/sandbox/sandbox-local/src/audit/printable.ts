// Writes names and values that a command chose into a sentence of ours.

/** A name with a line break in it must not look like another warning. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- those are the ones
  return /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text) ? quoted(text) : text
}

export function quoted(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
}
