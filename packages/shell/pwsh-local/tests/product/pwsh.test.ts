// pwsh-local with a stand-in that shows what it was given, and with a real PowerShell where there is one.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import PwshLocal from '../../src/index.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-pwsh-test-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let ctx: Context
afterEach(() => ctx.fiber.dispose())

async function run(command: string, more: object = {}, pwshPath?: string) {
  ctx = new Context()
  await ctx.plugin(PwshLocal, { graceMs: 500, ...(pwshPath === undefined ? {} : { pwshPath }) })
  return ctx.shell.run(ctx.shell.resolve({ command, ...more }))
}

it('runs the program with a command that it can decode, and tells its end', async () => {
  const file = join(folder, 'pwsh')
  writeFileSync(file, '#!/bin/sh\nfor last; do :; done\nprintf "%s" "$last"\nexit 7\n')
  chmodSync(file, 0o755)
  const { stdout, exitCode, sandbox } = await run("'é'", {}, file)
  expect(Buffer.from(stdout.text, 'base64').toString('utf16le')).toContain("$DshCommand = '''é'''\n")
  expect([exitCode, sandbox, ctx.shell.dialect]).toEqual([7, undefined, 'pwsh'])
})

const isInstalled = spawnSync(process.platform === 'win32' ? 'where' : 'which', ['pwsh']).status === 0

describe.skipIf(!isInstalled)('a real PowerShell (skipped where pwsh is not installed)', () => {
  it.each([
    ['exit 3', 3],
    ["throw 'no'", 1],
    ['Get-Item no-such-file', 1],
    ['1/0', 1],
    ['if (', 1],
    ['node -e "process.exit(5)"', 5],
    ['"fine"', 0],
    ['function f { begin { 1 } process { } end { } }; f', 0],
  ])('ends %j with %i', async (command, code) => {
    expect((await run(command)).exitCode).toBe(code)
  })

  it('writes UTF-8 and reads it', async () => {
    expect((await run('"äöü €😀"')).stdout.text.trim()).toBe('äöü €😀')
    expect((await run('$input', { stdin: 'äöü €' })).stdout.text.trim()).toBe('äöü €')
  })

  it('takes param, using and a requirement as first statements', async () => {
    expect((await run('param($x = 5)\n$x')).stdout.text.trim()).toBe('5')
    expect((await run('using namespace System.Text\n[StringBuilder]::new("ok").ToString()')).stdout.text.trim()).toBe(
      'ok',
    )
    expect((await run('#requires -Version 5\n"ok"')).stdout.text.trim()).toBe('ok')
  })

  it('takes a command that is longer than a command line', async () => {
    expect((await run(`"start"\n${'# long\n'.repeat(10_000)}"end"`)).stdout.text.split(/\s+/)).toEqual([
      'start',
      'end',
      '',
    ])
  })

  it('writes errors as text', async () => {
    const { stderr } = await run("Write-Error 'broken'")
    expect(stderr.text).toContain('broken')
    expect(stderr.text).not.toContain('CLIXML')
  })

  it('ends the tree at the limit', async () => {
    const result = await run('Start-Sleep 60', { timeoutMs: 1500 })
    expect([result.timedOut, result.kill?.survivors]).toEqual([true, []])
  })
})
