// `dsh web`: boots the web preset, prints the address once everything is up, takes over what changes on disk, and stays until a signal.
import { reloadLines } from '@deepseek-ai/dsh-loader'
import type { Context } from '@deepseek-ai/cordis'
import type { Server } from '@deepseek-ai/dsh-server'
import { EXIT, type ExitCode } from '../exit.ts'
import { required, start } from '../host.ts'
import type { WebFlags } from '../program.ts'

export async function web(flags: WebFlags): Promise<ExitCode> {
  const overrides = flags.port === undefined ? [] : [{ id: 'server', config: { port: flags.port } }]
  const host = await start(flags, { overrides, handleSignals: true })
  const { url }: Server = required(host.ctx, 'server', flags)
  if (flags.watch) follow(host.ctx)
  process.stdout.write(`dsh web: ${url}\n`)
  if (flags.open && canOpenBrowser()) await openBrowser(url)
  // A signal stops the host and ends the process; nothing else does.
  return new Promise<ExitCode>(() => setInterval(() => undefined, 2 ** 30)).catch(() => EXIT.failed)
}

/** Tells of each reload on standard error. */
function follow(ctx: Context): void {
  ctx.on('loader/reload', (report) => {
    for (const line of reloadLines(report)) process.stderr.write(`dsh: ${line}\n`)
  })
  ctx.loader.watch()
}

/** False where a browser would open on somebody else's screen, or on none. */
function canOpenBrowser(): boolean {
  const { env } = process
  if (env['CI'] !== undefined || env['SSH_CONNECTION'] !== undefined || env['SSH_TTY'] !== undefined) return false
  return process.platform !== 'linux' || env['DISPLAY'] !== undefined || env['WAYLAND_DISPLAY'] !== undefined
}

async function openBrowser(url: string): Promise<void> {
  const { default: open } = await import('open')
  const browser = await open(url).catch(() => undefined)
  // No browser is no reason to fail: the address is on the screen.
  browser?.on('error', () => undefined)
  browser?.unref()
}
