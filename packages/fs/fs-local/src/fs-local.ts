// The file provider for this machine: targets by real path, exact edits, whole or no publication, and a fence where a policy asks for one.
import { basename, dirname } from 'node:path'
import {
  Fs,
  FsError,
  type FsEdit,
  type FsEntry,
  type FsInfo,
  type FsLines,
  type FsReadOptions,
  type FsTarget,
  type FsText,
  type FsWriteOptions,
  type FsWriteResult,
  type LineRange,
} from '@deepseek-ai/dsh-fs'
import { RepositoryScans, judgePath, type SandboxAccess, type SandboxPolicy } from '@deepseek-ai/dsh-sandbox'
import { Anchor } from './anchor.ts'
import { applyEdits } from './edit.ts'
import { decode, fingerprintOf } from './encoding.ts'
import { fsError, quoted } from './errno.ts'
import { readLines } from './line-reader.ts'
import { listFolder } from './listing.ts'
import { Locks } from './locks.ts'
import { MOST_EDITED_BYTES, assertExpected, readPresent, readWhole, withFile, type Opened } from './present.ts'
import { publish } from './publish.ts'
import { editedResult, writtenResult } from './receipt.ts'
import { existingAt, replacement } from './rewrite.ts'
import { verifyStaged } from './splice.ts'
import { resolveTarget } from './target.ts'
import { infoOf, statOf, versionOf } from './version.ts'

const MOST_TEXT_BYTES = 64 * 1024 * 1024

/** Where a write takes place, its path judged and its folder held. */
interface Place {
  readonly anchor: Anchor
  readonly name: string
  readonly what: string
}

export class FsLocal extends Fs {
  static override readonly name = 'fs-local'
  private readonly locks = new Locks()
  private readonly scans = new RepositoryScans()

