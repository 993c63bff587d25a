import { describe, expect, it } from 'vitest'
import { codeFrame, describeException, eraseTypes, type ErasedProgram } from '../src/program.ts'

function erased(program: string): ErasedProgram {
  const result = eraseTypes(program)
  if ('syntaxError' in result) throw new Error(result.syntaxError)
  return result
}

const syntaxError = (program: string): string => {
  const result = eraseTypes(program)
  return 'syntaxError' in result ? result.syntaxError : 'parsed'
}

describe('erasing types', () => {
  it('keeps await and return usable and drops the types', () => {
    const { code } = erased('const a: number = await 1\nreturn a as unknown')
    expect(code).toContain('await 1')
    expect(code).not.toContain('number')
  })

  it('names line and column of a syntax error in characters, whatever came before it', () => {
    expect(syntaxError('const é = "😀"\nconst b = ;')).toMatch(/\(2:11\)/)
    expect(syntaxError('const b = ;')).toMatch(/\(1:11\)/)
  })

  it('says when the program ends too early', () => {
    expect(syntaxError('return 1 +')).toBe('SyntaxError: Unexpected token at the end of the program')
    expect(syntaxError('if (true) {')).toContain('end of the program')
  })

  it('points at the second of two declarations', () => {
    const message = syntaxError('const a = 1\nconst a = 2')
    expect(message).toMatch(/\(2:7\)/)
    expect(message).toContain('> 2 | const a = 2\n    |       ^')
  })

  it('refuses namespaces by name', () => {
    expect(syntaxError('namespace N { export const a = 1 }')).toContain('namespace')
  })
})

describe('telling exceptions', () => {
  const program = 'interface A { b: string }\n\nthrow new Error("x")'

  it('maps frames back and drops those of the wrapper and the runtime', () => {
    const { code, locate } = erased(program)
    const line = code.split('\n').findIndex((each) => each.includes('throw')) + 1
    const stack = `    at inner (program.ts:${line}:2)\n    at <anonymous> (program.ts:1:1)\n    at native\n    at x (prelude:3:4)`
    expect(locate({ line, column: 2 })).toEqual({ line: 3, column: 1 })
    expect(describeException(program, erased(program), 'Error: x', stack)).toBe(
      'Error: x\n    at inner (line 3:1)\n  2 | \n> 3 | throw new Error("x")\n    | ^',
    )
  })

  it("keeps the message alone when no frame is the program's", () => {
    expect(describeException(program, erased(program), 'Error: x', 'at prelude:1:1\nnonsense')).toBe('Error: x')
  })

  it('shows the neighbours of a line and cuts long ones', () => {
    expect(codeFrame('a\nb\nc', { line: 2, column: 1 })).toBe('  1 | a\n> 2 | b\n    | ^\n  3 | c')
    expect(codeFrame('x'.repeat(10_000), { line: 1, column: 9000 }).length).toBeLessThan(200)
  })
})
