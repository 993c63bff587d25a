// Which git settings are worth a warning.
import { expect, it } from 'vitest'
import { runningSettings } from '../src/audit/settings.ts'

const keys = (text: string): string[] => [...runningSettings(text).keys()]

it.each([
  ['core', 'hooksPath', '.githooks'],
  ['core', 'fsmonitor', 'touch x'],
  ['core', 'sshCommand', 'ssh -x'],
  ['core', 'pager', 'less'],
  ['core', 'editor', 'vi'],
  ['filter "x"', 'clean', 'cat'],
  ['filter "x"', 'process', 'cat'],
  ['alias', 'st', '!touch x'],
  ['include', 'path', '../evil'],
  ['includeIf "gitdir:/"', 'path', '../evil'],
  ['diff', 'external', 'x'],
  ['diff "x"', 'textconv', 'x'],
  ['merge "x"', 'driver', 'x'],
  ['difftool "x"', 'cmd', 'x'],
  ['gpg', 'program', 'x'],
  ['gpg "ssh"', 'program', 'x'],
  ['credential', 'helper', '!x'],
  ['credential "https://example.com"', 'helper', 'x'],
  ['remote "origin"', 'uploadpack', 'x'],
  ['remote "origin"', 'url', 'ext::sh -c x'],
  ['url "ext::x"', 'insteadOf', 'https://'],
  ['submodule "x"', 'update', '!x'],
  ['pager', 'log', 'x'],
  ['sequence', 'editor', 'x'],
  ['hook "x"', 'command', 'x'],
])('tells of [%s] %s = %s', (section, name, value) => {
  expect(keys(`[${section}]\n\t${name} = ${value}\n`)).toHaveLength(1)
  expect(
    keys(`[${section.toUpperCase().replace(/".*"/, section.match(/".*"/)?.[0] ?? '')}] ${name.toUpperCase()}=${value}`),
  ).toHaveLength(1)
})

it.each([
  ['core', 'bare', 'false'],
  ['core', 'fsmonitor', 'true'],
  ['core', 'pager', 'false'],
  ['core', 'worktree', '../../../sub'],
  ['pager', 'log', 'off'],
  ['alias', 'st', 'status'],
  ['remote "origin"', 'url', 'https://example.com/x.git'],
  ['branch "main"', 'merge', 'refs/heads/main'],
  ['submodule "x"', 'update', 'rebase'],
  ['user', 'name', 'core.hooksPath = x'],
])('says nothing of [%s] %s = %s', (section, name, value) => {
  expect(keys(`[${section}]\n\t${name} = ${value}\n`)).toEqual([])
})

it('sees a value that was added to a key', () => {
  const [before, after] = ['[include] path = a', '[include] path = a\n[include] path = b'].map(runningSettings)
  expect(after?.get('include.path')).not.toBe(before?.get('include.path'))
})
