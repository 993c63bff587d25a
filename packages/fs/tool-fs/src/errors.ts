// From a failure of the file service to one that tells the model what to do next. Codes stay; the message gains a sentence.
import { FsError, type FsErrorCode } from '@deepseek-ai/dsh-fs'

export type FsOperation = 'read' | 'image' | 'list' | 'write' | 'edit'

type Advice = Partial<Record<FsErrorCode, string>>

const ANY: Advice = {
  FS_STALE_VERSION: 'Read it again, and repeat the change on what is there now.',
  FS_PERMISSION_DENIED: 'Choose another path, or ask the person to change its permissions.',
  FS_READ_ONLY: 'Choose a path on a file system that can be written.',
  FS_LINK_LOOP: 'Name the file itself instead of a link.',
  FS_NAME_TOO_LONG: 'Choose a shorter name.',
}

const BY_OPERATION: Readonly<Record<FsOperation, Advice>> = {
  read: {
    FS_NOT_REGULAR_FILE: 'For what a folder holds, use list_dir. Devices and pipes cannot be read.',
    FS_NOT_TEXT: 'Only text can be read. A command such as file, strings or xxd can look into it.',
    FS_TOO_LARGE: 'Convert it to UTF-8 with a command first, into a file of its own.',
    FS_STALE_VERSION: 'Read it again.',
    FS_SANDBOX_DENIED: 'It may hold credentials. Do without it, or ask the person for what you need of it.',
  },
  image: {
    FS_NOT_FOUND: 'Look for it with list_dir.',
    FS_NOT_REGULAR_FILE: 'Name a file.',
    FS_TOO_LARGE: 'Make it smaller with a command first, into a file of its own.',
    FS_STALE_VERSION: 'Read it again.',
    FS_SANDBOX_DENIED: 'It may hold credentials. Do without it, or ask the person for what you need of it.',
  },
  list: {
    FS_NOT_FOUND: 'List the folder above it to see what is there.',
    FS_NOT_DIRECTORY: 'To see what a file holds, use read.',
    FS_SANDBOX_DENIED: 'It may hold credentials. Do without it, or ask the person for what you need of it.',
  },
  write: {
    FS_NOT_REGULAR_FILE: 'Name a file.',
    FS_NOT_FOUND: 'Nothing can be made there. Choose another path.',
    FS_ALREADY_EXISTS: 'Read it first; then edit it, or write it whole.',
    FS_NOT_TEXT: 'Its encoding cannot be kept. Remove it with a command before you write it anew.',
  },
  edit: {
    FS_NOT_FOUND: 'To create a file, use write. Otherwise check the path with list_dir.',
    FS_NOT_REGULAR_FILE: 'Name a file.',
    FS_NOT_TEXT: 'Only text can be edited. Change its bytes with a command.',
    FS_TOO_LARGE: 'Change it with a command such as sed.',
    FS_EDIT_NOT_FOUND: 'Copy old_text from what read shows, without the line numbers.',
    FS_AMBIGUOUS_EDIT: 'Nothing was changed. With replace_all: true all of them are replaced.',
  },
}

/** Runs the work of a tool; what it throws says how to go on. */
export async function advising<T>(operation: FsOperation, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw advised(error, adviceFor(operation, error))
  }
}

function adviceFor(operation: FsOperation, error: unknown): string | undefined {
  if (!(error instanceof FsError)) return undefined
  const advice = BY_OPERATION[operation][error.code] ?? ANY[error.code]
  // A policy that has its own words for it has said so already.
  return error.code === 'FS_STALE_VERSION' && /read it again/i.test(error.message) ? undefined : advice
}

/** The same failure with a further line. */
export function advised(error: unknown, advice: string | undefined): unknown {
  if (advice === undefined || !(error instanceof FsError)) return error
  const end = /[.!?:\n]$/.test(error.message) || error.message.includes('\n') ? '' : '.'
  return new FsError(`${error.message}${end}\n${advice}`, error.code, { cause: error })
}
