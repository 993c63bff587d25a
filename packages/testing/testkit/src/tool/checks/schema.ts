// What a definition says about itself: name, descriptions, schemas, examples. Nothing is called.
import { errorMessage } from '@deepseek-ai/cordis'
import {
  assertObjectJsonSchema,
  assertSupportedJsonSchema,
  validatorFor,
  type JsonSchema,
} from '@deepseek-ai/dsh-tools'
import type { Session } from '../session.ts'
import { fail, shown, skip } from '../verdict.ts'

/** What the strictest of the common providers accepts. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/
const PROPERTY_NAME = /^[a-zA-Z0-9_.-]{1,64}$/
const LEFTOVER = /\b(TODO|FIXME|XXX|TBD)\b|lorem ipsum/i

export function checkName(session: Session): Promise<void> {
  return session.withSubject(async ({ definition }) => {
    const { name } = definition
    if (typeof name === 'string' && TOOL_NAME.test(name)) return
    fail(`providers take 1 to 64 of letters, digits, "_" and "-" (got ${shown(name)})`)
  })
}

export function checkDescription(session: Session): Promise<void> {
  return session.withSubject(async ({ definition }) => {
    const limit = session.spec.maxDescriptionLength
    const problems = descriptionProblems('the tool', definition.description, limit)
    const properties = isSchema(definition.parameters) ? definition.parameters.properties : undefined
    for (const [key, schema] of Object.entries(properties ?? {})) {
      problems.push(...descriptionProblems(`parameter "${key}"`, schema?.description, limit))
    }
    if (problems.length > 0) fail(problems.join('\n'))
  })
}

function descriptionProblems(whose: string, text: unknown, limit: number): string[] {
  if (typeof text !== 'string' || text.trim() === '') return [`${whose} has no description`]
  if (text.length > limit) return [`the description of ${whose} has ${text.length} characters, more than ${limit}`]
  const leftover = LEFTOVER.exec(text)
  return leftover === null ? [] : [`the description of ${whose} still says "${leftover[0]}"`]
}

export function checkParameters(session: Session): Promise<void> {
  return session.withSubject(async ({ definition, refusal, projected }) => {
    const { parameters } = definition
    try {
      assertObjectJsonSchema(parameters)
    } catch (error) {
      fail(errorMessage(error))
    }
    const names = Object.keys(parameters.properties ?? {})
    const unfit = names.filter((name) => !PROPERTY_NAME.test(name))
    if (unfit.length > 0) fail(`providers refuse these parameter names: ${unfit.map(shown).join(', ')}`)
    if (refusal === undefined && projected !== 1)
      fail('the registry does not show the tool to models; its log says why')
  })
}

export function checkOutputSchema(session: Session): Promise<void> {
  return session.withSubject(async ({ definition }) => {
    try {
      assertSupportedJsonSchema(definition.output?.schema, { label: 'output.schema' })
    } catch (error) {
      fail(errorMessage(error))
    }
  })
}

export function checkRegistration(session: Session): Promise<void> {
  return session.withSubject(async ({ refusal }) => {
    if (refusal !== undefined) fail(errorMessage(refusal))
  })
}

export function checkExamples(session: Session): Promise<void> {
  return session.withSubject(async ({ definition }) => {
    const problems: string[] = []
    let seen = 0
    const visit = (schema: JsonSchema, path: string): void => {
      for (const [what, value] of annotations(schema)) {
        seen++
        const violations = validatorFor(schema).violations(value, `${path} ${what}`)
        problems.push(...violations)
      }
    }
    walk(definition.parameters, 'parameters', visit)
    walk(definition.output?.schema, 'output.schema', visit)
    if (problems.length > 0) fail(problems.join('\n'))
    if (seen === 0) skip('declares neither defaults nor examples')
  })
}

function annotations(schema: JsonSchema): [what: string, value: unknown][] {
  const examples = Array.isArray(schema.examples) ? schema.examples : []
  const all = examples.map((value, index): [string, unknown] => [`examples[${index}]`, value])
  return schema.default === undefined ? all : [['default', schema.default], ...all]
}

/** Every node of a schema; stops at what is none, and at the depth where only a cycle can be. */
function walk(schema: unknown, path: string, visit: (schema: JsonSchema, path: string) => void, depth = 0): void {
  if (!isSchema(schema) || depth > 100) return
  visit(schema, path)
  for (const [key, each] of Object.entries(schema.properties ?? {})) walk(each, `${path}.${key}`, visit, depth + 1)
  walk(schema.items, `${path}[]`, visit, depth + 1)
  const branches = Array.isArray(schema.oneOf) ? schema.oneOf : []
  branches.forEach((each, index) => walk(each, `${path}.oneOf[${index}]`, visit, depth + 1))
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
