// `dsh config`: compositions as text.
import { dump } from '@deepseek-ai/dsh-loader'
import { EXIT, type ExitCode } from '../exit.ts'
import { composition, type HostFlags } from '../host.ts'

export async function dumpConfig(flags: HostFlags): Promise<ExitCode> {
  process.stdout.write(dump(composition(flags)))
  return EXIT.done
}
