import { existsSync, openSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdirSync, utimesSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import Sessions from '@deepseek-ai/dsh-session'
import { GrowingFile } from '../src/growing-file.ts'
import { Ledger } from '../src/ledger.ts'
import { sessionFolder } from '../src/names.ts'
import { source, startSpill, temporaryFolder } from './support.ts'

const bytes = (size: number): Uint8Array => new Uint8Array(size).fill(65)
const mode = (path: string): number => statSync(path).mode & 0o777

describe('files', () => {
  it('hold what was written, for their owner only', async () => {
    const { spill, dir } = await startSpill()
    const file = spill.open(source('s1'))
    file.write(Buffer.from('one '))
    file.write(Buffer.from('two'))
    expect((await spill.list('s1'))[0]).toMatchObject({ complete: false, bytes: 7 })
    const receipt = file.finish()
    expect(receipt).toEqual({ path: file.path, bytes: 7, complete: true })
    expect(readFileSync(file.path, 'utf8')).toBe('one two')
    expect([mode(file.path), mode(dirname(file.path)), mode(dir)]).toEqual([0o600, 0o700, 0o700])
    expect(await spill.list('s1')).toEqual([receipt])
    expect(readdirSync(dirname(file.path))).toHaveLength(1)
    file.write(Buffer.from('late'))
    expect(file.finish()).toEqual(receipt)
  })

  it('have names that neither leave the folder nor meet each other, whatever the source says', async () => {
    const { spill, dir } = await startSpill()
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('../../etc/passwd', '/abs', '..', '.', 'a\0b', ''),
    )
    const seen = new Set<string>()
    fc.assert(
      fc.property(text, text, text, text, (sessionId, callId, toolName, label) => {
        const { path } = spill.saveText({ sessionId, callId, toolName, label }, 'x')
        const steps = relative(dir, path).split('/')
        expect(steps).toHaveLength(2)
        expect(steps[0]).toBe(sessionFolder(sessionId))
        expect(seen.has(path.toLowerCase())).toBe(false)
        seen.add(path.toLowerCase())
        expect(readFileSync(path, 'utf8')).toBe('x')
      }),
      { numRuns: 60 },
    )
    expect(sessionFolder('ABC').toLowerCase()).not.toBe(sessionFolder('abc').toLowerCase())
  })

  it('are refused by SPILL_UNAVAILABLE where the disk refuses, and behind a link', async () => {
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    const refused = await startSpill({ dir: join(file, 'below') })
    const unavailable = expect.objectContaining({ code: 'SPILL_UNAVAILABLE' })
    expect(() => refused.spill.open(source('s1'))).toThrow(unavailable)
    const { spill, dir } = await startSpill()
    mkdirSync(dir)
    symlinkSync(temporaryFolder(), join(dir, sessionFolder('s1')))
    expect(() => spill.saveText(source('s1'), 'x')).toThrow(unavailable)
  })

  it.skipIf(!existsSync('/dev/full'))('are incomplete, and throw nothing, when the disk is full', () => {
    const path = join(temporaryFolder(), 'out.txt')
    const ledger = new Ledger({ maxSessionBytes: 1e9, maxTotalBytes: 1e9 })
    const entry = { path, folder: 'f', bytes: 0, open: true }
    ledger.add(entry)
    const file = new GrowingFile({ fd: openSync('/dev/full', 'w'), entry, ledger, maxFileBytes: 1e9, onClosed() {} })
    file.write(bytes(10))
    file.write(bytes(10))
    expect(file.finish()).toMatchObject({
      complete: false,
      bytes: 0,
      reason: expect.stringContaining('ENOSPC') as string,
    })
  })
})

describe('quotas', () => {
  it('cut a file at its own limit and say so, also to who lists it later', async () => {
    const { spill } = await startSpill({ maxFileBytes: 10 })
    const receipt = spill.saveText(source('s1'), 'x'.repeat(25))
    expect(receipt).toMatchObject({ bytes: 10, complete: false, reason: 'a file may take 10 bytes' })
    expect(await spill.list('s1')).toEqual([receipt])
  })

  it('let the oldest closed files of a session go, never one that is open, nor one of another session', async () => {
    const { spill } = await startSpill({ maxSessionBytes: 100 })
    const other = spill.saveText(source('s2'), 'x'.repeat(90))
    const open = spill.open(source('s1'))
    open.write(bytes(40))
    const old = spill.saveText(source('s1'), 'x'.repeat(30))
    const young = spill.saveText(source('s1'), 'x'.repeat(30))
    const newest = spill.saveText(source('s1'), 'x'.repeat(25))
    expect([old, young, newest, other].map(({ path }) => existsSync(path))).toEqual([false, true, true, true])
    open.write(bytes(100))
    expect(open.finish()).toMatchObject({
      bytes: 100,
      complete: false,
      reason: expect.stringContaining('session') as string,
    })
    expect(existsSync(young.path)).toBe(false)
  })

  it('hold for any sequence of writes: on disk there is never more than allowed', async () => {
    const limits = { maxFileBytes: 60, maxSessionBytes: 100, maxTotalBytes: 150 }
    const step = fc.record({ session: fc.constantFrom('a', 'b', 'c'), size: fc.nat(90), keepOpen: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
        const { spill, dir, dispose } = await startSpill(limits)
        for (const { session, size, keepOpen } of steps) {
          const file = spill.open(source(session))
          file.write(bytes(size))
          if (!keepOpen) {
            const receipt = file.finish()
            expect(receipt.bytes).toBe(statSync(receipt.path).size)
            expect(receipt.complete).toBe(receipt.bytes === size)
          }
          expect(sizeOf(dir)).toBeLessThanOrEqual(150)
          expect(sizeOf(dirname(file.path))).toBeLessThanOrEqual(100)
        }
        await dispose()
      }),
      { numRuns: 25 },
    )
  })
})

