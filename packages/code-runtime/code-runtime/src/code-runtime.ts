// The service definition of code runtimes.
import { Service, type Context } from '@deepseek-ai/cordis'
import type { CodeRunRequest, CodeRunResult } from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    codeRuntime: CodeRuntime
  }
}

/**
 * Runs programs that call tools. Implementations promise:
 * - a failing program is a result with `error`, never a rejection; `run` rejects with `CODE_RUNTIME_MISUSE` for bad or duplicate
 *   globals and with `CODE_RUNTIME_DISPOSED` after disposal;
 * - a program reaches nothing of the machine but its bindings, and nothing of an earlier run;
 * - once `run` has settled no handler is called any more, and calls still running then are the caller's to end;
 * - `dispose` of the plugin ends every run with `abort` and waits until nothing of it is left.
 */
export abstract class CodeRuntime extends Service {
  /** What programs are written in; chooses the text that describes the bindings to a model. */
  abstract readonly language: 'typescript'

  constructor(ctx: Context) {
    super(ctx, 'codeRuntime')
  }

  abstract run(request: CodeRunRequest): Promise<CodeRunResult>
}
