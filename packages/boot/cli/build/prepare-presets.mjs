// Writes dist/presets.json: the presets, parsed, so that a start without patches reads no YAML. Optional and never stale: the
// loader compares texts and parses what differs.
import { writeFileSync } from 'node:fs'
import { prepareFiles } from '@deepseek-ai/dsh-loader'
import { presetFiles, presetNames } from '@deepseek-ai/dsh-presets'

const files = new Set(presetNames().flatMap(presetFiles))
writeFileSync(new URL('../dist/presets.json', import.meta.url), prepareFiles([...files]))
