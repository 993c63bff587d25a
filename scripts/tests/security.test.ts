// docs/security.md promises a test with each line: the files are there, and the tests in them.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const page = fileURLToPath(new URL('../../docs/security.md', import.meta.url))
const text = readFileSync(page, 'utf8')
const [, defended = ''] = /## Defended\n([\s\S]*?)\n## /.exec(text) ?? []
const rows = defended.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| against '))
const citations = [...text.matchAll(/\]\(([^)]+\.ts)\) `([^`]+)`/g)].map(([, file = '', title = '']) => ({
  file,
  title,
}))

describe('the threat model', () => {
  it('names a test in every line that says what is defended', () => {
    expect(rows.length).toBeGreaterThan(10)
    expect(rows.filter((row) => !/\]\([^)]+\.ts\) `[^`]+` \|$/.test(row))).toEqual([])
  })

  it.each(citations)('cites $file: $title', ({ file, title }) => {
    expect(readFileSync(join(dirname(page), file), 'utf8')).toContain(title)
  })
})
