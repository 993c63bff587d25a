// From typed parts to a registry-ready definition: compiles the two schemas and puts argument validation before each callback.
import { ToolArgsError } from './errors.ts'
import { BodyView } from './execution.ts'
import type { ContentBlock, Json, ToolCallView, ToolResultView } from './presentation.ts'
import { compileParameters, compileValueSchema } from './schema/compile.ts'
import type { InferArgs, InferValue } from './schema/infer.ts'
import type { JsonSchema, ParameterSchemaSpec, ValueSchemaSpec } from './schema/types.ts'
import { unknownArgumentHints } from './schema/hints.ts'
import { validatorFor } from './schema/validate.ts'
import type { PresentedResult, ToolBodyExecution, ToolDefinition } from './types.ts'

export interface DefineToolOptions<
  P extends ParameterSchemaSpec,
  S extends ValueSchemaSpec,
  R extends InferValue<S> = InferValue<S>,
> {
  name: string
  /** What the model reads about the tool. */
  description: string
  /** The arguments: an open object, whose properties are optional unless `required: true`. */
  parameters: P
  output: {
    /** The canonical value that `execute` returns: any root. */
    schema: S
    /** What the model reads. Pure. */
    render(args: InferArgs<P>, value: InferValue<S>): readonly ContentBlock[]
    /** Durable card data from the same value. Pure. */
    presentationMeta?(args: InferArgs<P>, value: InferValue<S>): Json | undefined
  }
  /** Cooperative deadline in milliseconds, positive and finite. Omitted: none. */
  timeoutMs?: number | undefined
  /** Upper bound of what the model reads of any outcome, in UTF-8 bytes. Omitted: the tool bounds itself. */
  maxResultBytes?: number | ((args: InferArgs<P>) => number) | undefined
  /** Whether this call may overlap others. Only an exact `true` counts; a throw or invalid arguments mean no. */
  isConcurrencySafe?(args: InferArgs<P>): boolean
  /** Does the work. `args` are valid and frozen. Throw for infrastructure failures only. */
  execute(args: InferArgs<P>, exec: ToolBodyExecution): R | Promise<R>
  /** The card while the call runs. Pure. Not asked for invalid arguments; a throw falls back to the generic card. */
  presentCall?(args: InferArgs<P>): ToolCallView | undefined
  /** The card of the finished call, live and on replay. Pure. Not asked for invalid arguments; a throw falls back likewise. */
  presentResult?(args: InferArgs<P>, result: PresentedResult): ToolResultView | undefined
}

/**
 * Makes a definition for `ctx.tools.register()`. Throws `JsonSchemaError` for a mistake in either schema, `TypeError` for a missing
 * or malformed `output`, `Error` for a bad `timeoutMs`. The definition's `execute` rejects with `ToolArgsError` before the body when
 * the arguments do not match.
 */
export function defineTool<
  const P extends ParameterSchemaSpec,
  const S extends ValueSchemaSpec,
  // Note: a const parameter of its own keeps `kind: 'found'` a literal in what a body returns; `InferValue<S>` would widen it.
  const R extends InferValue<S>,
>(options: DefineToolOptions<P, S, R>): ToolDefinition {
  const { name, description, output, timeoutMs, maxResultBytes } = options
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    throw new Error(`defineTool(${name}): timeoutMs must be a positive finite number`)
  }
  assertOutput(name, output)
  const parameters = compileParameters(options.parameters)
  return {
    name,
    description,
    parameters,
    output: bindOutput(output),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(maxResultBytes === undefined ? {} : { maxResultBytes }),
    ...bindCallbacks(options, parameters),
  }
}

/** The registry gives raw definitions the same check and the same text. */
function assertOutput(name: string, output: unknown): void {
  const { render, presentationMeta } = Object(output) as Record<string, unknown>
  if (typeof render === 'function' && (presentationMeta === undefined || typeof presentationMeta === 'function')) return
  throw new TypeError(`tool "${name}" must declare output { schema, render, presentationMeta? }`)
}

function bindOutput<P extends ParameterSchemaSpec, S extends ValueSchemaSpec>(
  output: DefineToolOptions<P, S>['output'],
): ToolDefinition['output'] {
  return {
    schema: compileValueSchema(output.schema),
    render: (args, value) => output.render(args, value),
    ...(output.presentationMeta && { presentationMeta: (args, value) => output.presentationMeta?.(args, value) }),
  }
}

type Callbacks = Pick<ToolDefinition, 'execute' | 'isConcurrencySafe' | 'presentCall' | 'presentResult'>

/** Optional callbacks appear only when they were given, since their presence means something to the registry. */
function bindCallbacks<P extends ParameterSchemaSpec, S extends ValueSchemaSpec, R extends InferValue<S>>(
  options: DefineToolOptions<P, S, R>,
  parameters: JsonSchema,
): Callbacks {
  const soft = <R>(args: InferArgs<P>, callback: () => R): R | undefined => softly(parameters, args, callback)
  const run = (isValid: boolean, args: InferArgs<P>, exec: ToolBodyExecution): R | Promise<R> => {
    if (isValid) return options.execute(args, exec)
    const violations = validatorFor(parameters).violations(args, '')
    throw new ToolArgsError([...violations, ...unknownArgumentHints(parameters, args)])
  }
  // A direct caller may pass anything, and gets a promise of whatever comes of it.
  const runDirectly = async (args: InferArgs<P>, exec: ToolBodyExecution): Promise<R> =>
    run(validatorFor(parameters).check(args), args, exec)
  return {
    // What the registry passes is a snapshot, often checked already, and it takes a value or a throw as readily as a promise.
    execute: (args: InferArgs<P>, exec: ToolBodyExecution) => {
      if (!BodyView.carries(exec, args)) return runDirectly(args, exec)
      return run(BodyView.matches(exec, parameters) || validatorFor(parameters).checkSnapshot(args), args, exec)
    },
    ...(options.isConcurrencySafe && {
      isConcurrencySafe: (args: InferArgs<P>) => soft(args, () => options.isConcurrencySafe?.(args)) === true,
    }),
    ...(options.presentCall && {
      presentCall: (args: InferArgs<P>) => soft(args, () => options.presentCall?.(args)),
    }),
    ...(options.presentResult && {
      presentResult: (args: InferArgs<P>, result: PresentedResult) =>
        soft(args, () => options.presentResult?.(args, result)),
    }),
  }
}

/** Presentation and classification run on arguments of any age and origin: whatever goes wrong there, the answer is none. */
function softly<R>(parameters: JsonSchema, args: unknown, callback: () => R): R | undefined {
  if (!validatorFor(parameters).check(args)) return undefined
  try {
    return callback()
  } catch {
    return undefined // display and scheduling never fail a call; the caller falls back
  }
}
