// Real shells on real pseudo terminals: what a send waits for and returns, what is kept, what reaches the program.
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { emulator, fed, seen } from '../emulator.ts'
import { owner, world, type World } from '../world.ts'

let here: World
beforeEach(async () => {
  here = await world()
})
afterEach(() => here.dispose())

describe('a send', () => {
  it('comes back at the next prompt with what was printed, the echo and the prompt included', async () => {
    const terminal = await here.shell()
    const { text, ...rest } = await terminal.send({ text: 'echo one; echo two' })
    expect(text).toMatch(/^echo one; echo two\none\ntwo\n.*[$#] $/)
    expect(rest).toEqual({ truncated: false, reason: 'stdin-wait', status: { kind: 'running' } })
  })

  it('waits through silence that is no wait for input', async () => {
    const terminal = await here.shell()
    const { text, reason } = await terminal.send({ text: 'sleep 1; echo done' })
    expect(text).toContain('\ndone\n')
    expect(reason).toBe('stdin-wait')
  })

  it('keeps folder and variables from one to the next', async () => {
    const terminal = await here.shell()
    mkdirSync(join(here.folder, 'sub'))
    await terminal.send({ text: 'cd sub; greeting=hello' })
    expect((await terminal.send({ text: 'echo "$greeting $(basename "$PWD")"' })).text).toContain('\nhello sub\n')
  })

  it('types each line when somebody waits for it, and one Enter at its end', async () => {
    const terminal = await here.shell()
    const { text } = await terminal.send({ text: 'read x\nvalue\nsleep 0.3\nread y\r\nmore\necho "<$x> <$y>"\n' })
    expect(text).toContain('\n<value> <more>\n')
    expect(text.match(/[$#] $/gm)).toHaveLength(1)
    const document = Array.from({ length: 30 }, (_, line) => `line ${line} 漢字`).join('\n')
    await terminal.send({ text: `cat > text <<'END'\n${document}\nEND` })
    expect(readFileSync(join(here.folder, 'text'), 'utf8')).toBe(`${document}\n`)
  })

  it('gives lines to the program that reads them', async () => {
    const terminal = await here.shell()
    const sent = await terminal.send({ text: 'cat > text\none\ntwo\nthree' })
    expect(sent.reason).toBe('stdin-wait')
    expect(readFileSync(join(here.folder, 'text'), 'utf8')).toBe('one\ntwo\nthree\n')
  })

  it('types nothing more where an answer is hidden, and when the time is over, and says so', async () => {
    const terminal = await here.shell()
    const hidden = await terminal.send({ text: 'read -rsp "Password: " x\necho one\necho two' })
    expect(hidden).toMatchObject({ prompt: { hidden: true }, untyped: 'echo one\necho two\n' })
    terminal.write('\r')
    await terminal.send({ text: '', submit: false })
    expect(await terminal.send({ text: 'sleep 100\necho late', timeoutMs: 400 })).toMatchObject({
      reason: 'timeout',
      untyped: 'echo late\n',
    })
  })

  it('takes a command that is not complete for a shell that waits', async () => {
    const terminal = await here.shell()
    const open = await terminal.send({ text: 'for i in a b' })
    expect(open).toMatchObject({ reason: 'stdin-wait' })
    expect(open).not.toHaveProperty('prompt')
    expect((await terminal.send({ text: 'do echo "$i!"; done' })).text).toContain('\na!\nb!\n')
  })

  it('types without Enter when that is asked', async () => {
    const terminal = await here.shell()
    expect(await terminal.send({ text: 'echo no', submit: false })).toMatchObject({
      text: 'echo no',
      reason: 'stdin-wait',
    })
    expect((await terminal.send({ text: 't yet' })).text).toContain('\nnot yet\n')
  })

  it('comes back when a program in front waits for input', async () => {
    const terminal = await here.shell()
    expect(await terminal.send({ text: 'cat' })).toMatchObject({ text: 'cat\n', reason: 'stdin-wait' })
    expect(await terminal.send({ text: 'hello' })).toMatchObject({ text: 'hello\nhello\n', reason: 'stdin-wait' })
  })

  it('comes back after a silence, and again with the rest', async () => {
    await here.dispose()
    here = await world({ idleSilenceMs: 300 })
    const terminal = await here.shell()
    const first = await terminal.send({ text: 'echo begin; sleep 1.5; echo end' })
    expect(first).toMatchObject({ text: expect.stringMatching(/begin\n$/), reason: 'idle' })
    let rest = ''
    for (let reason = ''; reason !== 'stdin-wait';) {
      const more = await terminal.send({ text: '', submit: false })
      rest += more.text
      reason = more.reason
    }
    expect(rest).toMatch(/^end\n.*[$#] $/)
  })

  it('comes back at its time limit while a program prints on', async () => {
    const terminal = await here.shell()
    const { reason, text } = await terminal.send({ text: 'while :; do echo on; sleep 0.05; done', timeoutMs: 600 })
    expect(reason).toBe('timeout')
    expect(text).toContain('\non\n')
    terminal.signal('SIGINT')
    expect(await terminal.send({ text: '', submit: false })).toMatchObject({ reason: 'stdin-wait' })
  })

  it('comes back when its caller gives up; the program goes on', async () => {
    const terminal = await here.shell()
    const controller = new AbortController()
    const leave = terminal.onData((data) => {
      if (data.includes('running')) controller.abort()
    })
    const sent = await terminal.send({ text: 'echo run""ning; sleep 0.3; echo after', signal: controller.signal })
    leave()
    expect(sent).toMatchObject({ reason: 'aborted', status: { kind: 'running' } })
    expect((await terminal.send({ text: '', submit: false })).text).toContain('after\n')
    expect(await terminal.send({ text: 'echo never', signal: AbortSignal.abort() })).toMatchObject({
      reason: 'aborted',
      text: '',
    })
  })

  it('is refused while another one waits', async () => {
    const terminal = await here.shell()
    const first = terminal.send({ text: 'sleep 0.3' })
    await expect(terminal.send({ text: 'echo' })).rejects.toMatchObject({ code: 'TERMINAL_BUSY' })
    await first
    await terminal.send({ text: 'true' })
  })

  it.each([0, -1, Number.NaN])('refuses a time limit of %s', async (timeoutMs) => {
    const terminal = await here.open()
    await expect(terminal.send({ text: '', timeoutMs })).rejects.toMatchObject({ code: 'TERMINAL_INVALID_REQUEST' })
  })

  it('tells the end of the program, with its code', async () => {
    const terminal = await here.shell()
    const exited = new Promise((resolve) => terminal.onExit(resolve))
    const { text, reason, status } = await terminal.send({ text: 'echo bye; exit 7' })
    expect(text).toContain('\nbye\n')
    expect([reason, status]).toEqual(['exited', { kind: 'exited', exitCode: 7, signal: null }])
    expect(await exited).toEqual(status)
    expect(terminal.row.status).toEqual(status)
  })

  it('tells the signal that ended the program', async () => {
    const terminal = await here.shell()
    const { status } = await terminal.send({ text: 'kill -KILL $$' })
    expect(status).toEqual({ kind: 'exited', exitCode: null, signal: 'SIGKILL' })
  })

  it('is refused after the end, as keys and signals are; a resize is ignored', async () => {
    const terminal = await here.shell()
    await terminal.send({ text: 'exit' })
    await expect(terminal.send({ text: 'ls' })).rejects.toMatchObject({ code: 'TERMINAL_EXITED' })
    expect(() => terminal.write('x')).toThrow(expect.objectContaining({ code: 'TERMINAL_EXITED' }))
    expect(() => terminal.signal('SIGINT')).toThrow(expect.objectContaining({ code: 'TERMINAL_EXITED' }))
    terminal.resize(100, 30)
    expect(terminal.row).toMatchObject({ cols: 160, rows: 40 })
    expect(await terminal.send({ text: '', submit: false })).toMatchObject({ reason: 'exited', text: '' })
    expect(terminal.read().text).toContain('exit')
  })
})

describe('what a terminal keeps', () => {
  it('is read by lines from the newest', async () => {
    const terminal = await here.shell()
    await terminal.send({ text: 'seq 1 100' })
    const all = terminal.read()
    const { text, lineBegin, lineEnd, totalLines } = terminal.read({ offset: 1, count: 3 })
    expect(text).toBe('98\n99\n100')
    expect([lineBegin, lineEnd, totalLines]).toEqual([all.totalLines - 4, all.totalLines - 1, all.totalLines])
    expect(terminal.read({ offset: 1000 })).toMatchObject({ text: '', lineBegin: 0, lineEnd: 0 })
    expect(terminal.read({ count: 0 })).toMatchObject({ text: '', lineBegin: all.totalLines, lineEnd: all.totalLines })
  })

  it('is bounded, whatever is printed', async () => {
    await here.dispose()
    here = await world({ maxReadBytes: 10_000 })
    const terminal = await here.shell()
    const sent = await terminal.send({
      text: 'head -c 10000000 /dev/zero | tr "\\0" y | fold -w 99; echo end',
      timeoutMs: 60_000,
    })
    expect(sent.reason).toBe('stdin-wait')
    expect(sent.truncated).toBe(true)
    expect(Buffer.byteLength(sent.text)).toBeLessThanOrEqual(10_000)
    expect(sent.text).toMatch(/^y{99}\n[^]*y\n?end\n.*[$#] $/)
    const read = terminal.read()
    expect(read.truncated).toBe(true)
    expect(read.totalLines).toBeLessThanOrEqual(Math.floor((4 * 1024 * 1024) / (160 * 12)) + 40)
    expect(read.lineEnd - read.lineBegin).toBe(read.text.split('\n').length)
    expect(Buffer.byteLength(read.text)).toBeLessThanOrEqual(10_000)
  })

  it('takes no more memory for 100 MB than for a little', { timeout: 120_000 }, async () => {
    const terminal = await here.shell()
    await terminal.send({ text: 'head -c 10000000 /dev/zero | tr "\\0" y | fold -w 99', timeoutMs: 60_000 })
    const before = process.memoryUsage().rss
    let most = before
    const leave = terminal.onData(() => {
      most = Math.max(most, process.memoryUsage.rss())
    })
    const command = 'head -c 100000000 /dev/zero | tr "\\0" y | fold -w 99; echo end'
    const sent = await terminal.send({ text: command, timeoutMs: 110_000 })
    leave()
    expect(sent).toMatchObject({ reason: 'stdin-wait', truncated: true, text: expect.stringMatching(/end\n.*[$#] $/) })
    expect(most - before).toBeLessThan(64 * 1024 * 1024)
  })

  it('has one line of 2 MB without a break', async () => {
    const terminal = await here.shell()
    const { text, truncated } = await terminal.send({ text: 'head -c 2000000 /dev/zero | tr "\\0" z; echo' })
    expect(truncated).toBe(true)
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(256 * 1024)
    expect(text).toMatch(/z\n.*[$#] $/)
  })

  it('has whole characters, however their bytes arrive', async () => {
    const terminal = await here.shell()
    const bytes = [...Buffer.from('漢字 é 👩 ok')].map((byte) => String.raw`\x` + byte.toString(16).padStart(2, '0'))
    const slow = bytes.map((byte) => `printf '${byte}'; sleep 0.01`).join('; ')
    const { text } = await terminal.send({ text: `clear; ${slow}; echo` })
    expect(text).toContain('漢字 é 👩 ok\n')
  })

  it('has the last state of a progress bar, and no escape sequences', async () => {
    const terminal = await here.shell()
    const bar = 'for i in 1 2 3; do printf "\\r\\033[32m%s%%\\033[0m" $i; sleep 0.05; done; echo'
    const { text } = await terminal.send({ text: bar })
    expect(text.split('\n').slice(1, -1)).toEqual(['3%'])
  })

  it('survives what is no text', async () => {
    const terminal = await here.shell()
    await terminal.send({ text: 'head -c 300000 /dev/urandom; reset', timeoutMs: 30_000 })
    expect((await terminal.send({ text: 'echo still here' })).text).toContain('\nstill here\n')
  })
})

describe('a screen', () => {
  it('is what a page that attaches draws, and goes on from there', async () => {
    const terminal = await here.shell({ cols: 40, rows: 10 })
    await terminal.send({ text: `printf '\\033[1;34mblue\\033[0m \\033[48;2;9;9;9m漢\\033[0m\\n'; seq 1 30` })
    const [original, late] = [emulator(40, 10), emulator(40, 10)]
    fed(original, terminal.snapshot())
    terminal.onData((data) => fed(original, data))
    await terminal.send({ text: 'clear; echo after' })
    fed(late, terminal.snapshot())
    expect(seen(late)).toEqual(seen(original))
    expect(late.buffer.active.getLine(late.buffer.active.baseY)!.translateToString(true)).toBe('after')
  })

  it('is that of a program that has all of it', async () => {
    writeFileSync(join(here.folder, 'text'), Array.from({ length: 200 }, (_, line) => `line ${line}\n`).join(''))
    const terminal = await here.shell({ cols: 60, rows: 12 })
    const opened = await terminal.send({ text: 'less text' })
    expect(opened.reason).toBe('stdin-wait')
    expect(opened.text).toMatch(/^line 0\nline 1\n[^]*line 10\n/)
    expect(opened).not.toHaveProperty('prompt')
    const paged = await terminal.send({ text: ' ', submit: false })
    expect(paged.text).toMatch(/^line 11\n/)
    const copy = emulator(60, 12)
    fed(copy, terminal.snapshot())
    expect(copy.buffer.active.type).toBe('alternate')
    expect(copy.buffer.active.getLine(0)!.translateToString(true)).toBe('line 11')
    const left = await terminal.send({ text: 'q', submit: false })
    expect(left.text).not.toContain('line 11')
    expect(left.text).toMatch(/[$#] $/)
  })

  it('changes its size for the program as well', async () => {
    const terminal = await here.shell()
    expect((await terminal.send({ text: 'stty size' })).text).toContain('\n40 160\n')
    terminal.resize(80, 24)
    expect(terminal.row).toMatchObject({ cols: 80, rows: 24 })
    await expect.poll(async () => (await terminal.send({ text: 'stty size' })).text).toContain('\n24 80\n')
    expect(() => terminal.resize(0, 24)).toThrow(expect.objectContaining({ code: 'TERMINAL_INVALID_REQUEST' }))
    expect(() => terminal.resize(1.5, 24)).toThrow(/whole number from 1 to 1000/)
  })

  it('answers what programs ask of a terminal, unless a page does', async () => {
    const terminal = await here.shell()
    const ask = `IFS= read -rsd R -p $'\\033[6n' answer; printf 'row;%q\\n' "\${answer#*[}"`
    expect((await terminal.send({ text: ask })).text).toMatch(/row;\S*\d+/)
    const leave = terminal.onData((data) => {
      if (data.includes('\x1b[6n')) terminal.write('\x1b[7;7R')
    })
    expect((await terminal.send({ text: ask })).text).toMatch(/row;7/)
    leave()
  })
})

describe('the shell', () => {
  it('starts in its folder, with the environment of a terminal and without secrets', async () => {
    process.env['TEST_PTY_TOKEN'] = 'leaked'
    process.env['TMUX'] = '/tmp/tmux'
    try {
      const terminal = await here.shell({ owner: owner('s-1') })
      const command = 'env > env.txt; pwd -P > pwd.txt; echo "$-" > flags.txt'
      await terminal.send({ text: command })
      const file = (name: string): string => readFileSync(join(here.folder, name), 'utf8')
      const env = Object.fromEntries(
        file('env.txt')
          .split('\n')
          .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const),
      )
      expect(env).toMatchObject({
        TERM: 'xterm-256color',
        PAGER: 'cat',
        GIT_PAGER: 'cat',
        DSH_SHELL: '1',
        DSH_SESSION_ID: 's-1',
        DSH_PTY_SESSION_ID: 'pty-1',
        HISTFILE: '',
      })
      expect(env).not.toHaveProperty('TEST_PTY_TOKEN')
      expect(env).not.toHaveProperty('TMUX')
      expect(file('pwd.txt').trim()).toBe(realpathSync(here.folder))
      expect(file('flags.txt')).toMatch(/i/)
    } finally {
      delete process.env['TEST_PTY_TOKEN']
      delete process.env['TMUX']
    }
  })

  it('shows its prompt again whatever a command made of it', async () => {
    const terminal = await here.shell()
    expect((await terminal.send({ text: 'PS1="mine> "' })).reason).toBe('stdin-wait')
    expect((await terminal.send({ text: 'echo ok' })).text).toMatch(/^echo ok\nok\n.*[$#] $/)
  })

  it('may be another one than bash, without a prompt of ours', async () => {
    await here.dispose()
    here = await world({ shellPath: '/bin/sh', args: ['-i'] })
    const terminal = await here.shell()
    const { text, reason } = await terminal.send({ text: 'echo plain' })
    expect(text).toContain('plain\n')
    expect(reason).toBe('stdin-wait')
  })

  it.each([
    ['no executable', { shellPath: '/etc' }, {}, /no executable file/],
    ['a folder that is not there', {}, { cwd: '/nowhere/at/all' }, /"\/nowhere\/at\/all" does not exist/],
    ['a folder that is a file', {}, { cwd: '/etc/hostname' }, /is not a folder/],
    ['a relative folder', {}, { cwd: 'here' }, /no absolute path/],
  ])('cannot be opened with %s', async (_what, options, request, message) => {
    await here.dispose()
    here = await world(options)
    const opened = here.open(request)
    await expect(opened).rejects.toMatchObject({ code: 'TERMINAL_SPAWN_FAILED' })
    await expect(opened).rejects.toThrow(message)
    expect(here.ctx.terminals.list(undefined)).toEqual([])
  })

  it('cannot be opened in a folder that was deleted meanwhile', async () => {
    const folder = join(here.folder, 'gone')
    mkdirSync(folder)
    rmSync(folder, { recursive: true })
    await expect(here.open({ cwd: folder })).rejects.toThrow(/does not exist; name an existing one/)
  })

  it.each([{ cols: 0 }, { rows: 1.5 }, { cols: 5000 }])('cannot be opened with a size of %j', async (size) => {
    await expect(here.open(size)).rejects.toMatchObject({ code: 'TERMINAL_INVALID_REQUEST' })
  })
})

describe('a signal', () => {
  it('goes to the program in front, and the shell stays', async () => {
    const terminal = await here.shell()
    await terminal.send({ text: 'sleep 100', timeoutMs: 300 })
    terminal.signal('SIGINT')
    expect(await terminal.send({ text: '', submit: false })).toMatchObject({ reason: 'stdin-wait' })
    expect((await terminal.send({ text: 'echo "code $?"' })).text).toContain('\ncode 130\n')
  })

  it('ends every process of a pipeline', async () => {
    const terminal = await here.shell()
    await terminal.send({ text: 'sleep 100 | sleep 101', timeoutMs: 300 })
    terminal.signal('SIGKILL')
    await terminal.send({ text: '', submit: false })
    expect((await terminal.send({ text: 'jobs -l; echo "none left"' })).text).toMatch(/jobs -l;.*\nnone left\n/)
  })

  it('stops a program, which can be brought back', async () => {
    const terminal = await here.shell()
    await terminal.send({ text: 'sleep 100', timeoutMs: 300 })
    terminal.signal('SIGTSTP')
    expect((await terminal.send({ text: '', submit: false })).text).toMatch(/Stopped/)
    expect((await terminal.send({ text: 'kill %1; wait; jobs; echo clean' })).text).toMatch(/\nclean\n/)
  })

  it('does not kill the shell itself', async () => {
    const terminal = await here.shell()
    expect(() => terminal.signal('SIGKILL')).toThrow(/close the terminal to end it/)
    expect((await terminal.send({ text: 'echo alive' })).text).toContain('\nalive\n')
  })
})

describe('a command of its own', () => {
  it('runs in place of a shell, and the terminal ends with it and tells its code', async () => {
    const terminal = await here.open({ command: 'echo "one $A"; read -r x; echo "got $x"; exit 3', env: { A: 'b' } })
    const opened = await terminal.send({ text: '', submit: false })
    expect(opened).toMatchObject({ text: 'one b\n', reason: 'stdin-wait' })
    const { text, status } = await terminal.send({ text: 'it' })
    expect(text).toBe('it\ngot it\n')
    expect(status).toEqual({ kind: 'exited', exitCode: 3, signal: null })
    expect(await terminal.close()).toEqual({ signal: null, ended: 0, survivors: [] })
  })

  it('may be one that cannot be found: its shell says so', async () => {
    const terminal = await here.open({ command: 'no-such-program-here' })
    const { text, status } = await terminal.send({ text: '', submit: false })
    expect(text).toContain('no-such-program-here')
    expect(status).toMatchObject({ exitCode: 127 })
  })

  it('may be stopped and ended like any program in front, itself included', async () => {
    const terminal = await here.open({ command: 'exec sleep 1000' })
    terminal.signal('SIGKILL')
    const { status } = await terminal.send({ text: '', submit: false })
    expect(status).toEqual({ kind: 'exited', exitCode: null, signal: 'SIGKILL' })
  })

  it.each([
    { command: ' ' },
    { command: 'echo \0' },
    { env: { 'A=B': 'c' } },
    { env: { '': 'c' } },
    { env: { A: '\0' } },
  ])('is refused when it cannot be passed on: %j', async (request) => {
    await expect(here.open(request)).rejects.toMatchObject({ code: 'TERMINAL_INVALID_REQUEST' })
  })

  it('tells all that it printed before its end to a reader that is late', async () => {
    const terminal = await here.open({ command: 'for i in $(seq 1 3000); do echo "line $i"; done; echo last' })
    let printed = ''
    terminal.onData((data) => {
      printed += data
      // Holds this process up for longer than the program lives.
      const until = performance.now() + 30
      while (performance.now() < until);
    })
    await terminal.send({ text: '', submit: false, timeoutMs: 20_000 })
    await expect.poll(() => terminal.row.status.kind, { timeout: 20_000 }).toBe('exited')
    expect(printed).toMatch(/line 3000\r\nlast\r\n$/)
  })
})
