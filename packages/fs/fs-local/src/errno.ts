// From what the platform says to a code and a sentence. Every file operation of the provider goes through here.
import { getSystemErrorMap } from 'node:util'
import { FsError, type FsErrorCode } from '@deepseek-ai/dsh-fs'

const CODES: Readonly<Record<string, readonly [FsErrorCode, string]>> = {
  ENOENT: ['FS_NOT_FOUND', 'there is nothing at this path'],
  ENOTDIR: ['FS_NOT_FOUND', 'a part of the path is a file, not a folder'],
  EISDIR: ['FS_NOT_REGULAR_FILE', 'it is a folder'],
  EACCES: ['FS_PERMISSION_DENIED', 'the system does not allow it'],
  EPERM: ['FS_PERMISSION_DENIED', 'the system does not allow it'],
  EROFS: ['FS_READ_ONLY', 'the file system is read-only'],
  ENOSPC: ['FS_NO_SPACE', 'there is no space left; free some and try again'],
  EDQUOT: ['FS_NO_SPACE', 'the disk quota is used up; free some space and try again'],
  EFBIG: ['FS_NO_SPACE', 'the file system does not hold files of this size'],
  ENAMETOOLONG: ['FS_NAME_TOO_LONG', 'the name is longer than the file system allows'],
  ENXIO: ['FS_NOT_REGULAR_FILE', 'it is a pipe, a socket or a device'],
  ENODEV: ['FS_NOT_REGULAR_FILE', 'it is a device'],
  ELOOP: ['FS_LINK_LOOP', 'its links lead in a circle'],
  EMFILE: ['FS_TOO_MANY_OPEN', 'too many files are open; end other work first'],
  ENFILE: ['FS_TOO_MANY_OPEN', 'too many files are open on this machine'],
  ENOTEMPTY: ['FS_IO_ERROR', 'a folder is in the way'],
  EEXIST: ['FS_ALREADY_EXISTS', 'it exists already'],
  EINVAL: ['FS_IO_ERROR', 'the file system does not accept this name or operation'],
  ERR_INVALID_ARG_VALUE: ['FS_NOT_FOUND', 'a path cannot contain a NUL character'],
}

/** `what` begins the sentence, e.g. `cannot read "a.txt"`. An `FsError` passes as it is. */
export function fsError(what: string, thrown: unknown): FsError {
  if (thrown instanceof FsError) return thrown
  const code = codeOf(thrown)
  const known = code !== undefined && Object.hasOwn(CODES, code) ? CODES[code] : undefined
  const [mapped, sentence] = known ?? ['FS_IO_ERROR', sentenceOf(thrown)]
  const shown = code === undefined || code.startsWith('ERR_') ? '' : ` (${code})`
  return new FsError(`${what}: ${sentence}${shown}`, mapped, { cause: thrown })
}

/** The system's own words. The message of the error names paths that the caller has not asked for. */
function sentenceOf(thrown: unknown): string {
  const errno: unknown = (thrown as { errno?: unknown } | undefined)?.errno
  const known = typeof errno === 'number' ? getSystemErrorMap().get(errno)?.[1] : undefined
  return known ?? (thrown instanceof Error ? thrown.message : String(thrown))
}

export function codeOf(thrown: unknown): string | undefined {
  const code: unknown = (thrown as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : undefined
}

/** A path as messages quote it. */
export function quoted(path: string): string {
  return JSON.stringify(path)
}
