// A search ends when it is told to, with its process; and takes little memory, however much there is to find.
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startWorld, type World } from './world.ts'

const isLinux = process.platform === 'linux'

/** Pids of ripgrep that this process has started. */
function children(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        return stat.includes('(rg)') && Number(parent) === process.pid && state !== 'Z'
      } catch {
        return false // gone
      }
    })
}

/** Two million lines that match, in a hundred files. */
async function largeWorld(): Promise<World> {
  const world = await startWorld()
  const text = 'a line with a hit in it\n'.repeat(20_000)
  for (let file = 0; file < 100; file++) world.write(`d${file % 10}/f${file}`, text)
  return world
}

describe('a search', () => {
  it.skipIf(!isLinux).each([
    ['grep', { pattern: 'hit', mode: 'count' }],
    ['grep', { pattern: 'hit', offset: 1_000_000 }],
    ['grep', { pattern: '(?<=never )(h|i|t)+z|(.*a.*){12}y' }],
  ] as const)('is cancelled at once, and its process is gone when the call returns: %s %j', async (name, args) => {
    const world = await largeWorld()
    const controller = new AbortController()
    const running = world.call(name, args, { signal: controller.signal })
    await vi.waitFor(() => expect(children()).not.toEqual([]), { interval: 1, timeout: 10_000 })
    const started = performance.now()
    controller.abort()
    expect(await running).toMatchObject({ isError: true, error: { code: 'ABORTED' } })
    expect(performance.now() - started).toBeLessThan(2000)
    expect(children()).toEqual([])
  })

  it('does not start when it is cancelled before', async () => {
    const world = await startWorld()
    world.write('a', 'foo\n')
    const result = await world.call('grep', { pattern: 'foo' }, { signal: AbortSignal.abort() })
    expect(result).toMatchObject({ isError: true, error: { code: 'ABORTED_BEFORE_DISPATCH' } })
  })

  it('shows the first of millions of matches without reading them all, in bounded memory', async () => {
    const world = await largeWorld()
    await world.grep({ pattern: 'hit' })
    const before = process.memoryUsage.rss()
    const value = await world.grep({ pattern: 'hit' })
    expect(value.files).toMatchObject([{ path: 'd0/f0' }])
    expect(value.completeness.truncated).toEqual({ shown: 250, total: 10_000, exact: false, next: 250 })
    expect(value.text).toContain('[250 of at least 10000 matches, in path order; next page: offset 250]')
    const last = await world.grep({ pattern: 'hit', offset: 1_999_990 })
    expect(last.files).toMatchObject([{ path: 'd9/f99' }])
    expect(last.completeness.truncated).toEqual({ shown: 10, total: 2_000_000, exact: true, next: null })
    expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024)
  })

  it('gives what was found when its time is up, and says that more may be there', async () => {
    // A terabyte of nothing takes longer to look at than there is time.
    const world = await startWorld({ timeoutMs: 1000 })
    world.write('a', 'needle\n')
    world.write('sparse', '')
    truncateSync(join(world.folder, 'sparse'), 2 ** 40)
    const { files, text, completeness } = await world.grep({ pattern: 'needle' })
    expect(files).toMatchObject([{ path: 'a' }])
    expect(completeness).toMatchObject({
      complete: false,
      searched: null,
      stopped: 'the limit of 1000 ms was reached; more may be there',
      truncated: { shown: 1, total: 1, exact: false, next: null },
    })
    expect(text).toContain('[incomplete: the limit of 1000 ms was reached; more may be there]')
    expect(await world.call('grep', { pattern: 'nowhere' })).toMatchObject({
      isError: true,
      error: { code: 'SEARCH_TIMEOUT', message: expect.stringContaining('"path"') as unknown },
    })
  })

  it.skipIf(!isLinux)('is an error when it was killed before it found anything', async () => {
    const world = await largeWorld()
    const running = world.call('grep', { pattern: '(.*a.*){12}y' })
    const [pid = 0] = await vi.waitFor(
      () => {
        const found = children()
        expect(found).not.toEqual([])
        return found
      },
      { interval: 1, timeout: 10_000 },
    )
    process.kill(pid, 'SIGKILL')
    expect(await running).toMatchObject({
      isError: true,
      error: { code: 'SEARCH_FAILED', message: expect.stringContaining('SIGKILL') as unknown },
    })
  })

  it('answers many calls at once, each with its own', async () => {
    const world = await startWorld()
    for (let file = 0; file < 20; file++) world.write(`f${file}`, `word${file}\n`)
    const results = await Promise.all(Array.from({ length: 20 }, (_, at) => world.grep({ pattern: `word${at}$` })))
    expect(results.map(({ files }) => files.map(({ path }) => path))).toEqual(
      Array.from({ length: 20 }, (_, at) => [`f${at}`]),
    )
    for (const name of ['grep', 'glob']) {
      expect(world.ctx.tools.executionMode({ name, arguments: { pattern: 'x' }, agent: undefined })).toEqual({
        kind: 'parallel',
      })
    }
  })

  it('is not steered by a configuration of the person', async () => {
    const home = mkdtempSync(join(tmpdir(), 'dsh-search-home-'))
    const known = process.env['RIPGREP_CONFIG_PATH']
    onTestFinished(() => {
      if (known === undefined) delete process.env['RIPGREP_CONFIG_PATH']
      else process.env['RIPGREP_CONFIG_PATH'] = known
      rmSync(home, { recursive: true })
    })
    writeFileSync(join(home, 'rc'), '--max-count=1\n--hidden\n')
    process.env['RIPGREP_CONFIG_PATH'] = join(home, 'rc')
    const world = await startWorld()
    world.write('a', 'foo\nfoo\n')
    world.write('.b', 'foo\n')
    expect((await world.grep({ pattern: 'foo' })).total).toBe(2)
  })
})
