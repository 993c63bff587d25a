// What counts as a question of a program, when it is told, and that secret answers are in no text.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Terminal, TerminalPrompt } from '../../../terminal/src/index.ts'
import { world, type World } from '../world.ts'

let here: World
let terminal: Terminal
let told: (TerminalPrompt | undefined)[]

beforeEach(async () => {
  here = await world()
  terminal = await here.shell()
  told = []
  terminal.onPrompt((prompt) => told.push(prompt))
})
afterEach(() => here.dispose())

const has = (program: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`])
    return true
  } catch {
    return false
  }
}

/** Writes a script and gives the command that runs it. */
function script(name: string, text: string, shell = 'bash'): string {
  writeFileSync(join(here.folder, name), text)
  return `${shell} ${name}`
}

const PASSWORD = 'read -r -s -p "Password: " x; echo; echo "got ${#x}"\n'

describe('a program that hides what is typed', () => {
  it('asks once, and its answer is over with its Enter', async () => {
    const sent = await terminal.send({ text: script('ask', PASSWORD) })
    const prompt = { text: 'Password:', hidden: true }
    expect(sent).toMatchObject({ reason: 'stdin-wait', prompt })
    expect(told).toEqual([prompt])
    terminal.write('hunter2\r', { secret: true })
    expect(told).toEqual([prompt, undefined])
    const answered = await terminal.send({ text: '', submit: false })
    expect(answered.text).toMatch(/^\ngot 7\n/)
    expect(answered).not.toHaveProperty('prompt')
    expect(told).toEqual([prompt, undefined])
  })

  it('asks again after a wrong answer', async () => {
    const sent = await terminal.send({
      text: script(
        'twice',
        'until read -rsp "Password: " x; echo; [ "$x" = right ]; do echo Sorry; done; echo welcome\n',
      ),
    })
    expect(sent.prompt).toEqual({ text: 'Password:', hidden: true })
    terminal.write('wrong\r', { secret: true })
    const again = await terminal.send({ text: '', submit: false })
    expect(again).toMatchObject({ prompt: { text: 'Password:', hidden: true }, text: expect.stringContaining('Sorry') })
    expect(told).toEqual([sent.prompt, undefined, sent.prompt])
    terminal.write('right\r', { secret: true })
    expect((await terminal.send({ text: '', submit: false })).text).toContain('welcome\n')
  })

  it('is over when the program gives up on it, without a key', async () => {
    await terminal.send({ text: script('late', 'read -rst 1 -p "PIN: " x; sleep 0.7; echo; echo gave up\n') })
    await expect.poll(() => told, { timeout: 5000 }).toEqual([{ text: 'PIN:', hidden: true }, undefined])
  })

  it.runIf(has('python3'))('is told for getpass', async () => {
    const code = 'import getpass; print(len(getpass.getpass("Passphrase for key: ")))'
    const sent = await terminal.send({ text: `python3 -c '${code}'` })
    expect(sent.prompt).toEqual({ text: 'Passphrase for key:', hidden: true })
    terminal.write('four\r', { secret: true })
    expect((await terminal.send({ text: '', submit: false })).text).toContain('\n4\n')
  })

  it.runIf(has('python3'))('is told when it shows stars itself and takes single keys', async () => {
    const program = [
      'import sys, termios, tty',
      'old = termios.tcgetattr(0); tty.setraw(0)',
      'sys.stdout.write("Enter password: "); sys.stdout.flush(); n = 0',
      'while sys.stdin.read(1) != "\\r":',
      '    n += 1; sys.stdout.write("*"); sys.stdout.flush()',
      'termios.tcsetattr(0, 0, old); print("\\nlength", n)',
      '',
    ].join('\n')
    const sent = await terminal.send({ text: script('stars.py', program, 'python3') })
    expect(sent.prompt).toEqual({ text: 'Enter password:', hidden: true })
    terminal.write('abc\r', { secret: true })
    expect((await terminal.send({ text: '', submit: false })).text).toContain('length 3\n')
  })
})

describe('a program that shows what is typed', () => {
  it('asks a question', async () => {
    const sent = await terminal.send({ text: script('sure', 'read -rp "Continue? [y/N] " x; echo "<$x>"\n') })
    expect(sent.prompt).toEqual({ text: 'Continue? [y/N]', hidden: false })
    expect(told).toEqual([sent.prompt])
    // A person types, and has not decided yet.
    terminal.write('y')
    expect((await terminal.send({ text: '', submit: false })).prompt).toEqual(sent.prompt)
    expect(told).toEqual([sent.prompt])
    const answered = await terminal.send({ text: 'es' })
    expect(answered.text).toContain('<yes>\n')
    expect(told).toEqual([sent.prompt, undefined])
  })

  it('asks on the line above an empty one', async () => {
    const sent = await terminal.send({ text: script('name', 'echo "Your name?"; read -r x; echo "<$x>"\n') })
    expect(sent.prompt).toEqual({ text: 'Your name?', hidden: false })
  })

  it('may be the shell itself', async () => {
    expect((await terminal.send({ text: 'read -p "Name: " x' })).prompt).toEqual({ text: 'Name:', hidden: false })
  })

  it.each([
    ['a shell', 'sh -i'],
    ['cat', 'cat'],
    ['a pager', 'seq 1000 | less'],
    ...(has('python3') ? [['an interpreter', 'python3 -q']] : []),
    ...(has('vim') ? [['an editor', 'vim -u NONE x']] : []),
  ])('asks nothing when it is %s', async (_what, command = '') => {
    expect(await terminal.send({ text: command })).toMatchObject({ reason: 'stdin-wait' })
    expect(told).toEqual([])
  })
})

describe('a secret', () => {
  it('is in nothing that is read as text when the terminal echoes it', async () => {
    const secret = 'correct-horse-battery'
    const prompt = await terminal.send({
      text: script('echo', 'read -rp "Token: " x; echo "$x" > answer; echo "stored $x"\n'),
    })
    expect(prompt.prompt).toEqual({ text: 'Token:', hidden: false })
    let page = ''
    terminal.onData((data) => (page += data))
    terminal.write(`${secret}\r`, { secret: true })
    const { text } = await terminal.send({ text: '', submit: false })
    expect(text).toMatch(/^••••\nstored ••••\n/)
    expect(terminal.read().text).not.toContain(secret)
    expect((await terminal.send({ text: 'cat answer' })).text).toContain('\n••••\n')
    // The person's own screen shows what the terminal shows.
    expect(page).toContain(secret)
    expect(terminal.snapshot()).toContain(secret)
  })

  it('is in no question that follows', async () => {
    await terminal.send({ text: script('follow', 'read -rsp "Password: " x; echo; read -rp "Keep $x? " y\n') })
    terminal.write('hunter2\r', { secret: true })
    const next = await terminal.send({ text: '', submit: false })
    expect(next.prompt).toEqual({ text: 'Keep ••••?', hidden: false })
    expect(JSON.stringify(told)).not.toContain('hunter2')
  })
})
