// Lines that stand for code, and lines that only look like it.
import { describe, expect, it } from 'vitest'
import { placeholderIn } from '../src/placeholder.ts'

describe('a placeholder', () => {
  it.each([
    '// ... rest of the code',
    '  # … existing code …',
    '/* ... unchanged ... */',
    '// the existing code stays ...',
    '// ... keep the other methods',
    '-- ... remaining columns',
  ])('is the line %j', (line) => {
    expect(placeholderIn(`one\n${line}\ntwo`, 'one')).toBe(line.trim())
  })

  it.each([
    '<!-- ... -->existing',
    '...rest',
    '  ...existing,',
    'const { a, ...rest } = b',
    '// ...',
    'yield ...',
    '// the rest of the code follows',
  ])('is not the line %j', (line) => {
    expect(placeholderIn(`one\n${line}`, 'one')).toBeUndefined()
  })

  it('is the text that it is when the old text has it too', () => {
    expect(placeholderIn('// ... rest of the code\nx', 'y\n  // ... rest of the code')).toBeUndefined()
  })
})
