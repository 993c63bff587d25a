// Knows which git settings name a program that git runs, or bring in other settings.
import { parseGitConfig } from '@deepseek-ai/dsh-sandbox'

const ALWAYS = [
  /^core\.(hookspath|sshcommand|editor|askpass|gitproxy|alternaterefscommand)$/,
  /^include(if\..*)?\./,
  /^filter\./,
  /^hook\./,
  /^diff\.(external|.*\.(command|textconv))$/,
  /^merge\..*\.driver$/,
  /^(difftool|mergetool|guitool|browser|man)\..*\.(cmd|path)$/,
  /^(tar\..*\.command|trailer\..*\.(command|cmd))$/,
  /^(sequence\.editor|interactive\.difffilter|init\.templatedir|uploadpack\.packobjectshook)$/,
  /^gpg\.(.*\.)?(program|defaultkeycommand)$/,
  /^credential\.(.*\.)?helper$/,
  /^remote\..*\.(vcs|uploadpack|receivepack)$/,
  /^url\..*\.(insteadof|pushinsteadof)$/,
  /^protocol\.(.*\.)?allow$/,
]
/** These turn something on or off, or name a program. */
const UNLESS_BOOLEAN = /^(core\.(fsmonitor|pager)|pager\..*)$/
const SHELL = /^(alias\.|submodule\..*\.update$)/
const REMOTE = /^remote\..*\.(url|pushurl)$/

/** Every value of such a key, in order and on lines of their own: the key may be there more than once. */
export function runningSettings(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [key, value] of parseGitConfig(text)) {
    if (!runs(key, value)) continue
    const earlier = found.get(key)
    found.set(key, earlier === undefined ? value : `${earlier}\n${value}`)
  }
  return found
}

function runs(key: string, value: string): boolean {
  if (ALWAYS.some((pattern) => pattern.test(key))) return true
  if (UNLESS_BOOLEAN.test(key)) return !/^(true|false|yes|no|on|off|[01]|)$/i.test(value)
  return (SHELL.test(key) && value.startsWith('!')) || (REMOTE.test(key) && value.startsWith('ext::'))
}
