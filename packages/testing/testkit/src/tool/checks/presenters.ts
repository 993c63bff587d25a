// Cards: made from what the log holds, by pure and total functions. Arguments here are presented, never run.
import { isDeepStrictEqual } from 'node:util'
import { snapshotJson, type Json, type PresentedResult, type ToolDefinition } from '@deepseek-ai/dsh-tools'
import { isObject, withProperty } from '../near-valid.ts'
import type { Session } from '../session.ts'
import { withTripwires } from '../tripwires.ts'
import { fail, shown, skip, thrownText } from '../verdict.ts'
import { viewViolations, type ViewKind } from '../view-schemas.ts'

/** One call of one presenter. */
interface Presentation {
  readonly kind: ViewKind
  readonly args: unknown
  /** Of `presentResult` alone. */
  readonly result?: PresentedResult
  present(this: void): unknown
}

export async function checkPure(session: Session): Promise<void> {
  await withPresentations(session, honest, ({ kind, args, result, present }) => {
    const [first, second] = [attempt(present), attempt(present)]
    if (isDeepStrictEqual(first, second)) return
    fail(
      `${callbackOf(kind)} gives ${shown(first)} and then ${shown(second)} for the same input`,
      ...inputs(args, result),
    )
  })
}

export async function checkAmbient(session: Session): Promise<void> {
  const all: Presentation[] = []
  await withPresentations(session, honest, (presentation) => void all.push(presentation))
  // Judged afterwards: making a report needs what is out of reach here.
  const found = withTripwires((watch) => all.map((each) => ({ ...each, reached: watch(each.present).reached })))
  for (const { kind, args, result, reached } of found) {
    if (reached.length > 0) fail(`${callbackOf(kind)} reaches for ${reached.join(', ')}`, ...inputs(args, result))
  }
}

export async function checkTotal(session: Session): Promise<void> {
  await withPresentations(session, damaged, ({ kind, args, result, present }) => {
    let view: unknown
    try {
      view = present()
    } catch (error) {
      fail(`${callbackOf(kind)} throws ${thrownText(error)}`, ...inputs(args, result))
    }
    if (view === undefined || isObject(view)) return
    fail(`${callbackOf(kind)} gives ${shown(view)}, neither a view nor undefined`, ...inputs(args, result))
  })
}

export async function checkView(session: Session): Promise<void> {
  let seen = 0
  const check = ({ kind, args, result, present }: Presentation): void => {
    const view = attempt(present)
    if (view === undefined || view === FAILED) return
    seen++
    const violations = viewViolations(kind, view)
    if (violations.length > 0) fail(`${callbackOf(kind)}: ${violations.join('; ')}`, ...inputs(args, result))
  }
  await withPresentations(session, honest, check)
  await withPresentations(session, damaged, check)
  if (seen === 0) skip('the presenters gave no view')
}

const FAILED = Symbol('threw')

function attempt(present: () => unknown): unknown {
  try {
    return present()
  } catch {
    return FAILED // that it throws is the finding of presenters-total
  }
}

function callbackOf(kind: ViewKind): string {
  return kind === 'call' ? 'presentCall' : 'presentResult'
}

function inputs(args: unknown, result: PresentedResult | undefined): unknown[] {
  return result === undefined ? [args] : [args, result]
}

type Inputs = (session: Session, definition: ToolDefinition) => Promise<{ args: unknown[]; results: PresentedResult[] }>

async function withPresentations(
  session: Session,
  of: Inputs,
  check: (presentation: Presentation) => void,
): Promise<void> {
  await session.withBench(async ({ definition }) => {
    if (definition.presentCall === undefined && definition.presentResult === undefined) skip('declares no presenters')
    const { args, results } = await of(session, definition)
    for (const each of args) for (const one of presentationsOf(definition, each, results)) check(one)
  })
}

function* presentationsOf(
  definition: ToolDefinition,
  args: unknown,
  results: PresentedResult[],
): Generator<Presentation> {
  if (definition.presentCall !== undefined) {
    yield { kind: 'call', args, present: () => definition.presentCall?.(args as never) }
  }
  if (definition.presentResult === undefined) return
  for (const result of results) {
    yield { kind: 'result', args, result, present: () => definition.presentResult?.(args as never, result) }
  }
}

/** Results a check of one presenter looks at; arguments multiply them. */
const MAX_RESULTS = 12

/** What a log of today holds. */
const honest: Inputs = async (session, definition) => {
  const results = await loggedResults(session)
  const known = [...session.samples(definition), ...session.slowSamples(definition)]
  const args = [...known, ...session.generatedBeside(definition)]
  return { args: args.map((each) => snapshotJson(each)), results: results.slice(0, MAX_RESULTS) }
}

async function loggedResults(session: Session): Promise<PresentedResult[]> {
  const fallback: PresentedResult = { content: [{ type: 'text', text: 'testkit' }], isError: false }
  const failed: PresentedResult = { content: [{ type: 'text', text: 'Error: testkit' }], isError: true }
  const logged = (await session.corpus()).flatMap(({ result }): PresentedResult[] => {
    if (result === undefined) return []
    const { content, isError, meta } = result
    return [meta === undefined ? { content, isError } : { content, isError, meta }]
  })
  return [...distinct(logged), fallback, failed]
}

/** First of each shape, then the rest, so that a limit leaves out repetitions. */
function distinct(results: readonly PresentedResult[]): PresentedResult[] {
  const byShape = new Map<string, PresentedResult>()
  for (const result of results) {
    const keys = isObject(result.meta) ? Object.keys(result.meta).join() : typeof result.meta
    const key = `${result.isError} ${keys}`
    if (!byShape.has(key)) byShape.set(key, result)
  }
  const firsts = new Set(byShape.values())
  return [...firsts, ...results.filter((result) => !firsts.has(result))]
}

/** What an older version, another tool of that name, or a damaged file leaves in a log. */
const damaged: Inputs = async (session, definition) => {
  const [valid] = session.valid(definition, 1)
  const honestResults = await loggedResults(session)
  const results = [...honestResults.slice(0, 3).flatMap(damagedResults), ...honestResults.slice(0, 3)]
  return { args: [valid, ...damagedArguments(valid!)], results }
}

const STRANGE: readonly Json[] = [null, true, 0, -1.5, '', 'testkit', [], [null], {}, { a: { b: [1] } }]

function damagedArguments(valid: Json): unknown[] {
  if (!isObject(valid)) return [...STRANGE]
  const keys = Object.keys(valid)
  const missing = keys.map((key) => withProperty(valid, key))
  const wrong = keys.flatMap((key) => STRANGE.map((strange) => withProperty(valid, key, strange)))
  return [...STRANGE, ...missing, ...wrong, { ...valid, testkitExtra: true }]
}

function damagedResults(result: PresentedResult): PresentedResult[] {
  const { content, isError } = result
  const bare = { content, isError }
  const metas = STRANGE.map((meta): PresentedResult => ({ ...bare, meta }))
  const empty: PresentedResult[] = [{ ...result, content: [] }, { ...result, isError: !isError }, bare]
  const { meta } = result
  if (!isObject(meta)) return [...empty, ...metas]
  const keys = Object.keys(meta)
  const missing = keys.map((key): PresentedResult => ({ ...bare, meta: withProperty(meta, key) }))
  const wrong = keys.flatMap((key) =>
    STRANGE.map((strange): PresentedResult => ({ ...bare, meta: withProperty(meta, key, strange) })),
  )
  return [...empty, ...metas, ...missing, ...wrong]
}
