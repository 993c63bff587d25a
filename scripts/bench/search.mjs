// The search tools, through the registry, against ripgrep itself with the same question, all of its output read.
import { spawn, spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { against } from './measure.mjs'
import { makeTree, COMMON, NONE, RARE } from './search-tree.mjs'
import { searchHost } from './search-host.mjs'

const require = createRequire(new URL('../../packages/fs/tool-fs-search/package.json', import.meta.url))

/**
 * What each is measured against, with the same files to look at. `grep-common` shows the first page of three million matches; ripgrep, asked for
 * the lines, prints them all. `--type`, not `--glob`: that one would list ignored files too.
 */
const QUESTIONS = [
  { id: 'grep-common', tool: 'grep', args: { pattern: COMMON }, raw: ['--line-number', '-e', COMMON, '.'], rounds: 3 },
  { id: 'grep-rare', tool: 'grep', args: { pattern: RARE }, raw: ['--line-number', '-e', RARE, '.'], rounds: 5 },
  { id: 'grep-none', tool: 'grep', args: { pattern: NONE }, raw: ['--line-number', '-e', NONE, '.'], rounds: 5 },
  { id: 'glob-all', tool: 'glob', args: { pattern: '**/*' }, raw: ['--files', '.'], rounds: 15 },
  { id: 'glob-ts', tool: 'glob', args: { pattern: '**/*.ts' }, raw: ['--files', '--type=ts', '.'], rounds: 15 },
]

async function search() {
  // Found beside the package that depends on it; its entry is an ES module.
  const { rgPath } = await import(pathToFileURL(require.resolve('@vscode/ripgrep')).href)
  const tree = makeTree()
  const host = await searchHost(tree)
  try {
    const results = []
    for (const { id, tool, args, raw, rounds } of QUESTIONS) {
      const { ratio, reference } = await against(
        () => host.call(tool, args),
        () => rawRun(rgPath, raw, tree),
        { rounds, warmup: 1 },
      )
      results.push({ id, value: ratio, unit: '× raw ripgrep', reference, budget: 1.15 })
    }
    // A process of its own: the peak of this one already holds both ways.
    const child = fileURLToPath(new URL('search-child.mjs', import.meta.url))
    const questions = JSON.stringify(QUESTIONS.map(({ tool, args }) => ({ tool, args })))
    const peak = spawnSync(process.execPath, [child, tree, questions], { encoding: 'utf8' })
    results.push({ id: 'search-rss', value: Number(peak.stdout || NaN), unit: 'MB peak RSS', budget: 150 })
    return results
  } finally {
    await host.dispose()
    rmSync(tree, { recursive: true, force: true })
  }
}

function rawRun(file, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, ['--no-config', ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', () => {})
    child.stderr.on('data', () => {})
    child.on('error', reject)
    child.on('close', resolve)
  })
}

export const benches = [search]
