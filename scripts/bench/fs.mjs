// fs-local against the raw calls that do the same work: reading, replacing and writing whole files. Memory is measured in a process of its own.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Context } from '../../packages/core/cordis/dist/index.js'
import FsLocal from '../../packages/fs/fs-local/dist/index.js'
import { against } from './measure.mjs'

const LINE = '  const total = values.reduce((sum, value) => sum + value.weight, 0) // of all groups\n'
const FIFTY_MB = 50_000_000

/** A source file of about `bytes`, with a line in its middle that is there once. */
function source(bytes) {
  const half = LINE.repeat(Math.max(1, Math.floor(bytes / LINE.length / 2)))
  return `${half}  const needle = 'one'\n${half}`
}

/** A host with files in a folder of its own, for the time of `use`. */
async function withFiles(use) {
  const ctx = new Context()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-bench-')))
  try {
    await ctx.plugin(FsLocal)
    return await use(ctx.fs, folder)
  } finally {
    await ctx.fiber.dispose()
    rmSync(folder, { recursive: true, force: true })
  }
}

const pairs = [
  ["needle = 'one'", "needle = 'two, which is longer'"],
  ["needle = 'two, which is longer'", "needle = 'one'"],
]

async function editLarge() {
  return withFiles(async (fs, folder) => {
    const [mine, theirs] = [join(folder, 'mine.ts'), join(folder, 'theirs.ts')]
    for (const path of [mine, theirs]) await writeFile(path, source(FIFTY_MB))
    const target = await fs.resolve(mine)
    let [edits, replacements] = [0, 0]
    const edit = () => {
      const [oldText, newText] = pairs[edits++ % 2]
      return fs.edit(target, [{ oldText, newText }])
    }
    const replace = async () => {
      const [oldText, newText] = pairs[replacements++ % 2]
      await writeFile(theirs, (await readFile(theirs, 'utf8')).replace(oldText, newText))
    }
    const { ratio, reference } = await against(edit, replace, { rounds: 9, warmup: 2 })
    const child = fileURLToPath(new URL('fs-child.mjs', import.meta.url))
    const peak = spawnSync(process.execPath, [child, mine, ...pairs[edits % 2]], { encoding: 'utf8' })
    return [
      { id: 'edit-50mb', value: ratio, unit: '× read+replace+write', reference, budget: 1.5 },
      { id: 'edit-50mb-rss', value: Number(peak.stdout), unit: 'MB peak RSS', budget: 250 },
    ]
  })
}

async function readHead() {
  return withFiles(async (fs, folder) => {
    const path = join(folder, 'large.ts')
    await writeFile(path, source(FIFTY_MB))
    const target = await fs.resolve(path)
    const head = () => fs.readLines(target, { count: 100 })
    const whole = () => readFile(path, 'utf8')
    const { ratio, reference } = await against(head, whole, { rounds: 9, warmup: 2 })
    return [{ id: 'read-head-50mb', value: ratio, unit: '× whole read', reference, budget: 0.2 }]
  })
}

/** What a tool does with one call: the path is resolved each time. */
async function small() {
  return withFiles(async (fs, folder) => {
    const [mine, theirs] = [join(folder, 'mine.ts'), join(folder, 'theirs.ts')]
    for (const path of [mine, theirs]) await writeFile(path, source(8000))
    const read = repeated(20, async () => fs.readLines(await fs.resolve(mine)))
    const rawRead = repeated(20, async () => (await readFile(theirs, 'utf8')).split('\n'))
    const reading = await against(read, rawRead, { rounds: 60, warmup: 10 })
    let [edits, replacements] = [0, 0]
    const edit = repeated(5, async () => {
      const [oldText, newText] = pairs[edits++ % 2]
      return fs.edit(await fs.resolve(mine), [{ oldText, newText }])
    })
    const replace = repeated(5, async () => {
      const [oldText, newText] = pairs[replacements++ % 2]
      await durably(folder, theirs, (await readFile(theirs, 'utf8')).replace(oldText, newText))
    })
    const editing = await against(edit, replace, { rounds: 60, warmup: 10 })
    return [
      { id: 'read-small', value: reading.ratio, unit: '× raw read', reference: reading.reference / 20, budget: 3 },
      { id: 'edit-small', value: editing.ratio, unit: '× raw durable', reference: editing.reference / 5, budget: 1.5 },
    ]
  })
}

/** One call is too short to be measured alone. */
function repeated(count, work) {
  return async () => {
    for (let i = 0; i < count; i++) await work()
  }
}

/** As little as keeps the old file or the new one whatever happens: staged, flushed, renamed, the name flushed. */
async function durably(folder, path, text) {
  const staged = await open(`${path}.staged`, 'wx')
  await staged.writeFile(text)
  await staged.sync()
  await staged.close()
  await rename(`${path}.staged`, path)
  const parent = await open(folder, 'r')
  await parent.sync()
  await parent.close()
}

export const benches = [editLarge, readHead, small]
