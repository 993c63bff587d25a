import { describe, expect, it } from 'vitest'
import { parseListing, WindowsTree } from '../src/executor/windows-tree.ts'

/** A Windows of the test's making: its processes, and what taskkill did to them. */
function windows(processes: Map<number, { ppid: number; start: number; command: string }>, immortal: number[] = []) {
  const calls: string[] = []
  const run = async (file: string, args: readonly string[]): Promise<string> => {
    if (file === 'powershell.exe') {
      return [...processes]
        .map(([pid, { ppid, start, command }]) => `${pid}\t${ppid}\t${start}\t${command}\r\n`)
        .join('')
    }
    calls.push([file, ...args].join(' '))
    const pids = args.flatMap((arg, index) => (args[index - 1] === '/PID' ? [Number(arg)] : []))
    for (const pid of pids) if (!immortal.includes(pid)) processes.delete(pid)
    return ''
  }
  return { run, calls }
}

const tree = () =>
  new Map([
    [10, { ppid: 1, start: 100, command: 'pwsh' }],
    [11, { ppid: 10, start: 110, command: 'node server' }],
    [12, { ppid: 11, start: 120, command: 'ping -t' }],
    [13, { ppid: 10, start: 50, command: 'a stranger whose parent had the number 10 before' }],
    [14, { ppid: 1, start: 130, command: 'a stranger' }],
  ])

describe('a tree on Windows', () => {
  it('is ended by taskkill and verified, strangers left alone', async () => {
    const processes = tree()
    const { run, calls } = windows(processes)
    expect(await new WindowsTree(10, run).terminate()).toEqual({ signal: 'SIGKILL', ended: 3, survivors: [] })
    expect(calls[0]).toBe('taskkill /PID 10 /T /F')
    expect([...processes.keys()]).toEqual([13, 14])
  })

  it('names who survives', async () => {
    const { run } = windows(tree(), [12])
    const receipt = await new WindowsTree(10, run).terminate()
    expect(receipt).toEqual({ signal: 'SIGKILL', ended: 2, survivors: [{ pid: 12, command: 'ping -t' }] })
  }, 20_000)

  it('finds the children of a leader that has ended, and no older ones', async () => {
    const processes = tree()
    processes.delete(10)
    const left = new WindowsTree(10, windows(processes).run, 100n)
    left.leaderEnded()
    expect(await left.leftBehind(true)).toEqual([{ pid: 11, command: 'node server' }])
  })

  it('starts nothing to look unless something says that there is someone', async () => {
    const { run, calls } = windows(tree())
    expect(await new WindowsTree(10, run).leftBehind(false)).toBeUndefined()
    expect(calls).toEqual([])
  })

  it('reads a listing, and skips what is none', () => {
    expect(parseListing('1\t0\t5\tSystem\r\nnonsense\r\n\r\n')).toEqual([
      { pid: 1, ppid: 0, startTime: 5n, command: 'System' },
    ])
  })
})
