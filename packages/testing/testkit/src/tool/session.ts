// One checking of one tool: opens benches, and keeps what several checks look at, so that each call is made once.
import * as fc from 'fast-check'
import { errorMessage } from '@deepseek-ai/cordis'
import {
  assertObjectJsonSchema,
  isLosslessJson,
  snapshotJson,
  validatorFor,
  type Json,
  type ToolDefinition,
} from '@deepseek-ai/dsh-tools'
import { TestkitOptionsError } from '../errors.ts'
import { Bench, type Called } from './bench.ts'
import { UnfillableSchema, valuesOf } from './generate.ts'
import type { CheckSpec, ToolUnderTest } from './options.ts'
import { fail, NotChecked, shown, skip, thrownText } from './verdict.ts'

/** A call of the corpus: known-good arguments, or generated ones. */
export interface CorpusCall extends Called {
  readonly args: Json
  readonly origin: 'sample' | 'generated'
}

/** Arguments and the canonical value a body returned for them. */
export interface CanonicalPair {
  readonly args: Json
  readonly value: Json
}

export class Session {
  readonly spec: CheckSpec
  /** Rejections that nobody handled, as text, since the session began. */
  readonly rejections: string[] = []
  private readonly subject: ToolUnderTest
  private made: Promise<CorpusCall[]> | undefined

  constructor(subject: ToolUnderTest, spec: CheckSpec) {
    this.subject = subject
    this.spec = spec
  }

  /** Runs `work` with the tool registered; the check is skipped when the tool is too broken for that. */
  async withBench<T>(work: (bench: Bench) => Promise<T>): Promise<T> {
    return this.withSubject((bench) => {
      if (bench.refusal !== undefined) skip('the tool does not register')
      if (!compiles(bench.definition.parameters)) skip('its parameters do not compile')
      return work(bench)
    })
  }

  /** The same for checks of the definition, registered or not. */
  async withSubject<T>(work: (bench: Bench) => Promise<T>): Promise<T> {
    const bench = await Bench.open(this.subject, this.spec)
    try {
      return await work(bench)
    } finally {
      await bench.close()
    }
  }

  /** The known-good arguments, detached. */
  samples(definition: ToolDefinition): Json[] {
    return this.spec.args.map((args) => this.sample(definition, args, 'args'))
  }

  slowSamples(definition: ToolDefinition): Json[] {
    return this.spec.slowArgs.map((args) => this.sample(definition, args, 'slowArgs'))
  }

  private sample(definition: ToolDefinition, args: unknown, option: string): Json {
    const violations = validatorFor(definition.parameters).violations(args, '')
    if (violations.length === 0) return snapshotJson(args, { freeze: false })
    throw new TestkitOptionsError(`${option}: ${shown(args)} does not match the schema: ${violations.join('; ')}`)
  }

  /** Valid arguments that were made up. The check is skipped when the schema gives none. */
  generated(definition: ToolDefinition, count: number = this.spec.runs): Json[] {
    try {
      return fc.sample(this.arbitrary(definition), { numRuns: count, seed: this.spec.seed })
    } catch (error) {
      const unfillable = causeOf(error, UnfillableSchema)
      if (unfillable === undefined) throw error
      return skip(unfillable.message)
    }
  }

  /** Made-up arguments where known-good ones will do as well: none when the schema gives none. */
  generatedBeside(definition: ToolDefinition): Json[] {
    try {
      return this.generated(definition)
    } catch (error) {
      if (error instanceof NotChecked && this.spec.args.length > 0) return []
      throw error
    }
  }

  /** True when the author named the values of a parameter, or of a part of it. */
  restricts(key: string): boolean {
    const paths = Object.keys(this.spec.arbitraries?.(fc) ?? {})
    return paths.some((path) => path === key || path.startsWith(`${key}.`) || path.startsWith(`${key}[]`))
  }

  /** What valid arguments are made from. */
  arbitrary(definition: ToolDefinition): fc.Arbitrary<Json> {
    const { parameters } = definition
    const overrides = this.spec.arbitraries?.(fc) ?? {}
    return valuesOf(parameters, overrides)
  }

