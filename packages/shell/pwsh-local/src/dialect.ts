// PowerShell as a dialect: how a command travels to it without a quoting layer, and how its exit code comes back honest.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { QUIET_ENVIRONMENT, type Dialect, type Invocation } from '@deepseek-ai/dsh-shell/executor'

/** Windows takes a command line of 32,767 units, other systems an argument of 128 KiB; the rest is for the program's path. */
const MAX_ENCODED = 30_000

const FLAGS = ['-NoLogo', '-NoProfile', '-NonInteractive'] as const

/**
 * Without these an encoded command writes its errors as XML and waits for XML on its input, since a PowerShell is presumed
 * to be at the other end.
 */
const TEXT = ['-InputFormat', 'Text', '-OutputFormat', 'Text'] as const

const QUIET_ON_WINDOWS: Readonly<Record<string, string>> = {
  NO_COLOR: '1',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GCM_INTERACTIVE: 'never',
  PIP_NO_INPUT: '1',
  npm_config_yes: 'true',
}

const QUIET_POWERSHELL = { POWERSHELL_TELEMETRY_OPTOUT: '1', POWERSHELL_UPDATECHECK: 'Off' }

export function pwshDialect(pwsh: string, platform: NodeJS.Platform = process.platform): Dialect {
  const quiet = { ...(platform === 'win32' ? QUIET_ON_WINDOWS : QUIET_ENVIRONMENT), ...QUIET_POWERSHELL }
  return { quiet, invoke: (command) => invocation(pwsh, command) }
}

function invocation(pwsh: string, command: string): Invocation {
  const argvOf = (script: string): Invocation['argv'] => [pwsh, ...FLAGS, ...TEXT, '-EncodedCommand', encoded(script)]
  const argv = argvOf(bootstrap(`'${doubledQuotes(command)}'`))
  if (argv.at(-1)!.length <= MAX_ENCODED) return { argv }
  const folder = mkdtempSync(join(tmpdir(), 'dsh-pwsh-'))
  const file = join(folder, 'command.ps1')
  // Windows PowerShell takes a file without a mark for the system's own code page.
  writeFileSync(file, `\uFEFF${command}`, { mode: 0o600 })
  return {
    argv: argvOf(bootstrap(`(Get-Content -Raw -Encoding UTF8 -LiteralPath '${doubledQuotes(file)}')`)),
    release: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** UTF-16LE in base64: what PowerShell takes as a command. */
export function encoded(script: string): string {
  return Buffer.from(script, 'utf16le').toString('base64')
}

/** PowerShell ends a single-quoted string at typographic quotes as well. */
function doubledQuotes(text: string): string {
  return text.replaceAll(/['\u2018\u2019\u201A\u201B]/g, '$&$&')
}

/**
 * What runs: `text` is an expression that gives the command. The command is a script of its own, so that `param`, `using` and line
 * numbers are right; it is not run from a file, which an execution policy could forbid. Each setting stands alone: constrained
 * language refuses some of them, and a host without a console others.
 *
 * The exit code is the command's own `exit`; 1 for an error that ended it, or for a last statement that failed; otherwise that of the
 * last native program. The statement that looks at the last one is left out where the command would not parse with it.
 */
export function bootstrap(text: string): string {
  return `$ProgressPreference = 'SilentlyContinue'
try { [Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false } catch { }
try { [Console]::InputEncoding = New-Object System.Text.UTF8Encoding $false } catch { }
try { $OutputEncoding = New-Object System.Text.UTF8Encoding $false } catch { }
try { $Error.Clear() } catch { }
$global:LASTEXITCODE = 0
$global:DshSucceeded = $true
$DshCommand = ${text}
$DshWatched = $DshCommand + "\`n\`n\`$global:DshSucceeded = \`$?"
try { $null = [scriptblock]::Create($DshWatched) } catch { $DshWatched = $DshCommand }
Invoke-Expression -Command $DshWatched
if (-not $?) { $global:DshSucceeded = $false }
if ($global:LASTEXITCODE) { exit $global:LASTEXITCODE }
if (-not $global:DshSucceeded) { exit 1 }
exit 0
`
}
