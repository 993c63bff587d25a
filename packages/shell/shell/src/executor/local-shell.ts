// The face that every provider over the executor core has: resolve, run and start are the executor's, and it ends with the service.
import { Service } from '@deepseek-ai/cordis'
import { Shell } from '../shell.ts'
import type { ShellProcess, ShellRequest, ShellResult, ShellSpec } from '../types.ts'
import type { LocalExecutor } from './local-executor.ts'

export abstract class LocalShell extends Shell {
  protected abstract readonly executor: LocalExecutor;

  *[Service.init](): Generator<() => Promise<void>, void, void> {
    yield () => this.executor.dispose()
  }

  resolve(request: ShellRequest): ShellSpec {
    return this.executor.resolve(request)
  }

  run(spec: ShellSpec): Promise<ShellResult> {
    return this.executor.run(spec)
  }

  start(spec: ShellSpec): Promise<ShellProcess> {
    return this.executor.start(spec)
  }
}
