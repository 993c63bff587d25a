import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseGitConfig, readGitConfig } from '@deepseek-ai/dsh-sandbox'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'dsh-git-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('settings of git', () => {
  it.each([
    ['[core]\n\thooksPath = .githooks', '.githooks'],
    ['[CORE] HooksPath=".git hooks" # theirs', '.git hooks'],
    ['[core]\nhookspath = a\\\\b ; c', 'a\\b'],
    ['[core]\nhooksPath = a\\\nb', 'ab'],
    ['[core]\r\nhooksPath = x\r\n', 'x'],
    ['[core]\nhooksPath = first\n[core]\nhooksPath = "#last"', '#last'],
  ])('are read as git reads them: %j', (text, wanted) => {
    expect(new Map(parseGitConfig(text)).get('core.hookspath')).toBe(wanted)
  })

  it('keep a subsection as it is written, and take a bare name for true', () => {
    expect(parseGitConfig('[Remote "Or\\"igin"]\nURL = x\n[core]\nbare')).toEqual([
      ['remote.Or"igin.url', 'x'],
      ['core.bare', 'true'],
    ])
  })

  it('are followed through includes, conditional ones and circles too', () => {
    const file = join(folder, 'config')
    writeFileSync(file, '[includeIf "gitdir:~/x/"]\npath = other\n')
    writeFileSync(join(folder, 'other'), '[core]\nhooksPath = found\n[include]\npath = config\n')
    expect(readGitConfig([join(folder, 'missing'), file]).get('core.hookspath')).toBe('found')
  })

  it('never throw, whatever a file holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const [key, value] of parseGitConfig(`[a]\n${text}`))
          expect([typeof key, typeof value]).toEqual(['string', 'string'])
      }),
    )
  })
})
