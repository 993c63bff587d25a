import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const driver = at('permission-gate.mjs')
const example = at('../../../../../docs/examples/permission-gate')
const patch = join(example, 'cordis.yml')

interface Outcome {
  readonly code?: string
  readonly message?: string
  readonly value?: { readonly exitCode: number; readonly stdout: { readonly text: string } }
}
interface Ran {
  readonly rows: readonly unknown[]
  readonly asked: readonly { readonly subject: unknown; readonly reason: string }[]
  readonly outcomes: readonly Outcome[]
}

let base: string
let folder: string
beforeAll(() => {
  if (!existsSync(at('../../dist/index.js'))) throw new Error('this test runs built packages; run "pnpm build" first')
})
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-gate-')))
  // Beside the home: nothing may write in one that is below.
  folder = join(base, 'work')
  mkdirSync(join(folder, 'build'), { recursive: true })
  mkdirSync(join(base, 'home'))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function run(commands: readonly string[], answer?: object, file = patch): Promise<Ran> {
  const calls = commands.map((command) => ['bash', { command, description: 'Try the gate' }])
  const env = {
    PATH: process.env['PATH'],
    HOME: join(base, 'home'),
    ...(answer === undefined ? {} : { ANSWER: JSON.stringify(answer) }),
  }
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [driver, file, JSON.stringify(calls)], { cwd: folder, env }, (error, stdout, stderr) => {
      if (error !== null) reject(new Error(`${error.message}\n${stderr}`))
      else resolve(JSON.parse(stdout) as Ran)
    })
  })
}

describe.skipIf(process.platform === 'win32')('the permission gate of the examples', () => {
  it('starts from its patch and lets through what no rule concerns', async () => {
    const { rows, outcomes } = await run(['echo hello'])
    expect(rows).toEqual([])
    expect(outcomes).toMatchObject([{ value: { exitCode: 0, stdout: { text: 'hello\n' } } }])
  })

  it('denies by what a line runs, however it is written, and not by its text', async () => {
    const denied = [
      'rm -rf build',
      'cd . && sudo rm -rf build',
      "bash -c 'rm -rf build'",
      'FOO=1 /bin/rm -r build',
      'echo $(rm -r build)',
    ]
    const { outcomes } = await run([...denied, 'echo "rm -rf build"'])
    for (const outcome of outcomes.slice(0, denied.length)) {
      expect(outcome).toEqual({ code: 'DENIED', message: 'move files to a trash folder instead of removing them' })
    }
    expect(outcomes.at(-1)).toMatchObject({ value: { exitCode: 0 } })
    expect(existsSync(join(folder, 'build'))).toBe(true)
  })

  it('asks a person, and does what they say', async () => {
    const git = join(folder, 'bin')
    mkdirSync(git)
    writeFileSync(join(git, 'git'), '#!/bin/sh\necho "$@" >> pushed\n', { mode: 0o755 })
    const push = `PATHX=1 ${join(git, 'git')} -C . push`
    const allowed = await run([push], { kind: 'allow', grant: { kind: 'once' } })
    expect(allowed.outcomes).toMatchObject([{ value: { exitCode: 0 } }])
    expect(allowed.asked).toMatchObject([
      { reason: 'this leaves the machine or cannot be taken back', subject: { kind: 'command', command: push } },
    ])
    expect(readFileSync(join(folder, 'pushed'), 'utf8')).toBe('-C . push\n')
    const rejected = await run([push], { kind: 'reject', feedback: 'not on a Friday' })
    expect(rejected.outcomes).toMatchObject([{ code: 'APPROVAL_REJECTED', message: /not on a Friday/ }].map(textual))
    expect(readFileSync(join(folder, 'pushed'), 'utf8')).toBe('-C . push\n')
  })

  it('asks about what it cannot read, and fails at once where nobody is', async () => {
    const { outcomes } = await run(['git push', 'X=rm; $X -rf build'])
    expect(outcomes.map(({ code }) => code)).toEqual(['APPROVAL_UNAVAILABLE', 'APPROVAL_UNAVAILABLE'])
    expect(outcomes[1]?.message).toContain('it cannot be told what this runs')
    expect(existsSync(join(folder, 'build'))).toBe(true)
  })

  it('says what is wrong with its rules', async () => {
    const file = join(folder, 'wrong.yml')
    const rules = [{ tools: ['bash'], commands: ['git'], decision: 'allow' }]
    const rows = parse(readFileSync(patch, 'utf8')) as { id: string; config?: { rules: unknown[] } }[]
    for (const row of rows) {
      if (row.id !== 'permission-gate') continue
      Object.assign(row, { name: join(example, 'permission-gate.ts'), config: { rules } })
    }
    writeFileSync(file, JSON.stringify(rows))
    const { rows: failed } = await run([], undefined, file)
    expect(JSON.stringify(failed)).toContain('git leaves open what git does')
  })
})

const textual = ({ code, message }: { code: string; message: RegExp }): object => ({
  code,
  message: expect.stringMatching(message) as string,
})
