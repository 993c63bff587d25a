// The file provider for this machine: targets by real path, exact edits, whole or no publication, and a fence where a policy asks for one.
import { lstat, open, readdir, readlink, stat } from 'node:fs/promises'
import type { BigIntStats, Dirent } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import {
  Fs,
  FsError,
  type FsEdit,
  type FsEntry,
  type FsExpectation,
  type FsInfo,
  type FsLines,
  type FsReadOptions,
  type FsReceipt,
  type FsStrategy,
  type FsTarget,
  type FsText,
  type FsWriteOptions,
  type FsWriteResult,
  type LineRange,
} from '@deepseek-ai/dsh-fs'
import { RepositoryScans, judgePath, type SandboxAccess, type SandboxPolicy } from '@deepseek-ai/dsh-sandbox'
import { applyEdits } from './edit.ts'
import {
  EOL_TEXT,
  PLAIN,
  bomBytes,
  decode,
  detectEncoding,
  encode,
  eolOf,
  fingerprintOf,
  type Encoding,
} from './encoding.ts'
import { fsError, quoted } from './errno.ts'
import { hunksBetween } from './hunks.ts'
import { readLines } from './line-reader.ts'
import { Locks } from './locks.ts'
import { placeholderIn } from './placeholder.ts'
import { publish } from './publish.ts'
import { verifyStaged, type SplicedBytes } from './splice.ts'
import { resolveTarget } from './target.ts'
import { infoOf, statOf, versionOf } from './version.ts'

const MOST_TEXT_BYTES = 64 * 1024 * 1024
/** A file that is edited is held in memory. */
const MOST_EDITED_BYTES = 512 * 1024 * 1024
/** Larger files are told by the range alone: comparing them line by line would cost more than the edit. */
const MOST_COMPARED_BYTES = 4 * 1024 * 1024

/** An existing file as an edit finds it. */
interface Present {
  readonly stats: BigIntStats
  readonly bytes: Buffer
  readonly encoding: Encoding
}

export class FsLocal extends Fs {
  static override readonly name = 'fs-local'
  private readonly locks = new Locks()
  private readonly scans = new RepositoryScans()

