// Runs one command line from words to exit code. Knows no command's work.
import { errorMessage, HarnessError } from '@deepseek-ai/cordis'
import { CommanderError } from 'commander'
import { CommandError, EXIT, type ExitCode } from './exit.ts'
import { createProgram } from './program.ts'

/** Parses `args` (without `node` and the script), runs the command and ends the process with its exit code. */
export async function main(args: readonly string[]): Promise<void> {
  let code: ExitCode = EXIT.done
  outliveReaders()
  const program = createProgram((exitCode) => (code = exitCode))
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    code = report(error)
  }
  await leave(code)
}

/** Failures of other packages over what a flag named. */
const USAGE_CODES = new Set(['UNKNOWN_PRESET', 'UNKNOWN_MODEL'])

function report(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  if (error instanceof CommandError) {
    if (error.message !== '') process.stderr.write(`dsh: ${error.message}\n`)
    return error.exitCode
  }
  if (!(error instanceof HarnessError)) {
    process.stderr.write(`dsh: ${error instanceof Error ? (error.stack ?? error.message) : errorMessage(error)}\n`)
    return EXIT.failed
  }
  process.stderr.write(`dsh: ${error.code}: ${error.message}\n`)
  return error.code.startsWith('COMPOSITION_') || USAGE_CODES.has(error.code) ? EXIT.usage : EXIT.failed
}

/** A reader that has enough (`dsh tools list | head -1`) closes the pipe: what is left is dropped, the command goes on. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
    })
  }
}

/** Ends the process once what was printed has been written; work that ignores its end must not keep it alive. */
async function leave(code: ExitCode): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => stream.write('', () => resolve()))
  }
  process.exit(code)
}
