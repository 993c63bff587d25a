// Empty folders and files that appear in a workspace because bubblewrap mounts something there; they go with the last session that needs them.
import { rmdirSync, statSync, unlinkSync } from 'node:fs'

export class Placeholders {
  private readonly owners = new Map<string, Set<string>>()

  has(path: string): boolean {
    return this.owners.has(path)
  }

  /** Removing one while another session's command runs would take that one's protection away. */
  hold(sessionId: string, paths: readonly string[]): void {
    for (const path of paths) {
      const owners = this.owners.get(path)
      if (owners) owners.add(sessionId)
      else this.owners.set(path, new Set([sessionId]))
    }
  }

  release(sessionId: string): void {
    for (const [path, owners] of this.owners) {
      if (!owners.delete(sessionId) || owners.size > 0) continue
      this.owners.delete(path)
      removeIfEmpty(path)
    }
  }
}

function removeIfEmpty(path: string): void {
  try {
    const stat = statSync(path)
    if (stat.isDirectory()) rmdirSync(path)
    else if (stat.isFile() && stat.size === 0) unlinkSync(path)
  } catch {
    // Never made, gone already, or in use by now: then it is someone's.
  }
}
