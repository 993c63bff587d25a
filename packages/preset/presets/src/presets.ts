// Which composition files make up each preset, in the order they stack. Reads none of them.
import { HarnessError } from '@deepseek-ai/cordis'
import { fileURLToPath } from 'node:url'

const STACKS = {
  web: ['base', 'shell-posix', 'shell-windows', 'files', 'terminals', 'web'],
  headless: ['base', 'shell-posix', 'shell-windows', 'files', 'headless'],
} as const

export type PresetName = keyof typeof STACKS

/** The names of all presets. */
export function presetNames(): PresetName[] {
  return Object.keys(STACKS) as PresetName[]
}

/** The composition files of a preset as absolute paths, in stack order. Throws `UNKNOWN_PRESET` for any other name. */
export function presetFiles(name: string): string[] {
  if (!Object.hasOwn(STACKS, name)) {
    throw new HarnessError(`unknown preset "${name}"; known: ${presetNames().join(', ')}`, 'UNKNOWN_PRESET')
  }
  return STACKS[name as PresetName].map((file) => fileURLToPath(new URL(`../presets/${file}.yml`, import.meta.url)))
}
