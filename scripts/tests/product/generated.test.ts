// Generated text that is committed is what its generator would write now. Needs a build.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))

it.each([['gen-website-api', 'docs/api']])('%s has nothing to change in %s', async (script) => {
  const args = ['scripts/run-ts.mjs', `scripts/${script}.ts`, '--check']
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd: root }).catch(
    (failure: { stdout: string; stderr: string }) => failure,
  )
  expect(stderr + stdout).toBe('')
})
