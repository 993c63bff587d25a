// Validation of values against a JSON Schema of the supported subset. A schema becomes closures once, on first use; the same
// closures answer yes or no (without a report) and say what is wrong (with one), so the two can never disagree.
import { errorMessage } from '@deepseek-ai/cordis'
import { attemptSnapshot, JsonProblem } from '../json.ts'
import type { Json } from '../presentation.ts'
import { count, describeValue } from './describe.ts'
import { generateSnapshot, type MatchingSnapshot } from './generate.ts'
import { closestKey } from './hints.ts'
import { compileOneOf } from './one-of.ts'
import { Report } from './report.ts'
import type { JsonSchema } from './types.ts'
import { isRecord, own, type Fields, type Visit } from './visit.ts'

export { unknownArgumentHints } from './hints.ts'

/** Both methods are total: they accept anything, hostile accessors and proxies included, and never throw. */
export interface Validator {
  /** True when the value is lossless JSON and matches. */
  check(value: unknown): boolean
  /** `check` for what `snapshotJson` made: it is not copied again. */
  checkSnapshot(value: Json): boolean
  /** A frozen, detached copy of what `check` accepts; undefined otherwise. Accessors of what it refuses may be read more than once. */
  snapshot(value: unknown): Json | undefined
  /** What is wrong, one line each: empty exactly when `check` is true. `path` names the root; default `value`, '' prints as `arguments`. */
  violations(value: unknown, path?: string): string[]
}

const validators = new WeakMap<JsonSchema, Validator>()

/** The validator of a supported schema, one per schema object. Costs nothing until it is first asked. */
export function validatorFor(schema: JsonSchema): Validator {
  let validator = validators.get(schema)
  if (validator === undefined) {
    validator = new LazyValidator(schema)
    validators.set(schema, validator)
  }
  return validator
}

/** The validator of a schema that something has been checked against already. */
export function knownValidator(schema: JsonSchema): Validator | undefined {
  return validators.get(schema)
}

/** From this many copies on, a schema is worth code of its own. */
const GENERATE_AFTER = 16

class LazyValidator implements Validator {
  private readonly schema: JsonSchema
  private compiled: Visit | undefined
  private snapshots = 0
  private generated: MatchingSnapshot | undefined

  constructor(schema: JsonSchema) {
    this.schema = schema
  }

  check(value: unknown): boolean {
    const subject = attemptSnapshot(value, { freeze: false })
    return !(subject instanceof JsonProblem) && this.checkSnapshot(subject)
  }

  checkSnapshot(value: Json): boolean {
    try {
      return this.visit(value, undefined)
    } catch {
      return false // the schema itself is unusable; `violations` says so
    }
  }

  snapshot(value: unknown): Json | undefined {
    if (++this.snapshots === GENERATE_AFTER) this.generated = generateSnapshot(this.schema, compile)
    if (this.generated === undefined) {
      const copy = attemptSnapshot(value)
      return !(copy instanceof JsonProblem) && this.checkSnapshot(copy) ? copy : undefined
    }
    try {
      return this.generated(value)
    } catch {
      return undefined // an accessor threw; who wants to know what looks on with `snapshotJson`
    }
  }

  violations(value: unknown, path = 'value'): string[] {
    const report = new Report(path)
    const subject = attemptSnapshot(value, { freeze: false })
    const problem = subject instanceof JsonProblem ? subject : undefined
    try {
      // A value that is not JSON is looked at as it is, since a missing key says more than a function somewhere else.
      this.visit(problem === undefined ? subject : value, report)
    } catch (thrown) {
      if (problem === undefined) report.add(`cannot be validated: ${errorMessage(thrown)}`)
    }
    if (problem !== undefined && report.isEmpty) {
      report.atPath(problem.path).add(`must be a lossless JSON value (${problem.reason})`)
    }
    return report.lines()
  }

  private visit(value: unknown, report: Report | undefined): boolean {
    this.compiled ??= compile(this.schema)
    return this.compiled(value, report)
  }
}

function compile(schema: JsonSchema): Visit {
  if (schema.oneOf !== undefined) return compileOneOf(schema.oneOf, compile)
  switch (schema.type) {
    case 'object':
      return compileObject(schema)
    case 'array':
      return compileArray(schema)
    case 'string':
      return compileString(schema)
    case 'number':
    case 'integer':
      return compileNumber(schema)
    case 'boolean':
      return withLiterals(schema, 'a boolean', (value) => typeof value === 'boolean')
    case 'null':
      return withLiterals(schema, 'null', (value) => value === null)
    case undefined:
      return () => true
    default:
      return schema.type satisfies never
  }
}

interface Field {
  readonly key: string
  readonly required: boolean
  readonly visit: Visit
  /** Set when `typeof` says all there is to say. */
  readonly plain: string | undefined
  /** Reads the property of a plain record; only a name that every object inherits needs the question whose it is. */
  readonly inherited: boolean
}

function compileObject(schema: JsonSchema): Visit {
  const { properties = {}, required = [] } = schema
  const closed = schema.additionalProperties === false
  const fields = Object.keys(properties).map((key): Field => {
    const visit = compile(properties[key] as JsonSchema)
    const plain = plainType(properties[key] as JsonSchema)
    return { key, required: required.includes(key), visit, plain, inherited: key in Object.prototype }
  })
  return (value, report) => {
    if (!isRecord(value)) return report?.mismatch('an object', value) ?? false
    if (report === undefined) return matches(fields, value, closed)
    reportMissing(fields, value, report)
    let valid = true
    let present = 0
    for (const { key, required, visit } of fields) {
      const item = own(value, key)
      if (item !== undefined) present++
      if (item === undefined ? required : !visit(item, report.at(key))) valid = false
    }
    if (!closed || Object.keys(value).length === present) return valid
    reportUndeclared(properties, value, report)
    return false
  }
}

