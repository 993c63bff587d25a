// The write tool: creates a file or replaces one whole.
import { defineTool, type ToolDefinition } from '@deepseek-ai/dsh-tools'
import { changeFile } from './change.ts'
import { withEscalation } from './parameters.ts'
import { presentChange } from './present.ts'
import { renderChange } from './render.ts'
import { CHANGE_VALUE, FILE_PATH } from './schema.ts'
import type { FsToolSetup } from './services.ts'

const PARAMETERS = {
  path: FILE_PATH,
  content: {
    type: 'string',
    required: true,
    description: 'The whole content. Write all of it: nothing may stand for code that is left out.',
  },
} as const

export function writeTool(setup: FsToolSetup): ToolDefinition {
  const { parameters, note } = withEscalation(setup.services, PARAMETERS)
  return defineTool({
    name: 'write',
    description: `Creates a file with its folders, or replaces one whole. For a change of a part use edit. \
A file that exists has to be read first; its encoding, byte order mark, line endings and mode stay as they are. \
The old file is replaced at once or not at all.${note}`,
    parameters,
    output: {
      schema: CHANGE_VALUE,
      render: (_args, value) => [{ type: 'text', text: renderChange(value) }],
      presentationMeta: (_args, value) => value,
    },
    execute: (args, exec) => changeFile(setup, args, { operation: 'write', content: args.content }, exec),
    presentCall: ({ path, content }) => ({
      card: 'diff',
      title: path,
      diffs: [{ path, oldText: null, newText: content }],
      locations: [{ path }],
    }),
    presentResult: (_args, result) => presentChange(result),
  })
}