function sizeOf(dir: string): number {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && !each.name.endsWith('.partial'))
    .reduce((sum, each) => sum + statSync(join(each.parentPath, each.name)).size, 0)
}

describe('removal', () => {
  it('comes with the session, open files included', async () => {
    const { ctx, spill } = await startSpill({}, async (host) => {
      await host.plugin(Sessions, { dir: temporaryFolder(), fsync: 'never' })
    })
    const { id } = await ctx.sessions.create({ cwd: '/' })
    const kept = spill.saveText(source(id), 'x')
    const open = spill.open(source(id))
    await ctx.sessions.delete(id)
    await vi.waitFor(() => expect(existsSync(dirname(kept.path))).toBe(false))
    expect(open.finish()).toMatchObject({ complete: false, reason: 'its session was deleted' })
  })

  it('of what is nobody’s comes with the end of the host; a session keeps its files', async () => {
    const { spill, dispose } = await startSpill()
    const own = spill.saveText(source(), 'x')
    const kept = spill.saveText(source('s1'), 'x')
    await dispose()
    expect([existsSync(own.path), existsSync(kept.path)]).toEqual([false, true])
  })
})

describe('the sweep at start', () => {
  afterEach(() => void vi.useRealTimers())

  it('removes what is too old and what belongs to no session, and counts the rest', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const dir = join(temporaryFolder(), 'spill')
    const before = await startSpill({ dir })
    const save = (id: string): string => before.spill.saveText(source(id), 'x'.repeat(60)).path
    const [old, kept, orphan, fresh] = [save('known'), save('known'), save('deleted'), save('maybe-another-host')]
    const dead = join(dir, 'host-1073741824-abcdef')
    mkdirSync(dead)
    age(old, 200)
    for (const path of [orphan, dirname(orphan), dead]) age(path, 3)
    await before.dispose()
    const sessions = temporaryFolder()
    const { ctx, spill } = await startSpill({ dir, keepHours: 100, maxTotalBytes: 150 }, async (host) => {
      await host.plugin(Sessions, { dir: sessions, fsync: 'never' })
      await host.sessions.create({ id: 'known', cwd: '/' })
    })
    void ctx
    expect(existsSync(old)).toBe(true) // not before it is time
    await vi.advanceTimersByTimeAsync(1000)
    await vi.waitFor(() => expect([old, orphan, dead].map((each) => existsSync(each))).toEqual([false, false, false]))
    expect([kept, fresh].map((each) => existsSync(each))).toEqual([true, true])
    vi.useRealTimers()
    await vi.waitFor(() => {
      rmSync(spill.saveText(source('new'), 'x'.repeat(40)).path)
      expect(existsSync(kept)).toBe(false) // it was counted, and had to make room
    })
  })
})

function age(path: string, hours: number): void {
  const time = Date.now() / 1000 - hours * 3600
  utimesSync(path, time, time)
}

describe('the folder', () => {
  it('draws a warning when a workspace reaches it by a glob', async () => {
    const workspace = temporaryFolder()
    const start = async (dir: string): Promise<string> => {
      const { ctx, spill, log } = await startSpill({ dir }, async (host) => {
        await host.plugin(Sessions, { dir: temporaryFolder(), fsync: 'never' })
      })
      const { id } = await ctx.sessions.create({ cwd: workspace })
      spill.saveText(source(id), 'x')
      spill.saveText(source(id), 'x')
      return log.join('\n')
    }
    expect(await start(join(workspace, 'tmp'))).toMatch(
      /^warn spill: kept output in .* is inside the workspace [^\n]*$/,
    )
    expect(await start(join(workspace, '.dsh', 'spill'))).toBe('')
    expect(await start(temporaryFolder())).toBe('')
  })
})
