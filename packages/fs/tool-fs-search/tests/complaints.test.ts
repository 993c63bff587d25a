import { expect, it } from 'vitest'
import { Complaints } from '../src/complaints.ts'
import type { Skip } from '../src/ripgrep.ts'

function read(text: string, size = 7): { complaints: Complaints; skips: Skip[] } {
  const skips: Skip[] = []
  const complaints = new Complaints((skip) => {
    skips.push(skip)
    return false
  })
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) complaints.read(bytes.subarray(at, at + size))
  complaints.end()
  return { complaints, skips }
}

it('tells places that cannot be read from everything else', () => {
  const { complaints } = read(
    [
      'rg: ./b: Permission denied (os error 13)',
      'rg: ./a: with: colon: IO error for operation on ./a: Permission denied (os error 13)',
      'rg: regex parse error:',
      '    (',
      '',
    ].join('\n'),
  )
  expect(complaints.unreadable.items()).toEqual(['a: with: colon', 'b'])
  expect(complaints.text).toBe('regex parse error:\n    (\n')
})

it('hears which rule left a place out', () => {
  const { skips, complaints } = read(
    [
      'rg: DEBUG|ignore::walk|walk.rs:1942: ignoring ./.git: Ignore(IgnoreMatch(Hidden))',
      'rg: DEBUG|ignore::walk|walk.rs:1942: ignoring ./d: Ignore(IgnoreMatch(Gitignore(Glob { from: Some("./.gitignore"), original: "d" })))',
      'rg: DEBUG|ignore::walk|walk.rs:1942: ignoring ./x: Ignore(IgnoreMatch(Override(Glob(Matched(Glob { from: None, original: "!x" })))))',
      'rg: DEBUG|ignore::walk|walk.rs:1929: ignoring ./big: 3004 bytes',
      'rg: DEBUG|globset|lib.rs:511: built glob set; 0 literals',
      '',
    ].join('\n'),
  )
  expect(skips).toEqual([
    { rule: 'hidden', path: '.git', glob: undefined },
    { rule: 'ignored', path: 'd', glob: 'd' },
    { rule: 'excluded', path: 'x', glob: '!x' },
    { rule: 'too-large', path: 'big' },
  ])
  expect(complaints.text).toBe('')
})

it('stays small, whatever is written', () => {
  const { complaints } = read(
    `rg: ${'x'.repeat(3_000_000)}\n`.repeat(3) + 'rg: ./a: Permission denied (os error 13)\n'.repeat(5000),
    65_536,
  )
  expect(complaints.text.length).toBeLessThan(20_000)
  expect(complaints.unreadable.total).toBe(5000)
  expect(complaints.unreadable.items()).toHaveLength(20)
})
