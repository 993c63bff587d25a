// The text that tells a model how a program calls tools: fixed instructions and exact types. Byte-identical for an unchanged tool set.
import type { ToolDefinition } from '../types.ts'
import { argumentsText, docComment, propertyName, typeText } from './type-text.ts'

const INSTRUCTIONS = `Programs for \`run_code\` are the body of an async TypeScript function. \`tools\` holds one async function per tool.

- Call a tool with one arguments object: \`const value = await tools.name({ ... })\`. Names that are no identifiers go in quotes: \`tools["odd name"]({ ... })\`.
- A call resolves with the tool's value, typed below; nothing needs to be parsed out of text. Arguments must be plain JSON: no \`undefined\`, no class instances.
- A call that fails rejects with a \`ToolCallError\` that has \`toolName\` and \`message\`. Catch it to go on.
- Calls given to \`Promise.all\` overlap where the tools allow it; others run one after another in the order they were made.
- Only what you print with \`console.log\` and what you \`return\` comes back to you. Filter and summarise in the program.
- There is \`console\`, timers, \`URL\`, \`TextEncoder\`, \`TextDecoder\` and \`structuredClone\`; there are no files, no network, no modules and no Node.js except through tools.`

/** The section for a set of definitions, in code-unit order of their names. */
export function sdkText(definitions: Iterable<ToolDefinition>): string {
  const sorted = [...definitions].toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  const argumentLines = sorted.map(
    ({ name, description, parameters }) =>
      `${docComment(description, '  ')}  ${propertyName(name)}: ${argumentsText(parameters, 1)};\n`,
  )
  const outputLines = sorted.map(({ name, output }) => `  ${propertyName(name)}: ${typeText(output.schema, 1)};\n`)
  return `${INSTRUCTIONS}

\`\`\`ts
type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
interface ToolArgsMap {
${argumentLines.join('')}}
interface ToolOutputMap {
${outputLines.join('')}}
type ToolName = keyof ToolArgsMap;
declare class ToolCallError extends Error {
  readonly name: "ToolCallError";
  readonly toolName: ToolName;
}
declare const tools: { readonly [K in ToolName]: (args: ToolArgsMap[K]) => Promise<ToolOutputMap[K]> };
\`\`\``
}

export const CODE_ONLY_TEXT =
  'The only tool you can call directly is `run_code`. Every other tool is a function inside the programs you give it, described below.'
