import { describe, expect, it } from 'vitest'
import { commandEnvironment, isSecretName, QUIET_ENVIRONMENT } from '../src/executor/environment.ts'

const build = (ambient: Record<string, string>, explicit?: Record<string, string>, allow: string[] = []) =>
  commandEnvironment({ ambient, allow: new Set(allow), quiet: QUIET_ENVIRONMENT, explicit })

describe('the environment of a command', () => {
  it.each([
    'OPENAI_API_KEY',
    'aws_secret_access_key',
    'GH_TOKEN',
    'PGPASSWORD',
    'PGPASSFILE',
    'GITHUB_PAT',
    'MYSQL_PWD',
    'NPM_CONFIG__AUTH',
    'SSH_KEY_PASSPHRASE',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'DSH_HOME',
    'dsh_x',
  ])('hides %s', (name) => expect(isSecretName(name)).toBe(true))

  it.each(['PATH', 'PWD', 'HOME', 'LANG', 'SSH_AUTH_SOCK', 'PATTERN', 'NODE_OPTIONS', 'HTTPS_PROXY'])(
    'shows %s',
    (name) => expect(isSecretName(name)).toBe(false),
  )

  it('lets exactly the allowed names through', () => {
    const env = build({ A_TOKEN: '1', B_TOKEN: '2' }, undefined, ['A_TOKEN'])
    expect([env.A_TOKEN, env.B_TOKEN]).toEqual(['1', undefined])
  })

  it('lets the caller win over the host and over what keeps programs quiet', () => {
    const env = build({ PAGER: 'less', LANG: 'C' }, { PAGER: 'more', MY_SECRET: 'given' })
    expect(env).toMatchObject({ PAGER: 'more', MY_SECRET: 'given', LANG: 'C', TERM: 'dumb' })
  })

  it('drops what would force colour back on', () => {
    expect(Object.keys(build({ FORCE_COLOR: '1', CLICOLOR_FORCE: '1' }))).not.toContain('FORCE_COLOR')
  })

  it('does not pretend to be a build server', () => {
    expect('CI' in build({})).toBe(false)
  })
})
