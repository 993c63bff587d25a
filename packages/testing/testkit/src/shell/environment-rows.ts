// Rows: what a command sees of the host's environment.
import assert from 'node:assert/strict'
import type { ShellTest } from './suite.ts'

const SECRETS = ['OPENAI_API_KEY', 'GH_TOKEN', 'DB_PASSWORD', 'GITHUB_PAT', 'SSH_PASSPHRASE', 'PGPASSFILE', 'MYSQL_PWD']

/** Sets variables of the host for the time of `use`. */
async function withHostVariables<T>(variables: Record<string, string>, use: () => Promise<T>): Promise<T> {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, variables)
  try {
    return await use()
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

export function environmentRows(test: ShellTest): void {
  test('hides secrets of the host and facts of the harness', async ({ run }) => {
    const variables = Object.fromEntries([...SECRETS, 'DSH_HOME'].map((name) => [name, 'hidden-value']))
    await withHostVariables({ ...variables, DSH_TEST_PLAIN: 'hidden-value', TESTKIT_PLAIN: 'shown' }, async () => {
      const { stdout } = await run('env')
      assert.doesNotMatch(stdout.text, /hidden-value/)
      assert.match(stdout.text, /^TESTKIT_PLAIN=shown$/m)
    })
  })

  test('passes what the caller names, secrets and overrides included', async ({ run }) => {
    const { stdout } = await run('echo "$GH_TOKEN $PAGER"', { env: { GH_TOKEN: 'given', PAGER: 'mine' } })
    assert.equal(stdout.text, 'given mine\n')
  })

  test('keeps programs from paging, prompting and colouring', async ({ run }) => {
    await withHostVariables({ PAGER: 'less', FORCE_COLOR: '1', EDITOR: 'vi' }, async () => {
      const { stdout } = await run(
        'echo "$TERM $NO_COLOR $PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $EDITOR [$FORCE_COLOR]"',
      )
      assert.equal(stdout.text, 'dumb 1 cat cat 0 true []\n')
    })
  })

  test('starts each command afresh', async ({ run }) => {
    await run('export TESTKIT_LEFT=1; cd /')
    const { stdout } = await run('echo "[$TESTKIT_LEFT]"')
    assert.equal(stdout.text, '[]\n')
  })
}
