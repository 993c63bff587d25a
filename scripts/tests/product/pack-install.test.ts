// What people install: each package as packed, from tarballs into empty projects, by npm and by pnpm, on this Node and on the newest one.
// Then the README, as installed. Other dependencies come from the registry, ours from there never.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fromElsewhere, installationSize, writeConsumer, type PackageManager } from '../../release/consumer.ts'
import { codeBlocks, prints, transcript, writeFiles } from './markdown.ts'
import { newestNode } from './newest-node.ts'
import { packed, root } from './packed.ts'
import { startRegistry } from './registry.ts'

const INSTALL = 240_000
const readme = join(root, 'README.md')
const pnpm = join(root, 'node_modules/pnpm/bin/pnpm.cjs')
const temp = realpathSync(mkdtempSync(join(tmpdir(), 'dsh-install-')))
const [tarballs, newest, registry] = await Promise.all([packed(), newestNode(), startRegistry()])

afterAll(async () => {
  await registry.close()
  rmSync(temp, { recursive: true, force: true })
})

/** What `npm run` sets for its own sake would send an install elsewhere. */
function clean(nodeFolder: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(package|lifecycle)_|npm_config_(local_)?prefix$|INIT_CWD$|NODE_|DSH_|VITEST)/i.test(name),
  )
  return { ...Object.fromEntries(kept), PATH: `${nodeFolder}${delimiter}${process.env['PATH']}`, NO_COLOR: '1' }
}

function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
  timeout = 60_000,
): Promise<string> {
  return new Promise((done, reject) => {
    execFile(command, [...args], { cwd, env, timeout, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      if (error === null) done(stdout.trim())
      else reject(new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`, { cause: error }))
    })
  })
}

async function install(
  folder: string,
  manager: PackageManager,
  wanted: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  writeConsumer(folder, manager, wanted, tarballs, registry.url)
  const npm = ['install', '--no-audit', '--no-fund', '--prefer-offline']
  const [command, args] =
    manager === 'npm' ? (['npm', npm] as const) : (['node', [pnpm, 'install', '--prefer-offline']] as const)
  await run(command, args, folder, env, INSTALL)
  expect(fromElsewhere(folder, manager)).toEqual([])
  // Neither was a registry asked for one of ours.
  expect(registry.requests).toEqual([])
}

const nodes: [title: string, folder: string][] = [[`this Node, ${process.version}`, dirname(process.execPath)]]
if (newest.version === undefined) it.skip(`installs and runs on the newest Node: ${newest.reason}`)
else nodes.push([`the newest Node, ${newest.version}`, newest.folder])

const cases = nodes.flatMap(([title, folder]) =>
  (['npm', 'pnpm'] as const).map((manager) => ({ title, manager, folder })),
)

describe.each(cases)('$manager on $title', ({ title, manager, folder: nodeFolder }) => {
  const env = clean(nodeFolder)
  const place = join(temp, `${manager}-${title.replaceAll(/\W+/g, '-')}`)
  const product = join(place, 'dsh')
  const library = join(place, 'library')
  const home = join(place, 'home')
  const own = { ...env, HOME: home, DSH_HOME: join(home, '.dsh') }
  const dsh = (...args: string[]): Promise<string> => run(join(product, 'node_modules/.bin/dsh'), args, product, own)

  beforeAll(async () => {
    mkdirSync(home, { recursive: true })
    await install(product, manager, ['@deepseek-ai/dsh'], env)
    await install(library, manager, ['@deepseek-ai/dsh-tools', '@deepseek-ai/cordis'], env)
    writeFiles(readme, product)
    writeFiles(readme, library)
  }, 2 * INSTALL)

  it('runs the Node it is meant to', async () => {
    expect(title).toContain(await run('node', ['--version'], product, env))
  })

  it('installs dsh within 150 packages and 120 MB', () => {
    const { packages, bytes } = installationSize(product)
    expect(packages).toBeGreaterThan(tarballs.length - 2)
    expect(packages).toBeLessThanOrEqual(150)
    expect(bytes).toBeLessThanOrEqual(120e6)
  })

  const tutorial = transcript(codeBlocks(readFileSync(readme, 'utf8')))
  it.each(tutorial)('prints what the README says for $command', async ({ command, output }) => {
    const installed = command.replace('npm run dsh --', 'node_modules/.bin/dsh')
    expect(installed).not.toBe(command)
    const printed = await run('sh', ['-c', installed], product, own)
    if (!prints(output, printed)) expect(printed).toBe(output)
  })

  it('lists the tools of the preset and of a plugin', async () => {
    const listed = await dsh('tools', 'list', '--patch', 'scratch-plugin/cordis.yml')
    for (const tool of ['greet', 'bash', 'read', 'grep']) expect(listed).toMatch(new RegExp(`^\\s*${tool}\\b`, 'm'))
  })

  it('serves the page', async () => {
    const child = spawn(join(product, 'node_modules/.bin/dsh'), ['web', '--no-open', '--port', '0'], {
      cwd: product,
      env: own,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(child, 'exit')
    try {
      let address: string | undefined
      for await (const line of createInterface({ input: child.stdout })) {
        address = /dsh web: (\S+)/.exec(line)?.[1]
        if (address !== undefined) break
      }
      const response = await fetch(address ?? 'the server printed no address')
      expect(response.status).toBe(200)
      expect(await response.text()).toContain('<div id="root"')
    } finally {
      child.kill('SIGTERM')
      await ended
    }
  })

  it('starts a tool package', async () => {
    await dsh('new', 'tool', 'word-count')
    const call = ['call', 'word_count', '{"text":"one two"}', '--patch', 'word-count/cordis.yml']
    expect(await dsh(...call)).toBe('1 lines, 2 words, 7 characters')
    expect(await dsh('tools', 'check', './word-count/src/index.ts', '--generate')).toMatch(
      /^word_count: \d+ passed, 0 failed/,
    )
  })

  it('executes a tool in a program that has nothing but the registry of tools', async () => {
    expect(await run('node', ['host.mjs'], library, own)).toBe('2 + 3 = 5')
    expect(installationSize(library).packages).toBeLessThanOrEqual(6)
  })
})

it('would notice a package of ours that a registry gave', () => {
  const folder = join(temp, 'mixed')
  mkdirSync(folder)
  const name = '@deepseek-ai/dsh-tools'
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({
      packages: {
        '': {},
        [`node_modules/${name}`]: { resolved: 'https://registry.example/dsh-tools-0.1.0.tgz' },
        'node_modules/@deepseek-ai/cordis': { resolved: 'file:cordis.tgz' },
      },
    }),
  )
  expect(fromElsewhere(folder, 'npm')).toEqual([
    `node_modules/${name} from https://registry.example/dsh-tools-0.1.0.tgz`,
  ])
  writeFileSync(
    join(folder, 'pnpm-lock.yaml'),
    `packages:\n\n  '${name}@0.1.0':\n    resolution: {}\n\n  '@deepseek-ai/cordis@file:cordis.tgz':\n    resolution: {}\n`,
  )
  expect(fromElsewhere(folder, 'pnpm')).toEqual([`${name}@0.1.0`])
})
