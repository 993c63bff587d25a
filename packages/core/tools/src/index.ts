// Public surface of @deepseek-ai/dsh-tools. Anything added here is public.
export { IMAGE_TYPES, contentText, imageText } from './presentation.ts'
export type * from './presentation.ts'
export type * from './types.ts'
export type * from './schema/types.ts'
export { ToolRegistry, default } from './registry.ts'
export { defineTool, type DefineToolOptions } from './define-tool.ts'
export { JsonSchemaError, JsonValueError, ToolArgsError, ToolOutputError, type ToolFailureCode } from './errors.ts'
export { isLosslessJson, snapshotJson, type SnapshotOptions } from './json.ts'
export {
  assertObjectJsonSchema,
  assertSupportedJsonSchema,
  compileParameters,
  compileValueSchema,
  type AssertSchemaOptions,
} from './schema/compile.ts'
export type { InferArgs, InferValue } from './schema/infer.ts'
export { unknownArgumentHints, validatorFor, type Validator } from './schema/validate.ts'
export { boundContent } from './bound.ts'
export { cutMiddle } from './cut-middle.ts'
export type { ToolRegistryConfig } from './config.ts'
export { wireName } from './wire-name.ts'
export { CallScheduler, type ScheduledCall } from './scheduler.ts'
export { CodeRunFailedError } from './code/run-code.ts'
