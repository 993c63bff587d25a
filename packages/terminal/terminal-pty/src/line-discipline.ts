// How a terminal treats what is typed. Asked of `stty`, since Node has no way to ask; only when a program was seen to wait.
import { execFile } from 'node:child_process'

export interface LineDiscipline {
  /** What is typed is shown. */
  readonly echo: boolean
  /** Whole lines are handed over, not single keys. */
  readonly lines: boolean
}

/** Undefined: cannot be told. */
export function lineDiscipline(device: string): Promise<LineDiscipline | undefined> {
  const flag = process.platform === 'linux' ? '-F' : '-f'
  const options = { env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' }, timeout: 2000 }
  return new Promise((resolve) => {
    execFile('stty', [flag, device, '-a'], options, (error, settings) => {
      const is = (name: string): boolean => new RegExp(String.raw`(?:^|\s)${name}(?=[\s;]|$)`).test(settings)
      resolve(error === null ? { echo: is('echo'), lines: is('icanon') } : undefined)
    })
  })
}