/** The `typeof` of an unconstrained string or boolean: most fields, and worth no call. */
function plainType({
  type,
  enum: allowed,
  const: only,
  minLength,
  maxLength,
  pattern,
}: JsonSchema): string | undefined {
  if (type !== 'string' && type !== 'boolean') return undefined
  const bounds = [allowed, only, minLength, maxLength, pattern]
  return bounds.every((bound) => bound === undefined) ? type : undefined
}

/** The yes-or-no half of an object: the value is a snapshot here, so a plain read sees own data alone. */
function matches(fields: readonly Field[], value: Fields, closed: boolean): boolean {
  let present = 0
  for (let index = 0; index < fields.length; index++) {
    const field = fields[index] as Field
    const item = field.inherited ? own(value, field.key) : value[field.key]
    if (item === undefined) {
      if (field.required) return false
    } else {
      present++
      if (field.plain === undefined ? !field.visit(item, undefined) : typeof item !== field.plain) return false
    }
  }
  if (!closed) return true
  for (const _ in value) present--
  return present === 0
}

function reportMissing(fields: readonly Field[], value: Fields, report: Report): void {
  for (const { key, required } of fields) if (required && own(value, key) === undefined) report.missing(key)
}

function reportUndeclared(properties: Readonly<Record<string, JsonSchema>>, value: Fields, report: Report): void {
  const free = Object.keys(properties).filter((key) => !Object.hasOwn(value, key))
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(properties, key)) continue
    const meant = closestKey(key, free)
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`
    report.at(key).add(`is not a declared property (additionalProperties: false)${hint}`)
  }
}

function compileArray(schema: JsonSchema): Visit {
  const visit = schema.items === undefined ? undefined : compile(schema.items)
  const plain = schema.items === undefined ? undefined : plainType(schema.items)
  const { minItems = 0, maxItems = Infinity } = schema
  return (value, report) => {
    if (!Array.isArray(value)) return report?.mismatch('an array', value) ?? false
    const length = value.length
    let valid = length >= minItems && length <= maxItems
    if (!valid) {
      if (report === undefined) return false
      reportSize(minItems, maxItems, length, 'item', report)
    }
    if (visit === undefined) return valid
    if (plain !== undefined && report === undefined) return isAllOf(value, plain)
    for (let index = 0; index < length; index++) {
      if (visit(value[index], report?.at(index))) continue
      if (report === undefined) return false
      valid = false
    }
    return valid
  }
}

function isAllOf(items: readonly unknown[], type: string): boolean {
  for (let index = 0; index < items.length; index++) if (typeof items[index] !== type) return false
  return true
}

function compileString(schema: JsonSchema): Visit {
  const { minLength = 0, maxLength = Infinity } = schema
  const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, 'u')
  const base = withLiterals(schema, 'a string', (value) => typeof value === 'string')
  if (minLength === 0 && maxLength === Infinity && pattern === undefined) return base
  return (value, report) => {
    if (!base(value, report)) return false
    const text = value as string
    const fits = hasLengthWithin(text, minLength, maxLength)
    const matches = pattern === undefined || pattern.test(text)
    if (report !== undefined) {
      if (!fits) reportSize(minLength, maxLength, codePoints(text), 'character', report)
      if (!matches) report.add(`must match the pattern ${schema.pattern} (got ${describeValue(text)})`)
    }
    return fits && matches
  }
}

/** Bounds count code points; UTF-16 units decide most cases without counting. */
function hasLengthWithin(text: string, min: number, max: number): boolean {
  if (text.length < min || text.length > max * 2) return false
  if (text.length >= min * 2 && text.length <= max) return true
  const length = codePoints(text)
  return length >= min && length <= max
}

function codePoints(text: string): number {
  let length = 0
  for (const _ of text) length++
  return length
}

function reportSize(min: number, max: number, got: number, noun: string, report: Report): void {
  if (got < min) report.add(`must have at least ${count(min, noun)} (got ${got})`)
  if (got > max) report.add(`must have at most ${count(max, noun)} (got ${got})`)
}

function compileNumber(schema: JsonSchema): Visit {
  const { minimum = -Infinity, maximum = Infinity } = schema
  const base =
    schema.type === 'integer'
      ? withLiterals(schema, 'an integer', (value) => Number.isInteger(value) && !Object.is(value, -0))
      : withLiterals(schema, 'a number', isFiniteJsonNumber)
  if (minimum === -Infinity && maximum === Infinity) return base
  return (value, report) => {
    if (!base(value, report)) return false
    const number = value as number
    if (number >= minimum && number <= maximum) return true
    if (number < minimum) report?.add(`must be at least ${minimum} (got ${number})`)
    if (number > maximum) report?.add(`must be at most ${maximum} (got ${number})`)
    return false
  }
}

function isFiniteJsonNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)
}

function withLiterals(schema: JsonSchema, wanted: string, isType: (value: unknown) => boolean): Visit {
  const { enum: allowed, const: only } = schema
  const mismatch = (value: unknown, report: Report | undefined): boolean => {
    const unfit = wanted === 'a number' && typeof value === 'number'
    return report?.mismatch(unfit ? 'a finite JSON number' : wanted, value) ?? false
  }
  if (allowed === undefined && only === undefined) return (value, report) => isType(value) || mismatch(value, report)
  return (value, report) => {
    if (!isType(value)) return mismatch(value, report)
    if (only !== undefined && value !== only) return report?.mismatch(JSON.stringify(only), value) ?? false
    if (allowed !== undefined && !allowed.includes(value as string)) {
      return report?.mismatch(`one of ${JSON.stringify(allowed)}`, value) ?? false
    }
    return true
  }
}
