// The freshness token of a file, and what a stat says of it.
import type { BigIntStats } from 'node:fs'
import { lstat, stat } from 'node:fs/promises'
import type { FsInfo, FsVersion } from '@deepseek-ai/dsh-fs'
import { codeOf } from './errno.ts'

/** Times in nanoseconds and the inode: a file that was replaced within one tick of a clock still has another. */
export function versionOf(stats: BigIntStats): FsVersion {
  return `${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeNs}:${stats.ctimeNs}`
}

export function infoOf(stats: BigIntStats): FsInfo {
  return {
    version: versionOf(stats),
    type: stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'other',
    size: Number(stats.size),
    mode: Number(stats.mode) & 0o7777,
    modifiedAt: Number(stats.mtimeMs),
  }
}

/** Undefined when there is nothing at the path. */
export async function statOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await stat(path, { bigint: true })
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}

/** Of a link itself. Undefined when there is nothing at the path. */
export async function lstatOf(path: string): Promise<BigIntStats | undefined> {
  try {
    return await lstat(path, { bigint: true })
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
