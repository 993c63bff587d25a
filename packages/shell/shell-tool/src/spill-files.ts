// The files of one call's long streams, and how much of a stream a model may read.
import type { ShellSpillFile, ShellStream } from '@deepseek-ai/dsh-shell'
import type { SpillService } from '@deepseek-ai/dsh-spill'
import type { ToolExecution } from '@deepseek-ai/dsh-tools'

/** Room for the markers around the output. */
const MARKER_BYTES = 2048

/** Of each stream, so that both and the markers stay within what a model may read of one result. */
export function streamBudget(inlineBytes: number): number {
  return Math.max(1024, Math.floor((inlineBytes - MARKER_BYTES) / 2))
}

export class SpillFiles {
  readonly paths: string[] = []
  /** Undefined on a host that keeps nothing. */
  readonly open: ((stream: ShellStream) => ShellSpillFile) | undefined

  constructor(spill: SpillService | undefined, exec: ToolExecution) {
    if (spill === undefined) return
    this.open = (stream) => {
      const { callId, name, agent } = exec
      const file = spill.open({ sessionId: agent?.id, callId, toolName: name, label: stream })
      this.paths.push(file.path)
      return file
    }
  }
}
