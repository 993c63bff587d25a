// The bash tool through the real registry and a real shell.
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { contentText, ToolRegistry, type ToolExecutionInput, type ToolProgress } from '@deepseek-ai/dsh-tools'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import BashLocal from '../../../bash-local/src/index.ts'
import * as toolBash from '../../src/index.ts'

let ctx: Context
let folder: string

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-tool-bash-')))
  ctx = new Context()
  await ctx.plugin(ToolRegistry)
  await ctx.plugin(BashLocal, { graceMs: 300 })
  await ctx.plugin(toolBash)
})

afterEach(async () => {
  await ctx.fiber.dispose()
  rmSync(folder, { recursive: true, force: true })
})

function call(args: Record<string, unknown>, more: Partial<ToolExecutionInput> = {}) {
  const signal = new AbortController().signal
  const agent = { id: 'a', cwd: folder, inject: () => {} }
  const input = { callId: 'c1', name: 'bash', signal, agent, arguments: { description: 'Run a test', ...args } }
  return ctx.tools.execute({ ...input, ...more })
}

describe('the bash tool', () => {
  it('returns a failing command as a value with its facts', async () => {
    const result = await call({ command: 'echo hi; echo no >&2; exit 3' })
    expect(result).toMatchObject({
      isError: false,
      value: { kind: 'foreground', exitCode: 3, signal: null, timedOut: false, aborted: false, timeoutMs: 120_000 },
      meta: { exitCode: 3, survivors: 0, workdir: folder },
    })
    expect(contentText(result.content)).toBe('hi\n[stderr]\nno\n[exit code: 3]')
  })

  it('takes its arguments in the order that prompts show', () => {
    const schema = ctx.tools.schemas().find(({ name }) => name === 'bash')!
    expect(Object.keys(schema.parameters.properties!)).toEqual(['command', 'description', 'timeoutMs', 'workdir'])
    expect(schema.parameters.required).toEqual(['command', 'description'])
  })

  it.each([
    [{ command: '' }, /command/],
    [{ command: ' \n' }, /command/],
    [{ command: 'true', description: ' ' }, /description/],
    [{ command: 'true', timeoutMs: 0 }, /timeoutMs/],
  ])('refuses %j before anything runs', async (args, field) => {
    const result = await call(args)
    expect(result).toMatchObject({
      isError: true,
      error: { code: 'INVALID_ARGS', message: expect.stringMatching(field) },
    })
  })

  it("runs in the agent's folder and below it", async () => {
    expect(await call({ command: 'pwd; mkdir sub' })).toMatchObject({ value: { stdout: { text: `${folder}\n` } } })
    expect(await call({ command: 'pwd', workdir: 'sub' })).toMatchObject({ value: { workdir: join(folder, 'sub') } })
  })

  it('reports a missing workdir as an error with a code, before anything runs', async () => {
    const result = await call({ command: 'true', workdir: 'nowhere' })
    expect(result).toMatchObject({ isError: true, error: { code: 'SHELL_WORKDIR_UNUSABLE' } })
  })

  it("goes on in a parent when the agent's folder was deleted, and says so", async () => {
    const cwd = join(folder, 'gone')
    const result = await call({ command: 'pwd' }, { agent: { id: 'a', cwd, inject: () => {} } })
    expect(result).toMatchObject({ value: { workdir: folder, missingWorkdir: cwd } })
    expect(contentText(result.content)).toBe(`${folder}\n[${cwd} no longer exists; ran in ${folder}]`)
  })

  it('names what was left running, in value, text and meta', async () => {
    const result = await call({ command: 'sleep 30 & echo done' })
    expect(result).toMatchObject({
      value: { kill: { signal: null, survivors: [{ command: 'sleep 30' }] } },
      meta: { survivors: 1 },
    })
    expect(contentText(result.content)).toMatch(/^done\n\[still running: \d+ sleep 30\]$/)
  })

  it('ends a command at its limit', async () => {
    const result = await call({ command: 'sleep 30', timeoutMs: 200 })
    expect(result).toMatchObject({ isError: false, value: { timedOut: true, timeoutMs: 200, signal: 'SIGTERM' } })
    expect(contentText(result.content)).toBe('(no output)\n[timed out after 200 ms]\n[killed by signal: SIGTERM]')
  })

  it('is cancelled with its tree before the call returns', async () => {
    const controller = new AbortController()
    const file = join(folder, 'pid')
    const running = call({ command: `sleep 40 & echo $! > ${file}; wait` }, { signal: controller.signal })
    const pid = await vi.waitFor(
      () => {
        const text = readFileSync(file, 'utf8')
        expect(text).toMatch(/\n$/)
        return Number(text)
      },
      { timeout: 10_000 },
    )
    controller.abort()
    expect(await running).toMatchObject({ isError: true, error: { code: 'ABORTED' } })
    const alive = (): boolean => {
      try {
        return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
      } catch {
        return false // gone
      }
    }
    expect(alive()).toBe(false)
  })

  it('shows output live while the command runs', async () => {
    const heard: ToolProgress[] = []
    const controller = new AbortController()
    await call(
      { command: 'echo early; sleep 30' },
      {
        signal: controller.signal,
        onReport: (progress) => {
          heard.push(progress)
          controller.abort()
        },
      },
    )
    expect(heard).toEqual([{ kind: 'text', stream: 'stdout', text: 'early\n' }])
  })

  it('says why when the shell is shut down under it', async () => {
    const running = call({ command: 'sleep 30' })
    await vi.waitFor(() => expect(process.getActiveResourcesInfo()).toContain('ProcessWrap'))
    await ctx.fiber.dispose()
    expect(await running).toMatchObject({ isError: true, error: { code: 'SHELL_DISPOSED' } })
  })
})
