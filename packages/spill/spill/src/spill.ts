// `ctx.spill`: files for what is too long for a model, one folder a session, under quotas. Cutting results is `result-policy.ts`.
import { chmodSync, lstatSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { Service, errorMessage, type Context } from '@deepseek-ai/cordis'
import type { Sessions } from '@deepseek-ai/dsh-session'
import { spillConfig } from './config.ts'
import { SpillError } from './errors.ts'
import { listFolder, sweep } from './folder.ts'
import { GrowingFile } from './growing-file.ts'
import { Ledger, type Entry } from './ledger.ts'
import { PARTIAL, fileName, hostFolder, sessionFolder } from './names.ts'
import { boundedResult } from './result-policy.ts'
import type { SpillConfig, SpillFile, SpillReceipt, SpillService, SpillSource } from './types.ts'

declare module '@deepseek-ai/cordis' {
  interface Context {
    spill: Spill
  }
}

/** After the start of the host, whose first page must not wait for a folder to be read. */
const SWEEP_DELAY_MS = 1000

export class Spill extends Service implements SpillService {
  static Config = spillConfig

  readonly inlineBytes: number
  private readonly own: Context
  private readonly config: SpillConfig
  private readonly ledger: Ledger
  private readonly writing = new Set<GrowingFile>()
  private readonly hostFolder = hostFolder()
  private readonly warnedOf = new Set<string>()
  private readonly warn: (problem: string) => void

  constructor(ctx: Context, config: Partial<SpillConfig>) {
    super(ctx, 'spill')
    this.own = ctx
    // What arrives here has been through `Config`, which fills in what was left out.
    this.config = config as SpillConfig
    if (this.config.dir === '') {
      throw new SpillError('spill: "dir" is missing; expected the absolute path of a folder', 'SPILL_UNAVAILABLE')
    }
    this.inlineBytes = this.config.inlineBytes
    this.ledger = new Ledger(this.config)
    const logger = ctx.logger('spill')
    this.warn = (problem) => logger.warn('%s', problem)
  }

  *[Service.init](): Generator<() => void | Promise<void>, void, void> {
    const { own } = this
    const stop = new AbortController()
    own.on('session/deleted', (id) => {
      this.forget(id).catch((error: unknown) => this.warn(`output of session ${id} stays: ${errorMessage(error)}`))
    })
    own.on(
      'tools/post-execute',
      (exec, result, next) => boundedResult(this.policyHost(), exec, result, next),
      // Outermost: what other listeners make of a result is cut too.
      { prepend: true },
    )
    const timer = setTimeout(() => void this.sweep(stop.signal), SWEEP_DELAY_MS).unref()
    yield () => {
      clearTimeout(timer)
      stop.abort()
    }
    yield () => this.close()
  }

  open(source: SpillSource): SpillFile {
    const folder = source.sessionId === undefined ? this.hostFolder : sessionFolder(source.sessionId)
    this.warnOfWorkspace(source.sessionId)
    const path = join(this.folder(folder), fileName(source))
    try {
      // The mark first: a host that ends in the middle leaves no file that looks whole.
      writeFileSync(path + PARTIAL, '', { flag: 'wx', mode: 0o600 })
      const fd = openSync(path, 'wx', 0o600)
      const entry: Entry = { path, folder, bytes: 0, open: true }
      this.ledger.add(entry)
      const { maxFileBytes } = this.config
      const onClosed = (closed: GrowingFile): void => void this.writing.delete(closed)
      const file = new GrowingFile({ fd, entry, ledger: this.ledger, maxFileBytes, onClosed })
      this.writing.add(file)
      return file
    } catch (error) {
      throw unavailable(path, error)
    }
  }

  saveText(source: SpillSource, text: string): SpillReceipt {
    const file = this.open(source)
    file.write(Buffer.from(text))
    return file.finish()
  }

  list(sessionId: string): Promise<SpillReceipt[]> {
    return listFolder(join(this.config.dir, sessionFolder(sessionId)))
  }

  async forget(sessionId: string): Promise<void> {
    await this.removeFolder(sessionFolder(sessionId), 'its session was deleted')
  }

  private async removeFolder(folder: string, reason: string): Promise<void> {
    for (const file of this.writing) if (file.entry.folder === folder) file.abandon(reason)
    for (const entry of this.ledger.entries(folder)) this.ledger.remove(entry)
    await rm(join(this.config.dir, folder), { recursive: true, force: true })
  }

  /** Throws `SPILL_UNAVAILABLE`. */
  private folder(name: string): string {
    const at = join(this.config.dir, name)
    try {
      mkdirSync(at, { recursive: true, mode: 0o700 })
      // A link would lead the output to wherever its maker wants it.
      const facts = lstatSync(at)
      if (!facts.isDirectory()) throw new Error('it is not a folder')
      if ((facts.mode & 0o077) !== 0) chmodSync(at, 0o700)
      return at
    } catch (error) {
      throw unavailable(at, error)
    }
  }

  /** A command that globs its workspace would read what it is writing. */
  private warnOfWorkspace(sessionId: string | undefined): void {
    const cwd = sessionId === undefined ? process.cwd() : this.sessions()?.get(sessionId)?.cwd
    if (cwd === undefined || this.warnedOf.has(cwd)) return
    this.warnedOf.add(cwd)
    const { dir } = this.config
    const steps = relative(cwd, dir).split(sep)
    const isInside = steps[0] !== '..' && !steps.some((step) => step.startsWith('.'))
    if (isInside) {
      this.warn(
        `kept output in ${dir} is inside the workspace ${cwd}, where commands may read what they write; set "dir" to a folder outside`,
      )
    }
  }

  private sessions(): Sessions | undefined {
    return this.own.get('sessions')
  }

  private policyHost(): Parameters<typeof boundedResult>[0] {
    return {
      inlineBytes: this.inlineBytes,
      save: (source, text) => this.saveText(source, text),
      ownLimit: (exec) => {
        const limit = this.own.get('tools')?.get(exec.name, exec.agent)?.maxResultBytes
        return typeof limit === 'function' ? limit(exec.arguments as never) : limit
      },
    }
  }

  private async sweep(signal: AbortSignal): Promise<void> {
    try {
      const { dir, keepHours } = this.config
      const sessions = await this.sessions()?.list()
      const wanted = sessions && new Set(sessions.map(({ id }) => sessionFolder(id)))
      const { ledger, hostFolder: own } = this
      await sweep({ dir, ledger, keepMs: keepHours * 3_600_000, wanted, own, signal })
    } catch (error) {
      if (!signal.aborted) this.warn(`old output could not be swept: ${errorMessage(error)}`)
    }
  }

  private async close(): Promise<void> {
    for (const file of this.writing) file.abandon('the host ended while it was written')
    await this.removeFolder(this.hostFolder, 'the host has ended').catch((error: unknown) =>
      this.warn(errorMessage(error)),
    )
  }
}

function unavailable(path: string, cause: unknown): SpillError {
  return new SpillError(`cannot keep output in ${path}: ${errorMessage(cause)}`, 'SPILL_UNAVAILABLE', { cause })
}
