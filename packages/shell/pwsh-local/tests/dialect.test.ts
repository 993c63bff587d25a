import { existsSync, readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pwshDialect } from '../src/dialect.ts'
import { findPwsh, type PwshSearch } from '../src/find-pwsh.ts'

const invoke = (command: string) => pwshDialect('/opt/pwsh').invoke(command)
const scriptOf = (argv: readonly string[]): string => Buffer.from(argv.at(-1) ?? '', 'base64').toString('utf16le')

/** What PowerShell reads between the quotes of the literal that `$DshCommand` is set to. */
function literalOf(script: string): string {
  const start = script.indexOf("$DshCommand = '") + "$DshCommand = '".length
  const isQuote = (at: number): boolean => /['\u2018-\u201B]/.test(script.charAt(at))
  let text = ''
  for (let at = start; ; at++) {
    if (isQuote(at) && !isQuote(at + 1)) return text
    if (isQuote(at)) at++
    text += script.charAt(at)
  }
}

describe('a PowerShell command', () => {
  it('travels encoded, without profile, banner, prompts or XML', () => {
    const { argv } = invoke('Get-Date')
    const flags = ['-NoLogo', '-NoProfile', '-NonInteractive', '-InputFormat', 'Text', '-OutputFormat', 'Text']
    expect(argv.slice(0, -1)).toEqual(['/opt/pwsh', ...flags, '-EncodedCommand'])
    expect(argv.at(-1)).toMatch(/^[A-Za-z0-9+/]+=*$/)
  })

  it('arrives as it was written, whatever quotes it holds', () => {
    const unit = fc.constantFrom("'", '"', '$', '`', '\u2018', '\u2019', '\u201A', '\u201B', '\n', '😀', 'a', "'@", '#')
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), (command) => {
        // A quote at the end is doubled before the one that closes: an odd run, of which the last one closes.
        expect(literalOf(scriptOf(invoke(`${command};`).argv))).toBe(`${command};`)
      }),
    )
  })

  it('goes through a file of its own when it is too long for a command line, and leaves none', () => {
    const command = `Write-Output 'é'\n${'#'.repeat(20_000)}`
    const { argv, release } = invoke(command)
    expect(argv.join(' ').length).toBeLessThan(32_767)
    const file = /-LiteralPath '([^']+)'/.exec(scriptOf(argv))?.[1] ?? ''
    expect(readFileSync(file, 'utf8')).toBe(`\uFEFF${command}`)
    release?.()
    expect(existsSync(file)).toBe(false)
  })

  it('ends with its own exit, that of a native program, or 1 for an error', () => {
    const script = scriptOf(invoke('x').argv)
    expect(script).toContain('if ($global:LASTEXITCODE) { exit $global:LASTEXITCODE }')
    expect(script).toContain('if (-not $global:DshSucceeded) { exit 1 }')
    expect(script.indexOf('OutputEncoding')).toBeLessThan(script.indexOf('$DshCommand ='))
  })

  it('hears nothing of terminals and pagers that Windows does not have', () => {
    const { quiet } = pwshDialect('pwsh.exe', 'win32')
    expect(quiet).toMatchObject({ NO_COLOR: '1', POWERSHELL_TELEMETRY_OPTOUT: '1' })
    expect(Object.keys(quiet)).not.toContain('TERM')
  })
})

describe('where PowerShell is', () => {
  const windows = {
    ProgramFiles: 'C:\\Program Files',
    Path: '"C:\\Tools One";relative;C:\\Store',
    SystemRoot: 'C:\\Windows',
  }
  const search = (files: readonly string[], more: Partial<PwshSearch> = {}): string =>
    findPwsh({
      pwshPath: undefined,
      env: windows,
      platform: 'win32',
      isProgram: (file) => files.includes(file),
      ...more,
    })
  const installed = 'C:\\Program Files\\PowerShell\\7\\pwsh.exe'
  const old = 'C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe'

  it('is PowerShell 7 before anything on PATH before Windows PowerShell', () => {
    expect(search([installed, 'C:\\Store\\pwsh.exe', old])).toBe(installed)
    expect(search(['C:\\Tools One\\pwsh.exe', 'C:\\Store\\pwsh.exe', old])).toBe('C:\\Tools One\\pwsh.exe')
    expect(search(['C:\\Store\\pwsh.exe', old])).toBe('C:\\Store\\pwsh.exe')
    expect(search([old])).toBe(old)
  })

  it('is never the folder of a project', () => {
    expect(() => search(['relative\\pwsh.exe'])).toThrow(/install PowerShell 7/)
  })

  it('is what was set, or an error that names it', () => {
    expect(search(['D:\\pwsh.exe'], { pwshPath: 'D:\\pwsh.exe' })).toBe('D:\\pwsh.exe')
    expect(() => search([installed], { pwshPath: 'D:\\no.exe' })).toThrow(/"D:\\\\no.exe" is no program/)
  })

  it('is on PATH elsewhere', () => {
    const env = { PATH: 'bin:/usr/bin:/opt/bin' }
    expect(search(['/opt/bin/pwsh'], { env, platform: 'linux' })).toBe('/opt/bin/pwsh')
    expect(() => search(['bin/pwsh'], { env, platform: 'linux' })).toThrow(
      expect.objectContaining({ code: 'SHELL_NOT_FOUND' }),
    )
  })
})
