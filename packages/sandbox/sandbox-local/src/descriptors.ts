// Descriptors that this process was started with and would hand on: open files of someone else, writable from inside a sandbox.
import { readFileSync, readdirSync } from 'node:fs'

const CLOSE_ON_EXEC = 0o2000000
/** Higher ones are only told: covering them would cost a descriptor for each number below. */
const MAX_COVERED = 255

export interface Inherited {
  /** Above 2, up to `MAX_COVERED`. */
  readonly covered: readonly number[]
  readonly beyond: readonly number[]
}

/** Node opens everything close-on-exec, so what is not so was here before. */
export function inheritedDescriptors(folder = '/proc/self/fdinfo'): Inherited {
  const all = numbersIn(folder).filter((fd) => fd > 2 && passesOn(folder, fd))
  return { covered: all.filter((fd) => fd <= MAX_COVERED), beyond: all.filter((fd) => fd > MAX_COVERED) }
}

function numbersIn(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number)
  } catch {
    return [] // no such view of a process here
  }
}

function passesOn(folder: string, fd: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`${folder}/${fd}`, 'utf8'))?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0
  } catch {
    return false // closed meanwhile: the one that listed the folder
  }
}
