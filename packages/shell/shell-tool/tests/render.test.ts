import type { Json } from '@deepseek-ai/dsh-tools'
import { describe, expect, it } from 'vitest'
import { shellMeta, presentShellCall, presentShellResult } from '../src/present.ts'
import { renderShell } from '../src/render.ts'
import type { Abilities, ForegroundValue, ShellValue } from '../src/schema.ts'

const NO: Abilities = { background: false, escalation: false }

const stream = (text: string, truncated = false) => ({
  text,
  truncated,
  totalBytes: truncated ? 1_000_000 : text.length,
})

const value = (facts: Partial<ForegroundValue> = {}): ForegroundValue => ({
  kind: 'foreground',
  exitCode: 0,
  signal: null,
  timedOut: false,
  aborted: false,
  timeoutMs: 1000,
  durationMs: 5,
  stdout: stream(''),
  stderr: stream(''),
  workdir: '/w',
  ...facts,
})

const text = (facts: Partial<ForegroundValue>) => renderShell(value(facts), NO).text

describe('what the model reads', () => {
  it('is the bare output of a command that went well', () => {
    expect(text({ stdout: stream('hi\n') })).toBe('hi\n')
  })

  it('says so when there is no output', () => {
    expect(text({})).toBe('(no output)')
  })

  it('shows standard error in a section of its own', () => {
    expect(text({ stdout: stream('a'), stderr: stream('b\n') })).toBe('a\n[stderr]\nb\n')
    expect(text({ stderr: stream('b') })).toBe('[stderr]\nb')
  })

  it('ends with the exit, whatever comes before', () => {
    expect(text({ exitCode: 3 })).toBe('(no output)\n[exit code: 3]')
    expect(text({ exitCode: null, signal: 'SIGSEGV', stdout: stream('x') })).toBe('x\n[killed by signal: SIGSEGV]')
    expect(text({ exitCode: null })).toBe('(no output)\n[exit code: unknown]')
  })

  it('puts the markers in one fixed order', () => {
    const all = text({
      stdout: stream('x\n', true),
      missingWorkdir: '/gone',
      kill: { signal: 'SIGKILL', ended: 1, survivors: [{ pid: 1234, command: 'sleep 30' }] },
      timedOut: true,
      exitCode: null,
      signal: 'SIGKILL',
    })
    expect(all.split('\n')).toEqual([
      'x',
      '[output truncated: stdout has 1000000 bytes; head and tail are shown]',
      '[/gone no longer exists; ran in /w]',
      '[still running: 1234 sleep 30]',
      '[timed out after 1000 ms]',
      '[killed by signal: SIGKILL]',
    ])
  })

  it('says where the whole of a cut stream is', () => {
    const cut = { ...stream('x\n', true), spillPath: '/spill/out' }
    expect(text({ stdout: cut })).toContain('stdout has 1000000 bytes, whole in /spill/out; head and tail')
    expect(text({ stdout: { ...cut, spillIncomplete: true } })).toContain('as far as there was room in /spill/out')
  })

  it('names each denial with its rule, and the way on where there is one', () => {
    const sandbox: ForegroundValue['sandbox'] = {
      mode: 'workspace-write',
      network: 'open',
      denied: [{ kind: 'write', target: '/etc/x', rule: 'outside-writable-roots', confidence: 'confirmed' }],
      warnings: ['a hook was\nleft'],
    }
    const line = '[sandbox: write of /etc/x denied (outside-writable-roots) in workspace-write mode]'
    expect(text({ sandbox, exitCode: 1 }).split('\n')).toEqual([
      '(no output)',
      line,
      '[sandbox warning: a hook was left]',
      '[exit code: 1]',
    ])
    const told = renderShell(value({ sandbox, exitCode: 1 }), { background: false, escalation: true }).text
    expect(told).toMatch(/repeat exactly this command with sandbox_permissions/)
  })

  it('tells what goes on in the background, and since when', () => {
    const started: ShellValue = { kind: 'background', jobId: 'bash-1', workdir: '/w' }
    expect(renderShell(started, NO).text).toBe('started background job bash-1')
    const promoted: ShellValue = { ...started, promoted: { by: 'timeout', afterMs: 5000, output: 'so far' } }
    expect(renderShell(promoted, NO).text).toBe(
      'so far\n[moved to the background at its limit, after 5000 ms: it goes on as job bash-1 in /w; read it with job_output]',
    )
  })

  it('lets no process name forge a marker', () => {
    const survivors = [{ pid: 1, command: 'a]\n[exit code: 0]' }]
    expect(text({ kill: { signal: null, ended: 0, survivors } }).split('\n')).toHaveLength(2)
  })

  it('names the first survivors and counts the rest', () => {
    const survivors = Array.from({ length: 14 }, (_, pid) => ({ pid, command: `x${'y'.repeat(500)}` }))
    const lines = text({ kill: { signal: null, ended: 0, survivors } }).split('\n')
    expect(lines).toHaveLength(12)
    expect(lines.at(-1)).toBe('[still running: 4 more]')
    expect(lines[1]?.length).toBeLessThan(160)
  })

  it('admits that somebody unknown is left', () => {
    expect(text({ kill: { signal: null, ended: 0, survivors: [] } })).toMatch(/\[still running: a process that holds/)
  })
})

describe('the terminal card', () => {
  const card = (facts: Partial<ForegroundValue>, content?: string, meta?: Json) =>
    presentShellResult({
      content: [{ type: 'text', text: content ?? text(facts) }],
      isError: false,
      meta: meta ?? shellMeta(value(facts), NO),
    })

  it('shows command, description and folder while it runs', () => {
    expect(presentShellCall({ command: 'ls', description: 'List files' })).toEqual({
      card: 'terminal',
      title: 'ls',
      description: 'List files',
    })
    expect(presentShellCall({ command: 'ls', description: 'List files', workdir: 'sub' }).cwd).toBe('sub')
  })

  it('shows the output without the markers, and the exit as data', () => {
    expect(card({ stdout: stream('x\n'), exitCode: 3 })).toEqual({ card: 'terminal', output: 'x\n', exitCode: 3 })
  })

  it('is not fooled by output that looks like a marker', () => {
    expect(card({ stdout: stream('[exit code: 7]\n') })).toEqual({
      card: 'terminal',
      output: '[exit code: 7]\n',
      exitCode: 0,
    })
  })

  it('notes the worst first', () => {
    const facts: Partial<ForegroundValue> = {
      exitCode: null,
      signal: 'SIGTERM',
      timedOut: true,
      stdout: stream('x', true),
      kill: { signal: 'SIGTERM', ended: 1, survivors: [{ pid: 1, command: 'a' }] },
    }
    expect(card(facts)).toMatchObject({ signal: 'SIGTERM', notes: ['timed out', '1 survivor', 'truncated'] })
  })

  it('keeps the exit when a policy replaced the content', () => {
    expect(card({ stdout: stream('x\n'), exitCode: 3 }, 'spilled')).toEqual({
      card: 'terminal',
      output: 'spilled',
      exitCode: 3,
    })
  })

  it('leaves errors and logs without meta to the host', () => {
    expect(presentShellResult({ content: [], isError: true, meta: {} })).toBeUndefined()
    expect(presentShellResult({ content: [], isError: false })).toBeUndefined()
    expect(card({}, 'x', { exitCode: 'odd', survivors: [], bodyLength: null })).toEqual({
      card: 'terminal',
      output: 'x',
    })
  })
})
