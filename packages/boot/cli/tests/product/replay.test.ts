// `dsh replay`: a stored session from its log alone.
import { appendFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from './harness.ts'

let world: World
let id: string
beforeAll(async () => {
  world = new World()
  const args = JSON.stringify({ command: 'echo once >> ran; printf "a\\nb\\n"; exit 3', description: 'Try it' })
  const { stdout } = await world.dsh(['run', `/bash ${args}`, '--json'])
  id = (JSON.parse(stdout) as { session: string }).session
})
afterAll(() => world.remove())

const log = (): string => join(world.home, 'sessions', `${id}.jsonl`)

describe('dsh replay', () => {
  it('tells a session turn by turn, runs nothing and leaves the log as it is', async () => {
    const before = readFileSync(log(), 'utf8')
    const { code, stdout, stderr } = await world.dsh(['replay', id])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^session \S+ in .*\n\n(> Current context\.[^]*?\n\n)?> \/bash /)
    expect(stdout).toContain('\n* bash: echo once >> ran;')
    expect(stdout).toMatch(/\n {2}a\n {2}b\n {2}\[done, \d+ ms\]\n/)
    expect(readFileSync(world.file('ran'), 'utf8')).toBe('once\n')
    expect(readFileSync(log(), 'utf8')).toBe(before)
  })

  it('lists what is stored, and gives events with their cards as JSON', async () => {
    expect((await world.dsh(['replay'])).stdout).toMatch(new RegExp(`^${id} `))
    const { stdout } = await world.dsh(['replay', id, '--json'])
    const events = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const written = readFileSync(log(), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(events).toMatchObject(written)
    expect(events).toHaveLength(written.length)
    const result = events.find(({ type }) => type === 'tool/result')
    expect(result?.['view']).toMatchObject({ card: 'terminal', output: 'a\nb\n', exitCode: 3 })
  })

  it('reads the log of a session that a server has open, and a file by its path', async () => {
    const served = await world.serve()
    await served.call('sessions.open', { id })
    expect(await world.dsh(['replay', id])).toMatchObject({ code: 0, stderr: '' })
    await served.stop()
    writeFileSync(world.file('copy.jsonl'), readFileSync(log()))
    expect(await world.dsh(['replay', './copy.jsonl'])).toMatchObject({ code: 0, stderr: '' })
  })

  it('leaves out a torn last line, names a line that is broken, and what there is not', async () => {
    writeFileSync(world.file('torn.jsonl'), readFileSync(log()))
    appendFileSync(world.file('torn.jsonl'), '{"seq":')
    const torn = await world.dsh(['replay', 'torn.jsonl'])
    expect(torn).toMatchObject({ code: 0, stderr: 'dsh: the last line of the log is not whole and is left out\n' })
    writeFileSync(world.file('broken.jsonl'), `${readFileSync(log(), 'utf8')}nonsense\n`)
    const broken = await world.dsh(['replay', 'broken.jsonl'])
    expect(broken).toMatchObject({ code: 1, stderr: expect.stringMatching(/broken\.jsonl:\d+: this line is no event/) })
    const unknown = await world.dsh(['replay', 'nope'])
    expect(unknown).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/there is no session "nope"/) })
    expect(existsSync(join(world.home, 'sessions', 'nope.jsonl'))).toBe(false)
    expect(readdirSync(world.path)).not.toContain('nope')
  })
})
