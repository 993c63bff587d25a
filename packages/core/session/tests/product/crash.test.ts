// Sessions of processes that end badly, descriptors that break, and a log far larger than memory should hold.
import { spawn, type ChildProcess } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHost } from '@deepseek-ai/cordis'
import { Sessions, type SessionEvent } from '@deepseek-ai/dsh-session'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { SessionError } from '../../src/errors.ts'
import { LogFile, OffsetIndex } from '../../src/log-file.ts'

/** What a child process runs: it opens the session "s" in `dir` and does `body`. */
const program = (dir: string, body: string): string => `
  import { createHost } from '@deepseek-ai/cordis'
  import { Sessions } from '@deepseek-ai/dsh-session'
  const host = createHost()
  await host.ctx.plugin(Sessions, { dir: ${JSON.stringify(dir)}, fsync: 'never' })
  const session = await host.ctx.sessions.create({ id: 's', cwd: '/' })
  ${body}`

function run(dir: string, body: string): ChildProcess {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program(dir, body)], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

const ended = (child: ChildProcess): Promise<unknown> =>
  new Promise((resolve, reject) => {
    child.once('exit', resolve)
    child.once('error', reject)
  })

function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'dsh-session-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

async function start(dir: string): Promise<Sessions> {
  const host = createHost({ write: () => {} })
  onTestFinished(() => host.dispose())
  await host.ctx.plugin(Sessions, { dir, fsync: 'never' })
  return host.ctx.sessions
}

const seqsOf = (dir: string): number[] =>
  readFileSync(join(dir, 's.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as SessionEvent).seq)

// The child runs the built package.
const built = statSync(join(import.meta.dirname, '../../dist/index.js'), { throwIfNoEntry: false }) !== undefined

describe.skipIf(!built)('a process that is killed (needs the built package)', () => {
  it('in the middle of appends leaves a log that opens whole', async () => {
    const dir = temporaryFolder()
    const child = run(
      dir,
      `session.append('turn/start', { turn: 1 })
       const more = () => {
         for (let n = 0; n < 50; n++) session.append('session/notice', { code: 'N', message: 'x'.repeat(n * 97 % 5000) })
         if (session.lastSeq > 2000) process.stdout.write('.')
         setImmediate(more)
       }
       more()`,
    )
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    const sessions = await start(dir)
    await expect(sessions.open('s')).rejects.toMatchObject({
      code: 'SESSION_LOCKED',
      message: expect.stringContaining(`process ${child.pid}`),
    })
    expect(await sessions.list()).toMatchObject([{ id: 's', interrupted: false }])
    child.kill('SIGKILL')
    await ended(child)
    expect(await sessions.list()).toMatchObject([{ id: 's', interrupted: true }])
    const session = await sessions.open('s')
    expect(session.lastSeq).toBeGreaterThan(2000)
    expect((await session.read({ from: session.lastSeq }))[0]).toMatchObject({
      type: 'turn/end',
      data: { reason: { kind: 'interrupted' } },
    })
    await session.close()
    const seqs = seqsOf(dir)
    expect(seqs).toEqual(seqs.map((_, index) => index))
    expect(readdirSync(dir).toSorted()).toEqual(['s.jsonl', 'summaries.json'])
  })

  it('writes what it appended last when it ends by process.exit', async () => {
    const dir = temporaryFolder()
    const child = run(
      dir,
      `for (let n = 0; n < 100; n++) session.append('session/notice', { code: 'N', message: '' })
       process.exit(0)`,
    )
    await ended(child)
    expect(seqsOf(dir)).toHaveLength(101)
  })
})

describe('a descriptor that fails for a while', () => {
  it('leaves the log whole when writing works again', async () => {
    const path = join(temporaryFolder(), 'x.jsonl')
    writeFileSync(path, '')
    const onFailure = vi.fn<(error: SessionError) => void>()
    const broken = openSync(path, 'r')
    const at = { seq: 0, offset: 0, index: new OffsetIndex() }
    const log = new LogFile({ id: 's', path, fsync: 'never', onFailure }, broken, at)
    log.append(0, '{"n":0}')
    await expect(log.flush()).rejects.toMatchObject({ code: 'SESSION_WRITE_FAILED' })
    expect(onFailure).toHaveBeenCalledTimes(1)
    // The lowest free number is given out again: the same descriptor, now writable.
    closeSync(broken)
    expect(openSync(path, 'r+')).toBe(broken)
    log.append(1, '{"n":1}')
    await log.flush()
    expect(readFileSync(path, 'utf8')).toBe('{"n":0}\n{"n":1}\n')
    expect(log.written).toBe(2)
    await log.close()
  })
})

describe('a log of 100 MB', () => {
  it('opens and pages with bounded memory', async () => {
    const dir = temporaryFolder()
    mkdirSync(dir, { recursive: true })
    const count = writeLargeLog(join(dir, 's.jsonl'), 100 * 1024 * 1024)
    const sessions = await start(dir)
    const before = process.memoryUsage().rss
    let peak = 0
    const sample = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5)
    const session = await sessions.open('s')
    expect(session.lastSeq).toBe(count - 1)
    const middle = Math.floor(count / 2)
    const page = await session.read({ from: middle, limit: 50 })
    clearInterval(sample)
    expect(page.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, n) => middle + n))
    const grown = (Math.max(peak, process.memoryUsage().rss) - before) / 2 ** 20
    process.stderr.write(`100 MB log: grew by ${grown.toFixed(0)} MiB at most\n`)
    expect(grown).toBeLessThan(90)
  })
})

/** Mostly events that the conversation does not keep. Returns their number. */
function writeLargeLog(path: string, size: number): number {
  const fd = openSync(path, 'w')
  const line = (seq: number, type: string, data: object): string => `${JSON.stringify({ seq, time: 1, type, data })}\n`
  let written = writeSync(fd, line(0, 'session/start', { format: 1, id: 's', cwd: '/' }))
  let seq = 1
  const message = 'y'.repeat(20_000)
  for (; written < size; seq++) written += writeSync(fd, line(seq, 'session/notice', { code: 'N', message }))
  closeSync(fd)
  return seq
}
