// What is said of commands that ran at the same time.
import { expect, it } from 'vitest'
import { RunningCalls, sharedWith } from '../src/calls.ts'

it('tells each command of the most that ran beside it, also after they have ended', () => {
  const calls = new RunningCalls()
  const first = calls.begin()
  const second = calls.begin()
  calls.end(first)
  const third = calls.begin()
  calls.end(second)
  calls.end(second)
  const fourth = calls.begin()
  for (const each of [first, second, third, fourth])
    expect(sharedWith(each)).toEqual([expect.stringMatching(/^another command of this session ran at the same time/)])
  calls.begin()
  expect(sharedWith(fourth)).toEqual([expect.stringMatching(/^up to 2 other commands/)])
})

it('says nothing of a command that ran alone, after others', () => {
  const calls = new RunningCalls()
  calls.end(calls.begin())
  expect(sharedWith(calls.begin())).toEqual([])
})
