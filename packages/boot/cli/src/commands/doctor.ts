// `dsh doctor`: what this machine can do for a composition, what it cannot, and what to install or set. Boots it and asks its services.
import { accessSync, constants, existsSync, mkdirSync } from 'node:fs'
import { homedir, release } from 'node:os'
import { dirname, join } from 'node:path'
import { errorMessage, type Context } from '@deepseek-ai/cordis'
import type { LlmProviderStatus } from '@deepseek-ai/dsh-llm'
import type { SandboxMode, SandboxStatus } from '@deepseek-ai/dsh-sandbox'
import type { Shell } from '@deepseek-ai/dsh-shell'
import { EXIT, type ExitCode } from '../exit.ts'
import { startWhatCan, type RunningHost } from '../host.ts'
import type { OutputFlags } from '../program.ts'

/** `limited`: it works, with something that a person should know. `missing`: it does not work. */
interface Finding {
  readonly area: 'machine' | 'home' | 'sandbox' | 'shell' | 'models' | 'plugins'
  readonly state: 'ok' | 'limited' | 'missing'
  readonly fact: string
  readonly remedy?: string
}

const MARKS = { ok: 'ok     ', limited: 'limited', missing: 'missing' } as const

/** Exit code 1 when something does not work; what works with limits is 0. */
export async function doctor(flags: OutputFlags): Promise<ExitCode> {
  const host = await startWhatCan(flags)
  try {
    const { ctx } = host
    const findings = [machine(), home(), ...(await confinement(ctx)), shell(ctx), ...models(ctx), ...plugins(host)]
    const text = flags.json === true ? JSON.stringify(findings, null, 2) : findings.map(lines).join('\n')
    process.stdout.write(`${text}\n`)
    return findings.some(({ state }) => state === 'missing') ? EXIT.failed : EXIT.done
  } finally {
    await host.dispose()
  }
}

function lines({ area, state, fact, remedy }: Finding): string {
  const indent = ' '.repeat(18)
  const told = `${MARKS[state]}  ${area.padEnd(9)}${fact}`
  return remedy === undefined ? told : `${told}\n${indent}-> ${remedy}`
}

function machine(): Finding {
  return {
    area: 'machine',
    state: 'ok',
    fact: `Node ${process.versions.node} on ${process.platform} ${release()}, ${process.arch}`,
  }
}

function home(): Finding {
  const folder = process.env['DSH_HOME'] ?? join(homedir(), '.dsh')
  try {
    const existing = existsSync(folder) ? folder : dirname(folder)
    if (!existsSync(existing)) mkdirSync(existing, { recursive: true })
    accessSync(existing, constants.W_OK)
    return { area: 'home', state: 'ok', fact: `sessions and settings go to ${folder}` }
  } catch (error) {
    const remedy = 'make the folder writable, or point DSH_HOME at one that is'
    return { area: 'home', state: 'missing', fact: `${folder} cannot be written: ${errorMessage(error)}`, remedy }
  }
}

/** What commands are kept from, here and now. */
async function confinement(ctx: Context): Promise<Finding[]> {
  const policies = ctx.get('sandboxPolicy')
  if (policies === undefined) return [UNCONFINED]
  const { defaultMode: mode, network } = policies
  const sandbox = ctx.get('sandbox')
  // The file tools keep to the mode by themselves.
  if (sandbox === undefined)
    return [{ ...UNCONFINED, fact: `${mode} holds for the file tools; nothing confines commands` }]
  const fact = `${mode} mode, network ${network}`
  const wide = {
    state: 'limited',
    remedy: 'commands may do all that you may; DSH_PERMISSION=workspace-write confines them',
  } as const
  const policy: Finding = { area: 'sandbox', state: 'ok', fact, ...(mode === 'danger-full-access' ? wide : {}) }
  return [policy, ...runner(await sandbox.status(), mode)]
}

const UNCONFINED: Finding = {
  area: 'sandbox',
  state: 'limited',
  fact: 'this composition confines nothing',
  remedy: 'use a preset with a sandbox, or run dsh inside a container or a virtual machine',
}

function runner(status: SandboxStatus, mode: SandboxMode): Finding[] {
  if (!status.available) {
    const refused = mode === 'danger-full-access' ? '' : '; until then every command is refused'
    const fact = `nothing here can confine a command: ${status.reason}${refused}`
    return [{ area: 'sandbox', state: 'missing', fact, remedy: status.remedy }]
  }
  return [
    { area: 'sandbox', state: 'ok', fact: `${status.runner} ${status.version} confines commands (probed)` },
    ...status.limits.map((fact): Finding => ({ area: 'sandbox', state: 'limited', fact })),
  ]
}

function shell(ctx: Context): Finding {
  const found: Shell | undefined = ctx.get('shell')
  if (found === undefined) {
    const remedy = 'install bash (PowerShell on Windows), or set shellPath of the shell row'
    return { area: 'shell', state: 'missing', fact: 'no shell started', remedy }
  }
  const confined = found.sandboxMode === undefined ? 'not confined' : 'confined'
  return {
    area: 'shell',
    state: found.sandboxMode === undefined ? 'limited' : 'ok',
    fact: `${found.dialect}, ${confined}`,
  }
}

function models(ctx: Context): Finding[] {
  const providers: readonly LlmProviderStatus[] = ctx.get('llm')?.status() ?? []
  const usable = providers.filter(({ configured }) => configured)
  const rows = providers.map(({ provider, configured, keySource, remedy }): Finding => {
    if (configured) return { area: 'models', state: 'ok', fact: `${provider} is ready` }
    const state = keySource === undefined ? 'limited' : 'missing'
    return { area: 'models', state, fact: `${provider} is not used`, ...(remedy === undefined ? {} : { remedy }) }
  })
  if (usable.some(({ provider }) => provider !== 'offline')) return rows.filter(({ state }) => state !== 'limited')
  return rows
}

function plugins({ report }: RunningHost): Finding[] {
  const failed = report.rows.filter(({ state }) => state === 'failed' || state === 'waiting')
  if (failed.length === 0) return [{ area: 'plugins', state: 'ok', fact: `${report.rows.length} rows started` }]
  return failed.map(({ row, state, error }) => {
    const fact = `row ${row} ${state === 'failed' ? 'did not start' : 'waits'}: ${error ?? 'no reason given'}`
    return { area: 'plugins', state: 'missing', fact }
  })
}
