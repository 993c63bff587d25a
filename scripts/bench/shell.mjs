// bash-local against a raw spawn of the same command, and bash-sandbox against the raw runner with the same argv.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Context } from '../../packages/core/cordis/dist/index.js'
import { SandboxPolicyService } from '../../packages/sandbox/sandbox/dist/index.js'
import SandboxLocal from '../../packages/sandbox/sandbox-local/dist/index.js'
import BashLocal from '../../packages/shell/bash-local/dist/index.js'
import BashSandbox from '../../packages/shell/bash-sandbox/dist/index.js'
import { against, median, time } from './measure.mjs'

const HUNDRED_MB = 'head -c 100000000 /dev/zero'

function raw(command) {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    child.stdout.on('data', () => {})
    child.stderr.on('data', () => {})
    child.on('error', reject)
    child.on('close', resolve)
  })
}

async function bash() {
  const ctx = new Context()
  await ctx.plugin(BashLocal)
  const { shell } = ctx
  const run = (command) => shell.run(shell.resolve({ command }))
  const quick = await against(
    () => run('true'),
    () => raw('true'),
    { rounds: 300, warmup: 20 },
  )
  const large = await against(
    () => run(HUNDRED_MB),
    () => raw(HUNDRED_MB),
    { rounds: 15, warmup: 1 },
  )
  const fifty = (one) => () => Promise.all(Array.from({ length: 50 }, one))
  const many = await against(
    fifty(() => run('true')),
    fifty(() => raw('true')),
    { rounds: 15, warmup: 2 },
  )
  await ctx.fiber.dispose()
  // A process of its own: the peak of this one already holds both ways.
  const child = fileURLToPath(new URL('bash-child.mjs', import.meta.url))
  const peak = spawnSync(process.execPath, [child, HUNDRED_MB], { encoding: 'utf8' })
  return [
    { id: 'bash-true', value: quick.ratio, unit: '× raw spawn', reference: quick.reference, budget: 1.1 },
    { id: 'bash-50-concurrent', value: many.ratio, unit: '× raw spawns', reference: many.reference, budget: 1.1 },
    { id: 'bash-100mb', value: large.ratio, unit: '× raw spawn', reference: large.reference, budget: 1.1 },
    { id: 'bash-100mb-rss', value: Number(peak.stdout), unit: 'MB peak RSS', budget: 110 },
  ]
}

/** What the sandbox made of the command, spawned as it is. */
async function rawConfined(sandbox, request) {
  const command = await sandbox.confine(request)
  const [file, ...args] = command.argv
  const stdio = ['ignore', 'pipe', 'pipe', ...command.extraStdio]
  const started = performance.now()
  await new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: request.workdir, env: command.env, stdio, detached: true })
    for (const stream of child.stdio.slice(1)) stream?.resume()
    child.on('error', reject)
    child.on('close', resolve)
  })
  const elapsed = performance.now() - started
  command.release()
  return elapsed
}

async function sandboxed() {
  const ctx = new Context()
  const workdir = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-bench-')))
  try {
    await ctx.plugin(SandboxLocal)
    const status = await ctx.sandbox.status()
    if (!status.available) {
      console.error(`sandbox-true is left out: ${status.reason}`)
      return []
    }
    await ctx.plugin(SandboxPolicyService, { mode: 'read-only', network: 'none', writableRoots: [workdir] })
    await ctx.plugin(BashSandbox, { cwd: workdir })
    const { shell, sandbox, sandboxPolicy } = ctx
    const policy = await sandboxPolicy.resolve({})
    const spec = shell.resolve({ command: 'true', sandboxPolicy: policy })
    const bash = spawnSync('sh', ['-c', 'command -v bash'], { encoding: 'utf8' }).stdout.trim()
    const request = { argv: [bash, '-c', 'true'], workdir, env: spec.env, policy }
    const values = []
    const references = []
    for (let round = 0; round < 110; round++) {
      const reference = await rawConfined(sandbox, request)
      const value = await time(() => shell.run(spec))
      if (round < 10) continue
      references.push(reference)
      values.push(value)
    }
    const ratio = median(values.map((value, round) => value / references[round]))
    return [{ id: 'sandbox-true', value: ratio, unit: '× raw runner', reference: median(references), budget: 1.15 }]
  } finally {
    await ctx.fiber.dispose()
    rmSync(workdir, { recursive: true, force: true })
  }
}

export const benches = [bash, sandboxed]
