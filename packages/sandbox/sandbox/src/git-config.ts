// Reads the few git settings that decide which files git runs. Git itself is not started: in a folder that a command could write,
// its own configuration is the thing that is not trusted.
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

/** Keys are `section.name` in lower case, `section.sub.name` with the subsection as written. The last value of a key counts. */
export type GitConfig = ReadonlyMap<string, string>

const MAX_BYTES = 1024 * 1024
/** Git's own limit. */
const MAX_INCLUDES = 10

/** The files in order, includes followed, conditional ones too: what may apply counts. Files that are missing or odd are left out. */
export function readGitConfig(files: readonly string[]): GitConfig {
  const found = new Map<string, string>()
  for (const file of files) readInto(found, file, 0)
  return found
}

/** Where git looks before the repository's own file. */
export function globalGitConfigFiles(home = homedir(), env: NodeJS.ProcessEnv = process.env): string[] {
  return [
    '/etc/gitconfig',
    join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'git', 'config'),
    join(home, '.gitconfig'),
  ]
}

export function gitPath(value: string, base: string): string {
  return value.startsWith('~/') ? join(homedir(), value.slice(2)) : resolve(base, value)
}

function readInto(found: Map<string, string>, file: string, depth: number): void {
  for (const [key, value] of parseGitConfig(textOf(file))) {
    found.set(key, value)
    if (depth < MAX_INCLUDES && /^include(if\..*)?\.path$/.test(key))
      readInto(found, gitPath(value, dirname(file)), depth + 1)
  }
}

function textOf(file: string): string {
  try {
    const { size } = statSync(file)
    return size > MAX_BYTES ? '' : readFileSync(file, 'utf8')
  } catch {
    return '' // git reads nothing there either
  }
}

/** Takes what it understands and skips the rest: git refuses a broken file as a whole, so that nothing of it applies. */
export function parseGitConfig(text: string): [key: string, value: string][] {
  const entries: [string, string][] = []
  let section = ''
  for (const line of text.replace(/\\\r?\n/g, '').split(/\r?\n/)) {
    let rest = line.trim()
    const header = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(rest)
    if (header) {
      const sub = header[2]?.replace(/\\(.)/g, '$1')
      section = (header[1] as string).toLowerCase() + (sub === undefined ? '' : `.${sub}`)
      rest = rest.slice(header[0].length).trim()
    }
    const entry = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/.exec(rest)
    if (!entry || section === '') continue
    entries.push([
      `${section}.${(entry[1] as string).toLowerCase()}`,
      entry[2] === undefined ? 'true' : unquoted(entry[2]),
    ])
  }
  return entries
}

function unquoted(raw: string): string {
  let value = ''
  let kept = 0
  let quoted = false
  for (let index = 0; index < raw.length; index++) {
    const char = raw[index] as string
    if (char === '"') quoted = !quoted
    else if (!quoted && (char === '#' || char === ';')) break
    else if (char === '\\') {
      const escaped = raw[++index] ?? ''
      value += { n: '\n', t: '\t', b: '\b' }[escaped] ?? escaped
    } else value += char
    if (quoted || !/\s/.test(char)) kept = value.length
  }
  return value.slice(0, kept)
}
