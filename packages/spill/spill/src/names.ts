// Names of folders and files: made of what a caller says, and yet none leaves its folder or meets another's.
import { createHash, randomBytes } from 'node:crypto'
import type { SpillSource } from './types.ts'

/** Beside a file that is not known to be whole; holds the reason, once there is one. */
export const PARTIAL = '.partial'

/** The same for the same session, also on a file system that does not tell upper case from lower. */
export function sessionFolder(sessionId: string): string {
  const hash = createHash('sha256').update(sessionId).digest('hex').slice(0, 16)
  return `session-${safe(sessionId, 40)}-${hash}`
}

/** Of one run of the host. */
export function hostFolder(): string {
  return `host-${process.pid}-${randomBytes(6).toString('hex')}`
}

/** The process that made a host's folder. */
export function hostPid(folder: string): number | undefined {
  const pid = /^host-(\d+)-[0-9a-f]+$/.exec(folder)?.[1]
  return pid === undefined ? undefined : Number(pid)
}

export function isOurFolder(name: string): boolean {
  return name.startsWith('session-') || name.startsWith('host-')
}

let files = 0

/** Sorts by time of creation. */
export function fileName({ toolName, label, callId }: Pick<SpillSource, 'toolName' | 'label' | 'callId'>): string {
  const time = new Date().toISOString().replace(/[-:.Z]/g, '')
  const number = String(++files).padStart(6, '0')
  const told = [toolName, label, callId].map((part) => safe(part, 24)).join('-')
  return `${time}-${number}-${told}-${randomBytes(4).toString('hex')}.txt`
}

function safe(text: string, length: number): string {
  const plain = text.replace(/[^A-Za-z0-9_]+/g, '_').slice(0, length)
  return plain === '' ? '_' : plain
}
