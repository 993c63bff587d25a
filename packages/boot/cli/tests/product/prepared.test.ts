// What the build prepares for a quick start: used while it fits, passed over when it does not.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { World } from './harness.ts'

let world: World
beforeAll(() => {
  world = new World()
  world.write({
    'modules.cjs': `const { Module } = require('node:module')
const load = Module._load
Module._load = (name, ...rest) => {
  if (name === 'yaml') process.stderr.write('yaml is loaded\\n')
  return load(name, ...rest)
}`,
    'patch.yml': '- id: offline\n  disabled: false\n',
  })
})
afterAll(() => world.remove())

const listed = (args: readonly string[]): Promise<{ code: number | null; stderr: string }> =>
  world.dsh(['tools', 'list', ...args], { env: { NODE_OPTIONS: `--require ${world.file('modules.cjs')}` } })

describe('a start', () => {
  it('loads no YAML when there is nothing but presets', async () => {
    expect(await listed([])).toMatchObject({ code: 0, stderr: '' })
  })

  it('loads YAML for a patch', async () => {
    expect(await listed(['--patch', 'patch.yml'])).toMatchObject({ code: 0, stderr: 'yaml is loaded\n' })
  })
})
