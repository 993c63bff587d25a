// Arguments through the real registry: valid ones are taken, near-valid ones refused before the body, hostile ones survived.
import * as fc from 'fast-check'
import { validatorFor } from '@deepseek-ai/dsh-tools'
import type { Bench, Called } from '../bench.ts'
import { hostileArguments, POLLUTION, type HostileArguments } from '../hostile.ts'
import { nearValid } from '../near-valid.ts'
import { failureText, type CorpusCall, type Session } from '../session.ts'
import { fail, skip } from '../verdict.ts'

/** Failures that say something of the tool's promises rather than of the world it works in. */
const BROKEN_PROMISES = new Set([
  'INVALID_ARGS',
  'INVALID_TOOL_OUTPUT',
  'POLICY_FAILED',
  'UNKNOWN_TOOL',
  'ABORTED',
  'TOOL_ABANDONED',
])

const BUGS = new Set(['TypeError', 'ReferenceError', 'RangeError'])

export async function checkValid(session: Session): Promise<void> {
  const corpus = await session.corpus()
  if (corpus.length === 0) skip('destructive, and no known-good arguments: give args')
  const definition = await session.withBench(async (bench) => bench.definition)
  for (const called of corpus) {
    const problem = validProblem(called)
    if (problem !== undefined) fail(problem, called.origin === 'sample' ? called.args : await smallest(session, called))
  }
  // Where nothing could be made up, known-good arguments alone say too little.
  if (!session.spec.destructive) session.generated(definition, 1)
}

function validProblem(called: Called & Partial<Pick<CorpusCall, 'origin'>>): string | undefined {
  const { result, bodyPending, origin } = called
  if (result === undefined || bodyPending) return 'a call with valid arguments did not settle'
  if (!result.isError) return undefined
  const { code, name, cause } = result.error
  if (BROKEN_PROMISES.has(code)) return `valid arguments end as ${failureText(called)}`
  // A platform error that carries a code, or a cause, tells of the world; a bare one tells of the body.
  if (code === 'TOOL_FAILED' && BUGS.has(name) && cause?.code === undefined && cause?.cause === undefined) {
    return `the body threw a bare ${name}: ${result.error.message}`
  }
  return origin === 'sample' ? `known-good arguments fail with ${failureText(called)}` : undefined
}

/** The simplest made-up arguments with a problem; those that were found first when a smaller case would have to hang again. */
async function smallest(session: Session, found: CorpusCall): Promise<unknown> {
  if (found.result === undefined || found.bodyPending) return found.args
  return session.withBench(async (bench) => {
    const property = fc.asyncProperty(session.arbitrary(bench.definition), async (args) => {
      const called = await bench.run(args)
      return called.result === undefined || called.bodyPending || validProblem(called) === undefined
    })
    const { seed, runs } = session.spec
    const details = await fc.check(property, { seed, numRuns: runs, interruptAfterTimeLimit: 5000 })
    return details.counterexample?.[0] ?? found.args
  })
}

/** More than these say nothing new, and each is a call. */
const MAX_NEAR_VALID = 300

export async function checkNearValid(session: Session): Promise<void> {
  await session.withBench(async (bench) => {
    const { parameters } = bench.definition
    const seen = new Map<string, { what: string; args: unknown }>()
    for (const valid of session.valid(bench.definition, 5)) {
      for (const mutation of nearValid(parameters, valid)) {
        if (seen.size < MAX_NEAR_VALID) seen.set(JSON.stringify(mutation.args), mutation)
      }
    }
    if (seen.size === 0) skip('the schema accepts any object')
    for (const { what, args } of seen.values()) {
      const called = await bench.run(args)
      const problem = refusalProblem(called)
      if (problem !== undefined) fail(`${what}: ${problem}`, args)
    }
  })
}

/** Reported progress is the one trace of a body that had begun its work which every tool may leave. */
function refusalProblem(called: Called): string | undefined {
  const { result, reports, returned } = called
  if (result === undefined || !result.isError || result.error.code !== 'INVALID_ARGS' || returned !== undefined) {
    return `wanted INVALID_ARGS, got ${failureText(called)}`
  }
  return reports === 0 ? undefined : 'refused after the body had begun to report progress'
}

export async function checkHostile(session: Session): Promise<void> {
  await session.withBench(async (bench) => {
    const { parameters } = bench.definition
    const [valid] = session.valid(bench.definition, 1)
    const prototypes = prototypeKeys()
    for (const hostile of hostileArguments(parameters, valid!)) {
      if (validatorFor(parameters).check(hostile.args) && !mayRun(session, bench, hostile)) continue
      await checkOneHostile(bench, hostile, prototypes)
    }
  })
}

/** Arguments that the schema allows reach the body: not where the author restricted what may. */
function mayRun(session: Session, { definition }: Bench, { extra, key }: HostileArguments): boolean {
  if (session.spec.destructive) return extra === true && session.samples(definition).length > 0
  return key === undefined || !session.restricts(key)
}

async function checkOneHostile(bench: Bench, hostile: HostileArguments, prototypes: string): Promise<void> {
  const { what, args } = hostile
  const called = await bench.run(args)
  const polluted = prototypeKeys() !== prototypes
  if (polluted) {
    for (const prototype of PROTOTYPES) Reflect.deleteProperty(prototype, POLLUTION)
    fail(`${what}: a built-in prototype was changed`)
  }
  if (called.result === undefined || called.bodyPending) fail(`${what}: the call did not settle`)
  if (!called.result.isError) return
  const { code, message } = called.result.error
  if (code === 'INVALID_TOOL_OUTPUT' || /call stack/i.test(message)) fail(`${what}: ends as ${failureText(called)}`)
  const refused = !validatorFor(bench.definition.parameters).check(args) && code !== 'INVALID_ARGS'
  if (refused) fail(`${what}: breaks the schema, but ends as ${failureText(called)}`)
}

const PROTOTYPES = [Object.prototype, Array.prototype, Function.prototype, String.prototype]

function prototypeKeys(): string {
  return PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype).map(String).join()).join(';')
}
