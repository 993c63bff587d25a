// Which commands of a session ran at the same time: what the session shares tells nothing of who did it.

export interface RunningCall {
  /** The most other commands that ran beside it at one time. */
  beside: number
}

export class RunningCalls {
  private readonly running = new Set<RunningCall>()

  begin(): RunningCall {
    const call: RunningCall = { beside: 0 }
    this.running.add(call)
    for (const each of this.running) each.beside = Math.max(each.beside, this.running.size - 1)
    return call
  }

  /** Only the first time counts. */
  end(call: RunningCall): void {
    this.running.delete(call)
  }
}

/** The proxy and the workspace are the session's; what a command printed is its own. Empty when it ran alone. */
export function sharedWith({ beside }: RunningCall): string[] {
  if (beside === 0) return []
  const others = beside === 1 ? 'another command' : `up to ${beside} other commands`
  return [
    `${others} of this session ran at the same time: what is said of the network and of the workspace may be the doing of any of them`,
  ]
}
