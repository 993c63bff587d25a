// How documents are read: which blocks are programs, what they say that they print, and when output is what a text shows.
import { describe, expect, it } from 'vitest'
import { announced, codeBlocks, prints, programs } from './product/markdown.ts'

const PAGE = `
\`\`\`ts src/a.ts
console.log(1) // 1
  console.log(f('//')) // two words
console.log(2)
\`\`\`

\`\`\`ts website-api
get(): void
\`\`\`

\`\`\`ts tool-output
{ a: b }
\`\`\`
`

it('tells programs from fragments, and knows what they announce', () => {
  const [program, ...others] = programs(codeBlocks(PAGE))
  expect(others).toEqual([])
  expect(program?.file).toBe('src/a.ts')
  expect(program && announced(program)).toEqual(['1', 'two words'])
  expect(program && announced({ ...program, text: `// … the rest\n${program.text}` })).toEqual([])
})

describe('output', () => {
  it('must be the text, sign by sign', () => {
    expect(prints('a (b) [c]? $1', 'a (b) [c]? $1')).toBe(true)
    expect(prints('a.b', 'axb')).toBe(false)
    expect(prints('a', 'a\nb')).toBe(false)
    expect(prints('a\nb', 'ab')).toBe(false)
  })

  it('may differ in times', () => {
    expect(prints('done in 0.3 s, after 12 ms', 'done in 14 s, after 3.5 ms')).toBe(true)
    expect(prints('3 files', '4 files')).toBe(false)
  })

  it('may be anything where the text leaves something out', () => {
    expect(prints('{ a: 1, … }', '{ a: 1, b: [2] }')).toBe(true)
    expect(prints('{ a: 1, … }', '{ a: 2, b: [2] }')).toBe(false)
  })

  it('may have any lines where the text leaves some out', () => {
    expect(prints('first\n…\nlast', 'first\nlast')).toBe(true)
    expect(prints('first\n…\nlast', 'first\n1\n2\nlast')).toBe(true)
    expect(prints('first\n…', 'first\n1\n2')).toBe(true)
    expect(prints('first\n…\nlast', 'first\n1')).toBe(false)
  })
})
