// Public surface of @deepseek-ai/dsh-presets. Anything added here is public.
export { presetFiles, presetNames, type PresetName } from './presets.ts'
