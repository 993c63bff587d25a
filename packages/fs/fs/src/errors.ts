// Every error of files: a code and a sentence each. Each errno of the platform has one.
import { HarnessError } from '@deepseek-ai/cordis'

export type FsErrorCode =
  /** There is nothing at the path, or a part of it is no folder (ENOENT, ENOTDIR). */
  | 'FS_NOT_FOUND'
  | 'FS_NOT_DIRECTORY'
  /** A folder, a device, a pipe: nothing that is read or written whole (EISDIR). */
  | 'FS_NOT_REGULAR_FILE'
  /** Not text in an encoding that can be kept byte for byte. */
  | 'FS_NOT_TEXT'
  | 'FS_TOO_LARGE'
  /** The platform says no (EACCES, EPERM). */
  | 'FS_PERMISSION_DENIED'
  /** The policy of the sandbox says no; the message names the rule. */
  | 'FS_SANDBOX_DENIED'
  /** The file system is mounted read-only (EROFS). */
  | 'FS_READ_ONLY'
  /** No space, no inodes, or over quota (ENOSPC, EDQUOT). The old file is untouched. */
  | 'FS_NO_SPACE'
  | 'FS_NAME_TOO_LONG'
  /** Links that lead in a circle (ELOOP). */
  | 'FS_LINK_LOOP'
  /** Too many open files (EMFILE, ENFILE). */
  | 'FS_TOO_MANY_OPEN'
  /** Anything else that the platform refused (EIO, EBUSY …). */
  | 'FS_IO_ERROR'
  /** The file is not what it was when it was read: the message says so. */
  | 'FS_STALE_VERSION'
  /** Policy: it has to be read first. */
  | 'FS_NOT_OBSERVED'
  /** It is there already, and only creating was asked for. */
  | 'FS_ALREADY_EXISTS'
  /** The old text occurs more than once; the message lists where. */
  | 'FS_AMBIGUOUS_EDIT'
  /** The old text does not occur; the message shows the closest lines. */
  | 'FS_EDIT_NOT_FOUND'
  /** The edit is refused for what it is: empty or equal texts, a placeholder for code, text that the file's encoding cannot hold. */
  | 'FS_INVALID_EDIT'
  | 'FS_ABORTED'

export class FsError extends HarnessError {
  declare readonly code: FsErrorCode

  constructor(message: string, code: FsErrorCode, options: { cause?: unknown } = {}) {
    super(message, code, options)
  }
}
