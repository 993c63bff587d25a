// `dsh tools`: what a composition offers to models.
import { CommandError, EXIT, type ExitCode } from '../exit.ts'
import { required, withHost, type HostFlags } from '../host.ts'
import type { OutputFlags } from '../program.ts'

export async function listTools(flags: OutputFlags): Promise<ExitCode> {
  return withHost(flags, async ({ ctx }) => {
    const schemas = required(ctx, 'tools', flags).schemas()
    if (flags.json === true) {
      process.stdout.write(`${JSON.stringify(schemas, null, 2)}\n`)
      return EXIT.done
    }
    const width = Math.max(0, ...schemas.map((schema) => schema.name.length))
    for (const { name, description } of schemas) {
      process.stdout.write(`${name.padEnd(width)}  ${description.split('\n', 1)[0] ?? ''}\n`)
    }
    return EXIT.done
  })
}

export async function showTool(name: string, flags: HostFlags): Promise<ExitCode> {
  return withHost(flags, async ({ ctx }) => {
    const schemas = required(ctx, 'tools', flags).schemas()
    const schema = schemas.find((each) => each.name === name)
    if (schema === undefined) {
      const known = schemas.map((each) => each.name).sort()
      throw new CommandError(`there is no tool "${name}"; there are ${known.join(', ') || 'none'}`, EXIT.usage)
    }
    const output = ctx.tools.get(name)?.output.schema
    process.stdout.write(`${JSON.stringify({ ...schema, output }, null, 2)}\n`)
    return EXIT.done
  })
}
