// Prints a composition as YAML that boots the same again, with a comment per row that names the files behind it.
import type { YAMLSeq } from 'yaml'
import type { ComposedRow, Composition } from './types.ts'
import { yaml } from './yaml.ts'

/**
 * The composition as one YAML document. Parsed as a preset, with the same variables, it composes to the same rows.
 * Values that came from variables with a secret-looking name stay as the `${env.…}` text.
 */
export function dump(composition: Composition): string {
  const { Document, isSeq } = yaml()
  const document = new Document(composition.rows.map(plainRow), { aliasDuplicateObjects: false })
  if (isSeq(document.contents)) comment(document.contents, composition.rows)
  if (composition.skipped.length > 0) {
    document.commentBefore = composition.skipped
      .map((row) => ` left out: ${oneLine(row.id)} (${oneLine(row.name ?? 'group')}), ${oneLine(row.reason)}`)
      .join('\n')
  }
  return document.toString({ lineWidth: 0 })
}

function plainRow(row: ComposedRow): Record<string, unknown> {
  const plain: Record<string, unknown> = { id: row.id }
  if (row.name !== undefined) plain['name'] = row.name
  if (row.rows !== undefined) plain['group'] = true
  if (row.disabled) plain['disabled'] = true
  if (!row.required) plain['required'] = false
  if (Object.keys(row.inject).length > 0) plain['inject'] = plainInject(row.inject)
  if (Object.keys(row.isolate).length > 0) plain['isolate'] = row.isolate
  if (row.when !== undefined) plain['when'] = row.when
  if (row.rows !== undefined) plain['config'] = row.rows.map(plainRow)
  else if (row.shownConfig !== undefined) plain['config'] = row.shownConfig
  return plain
}

function plainInject(inject: Readonly<Record<string, unknown>>): unknown {
  return Object.values(inject).every((config) => config === null) ? Object.keys(inject) : inject
}

function comment(sequence: YAMLSeq, rows: readonly ComposedRow[]): void {
  const { isMap, isSeq } = yaml()
  for (const [index, row] of rows.entries()) {
    const item = sequence.items[index]
    if (!isMap(item)) continue
    const changed = row.changedBy.length === 0 ? '' : `, changed by ${row.changedBy.map(oneLine).join(', ')}`
    item.commentBefore = ` ${oneLine(row.origin.file)}:${row.origin.line}${changed}`
    if (row.rows === undefined) continue
    const nested: unknown = item.get('config')
    if (isSeq(nested)) comment(nested, row.rows)
  }
}

// A file name may hold a line break; in a comment it would start a line of YAML.
function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\u0085\u2028\u2029]/g, '?')
}
