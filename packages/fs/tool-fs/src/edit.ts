// The edit tools: one replacement in a file, or several, all or none.
import { defineTool, type ToolDefinition } from '@deepseek-ai/dsh-tools'
import { changeFile } from './change.ts'
import { withEscalation } from './parameters.ts'
import { presentChange } from './present.ts'
import { renderChange } from './render.ts'
import { CHANGE_VALUE, FILE_PATH, NEW_TEXT, OLD_TEXT, REPLACE_ALL } from './schema.ts'
import type { FsToolSetup } from './services.ts'

const MATCHING = `old_text is looked for as it is; failing that, with any line endings; failing that, as whole lines with any white space. \
What does not match stays byte for byte as it was, encoding and line endings included. \
The result says what was matched and shows the changed lines, so that there is no need to read the file again.`

const EDIT_PARAMETERS = { path: FILE_PATH, old_text: OLD_TEXT, new_text: NEW_TEXT, replace_all: REPLACE_ALL } as const

export function editTool(setup: FsToolSetup): ToolDefinition {
  const { parameters, note } = withEscalation(setup.services, EDIT_PARAMETERS)
  return defineTool({
    name: 'edit',
    description: `Replaces a piece of a text file. Read the file first. Fails and changes nothing when old_text does not occur, or more than \
once without replace_all. ${MATCHING} For several places in one file use multi_edit.${note}`,
    parameters,
    output: {
      schema: CHANGE_VALUE,
      render: (_args, value) => [{ type: 'text', text: renderChange(value) }],
      presentationMeta: (_args, value) => value,
    },
    execute(args, exec) {
      const { old_text: oldText, new_text: newText, replace_all: all = false } = args
      return changeFile(setup, args, { operation: 'edit', edits: [{ oldText, newText, all }] }, exec)
    },
    presentCall: ({ path, old_text: oldText, new_text: newText }) => ({
      card: 'diff',
      title: path,
      diffs: [{ path, oldText, newText }],
      locations: [{ path }],
    }),
    presentResult: (_args, result) => presentChange(result),
  })
}

const MULTI_PARAMETERS = {
  path: FILE_PATH,
  edits: {
    type: 'array',
    required: true,
    minItems: 1,
    description: 'The replacements in their order; each is looked for in the text that the ones before it have left.',
    items: {
      type: 'object',
      properties: { old_text: OLD_TEXT, new_text: NEW_TEXT, replace_all: REPLACE_ALL },
      additionalProperties: false,
    },
  },
} as const

export function multiEditTool(setup: FsToolSetup): ToolDefinition {
  const { parameters, note } = withEscalation(setup.services, MULTI_PARAMETERS)
  return defineTool({
    name: 'multi_edit',
    description: `Makes several replacements in one text file, all or none: when one of them cannot be made, the file stays as it was and the \
error says which. Read the file first. ${MATCHING}${note}`,
    parameters,
    output: {
      schema: CHANGE_VALUE,
      render: (_args, value) => [{ type: 'text', text: renderChange(value) }],
      presentationMeta: (_args, value) => value,
    },
    execute(args, exec) {
      const edits = args.edits.map(({ old_text: oldText, new_text: newText, replace_all: all = false }) => ({
        oldText,
        newText,
        all,
      }))
      return changeFile(setup, args, { operation: 'edit', edits }, exec)
    },
    presentCall: ({ path, edits }) => ({
      card: 'diff',
      title: path,
      diffs: edits.map(({ old_text: oldText, new_text: newText }) => ({ path, oldText, newText })),
      locations: [{ path }],
    }),
    presentResult: (_args, result) => presentChange(result),
  })
}
