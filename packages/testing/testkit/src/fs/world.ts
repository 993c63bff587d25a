// The world of one test: a folder, its files as bytes, and the service under test. Checks are made by the rows.
import assert from 'node:assert/strict'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Fs, FsEdit, FsErrorCode, FsTarget, FsWriteOptions, FsWriteResult } from '@deepseek-ai/dsh-fs'
import type { SandboxPolicy } from '@deepseek-ai/dsh-sandbox'

export interface FsWorld {
  readonly fs: Fs
  /** Removed with everything in it. */
  readonly folder: string
  readonly at: (name: string) => string
  /** Writes a file without the service, folders included; gives its path. */
  readonly put: (name: string, bytes: string | Uint8Array) => string
  readonly bytes: (name: string) => Buffer
  readonly text: (name: string) => string
  readonly names: (folder?: string) => string[]
  /** Empties a folder. */
  readonly clear: (folder: string) => void
  readonly target: (name: string) => Promise<FsTarget>
  readonly write: (name: string, text: string, options?: FsWriteOptions) => Promise<FsWriteResult>
  readonly edit: (name: string, edits: FsEdit | readonly FsEdit[], options?: FsWriteOptions) => Promise<FsWriteResult>
  /** May write below `ws`, may not read below `secret`. */
  readonly policy: (more?: Partial<SandboxPolicy>) => SandboxPolicy
  readonly remove: () => void
}

export function makeWorld(fs: Fs, parent = tmpdir()): FsWorld {
  const folder = realpathSync(mkdtempSync(join(parent, 'dsh-fs-')))
  // Another user of a test looks in as well.
  chmodSync(folder, 0o755)
  const at = (name: string): string => join(folder, name)
  const target = (name: string): Promise<FsTarget> => fs.resolve(at(name))
  return {
    fs,
    folder,
    at,
    put: (name, bytes) => {
      mkdirSync(dirname(at(name)), { recursive: true })
      writeFileSync(at(name), bytes)
      return at(name)
    },
    bytes: (name) => readFileSync(at(name)),
    text: (name) => readFileSync(at(name), 'utf8'),
    names: (name = '.') => readdirSync(at(name)).toSorted(),
    clear: (name) => {
      rmSync(at(name), { recursive: true, force: true })
      mkdirSync(at(name))
    },
    target,
    write: async (name, text, options) => fs.write(await target(name), text, options),
    edit: async (name, edits, options) => {
      const list: readonly FsEdit[] = 'oldText' in edits ? [edits] : edits
      return fs.edit(await target(name), list, options)
    },
    policy: (more = {}) => ({
      mode: 'workspace-write',
      network: 'none',
      allowedHosts: [],
      root: at('ws'),
      writableRoots: [],
      deniedReads: [at('secret')],
      tempDir: at('tmp'),
      sessionId: 'one',
      nestedNamespaces: false,
      ...more,
    }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Rejects with an error of that code, and gives its message. */
export async function refuses(work: Promise<unknown>, code: FsErrorCode): Promise<string> {
  const thrown: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(thrown instanceof Error, `it was to be refused with ${code}`)
  assert.equal((thrown as { code?: unknown }).code, code, thrown.message)
  return thrown.message
}

/** Of a promise that must reject: its code and message. */
export function codeOf(error: unknown): string {
  const code: unknown = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' ? code : `no code: ${String(error)}`
}
