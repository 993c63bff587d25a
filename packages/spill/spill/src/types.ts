// The contract of spill: where what is too long for a model is kept. No behaviour lives here.

export interface SpillSource {
  /** Whose file it is; removed with the session. Omitted: the host's own, removed when the host ends. */
  readonly sessionId?: string | undefined
  readonly callId: string
  readonly toolName: string
  /** Becomes part of the file's name, e.g. `stdout`, `grep-results`. */
  readonly label: string
}

/** What a file holds. */
export interface SpillReceipt {
  /** Absolute. File tools and people may read it; commands may not write it. */
  readonly path: string
  readonly bytes: number
  /** False when a quota or a full disk cut it. */
  readonly complete: boolean
  /** Why it was cut. */
  readonly reason?: string
}

/** A file that grows. Nothing here throws: what cannot be kept is dropped, and the receipt says so. */
export interface SpillFile {
  readonly path: string
  write(chunk: Uint8Array): void
  finish(): SpillReceipt
}

/** `ctx.spill` */
export interface SpillService {
  /**
   * The one budget: what a model may read of one result, in UTF-8 bytes. A tool that cuts by itself keeps to it, so that nothing is cut twice; what
   * is longer and was not cut by its tool is cut here, head and tail, and kept in a file.
   */
  readonly inlineBytes: number
  /** Makes the file (0600, in a folder of its own session, 0700). Throws `SPILL_UNAVAILABLE` when the disk refuses. */
  open(source: SpillSource): SpillFile
  /** Writes a text whole. Throws `SPILL_UNAVAILABLE`. */
  saveText(source: SpillSource, text: string): SpillReceipt
  /** Files of a session, oldest first. */
  list(sessionId: string): Promise<SpillReceipt[]>
  /** Removes everything kept for a session. */
  forget(sessionId: string): Promise<void>
}

export interface SpillConfig {
  /** Absolute folder. */
  dir: string
  /** Default 49,152. */
  inlineBytes: number
  /** Of one file, in bytes. Default 64 MiB. */
  maxFileBytes: number
  /** Of all files of a session, in bytes; the oldest go first. Default 512 MiB. */
  maxSessionBytes: number
  /** Of the whole folder, in bytes; the oldest go first, whosesoever. Default 4 GiB. */
  maxTotalBytes: number
  /** Files older than this are removed at start, in hours. Default 168. */
  keepHours: number
}
