// A command under macOS's sandbox-exec.
import { SandboxError, type ConfineRequest, type ConfinedCommand, type RepositoryScans } from '@deepseek-ai/dsh-sandbox'
import type { Launch } from './bubblewrap.ts'
import { SANDBOX_EXEC, seatbeltProfile } from './seatbelt.ts'

/** What sandbox-exec exits with when it cannot apply a profile, EX_DATAERR; commands may too, hence the text beside it. */
const PROFILE_REFUSED = 65

export function seatbeltCommand(
  request: ConfineRequest,
  scans: RepositoryScans,
  report: Launch['report'],
): ConfinedCommand {
  const { policy } = request
  const { tempDir } = policy
  return {
    argv: [SANDBOX_EXEC, '-p', seatbeltProfile(policy, scans), '--', ...request.argv],
    env: { ...request.env, TMPDIR: tempDir, TMP: tempDir, TEMP: tempDir },
    extraStdio: [],
    observe: () => {},
    signalTargets: () => [],
    finish: async (outcome) => {
      if (outcome.exitCode === PROFILE_REFUSED && outcome.stderrTail.startsWith('sandbox-exec: ')) {
        throw new SandboxError(
          `the sandbox could not be set up and the command was not run: ${outcome.stderrTail.trim()}; report it, with the macOS version`,
          'SANDBOX_UNAVAILABLE',
        )
      }
      const told = await report(outcome)
      return { mode: policy.mode, network: policy.network, ...told, exitCode: outcome.exitCode, signal: outcome.signal }
    },
    release: () => {},
  }
}