  async resolve(
    path: string,
    options: { cwd?: string | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<FsTarget> {
    options.signal?.throwIfAborted()
    return resolveTarget(path, options.cwd ?? process.cwd())
  }

  async stat(target: FsTarget, options: FsReadOptions = {}): Promise<FsInfo | undefined> {
    return this.guarded(`cannot look at ${quoted(target.path)}`, options.signal, async () => {
      this.fence(target, 'read', options.policy)
      const stats = await statOf(target.key)
      return stats === undefined ? undefined : infoOf(stats)
    })
  }

  async readText(target: FsTarget, options: FsReadOptions & { maxBytes?: number } = {}): Promise<FsText> {
    const what = `cannot read ${quoted(target.path)}`
    return this.guarded(what, options.signal, async () => {
      this.fence(target, 'read', options.policy)
      const { stats, bytes, encoding } = await readPresent(target, options.maxBytes ?? MOST_TEXT_BYTES, what)
      const text = decode(bytes, encoding, what)
      const fingerprint = fingerprintOf(text, bytes.length, encoding, infoOf(stats).mode)
      return { text, version: versionOf(stats), fingerprint }
    })
  }

  async readLines(target: FsTarget, range: LineRange = {}, options: FsReadOptions = {}): Promise<FsLines> {
    return this.guarded(`cannot read ${quoted(target.path)}`, options.signal, async () => {
      this.fence(target, 'read', options.policy)
      return readLines(target.key, range, options.signal)
    })
  }

  async readBytes(target: FsTarget, options: FsReadOptions & { maxBytes: number }): Promise<Uint8Array> {
    const what = `cannot read ${quoted(target.path)}`
    return this.guarded(what, options.signal, async () => {
      this.fence(target, 'read', options.policy)
      return (await readWhole(target, options.maxBytes, what)).bytes
    })
  }

  async list(target: FsTarget, options: FsReadOptions = {}): Promise<FsEntry[]> {
    return this.guarded(`cannot list ${quoted(target.path)}`, options.signal, async () => {
      this.fence(target, 'read', options.policy)
      const stats = await stat(target.key)
      if (!stats.isDirectory()) throw new FsError(`${quoted(target.path)} is no folder`, 'FS_NOT_DIRECTORY')
      const entries = await readdir(target.key, { withFileTypes: true })
      const listed = await Promise.all(entries.map((entry) => described(target.key, entry)))
      return listed.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    })
  }

  async write(target: FsTarget, text: string, options: FsWriteOptions = {}): Promise<FsWriteResult> {
    const what = `cannot write ${quoted(target.path)}`
    return this.exclusive(target, what, options, async () => {
      const before = await presentOrAbsent(target, what)
      assertExpected(target, before?.stats, options.expected ?? { kind: 'any' })
      const old =
        before === undefined || before.encoding === undefined ? null : { ...before, encoding: before.encoding }
      const oldText = old === null ? null : decode(old.bytes, old.encoding, what)
      refusePlaceholder(text, oldText ?? '', what)
      const encoding = old?.encoding ?? PLAIN
      const content = oldText === null ? text : inEolOf(oldText, text)
      const bytes = Buffer.concat([bomBytes(encoding), encode(content, encoding.name, what)])
      options.signal?.throwIfAborted()
      const stats = await publish({
        path: target.key,
        parts: [bytes],
        replaces: before?.stats,
        verify: (staged) => verifyStaged(staged, bytes),
      })
      const { hunks, cut, added, removed } = hunksBetween(oldText, content)
      const receipt: FsReceipt = {
        strategy: 'whole',
        ranges: [{ start: 0, end: bytes.length }],
        lines: { added, removed },
        before:
          old === null || oldText === null
            ? null
            : fingerprintOf(oldText, old.bytes.length, old.encoding, infoOf(old.stats).mode),
        after: fingerprintOf(content, bytes.length, encoding, infoOf(stats).mode),
      }
      const operation = before === undefined ? 'created' : 'replaced'
      return { operation, version: versionOf(stats), receipt, hunks, hunksCut: cut }
    })
  }

  async edit(target: FsTarget, edits: readonly FsEdit[], options: FsWriteOptions = {}): Promise<FsWriteResult> {
    const what = `cannot edit ${quoted(target.path)}`
    return this.exclusive(target, what, options, async () => {
      const expected = options.expected ?? { kind: 'any' }
      if (expected.kind === 'version') assertExpected(target, await statOf(target.key), expected)
      const present = await readPresent(target, MOST_EDITED_BYTES, what)
      assertExpected(target, present.stats, expected)
      const { spliced, strategy } = applyEdits(present.bytes, present.encoding, edits, what)
      options.signal?.throwIfAborted()
      const stats = await publish({
        path: target.key,
        parts: [spliced.bytes],
        replaces: present.stats,
        verify: (staged) => verifyStaged(staged, spliced.bytes),
      })
      return edited(present, spliced, strategy, stats)
    })
  }

  /** Writers of one target take turns; the fence is asked last, for the path as it is then. */
  private exclusive(
    target: FsTarget,
    what: string,
    options: FsWriteOptions,
    work: () => Promise<FsWriteResult>,
  ): Promise<FsWriteResult> {
    return this.locks.run(target.key, () =>
      this.guarded(what, options.signal, () => {
        const now = resolveTarget(target.path, '/')
        if (now.key !== target.key) {
          throw new FsError(`${what}: its path leads to ${quoted(now.key)} now; read it again`, 'FS_STALE_VERSION')
        }
        this.fence(target, 'write', options.policy)
        return work()
      }),
    )
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

  private async guarded<T>(what: string, signal: AbortSignal | undefined, work: () => T | Promise<T>): Promise<T> {
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
}

export { FsLocal as default }

function edited(present: Present, spliced: SplicedBytes, strategy: FsStrategy, stats: BigIntStats): FsWriteResult {
  const { bytes, encoding } = present
  const { ranges } = spliced
  const small = bytes.length <= MOST_COMPARED_BYTES && spliced.bytes.length <= MOST_COMPARED_BYTES
  const [from, oldTo, newTo] = small ? [0, bytes.length, spliced.bytes.length] : surroundings(spliced)
  const mark = from === 0 ? bomBytes(encoding).length : 0
  const text = (whole: Buffer, to: number): string => decodePart(whole.subarray(from + mark, to), encoding)
  const [oldText, newText] = [text(bytes, oldTo), text(spliced.bytes, newTo)]
  const { hunks, cut, added, removed } = hunksBetween(oldText, newText)
  const lineOffset = small ? 0 : countLines(bytes, from)
  const mode = infoOf(stats).mode
  const receipt: FsReceipt = {
    strategy,
    ranges,
    lines: { added, removed },
    before: wholeFingerprint(bytes, encoding, mode),
    after: wholeFingerprint(spliced.bytes, encoding, mode),
  }
  return {
    operation: 'edited',
    version: versionOf(stats),
    receipt,
    hunks: hunks.map((hunk) => ({
      ...hunk,
      oldStart: hunk.oldStart + lineOffset,
      newStart: hunk.newStart + lineOffset,
    })),
    hunksCut: cut,
  }
}

const AROUND_BYTES = 2048

/** The part of a large file that the spans lie in, on line boundaries where they are near. */
function surroundings({ spans, original, bytes }: SplicedBytes): [from: number, oldTo: number, newTo: number] {
  const [first, last] = [spans[0], spans.at(-1)]
  if (first === undefined || last === undefined) return [0, 0, 0]
  const before = original.lastIndexOf(0x0a, Math.max(0, first.oldStart - AROUND_BYTES))
  const from = first.oldStart <= AROUND_BYTES ? 0 : before + 1
  const after = original.indexOf(0x0a, Math.min(original.length, last.oldEnd + AROUND_BYTES))
  const oldTo = after < 0 ? original.length : after + 1
  return [from, oldTo, bytes.length - (original.length - oldTo)]
}

function countLines(bytes: Buffer, to: number): number {
  let count = 0
  for (let at = bytes.indexOf(0x0a); at >= 0 && at < to; at = bytes.indexOf(0x0a, at + 1)) count++
  return count
}

function decodePart(bytes: Buffer, { name }: Encoding): string {
  if (name === 'utf-8') return bytes.toString('utf8')
  if (name === 'bytes') return bytes.toString('latin1')
  return name === 'utf-16le' ? bytes.toString('utf16le') : Buffer.from(bytes).swap16().toString('utf16le')
}

/** Line endings are ASCII in every encoding but UTF-16: no text is made of the file to find them. */
function wholeFingerprint(bytes: Buffer, encoding: Encoding, mode: number): FsReceipt['after'] {
  if (encoding.name === 'utf-16le' || encoding.name === 'utf-16be') {
    return fingerprintOf(decodePart(bytes.subarray(2), encoding), bytes.length, encoding, mode)
  }
  const last = bytes[bytes.length - 1]
  const eol = bytes.includes(0x0d) ? eolOf(bytes.toString('latin1')) : bytes.includes(0x0a) ? 'lf' : 'none'
  const finalNewline = last === 0x0a || last === 0x0d
  return { bytes: bytes.length, encoding: encoding.name, bom: encoding.bom, eol, finalNewline, mode }
}

async function readWhole(
  target: FsTarget,
  maxBytes: number,
  what: string,
): Promise<{ stats: BigIntStats; bytes: Buffer }> {
  const file = await open(target.key, 'r')
  try {
    const stats = await file.stat({ bigint: true })
    if (!stats.isFile()) throw new FsError(`${what}: it is no regular file`, 'FS_NOT_REGULAR_FILE')
    if (stats.size > maxBytes) {
      throw new FsError(
        `${what}: it has ${stats.size} bytes, more than the ${maxBytes} that can be held`,
        'FS_TOO_LARGE',
      )
    }
    const bytes = await file.readFile()
    const after = await file.stat({ bigint: true })
    if (versionOf(after) !== versionOf(stats)) {
      throw new FsError(`${what}: it is being changed right now; try again`, 'FS_STALE_VERSION')
    }
    return { stats, bytes }
  } finally {
    await file.close()
  }
}

async function readPresent(target: FsTarget, maxBytes: number, what: string): Promise<Present> {
  const { stats, bytes } = await readWhole(target, maxBytes, what)
  const encoding = detectEncoding(bytes)
  if (encoding === undefined) throw new FsError(`${what}: it is a binary file, not text`, 'FS_NOT_TEXT')
  return { stats, bytes, encoding }
}

/** What a write replaces. A binary file may be replaced by text; it has no encoding to keep. */
async function presentOrAbsent(
  target: FsTarget,
  what: string,
): Promise<{ stats: BigIntStats; bytes: Buffer; encoding: Encoding | undefined } | undefined> {
  const stats = await statOf(target.key)
  if (stats === undefined) return undefined
  if (!stats.isFile())
    throw new FsError(`${what}: it is ${stats.isDirectory() ? 'a folder' : 'no regular file'}`, 'FS_NOT_REGULAR_FILE')
  if (stats.size > MOST_EDITED_BYTES) return { stats, bytes: Buffer.alloc(0), encoding: undefined }
  const whole = await readWhole(target, MOST_EDITED_BYTES, what)
  return { ...whole, encoding: whole.bytes.length === 0 ? PLAIN : detectEncoding(whole.bytes) }
}

function assertExpected(target: FsTarget, stats: BigIntStats | undefined, expected: FsExpectation): void {
  const path = quoted(target.path)
  if (expected.kind === 'absent' && stats !== undefined) {
    throw new FsError(`${path} exists already; read it before you overwrite it`, 'FS_ALREADY_EXISTS')
  }
  if (expected.kind !== 'version') return
  if (stats === undefined) throw new FsError(`${path} was removed since it was read`, 'FS_STALE_VERSION')
  if (versionOf(stats) !== expected.version) {
    throw new FsError(
      `${path} was changed since it was read, by a command or by somebody else; read it again and repeat the change on what is there now`,
      'FS_STALE_VERSION',
    )
  }
}

function refusePlaceholder(text: string, oldText: string, what: string): void {
  const placeholder = placeholderIn(text, oldText)
  if (placeholder === undefined) return
  throw new FsError(
    `${what}: the line ${JSON.stringify(placeholder)} stands for code that would be lost; write the whole file, or edit the part that changes`,
    'FS_INVALID_EDIT',
  )
}

/** A file with one kind of line ending keeps it; a text that brings carriage returns of its own means them. */
function inEolOf(oldText: string, text: string): string {
  const eol = eolOf(oldText)
  if (eol === 'none' || eol === 'mixed' || eol === 'lf' || text.includes('\r')) return text
  return text.replaceAll('\n', EOL_TEXT[eol])
}

async function described(folder: string, entry: Dirent): Promise<FsEntry> {
  const { name } = entry
  const path = join(folder, name)
  try {
    if (entry.isSymbolicLink()) return { name, type: 'symlink', link: await linkFacts(path) }
    if (entry.isDirectory()) return { name, type: 'directory' }
    if (entry.isFile()) return { name, type: 'file', size: (await lstat(path)).size }
  } catch {
    // Gone meanwhile, or closed to us: it is listed as what is known of it.
  }
  return { name, type: entry.isDirectory() ? 'directory' : 'other' }
}

async function linkFacts(path: string): Promise<NonNullable<FsEntry['link']>> {
  const to = await readlink(path)
  const dangling = (await stat(resolve(dirname(path), to)).catch(() => undefined)) === undefined
  return { to, dangling }
}
