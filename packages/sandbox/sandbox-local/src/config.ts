// The configuration of sandbox-local.
import { configSchema, nonBlankText } from '@deepseek-ai/cordis'

export interface SandboxLocalConfig {
  /** Absolute path of bubblewrap. Omitted: looked up in the system's folders, then in PATH. */
  bwrapPath?: string
  /** Folder of the sessions' temp folders, on a file system for ordinary files. Omitted: `/var/tmp/dsh-sandbox-<uid>`. */
  tempBase?: string
}

export type SandboxLocalOptions = Partial<SandboxLocalConfig>

export const Config = configSchema<SandboxLocalConfig>(
  'sandbox-local',
  {},
  { bwrapPath: nonBlankText, tempBase: nonBlankText },
)
