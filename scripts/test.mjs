// `npm test`: installs, builds, brings the programs that some tests drive, runs every test, then checks types and style.
// The last line is the count from the runner's own report.
import { checkNode } from './check-node.mjs'

checkNode(20, 19)
import('./bootstrap.mjs')
  .then(({ bootstrap, run, root }) => main(bootstrap, run, root))
  .catch((error) => {
    console.error(error)
    process.exit(1)
  })

async function main(bootstrap, run, root) {
  const { mkdtempSync, readFileSync, rmSync } = await import('node:fs')
  const { tmpdir } = await import('node:os')
  const path = await import('node:path')
  const args = process.argv.slice(2)
  await bootstrap()
  await bringPrograms(run)
  const dir = mkdtempSync(path.join(tmpdir(), 'dsh-test-'))
  const report = path.join(dir, 'report.json')
  const code = await run(
    'vitest',
    ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args],
    {
      stdio: ['ignore', 1, 2],
    },
  )
  let counts
  try {
    counts = JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    console.error('dsh: the test runner left no report')
    process.exit(1)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
  // A file that fails to load has no tests to count, yet is a failure.
  const brokenFiles = counts.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((each) => each.status !== 'failed'),
  )
  const failed = counts.numFailedTests + brokenFiles.length
  const skipped = counts.numPendingTests + counts.numTodoTests
  const checks = args.length > 0 || (await checked(run))
  const passed = code === 0 && failed === 0 && counts.numPassedTests > 0 && checks
  if (passed && args.length === 0) await noteTested(root)
  console.log(`${counts.numPassedTests} passed, ${failed} failed, ${skipped} skipped`)
  process.exit(passed ? 0 : 1)
}

/** For `npm run release`, which publishes no commit that has not passed. What is not committed has passed as no commit. */
async function noteTested(root) {
  const { spawnSync } = await import('node:child_process')
  const { writeFileSync } = await import('node:fs')
  const path = await import('node:path')
  const git = (...words) => spawnSync('git', words, { cwd: root, encoding: 'utf8' })
  const changed = git('status', '--porcelain')
  const head = git('rev-parse', 'HEAD')
  if (changed.status !== 0 || changed.stdout !== '' || head.status !== 0) return
  writeFileSync(path.join(root, 'node_modules/.dsh-tested'), head.stdout)
}

/** Types and style of everything, what has not changed from the cache. */
async function checked(run) {
  const args = ['run', 'typecheck', 'lint', '--continue', '--output-logs=errors-only', '--log-order=grouped']
  if ((await run('turbo', args, { quiet: true })) === 0) return true
  console.error('dsh: types or style failed (npm run typecheck and npm run lint show it; npx oxfmt fixes the format)')
  return false
}

/** Chromium and bubblewrap, where this process may install them; otherwise says which tests will be skipped. */
async function bringPrograms(run) {
  const { spawnSync } = await import('node:child_process')
  const has = (program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
  const wanted = process.platform === 'linux' ? ['chromium', 'bwrap'].filter((program) => !has(program)) : []
  if (wanted.length === 0) return
  const packages = wanted.map((program) => (program === 'bwrap' ? 'bubblewrap' : program))
  if (process.getuid?.() === 0 && has('apt-get')) {
    console.error(`dsh: installing ${packages.join(' and ')} for the tests that drive them …`)
    const env = { DEBIAN_FRONTEND: 'noninteractive' }
    await run('apt-get', ['update', '-qq'], { env })
    await run('apt-get', ['install', '-y', '-qq', ...packages], { env, stdio: 'ignore' })
  }
  for (const program of wanted.filter((each) => !has(each))) {
    console.error(`dsh: ${program} is not installed; the tests that need it are skipped`)
  }
}