  async resolve(
    path: string,
    options: { cwd?: string | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<FsTarget> {
    const what = `cannot find ${quoted(path)}`
    return guarded(what, options.signal, () => resolveTarget(path, options.cwd ?? process.cwd()))
  }

  async stat(target: FsTarget, options: FsReadOptions = {}): Promise<FsInfo | undefined> {
    return guarded(`cannot look at ${quoted(target.path)}`, options.signal, async () => {
      this.fence(target, 'read', options.policy)
      const stats = await statOf(target.key)
      return stats === undefined ? undefined : infoOf(stats)
    })
  }

  async readText(target: FsTarget, options: FsReadOptions & { maxBytes?: number } = {}): Promise<FsText> {
    return this.reading(target, options, async (opened, what) => {
      const { stats, bytes, encoding } = await readPresent(opened, options.maxBytes ?? MOST_TEXT_BYTES, what)
      options.signal?.throwIfAborted()
      const text = decode(bytes, encoding, what)
      const fingerprint = fingerprintOf(text, bytes.length, encoding, infoOf(stats).mode)
      return { text, version: versionOf(stats), fingerprint }
    })
  }

  async readLines(target: FsTarget, range: LineRange = {}, options: FsReadOptions = {}): Promise<FsLines> {
    return this.reading(target, options, (opened, what) => readLines(opened, range, what, options.signal))
  }

  async readBytes(target: FsTarget, options: FsReadOptions & { maxBytes: number }): Promise<Uint8Array> {
    return this.reading(target, options, async (opened, what) => {
      const { bytes } = await readWhole(opened, options.maxBytes, what)
      return bytes
    })
  }

  async list(target: FsTarget, options: FsReadOptions = {}): Promise<FsEntry[]> {
    const what = `cannot list ${quoted(target.path)}`
    return guarded(what, options.signal, () => {
      this.fence(target, 'read', options.policy)
      return listFolder(target.key, what)
    })
  }

  async write(target: FsTarget, text: string, options: FsWriteOptions = {}): Promise<FsWriteResult> {
    return this.writing(target, 'write', options, async ({ anchor, name, what }) => {
      const existing = await existingAt(anchor.at(name), what)
      assertExpected(target, existing?.stats, options.expected ?? { kind: 'any' })
      const { bytes, ...fresh } = replacement(existing, text, what)
      options.signal?.throwIfAborted()
      const stats = await publish({
        anchor,
        name,
        bytes,
        replaces: existing?.stats,
        verify: (staged) => verifyStaged(staged, bytes),
      })
      return writtenResult({ ...fresh, created: existing === undefined, bytes: bytes.length, stats })
    })
  }

  async edit(target: FsTarget, edits: readonly FsEdit[], options: FsWriteOptions = {}): Promise<FsWriteResult> {
    return this.writing(target, 'edit', options, async ({ anchor, name, what }) => {
      const expected = options.expected ?? { kind: 'any' }
      // What is known to have changed need not be read.
      if (expected.kind === 'version') assertExpected(target, await statOf(anchor.at(name)), expected)
      const read = (opened: Opened) => readPresent(opened, MOST_EDITED_BYTES, what)
      const present = await withFile(anchor.at(name), what, read, { noLink: true })
      assertExpected(target, present.stats, expected)
      const { spliced, strategy } = applyEdits(present.bytes, present.encoding, edits, what)
      options.signal?.throwIfAborted()
      const stats = await publish({
        anchor,
        name,
        bytes: spliced.bytes,
        replaces: present.stats,
        verify: (staged) => verifyStaged(staged, spliced.bytes),
      })
      return editedResult(present, spliced, strategy, stats)
    })
  }

  private reading<T>(
    target: FsTarget,
    { signal, policy }: FsReadOptions,
    use: (opened: Opened, what: string) => Promise<T>,
  ): Promise<T> {
    const what = `cannot read ${quoted(target.path)}`
    return guarded(what, signal, () => {
      this.fence(target, 'read', policy)
      const judged = policy === undefined ? undefined : target.key
      return withFile(target.key, what, (opened) => use(opened, what), { judged })
    })
  }

  /** Writers of one target take turns; the fence is asked last, for the path as it is then, and its folder is held from there on. */
  private writing(
    target: FsTarget,
    verb: 'write' | 'edit',
    { signal, policy }: FsWriteOptions,
    work: (place: Place) => Promise<FsWriteResult>,
  ): Promise<FsWriteResult> {
    const what = `cannot ${verb} ${quoted(target.path)}`
    const turn = (): Promise<FsWriteResult> =>
      guarded(what, signal, async () => {
        const now = resolveTarget(target.path, '/')
        if (now.key !== target.key) {
          throw new FsError(`${what}: its path leads to ${quoted(now.key)} now; read it again`, 'FS_STALE_VERSION')
        }
        this.fence(target, 'write', policy)
        const folder = dirname(target.key)
        const anchor = verb === 'write' ? await Anchor.make(folder) : await Anchor.open(folder)
        try {
          return await work({ anchor, name: basename(target.key), what })
        } finally {
          await anchor.close()
        }
      })
    return guarded(what, signal, () => this.locks.run(target.key, turn, signal))
  }

  private fence(target: FsTarget, access: SandboxAccess, policy: SandboxPolicy | undefined): void {
    if (policy === undefined) return
    const verdict = judgePath(target.key, access, policy, this.scans)
    if (verdict.allowed) return
    throw new FsError(
      `the sandbox does not let ${quoted(target.path)} be ${access === 'read' ? 'read' : 'written'} (${verdict.rule}) in ${policy.mode} mode`,
      'FS_SANDBOX_DENIED',
    )
  }
}

export { FsLocal as default }

/** Whatever goes wrong is an `FsError`. */
async function guarded<T>(what: string, signal: AbortSignal | undefined, work: () => T | Promise<T>): Promise<T> {
  try {
    signal?.throwIfAborted()
    return await work()
  } catch (error) {
    if (signal?.aborted === true && error === signal.reason) {
      throw new FsError(`${what}: cancelled`, 'FS_ABORTED', { cause: error })
    }
    throw fsError(what, error)
  }
}
