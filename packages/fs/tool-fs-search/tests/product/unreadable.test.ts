// Folders and files that cannot be read. As an ordinary user: root may read everything.
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Context } from '@deepseek-ai/cordis'
import { contentText, ToolRegistry } from '@deepseek-ai/dsh-tools'
import { expect, it } from 'vitest'
import * as search from '../../src/index.ts'

it('gives what could be read and names what could not', async () => {
  const folder = realpathSync(mkdtempSync('/var/tmp/dsh-search-'))
  mkdirSync(join(folder, 'closed'))
  for (const file of ['closed/a', 'open', 'shut']) writeFileSync(join(folder, file), 'foo\n')
  const ctx = new Context()
  await ctx.plugin(ToolRegistry)
  await ctx.plugin(search)
  const call = (name: string, args: object) =>
    ctx.tools.execute({
      callId: 'c',
      name,
      arguments: args,
      signal: new AbortController().signal,
      agent: { id: 'a', cwd: folder, inject: () => {} },
    })
  // What is loaded on first use is loaded by whoever may read it.
  await call('grep', { pattern: 'foo' })
  becomeNobody(['', 'closed', 'open', 'shut', 'closed/a'].map((path) => join(folder, path)))
  chmodSync(join(folder, 'closed'), 0)
  chmodSync(join(folder, 'shut'), 0)
  try {
    const skipped = [{ rule: 'unreadable', count: 2, examples: ['closed', 'shut'] }]
    const found = await call('grep', { pattern: 'foo' })
    expect(found).toMatchObject({
      isError: false,
      value: { files: [{ path: 'open' }], completeness: { complete: false, skipped, unreadable: ['closed', 'shut'] } },
    })
    expect(contentText(found.content)).toContain('2 unreadable (closed, shut)')
    const none = await call('grep', { pattern: 'nothing' })
    expect(none).toMatchObject({ isError: false, value: { completeness: { complete: false, skipped } } })
    expect(contentText(none.content)).toMatch(/^No matches\.\n\[.*2 unreadable \(closed, shut\)/)
    expect(await call('grep', { pattern: 'foo', mode: 'count' })).toMatchObject({
      value: { total: 1, completeness: { skipped } },
    })
    expect(await call('glob', { pattern: '**' })).toMatchObject({
      value: { paths: ['open', 'shut'], completeness: { complete: false, unreadable: ['closed'] } },
    })
    for (const path of ['closed', 'shut']) {
      expect(await call('grep', { pattern: 'foo', path })).toMatchObject({ error: { code: 'SEARCH_PATH_UNREADABLE' } })
    }
  } finally {
    chmodSync(join(folder, 'closed'), 0o700)
    await ctx.fiber.dispose()
    rmSync(folder, { recursive: true, force: true })
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
