// What is in a folder, one level, by name.
import type { Dirent } from 'node:fs'
import { lstat, readdir, readlink, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { FsError, type FsEntry } from '@deepseek-ai/dsh-fs'

export async function listFolder(path: string, what: string): Promise<FsEntry[]> {
  const stats = await stat(path)
  if (!stats.isDirectory()) throw new FsError(`${what}: it is no folder`, 'FS_NOT_DIRECTORY')
  const entries = await readdir(path, { withFileTypes: true })
  const listed = await Promise.all(entries.map((entry) => described(path, entry)))
  return listed.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

async function described(folder: string, entry: Dirent): Promise<FsEntry> {
  const { name } = entry
  const path = join(folder, name)
  try {
    if (entry.isSymbolicLink()) return { name, type: 'symlink', link: await linkFacts(path) }
    if (entry.isDirectory()) return { name, type: 'directory' }
    if (entry.isFile()) return { name, type: 'file', size: (await lstat(path)).size }
  } catch {
    // Gone meanwhile, or closed to us: it is listed as what is known of it.
  }
  return { name, type: entry.isDirectory() ? 'directory' : 'other' }
}

async function linkFacts(path: string): Promise<NonNullable<FsEntry['link']>> {
  const to = await readlink(path)
  const dangling = (await stat(resolve(dirname(path), to)).catch(() => undefined)) === undefined
  return { to, dangling }
}
