// What `isConcurrencySafe` promises: calls that overlap give what calls one after another give.
import { isDeepStrictEqual } from 'node:util'
import type { Json } from '@deepseek-ai/dsh-tools'
import type { Bench, Called } from '../bench.ts'
import { failureText, type Session } from '../session.ts'
import { fail, shown, skip } from '../verdict.ts'

const OVERLAPPING = 4

export async function checkConcurrency(session: Session): Promise<void> {
  await session.withBench(async (bench) => {
    const { definition } = bench
    if (definition.isConcurrencySafe === undefined) skip('does not declare isConcurrencySafe')
    const candidates = session.runnable(bench.definition, session.spec.runs)
    const safe = candidates.filter(
      (args) => bench.ctx.tools.executionMode({ name: definition.name, arguments: args }).kind === 'parallel',
    )
    if (safe.length === 0) skip('calls none of the known-good arguments safe')
    let compared = 0
    for (const args of safe.slice(0, 10)) if (await compare(session, bench, args)) compared++
    if (compared === 0) skip('values differ between calls one after another: give normalize')
  })
}

async function compare(session: Session, bench: Bench, args: Json): Promise<boolean> {
  const outcome = (called: Called): unknown => outcomeOf(session, called)
  const [first, second] = await bench.inWorld(
    async (world) => [await bench.call(args, world), await bench.call(args, world)] as const,
  )
  if (!isDeepStrictEqual(outcome(first), outcome(second))) return false
  const together = await bench.inWorld((world) =>
    Promise.all(Array.from({ length: OVERLAPPING }, () => bench.call(args, world))),
  )
  for (const called of together) {
    if (called.result === undefined || called.bodyPending) fail('a call did not settle beside others', args)
    if (isDeepStrictEqual(outcome(called), outcome(first))) continue
    fail(`gives ${shown(outcome(called))} beside others, and ${shown(outcome(first))} alone`, args)
  }
  return true
}

/** The value, or the code of the failure. Messages of failures may name what differs from call to call. */
function outcomeOf(session: Session, called: Called): unknown {
  const { result } = called
  if (result === undefined) return failureText(called)
  if (result.isError) return result.error.code
  return session.spec.normalize === undefined ? result.value : session.spec.normalize(result.value)
}
