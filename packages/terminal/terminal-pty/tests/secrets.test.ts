// What was typed as a secret is in no text.
import { expect, it } from 'vitest'
import fc from 'fast-check'
import { Secrets } from '../src/secrets.ts'

function masked(secrets: readonly string[], text: string): string {
  const held = new Secrets()
  for (const secret of secrets) held.add(secret)
  return held.mask(text)
}

it('leaves text alone while there is no secret', () => {
  expect(masked([], 'as it is')).toBe('as it is')
  expect(masked(['\r', '  '], 'as  it is')).toBe('as  it is')
})

it('hides a secret wherever it stands, without its Enter', () => {
  expect(masked(['hunter2\r'], 'Password: hunter2\nxhunter2x')).toBe('Password: ••••\nx••••x')
})

it('hides each line, and the longest of several', () => {
  expect(masked(['first\rfirst and more\r'], 'first and more, first')).toBe('••••, ••••')
})

it('hides a short secret only where it stands alone', () => {
  expect(masked(['y\r'], 'y or yes? y')).toBe('•••• or yes? ••••')
})

it('takes a secret literally', () => {
  expect(masked(['a.c(d]^$-'], 'abc(d] a.c(d]^$-')).toBe('abc(d] ••••')
})

it('leaves none of any secrets in any text', () => {
  const secret = fc
    .string({ unit: 'binary', minLength: 4, maxLength: 12 })
    .filter((each) => !/[\r\n•]/.test(each) && each.trim() !== '')
  fc.assert(
    fc.property(fc.array(secret, { minLength: 1, maxLength: 4 }), fc.string({ unit: 'binary' }), (secrets, between) => {
      const text = masked(secrets, secrets.join(between))
      for (const each of secrets) expect(text.includes(each)).toBe(false)
    }),
  )
})