  /** Valid arguments to start from: samples first, made-up ones otherwise. Not all of them may be run. */
  valid(definition: ToolDefinition, count: number): Json[] {
    const samples = this.samples(definition)
    return samples.length >= count
      ? samples.slice(0, count)
      : [...samples, ...this.generated(definition, count - samples.length)]
  }

  /** A few arguments that may be run. Skips when there are none. */
  runnable(definition: ToolDefinition, count: number): Json[] {
    const samples = this.samples(definition).slice(0, count)
    if (samples.length > 0) return samples
    if (this.spec.destructive) skip('no known-good arguments to run with: give args')
    return this.generated(definition, count)
  }

  /** Every sample and every made-up argument, called once each, in worlds of their own. */
  corpus(): Promise<CorpusCall[]> {
    return (this.made ??= this.withBench((bench) => this.fill(bench)))
  }

  private async fill(bench: Bench): Promise<CorpusCall[]> {
    const { definition } = bench
    const samples = this.samples(definition).map((args) => ({ args, origin: 'sample' as const }))
    const made = this.spec.destructive ? [] : this.generatedBeside(definition)
    const generated = made.map((args) => ({ args, origin: 'generated' as const }))
    const calls: CorpusCall[] = []
    for (const { args, origin } of [...samples, ...generated]) {
      const called = await bench.run(args)
      calls.push({ ...called, args, origin })
      // One call that hangs says enough; each further one would take as long.
      if (called.result === undefined || called.bodyPending) break
    }
    return calls
  }

  /** What bodies returned, as far as it is canonical. Skips when nothing is. */
  async pairs(definition: ToolDefinition): Promise<CanonicalPair[]> {
    const validator = validatorFor(definition.output.schema)
    const pairs = (await this.corpus()).flatMap(({ args, returned }) =>
      returned !== undefined && isLosslessJson(returned.value) && validator.check(returned.value)
        ? [{ args, value: snapshotJson(returned.value) }]
        : [],
    )
    if (pairs.length === 0) skip('no run returned a canonical value: give args that succeed')
    return pairs
  }

  /** Fails the check when a rejection went unhandled since `before` were counted. */
  failOnRejections(before: number, ...example: readonly unknown[]): void {
    const added = this.rejections.slice(before)
    if (added.length > 0) fail(`a rejection went unhandled: ${added.join('; ')}`, ...example)
  }
}

/** A registry may take a tool with parameters that it cannot tell a model, and keep it from models. */
function compiles(parameters: unknown): boolean {
  try {
    assertObjectJsonSchema(parameters)
    return true
  } catch {
    return false // schema-parameters says why
  }
}

function causeOf<T extends Error>(error: unknown, type: new (message: string) => T): T | undefined {
  for (let each = error; each instanceof Error; each = each.cause) if (each instanceof type) return each
  return undefined
}

/** Lets everything that is due come through: rejections are told after the microtasks of a turn. */
export async function turns(count = 3): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Who gets to hear of unhandled rejections. Sessions that overlap all do, since nothing says whose a rejection is. */
const watching = new Set<Session>()
let displaced: NodeJS.UnhandledRejectionListener[] = []

function onRejection(reason: unknown): void {
  for (const session of watching) session.rejections.push(thrownText(reason))
}

/**
 * Listens for unhandled rejections in the place of everybody else while `work` runs: what a tool under test leaves behind is a
 * finding of the report, not the end of the process that checks it.
 */
export async function watchingRejections<T>(session: Session, work: () => Promise<T>): Promise<T> {
  if (watching.size === 0) {
    displaced = process.listeners('unhandledRejection')
    process.removeAllListeners('unhandledRejection')
    process.on('unhandledRejection', onRejection)
  }
  watching.add(session)
  try {
    return await work()
  } finally {
    await turns()
    watching.delete(session)
    if (watching.size === 0) {
      process.off('unhandledRejection', onRejection)
      for (const listener of displaced) process.on('unhandledRejection', listener)
    }
  }
}

/** What a failed call says, in one line. */
export function failureText(called: Called): string {
  if (called.result === undefined) return 'the call did not settle'
  return called.result.isError ? `${called.result.error.code}: ${errorMessage(called.result.error)}` : 'success'
}
