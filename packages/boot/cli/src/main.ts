// Runs one command line from words to exit code. Knows no command's work.
import { errorMessage, HarnessError } from '@deepseek-ai/cordis'
import { CommanderError } from 'commander'
import { CommandError, EXIT, type ExitCode } from './exit.ts'
import { createProgram } from './program.ts'

/** Parses `args` (without `node` and the script), runs the command and ends the process with its exit code. */
export async function main(args: readonly string[]): Promise<void> {
  let code: ExitCode = EXIT.done
  const program = createProgram((exitCode) => (code = exitCode))
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    code = report(error)
  }
  await leave(code)
}

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
  return error.code.startsWith('COMPOSITION_') ? EXIT.usage : EXIT.failed
}

/** Ends the process once what was printed has been written; work that ignores its end must not keep it alive. */
async function leave(code: ExitCode): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    await new Promise<void>((resolve) => stream.write('', () => resolve()))
  }
  process.exit(code)
}
