// bash-sandbox against a sandbox of the test's making: what it hands over, and what it makes of what comes back.
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { SandboxError, SandboxPolicyService } from '@deepseek-ai/dsh-sandbox'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BashSandbox } from '../../src/index.ts'
import { FakeSandbox, policyOf } from '../fake-sandbox.ts'

let ctx: Context
let sandbox: FakeSandbox
let folder: string

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-bash-sandbox-')))
  ctx = new Context()
  await ctx.plugin(FakeSandbox)
  await ctx.plugin(SandboxPolicyService, { mode: 'read-only', network: 'none' })
  await ctx.plugin(BashSandbox, { graceMs: 400, cwd: folder })
  sandbox = ctx.sandbox as FakeSandbox
})

afterEach(async () => {
  await ctx.fiber.dispose()
  rmSync(folder, { recursive: true, force: true })
})

const run = (command: string, more: object = {}) => ctx.shell.run(ctx.shell.resolve({ command, ...more }))

describe('what bash-sandbox hands to the sandbox', () => {
  it('is the argv of bash, the folder and the whole environment, under the policy of the request', async () => {
    const policy = policyOf({ sessionId: 's7' })
    const result = await run('echo "$TMPDIR $GIVEN"', { sandboxPolicy: policy, env: { GIVEN: 'yes' } })
    expect(result.stdout.text).toBe('/fake/tmp yes\n')
    expect(sandbox.requests).toHaveLength(1)
    expect(sandbox.requests.at(0)).toMatchObject({
      argv: [expect.stringMatching(/^\/.*bash$/), '-c', 'echo "$TMPDIR $GIVEN"'],
      workdir: folder,
      policy,
      env: { GIVEN: 'yes', PWD: folder, DSH_CALL_ID: expect.any(String) },
    })
  })

  it('is the default policy of the host for a request without one, as it is when the command runs', async () => {
    const spec = ctx.shell.resolve({ command: 'true' })
    expect(spec.sandboxPolicy).toBeUndefined()
    await ctx.shell.run(spec)
    expect(sandbox.requests.at(0)?.policy).toMatchObject({ mode: 'read-only', network: 'none', sessionId: 'host' })
    expect(ctx.shell.sandboxMode).toBe('read-only')
  })

  it('is nothing when the policy confines nothing', async () => {
    const open = policyOf({ mode: 'danger-full-access', network: 'open' })
    const result = await run('echo plain', { sandboxPolicy: open })
    expect([result.stdout.text, 'sandbox' in result, sandbox.requests.length]).toEqual(['plain\n', false, 0])
    await run('true', { sandboxPolicy: policyOf({ mode: 'danger-full-access', network: 'none' }) })
    expect(sandbox.requests).toHaveLength(1)
  })
})

describe('what bash-sandbox makes of what the sandbox says', () => {
  it('tells the true end and the report', async () => {
    sandbox.finish = ({ exitCode }) => ({
      mode: 'read-only',
      network: 'none',
      exitCode: null,
      signal: exitCode === 139 ? 'SIGSEGV' : 'SIGFPE',
      denied: [{ kind: 'write', target: '/etc/x', rule: 'read-only-mode', confidence: 'confirmed' }],
    })
    const result = await run('echo no >&2; exit 139')
    expect(result).toMatchObject({ exitCode: null, signal: 'SIGSEGV' })
    expect(result.sandbox).toEqual({
      mode: 'read-only',
      network: 'none',
      denied: [{ kind: 'write', target: '/etc/x', rule: 'read-only-mode', confidence: 'confirmed' }],
    })
    expect(sandbox.outcomes).toEqual([{ exitCode: 139, signal: null, stderrTail: 'no\n' }])
    expect(sandbox.released).toBe(1)
  })

  it('shows the sandbox at most 64 KiB of standard error, its end', async () => {
    await run('head -c 300000 /dev/zero | tr "\\0" x >&2; echo end >&2')
    const stderrTail = sandbox.outcomes.at(0)?.stderrTail ?? ''
    expect(stderrTail.length).toBeLessThanOrEqual(65_536)
    expect(stderrTail.endsWith('xend\n')).toBe(true)
  })

  it('reads the descriptors that the runner writes', async () => {
    sandbox.runner = 'echo status >&3; exec "$@" 3>&-'
    await run('true')
    await vi.waitFor(() => expect(sandbox.heard.join('')).toBe('status\n'))
  })

  it('rejects when the runner failed and the command never ran', async () => {
    sandbox.finish = () => {
      throw new SandboxError('bwrap: no; install it', 'SANDBOX_UNAVAILABLE')
    }
    await expect(run('true')).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    const started = await ctx.shell.start(ctx.shell.resolve({ command: 'true' }))
    await expect(started.result).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    expect(sandbox.released).toBe(2)
  })

  it('runs nothing when it cannot be confined', async () => {
    sandbox.refusal = new SandboxError('no bubblewrap; install it', 'SANDBOX_UNAVAILABLE')
    await expect(run('touch ran')).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    expect(() => readFileSync(join(folder, 'ran'))).toThrow(/ENOENT/)
  })

  it('takes an end before the command ran for an abort, not for a failure', async () => {
    const controller = new AbortController()
    sandbox.runner = 'sleep 30'
    sandbox.finish = () => {
      throw new SandboxError('never ran', 'SANDBOX_UNAVAILABLE')
    }
    const running = run('true', { signal: controller.signal })
    await vi.waitFor(() => expect(sandbox.requests).toHaveLength(1))
    setImmediate(() => controller.abort())
    expect(await running).toMatchObject({ aborted: true, sandbox: { mode: 'read-only', network: 'none' } })
  })

  it('sends the polite signal to the command and spares the runner', async () => {
    const file = join(folder, 'group')
    sandbox.runner = `trap 'echo runner-got-it' TERM; setsid -w "$@"; echo "runner saw $?"`
    const script = join(folder, 'script')
    writeFileSync(script, `trap 'echo polite; exit 7' TERM; echo $$ > ${file}; while :; do sleep 0.05; done`)
    const controller = new AbortController()
    const running = run(`. ${script}`, { signal: controller.signal })
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toMatch(/\n$/))
    sandbox.targets = [Number(readFileSync(file, 'utf8'))]
    controller.abort()
    const result = await running
    expect(result.stdout.text).toBe('polite\nrunner saw 7\n')
    expect(result.kill).toMatchObject({ signal: 'SIGTERM', survivors: [] })
  })

  it('releases what was prepared for a command that was cancelled meanwhile', async () => {
    const controller = new AbortController()
    const confine = sandbox.confine.bind(sandbox)
    sandbox.confine = async (request) => {
      const confined = await confine(request)
      controller.abort()
      return confined
    }
    expect(await run('touch ran', { signal: controller.signal })).toMatchObject({ aborted: true, exitCode: null })
    expect(sandbox.released).toBe(1)
    expect(() => readFileSync(join(folder, 'ran'))).toThrow(/ENOENT/)
  })
})
