// What a production install of the command comes to: from the tarballs that would be published, by npm, into an empty project.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { register } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../bootstrap.mjs'

async function install() {
  register(new URL('../../packages/boot/loader/dist/hooks.js', import.meta.url), { data: { hosts: [] } })
  const { packAll } = await import('../release/pack.ts')
  const { fromElsewhere, installationSize, writeConsumer } = await import('../release/consumer.ts')
  const temp = mkdtempSync(join(tmpdir(), 'dsh-bench-install-'))
  try {
    const tarballs = await packAll(root, join(temp, 'tarballs'))
    const project = join(temp, 'project')
    writeConsumer(project, 'npm', ['@deepseek-ai/dsh'], tarballs)
    const npm = ['install', '--omit=dev', '--no-audit', '--no-fund', '--prefer-offline']
    const began = performance.now()
    const { status, stderr } = spawnSync('npm', npm, {
      cwd: project,
      encoding: 'utf8',
      shell: process.platform === 'win32',
    })
    const seconds = (performance.now() - began) / 1000
    if (status !== 0) throw new Error(`npm install ended with ${status}\n${stderr}`)
    const strangers = fromElsewhere(project, 'npm')
    if (strangers.length > 0) throw new Error(`internal packages came from a registry: ${strangers.join(', ')}`)
    const { packages, bytes } = installationSize(project)
    return [
      { id: 'install-size', value: bytes / 1e6, unit: 'MB', budget: 120 },
      { id: 'install-count', value: packages, unit: 'packages', budget: 150 },
      { id: 'install-time', value: seconds, unit: 's', budget: 30 },
    ]
  } finally {
    rmSync(temp, { recursive: true, force: true })
  }
}

export const benches = [install]
