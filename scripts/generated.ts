// Generated text that is committed: written, or compared with what is there. Generates nothing itself.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface GeneratedFiles {
  /** Absolute; paths count from here. */
  readonly folder: string
  /** Text by path. */
  readonly files: ReadonlyMap<string, string>
  /** What else in the folder would have to be among `files`. Omitted: nothing. */
  readonly owns?: (path: string) => boolean
}

/** What is wrong with the files as they are, a sentence each. */
export function problemsOf({ folder, files, owns = () => false }: GeneratedFiles): string[] {
  const present = existsSync(folder) ? readdirSync(folder) : []
  const missing = [...files.keys()].filter((path) => !existsSync(join(folder, path)))
  const stale = [...files].filter(([path, text]) => !missing.includes(path) && read(join(folder, path)) !== text)
  return [
    ...missing.map((path) => `${path} is missing`),
    ...stale.map(([path]) => `${path} is not up to date`),
    ...present.filter((path) => owns(path) && !files.has(path)).map((path) => `${path} is made from nothing any more`),
  ]
}

/** Makes the files what they should be; returns how many were written or removed. */
export function publish(generated: GeneratedFiles): number {
  const { folder, files, owns = () => false } = generated
  let changed = 0
  for (const [path, text] of files) {
    const file = join(folder, path)
    if (existsSync(file) && read(file) === text) continue
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    changed++
  }
  for (const path of readdirSync(folder).filter((each) => owns(each) && !files.has(each))) {
    rmSync(join(folder, path))
    changed++
  }
  return changed
}

/** What a generator's command line does: writes, or with `--check` only compares, prints, and sets the exit code. */
export function runGenerator(what: string, command: string, generated: GeneratedFiles): void {
  if (!process.argv.includes('--check')) {
    console.log(`${what}: ${generated.files.size} files, ${publish(generated)} changed`)
    return
  }
  const problems = problemsOf(generated)
  if (problems.length === 0) return
  for (const problem of problems) console.error(`${what}: ${problem}`)
  console.error(`run: ${command}`)
  process.exitCode = 1
}

function read(file: string): string {
  return readFileSync(file, 'utf8')
}
