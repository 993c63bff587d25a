// What an ordinary user could not have done anyway was not denied by us. Asked as such a user: root may do everything.
import { chownSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SandboxPolicy } from '@deepseek-ai/dsh-sandbox'
import { judgePath, RepositoryScans } from '@deepseek-ai/dsh-sandbox'
import { expect, it } from 'vitest'
import { confirmDenials } from '../../src/denial.ts'

it('takes no failure for a denial that the plain user would have met too', () => {
  const world = realpathSync(mkdtempSync('/var/tmp/dsh-denial-'))
  const [own, secret] = [join(world, 'own'), join(world, 'secret')]
  const policy: SandboxPolicy = {
    mode: 'read-only',
    network: 'open',
    allowedHosts: [],
    root: world,
    writableRoots: [],
    deniedReads: [secret, '/etc/shadow'],
    tempDir: join(world, 'temp'),
    sessionId: 's',
    nestedNamespaces: false,
  }
  const denied = (stderrTail: string): string[] =>
    confirmDenials({
      outcome: { exitCode: 1, signal: null, stderrTail },
      policy,
      workdir: world,
      judge: (path, access, judged) => judgePath(path, access, judged, new RepositoryScans()),
    }).map(({ kind, target }) => `${kind} ${target}`)
  writeFileSync(own, '')
  writeFileSync(secret, '')
  becomeNobody([world, own, secret])
  try {
    expect(denied('cat: /etc/shadow: Permission denied')).toEqual([])
    expect(denied('bash: line 1: /etc/shadow: Permission denied')).toEqual([])
    expect(denied('touch: cannot touch ‘/etc/new’: Read-only file system')).toEqual([])
    expect(denied(`tee: ${own}: Read-only file system`)).toEqual([`write ${own}`])
    expect(denied(`cat: ${secret}: Permission denied`)).toEqual([`read ${secret}`])
  } finally {
    rmSync(world, { recursive: true })
  }
})

/** For good: this process belongs to this file. */
const becomeNobody = (owned: readonly string[]): void => {
  if (process.getuid?.() !== 0) return
  for (const path of owned) chownSync(path, 65_534, 65_534)
  process.setgroups?.([])
  process.setgid?.(65_534)
  process.setuid?.(65_534)
}
