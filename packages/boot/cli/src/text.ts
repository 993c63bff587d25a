// Text that a command takes from its words or from standard input, and text that it prints.
import { CommandError, EXIT } from './exit.ts'

/**
 * The text given, or standard input when the word is `-`, or when there is none and input is piped. Never waits on a pipe
 * when a word was given: such a pipe may stay open for ever.
 */
export async function textInput(word: string | undefined, what: string): Promise<string> {
  if (word !== undefined && word !== '-') return word
  if (word === undefined && process.stdin.isTTY)
    throw new CommandError(`${what} is missing: give it as a word or pipe it in`, EXIT.usage)
  process.stdin.setEncoding('utf8')
  let text = ''
  for await (const chunk of process.stdin) text += chunk as string
  return text
}

/** Text that ends with one line end, its own or an added one. */
export function asLines(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`
}
