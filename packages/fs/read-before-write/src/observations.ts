// Who has seen which version of which file. An agent's observations are events of its session, so that they outlive the host; those of an
// agent without a session are kept as long as it is.
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { FsObservation, FsObserved } from '@deepseek-ai/dsh-fs'
import { followSession, type Session, type SessionEvent } from '@deepseek-ai/dsh-session'

type Seen = Map<string, FsObservation>
type Reader = FsObserved['agent']

export class Observations {
  readonly #logs = new WeakMap<Session, Promise<() => Seen>>()
  /** The same as in `#logs` once they are read, for who cannot wait. */
  readonly #known = new WeakMap<Session, () => Seen>()
  readonly #agents = new WeakMap<object, Seen>()
  readonly #nobody: Seen = new Map()

  /** Told by tools at once after a read or a write. Throws when the session's log takes no event. */
  record({ agent, key, observation }: FsObserved): void {
    const session = sessionOf(agent)
    if (session === undefined) {
      this.#inMemory(agent).set(key, observation)
      return
    }
    // A call may outlive its session; nobody will ask then.
    if (!session.open) return
    void this.#log(session) // what it rejects with is told to who asks next
    const known = this.#known.get(session)?.().get(key)
    if (known !== undefined && isSame(known, observation)) return
    session.append('fs/observed', { key, observation })
  }

  /** What the agent saw last; undefined: it never looked. Rejects when the log cannot be read; the next call tries again. */
  async of(agent: Reader, key: string): Promise<FsObservation | undefined> {
    const session = sessionOf(agent)
    if (session === undefined) return this.#inMemory(agent).get(key)
    return (await this.#log(session))().get(key)
  }

  #inMemory(agent: Reader): Seen {
    if (agent === undefined) return this.#nobody
    let seen = this.#agents.get(agent)
    if (seen === undefined) this.#agents.set(agent, (seen = new Map()))
    return seen
  }

  #log(session: Session): Promise<() => Seen> {
    let log = this.#logs.get(session)
    if (log === undefined) {
      log = followSession<Seen>(session, new Map(), seenAfter)
      this.#logs.set(session, log)
      log.then(
        (state) => this.#known.set(session, state),
        () => this.#logs.delete(session),
      )
    }
    return log
  }
}

function sessionOf(agent: Reader): Session | undefined {
  return (agent as Partial<Agent> | undefined)?.session
}

function seenAfter(seen: Seen, { type, data }: SessionEvent): Seen {
  if (type === 'fs/observed') seen.set(data.key, data.observation)
  return seen
}

export function isSame(a: FsObservation, b: FsObservation): boolean {
  return a.kind === 'present' && b.kind === 'present' ? a.version === b.version : a.kind === b.kind
}
