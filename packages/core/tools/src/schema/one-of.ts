// Exact-one unions: choosing the branch by its discriminator, and explaining a mismatch by the branch that was meant.
import type { Json } from '../presentation.ts'
import { describeValue } from './describe.ts'
import type { Report } from './report.ts'
import type { JsonSchema } from './types.ts'
import { isRecord, own, type Fields, type Visit } from './visit.ts'

export function compileOneOf(schemas: readonly JsonSchema[], compile: (schema: JsonSchema) => Visit): Visit {
  const branches = schemas.map((schema): Branch => ({ schema, visit: compile(schema) }))
  const discriminator = findDiscriminator(branches)
  return (value, report) => {
    if (discriminator !== undefined && isRecord(value)) return visitDiscriminated(discriminator, value, report)
    let matched = 0
    for (const branch of branches) if (branch.visit(value, undefined)) matched++
    if (matched !== 1 && report !== undefined) explain(branches, matched, value, report)
    return matched === 1
  }
}

interface Branch {
  readonly schema: JsonSchema
  readonly visit: Visit
}

/** A required property whose literals tell the object branches of a union apart: at most one of them can match. */
interface Discriminator {
  readonly key: string
  readonly branches: ReadonlyMap<Json, Branch>
}

/** None when a branch outside of the object branches might accept an object too. */
function findDiscriminator(branches: readonly Branch[]): Discriminator | undefined {
  const objects = branches.filter(({ schema }) => schema.type === 'object')
  const first = objects[0]
  if (first === undefined || objects.length < 2 || branches.some(({ schema }) => schema.type === undefined)) {
    return undefined
  }
  for (const key of first.schema.required ?? []) {
    const byLiteral = branchesByLiteral(objects, key)
    if (byLiteral !== undefined) return { key, branches: byLiteral }
  }
  return undefined
}

function branchesByLiteral(objects: readonly Branch[], key: string): Map<Json, Branch> | undefined {
  const byLiteral = new Map<Json, Branch>()
  for (const branch of objects) {
    const { properties = {}, required = [] } = branch.schema
    if (!required.includes(key) || !Object.hasOwn(properties, key)) return undefined
    const literals = literalsOf(properties[key] as JsonSchema)
    if (literals === undefined) return undefined
    for (const literal of literals) {
      if (byLiteral.has(literal)) return undefined
      byLiteral.set(literal, branch)
    }
  }
  return byLiteral
}

function literalsOf(schema: JsonSchema): readonly Json[] | undefined {
  return schema.const === undefined ? schema.enum : [schema.const]
}

function visitDiscriminated(discriminator: Discriminator, value: Fields, report: Report | undefined): boolean {
  const { key, branches } = discriminator
  const literal = own(value, key)
  const branch = branches.get(literal as Json)
  if (branch !== undefined) return branch.visit(value, report)
  if (literal === undefined) return report?.missing(key) ?? false
  return report?.at(key).mismatch(`one of ${JSON.stringify([...branches.keys()])}`, literal) ?? false
}

function explain(branches: readonly Branch[], matched: number, value: unknown, report: Report): void {
  const summary = `must match exactly one oneOf branch (matched ${matched})`
  if (matched > 0) {
    report.add(summary)
    return
  }
  const meant = branches.filter(({ schema }) => schema.type === undefined || family(schema.type) === familyOf(value))
  if (meant.length === 0) {
    const wanted = [...new Set(branches.map(({ schema }) => schema.type))].join(' or ')
    report.add(`${summary}: wanted ${wanted}, got ${describeValue(value)}`)
  } else if (meant.length === 1) {
    meant[0]?.visit(value, report) // the only branch of that type says exactly what to mend
  } else {
    report.add(`${summary}; nearest branch: ${nearest(meant, value, report)}`)
  }
}

/** The violations of the branch that has the fewest. */
function nearest(branches: readonly Branch[], value: unknown, report: Report): string {
  const reports = branches.map(({ visit }) => {
    const aside = report.aside()
    visit(value, aside)
    return aside
  })
  const best = reports.reduce((least, other) => (other.size < least.size ? other : least))
  return best.lines().join(', ')
}

function family(type: NonNullable<JsonSchema['type']>): string {
  return type === 'integer' ? 'number' : type
}

function familyOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
