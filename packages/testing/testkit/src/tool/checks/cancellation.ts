// Cancellation at every moment of a call, and the deadline: the body settles soon and leaves nothing on the caller's signal.
import { isDeepStrictEqual } from 'node:util'
import type { Json } from '@deepseek-ai/dsh-tools'
import type { Bench, Called, CallOptions } from '../bench.ts'
import { failureText, turns, type Session } from '../session.ts'
import { fail, skip } from '../verdict.ts'

export async function checkCancelBefore(session: Session): Promise<void> {
  await session.withBench(async (bench) => {
    const { settleMs } = session.spec
    const [valid] = session.valid(bench.definition, 1)
    const controller = new AbortController()
    controller.abort(new DOMException('testkit', 'AbortError'))
    const called = await bench.run(valid, { controller, withinMs: settleMs })
    if (called.entered > 0) fail('the body ran although the call was cancelled before', valid)
    if (!called.result?.isError || called.result.error.code !== 'ABORTED_BEFORE_DISPATCH') {
      fail(`wanted ABORTED_BEFORE_DISPATCH, got ${failureText(called)}`, valid)
    }
    await checkEnteredAborted(session, bench)
  })
}

/** A signal may have fired by the time a body looks at it: then no event comes any more. */
async function checkEnteredAborted(session: Session, bench: Bench): Promise<void> {
  const { definition } = bench
  const candidates = [...session.slowSamples(definition), ...session.samples(definition)]
  const args = candidates.length > 0 || session.spec.destructive ? candidates : session.generated(definition, 1)
  for (const each of args.slice(0, 3)) {
    const bodySignal = AbortSignal.abort(new DOMException('testkit', 'AbortError'))
    const called = await bench.run(each, { bodySignal, withinMs: session.spec.settleMs })
    if (called.bodyPending)
      fail(`a body whose signal had fired before it looked did not settle in ${session.spec.settleMs} ms`, each)
  }
}

/** Moments of a cancellation, from the start of a call on. */
const MOMENTS: readonly {
  what: string
  arm(this: void, abort: () => void): { options: CallOptions; stop(this: void): void }
}[] = [
  { what: 'at once', arm: (abort) => ({ options: { onCalled: abort }, stop() {} }) },
  {
    what: 'as its body was entered',
    arm: (abort) => ({ options: { onEntered: abort }, stop() {} }),
  },
  {
    what: 'a moment later',
    arm(abort) {
      const timer = setTimeout(abort, 20)
      return { options: {}, stop: () => clearTimeout(timer) }
    },
  },
]

export async function checkCancelDuring(session: Session): Promise<void> {
  await session.withBench(async (bench) => {
    const slow = session.slowSamples(bench.definition)
    const args =
      slow.length > 0
        ? [...slow, ...session.samples(bench.definition).slice(0, 1)]
        : session.runnable(bench.definition, 3)
    for (const each of args) for (const moment of MOMENTS) await cancelOnce(session, bench, each, moment)
  })
}

async function cancelOnce(session: Session, bench: Bench, args: Json, moment: (typeof MOMENTS)[number]): Promise<void> {
  const { settleMs } = session.spec
  const rejections = session.rejections.length
  const controller = new AbortController()
  const { options, stop } = moment.arm(() => controller.abort(new DOMException('testkit', 'AbortError')))
  const called = await bench.run(args, { ...options, controller, withinMs: settleMs })
  stop()
  await turns()
  const when = `cancelled ${moment.what}`
  if (called.result === undefined || called.bodyPending) fail(`${when}: did not settle in ${settleMs} ms`, args)
  if (called.result.isError && called.result.error.code === 'INVALID_TOOL_OUTPUT')
    fail(`${when}: ${failureText(called)}`, args)
  if (called.listeners > 0) fail(`${when}: ${leftBehind(called)}`, args)
  session.failOnRejections(rejections, args)
}

function leftBehind({ listeners }: Called): string {
  return `leaves ${listeners === 1 ? 'a listener' : `${listeners} listeners`} on the caller's signal`
}

export async function checkCancelAfter(session: Session): Promise<void> {
  await session.withBench(async (bench) => {
    for (const args of session.runnable(bench.definition, 3)) {
      const rejections = session.rejections.length
      const controller = new AbortController()
      const called = await bench.run(args, { controller })
      if (called.result === undefined) fail('the call did not settle', args)
      if (called.listeners > 0) fail(leftBehind(called), args)
      const before = structuredClone(called.result)
      controller.abort(new DOMException('testkit', 'AbortError'))
      await turns()
      if (!isDeepStrictEqual(structuredClone(called.result), before))
        fail('a cancellation after the end changed the result', args)
      session.failOnRejections(rejections, args)
    }
  })
}

/** The tool's own deadline would take its time; the promise to keep one does not depend on its length. */
const SHORT_DEADLINE_MS = 100

export async function checkTimeout(session: Session): Promise<void> {
  await session.withBench(async (bench) => {
    const { timeoutMs } = bench.definition
    if (timeoutMs === undefined) skip('declares no timeoutMs')
    const slow = session.slowSamples(bench.definition)
    if (slow.length === 0) skip('no known-good arguments that take long: give slowArgs')
    const shortened = Math.min(timeoutMs, SHORT_DEADLINE_MS)
    for (const args of slow) {
      const called = await bench.runWithDeadline(args, shortened, { withinMs: shortened + session.spec.settleMs })
      if (called.result === undefined || called.bodyPending) {
        fail(`did not settle in ${session.spec.settleMs} ms after its deadline`, args)
      }
      if (!called.result.isError) skip('slowArgs end before the deadline')
      if (called.result.error.code !== 'TOOL_TIMEOUT') fail(`wanted TOOL_TIMEOUT, got ${failureText(called)}`, args)
    }
  })
}
