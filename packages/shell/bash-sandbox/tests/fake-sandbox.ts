// A sandbox that confines nothing, and does what a test says: the seam between shell and sandbox without either's platform.
import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import {
  Sandbox,
  SandboxError,
  type ConfinedCommand,
  type ConfinedOutcome,
  type ConfineRequest,
  type SandboxPolicy,
} from '@deepseek-ai/dsh-sandbox'

export type Finished = Awaited<ReturnType<ConfinedCommand['finish']>>

export class FakeSandbox extends Sandbox {
  static override readonly name = 'fake-sandbox'
  readonly requests: ConfineRequest[] = []
  readonly outcomes: ConfinedOutcome[] = []
  readonly heard: string[] = []
  released = 0
  /** What the runner does around the command; the default execs it. Its descriptor 3 is a pipe that the host reads. */
  runner = 'exec "$@"'
  targets: number[] = []
  refusal: SandboxError | undefined
  finish: (outcome: ConfinedOutcome) => Finished = ({ exitCode, signal }) => ({
    mode: 'read-only',
    network: 'none',
    exitCode,
    signal,
  })

  async status() {
    return { available: true, runner: 'fake', version: '1', limits: [] } as const
  }

  async confine(request: ConfineRequest): Promise<ConfinedCommand> {
    this.requests.push(request)
    if (this.refusal !== undefined) throw this.refusal
    return {
      argv: ['/bin/sh', '-c', this.runner, 'fake-runner', ...request.argv],
      env: { ...request.env, TMPDIR: '/fake/tmp' },
      extraStdio: ['pipe'],
      observe: ([stream]) => void stream?.on('data', (chunk: Buffer) => this.heard.push(chunk.toString())),
      signalTargets: () => this.targets,
      finish: async (outcome) => {
        this.outcomes.push(outcome)
        return this.finish(outcome)
      },
      release: () => void this.released++,
    }
  }

  temporaryFolder(): string {
    return realpathSync(tmpdir())
  }

  async forget(): Promise<void> {}
}

export function policyOf(facts: Partial<SandboxPolicy> = {}): SandboxPolicy {
  return {
    mode: 'read-only',
    network: 'none',
    allowedHosts: [],
    root: '/',
    writableRoots: [],
    deniedReads: [],
    tempDir: realpathSync(tmpdir()),
    sessionId: 's1',
    nestedNamespaces: false,
    unixSockets: false,
    ...facts,
  }
}
