// A program in a terminal asks, a person answers, and a secret goes from the person to the program and nowhere else.
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import UserQuestions, { type PendingQuestion } from '@deepseek-ai/dsh-user-questions'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { callTools, eventsOfType, say, startHost, type TestHost } from '../../../../core/agent/tests/harness.ts'
import * as toolTerminal from '../../src/index.ts'
import { realTerminals, removed, temporaryFolder } from './world.ts'

const SECRET = 'correct-horse-battery-staple'

let host: TestHost
let folder: string
let asked: PendingQuestion[]

beforeEach(async () => {
  folder = temporaryFolder()
  asked = []
  host = await startHost()
  await realTerminals(host.ctx)
  await host.ctx.plugin(UserQuestions)
  await host.ctx.plugin(toolTerminal, { promptTimeoutMs: 10_000 })
})
afterEach(async () => {
  await host.dispose()
  removed(folder)
})

/** A person who gives each question the answer that `answers` has for it, once. */
function person(answers: Record<string, { text: string; secret?: boolean }>): void {
  const { userQuestions } = host.ctx
  userQuestions.registerAnswerer({ canAnswer: () => true })
  userQuestions.subscribe((sessionId) => {
    for (const question of userQuestions.pending(sessionId)) {
      if (asked.some(({ id }) => id === question.id)) continue
      asked.push(question)
      const answer = answers[question.question]
      if (answer !== undefined) userQuestions.answer(question.id, answer)
    }
  })
}

function script(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return `bash ${name}`
}

/** Everything that is kept of the host's sessions. */
function kept(at = host.dir): string {
  return readdirSync(at)
    .map((name) => join(at, name))
    .map((path) => (statSync(path).isDirectory() ? kept(path) : readFileSync(path, 'utf8')))
    .join('\n')
}

const inMain = (name: string, args: object = {}) => callTools({ name, args: { terminal: 'main', ...args } })

async function run(...calls: ReturnType<typeof callTools>[]) {
  host.model.next(callTools({ name: 'terminal_open', args: { name: 'main' } }), ...calls, say('done'))
  const agent = await host.agents.create({ cwd: folder })
  agent.send('go')
  await agent.whenIdle()
  const results = await eventsOfType(agent.session, 'tool/result')
  return { agent, texts: results.map(({ data }) => JSON.stringify(data)) }
}

describe('a secret answer', () => {
  it('reaches the program, and neither the model nor anything that is kept', async () => {
    person({ 'Password:': { text: SECRET } })
    // It tells the secret on purpose, and the terminal is read afterwards.
    const command = script('ask', 'read -rsp "Password: " x; echo; echo "$x" > answer; echo "you said $x"\n')
    const { texts } = await run(inMain('terminal_send', { text: command }), inMain('terminal_read'))
    expect(readFileSync(join(folder, 'answer'), 'utf8')).toBe(`${SECRET}\n`)
    expect(asked).toEqual([expect.objectContaining({ question: 'Password:', secret: true })])
    expect(texts[1]).toContain('[the user answered a prompt of the program]')
    expect(texts[1]).toContain('you said ••••')
    expect(host.model.requests).toHaveLength(4)
    expect(JSON.stringify(host.model.requests)).not.toContain(SECRET)
    expect(kept()).toContain('question/settled')
    expect(kept()).not.toContain(SECRET)
  })

  it('may be made one by the person, where the program shows what is typed', async () => {
    person({ 'Token:': { text: SECRET, secret: true } })
    const command = script('token', 'read -rp "Token: " x; echo "$x" > answer; echo "stored $x"\n')
    await run(
      inMain('terminal_send', { text: command }),
      inMain('terminal_send', { text: '' }),
      inMain('terminal_read'),
    )
    await expect.poll(() => readFileSync(join(folder, 'answer'), 'utf8')).toBe(`${SECRET}\n`)
    expect(JSON.stringify(host.model.requests)).not.toContain(SECRET)
    expect(kept()).not.toContain(SECRET)
  })
})

describe('a question of a program', () => {
  it('comes back to the model when nobody can be reached, without waiting', async () => {
    const command = script('ask', 'read -rsp "Password: " x\n')
    const { texts } = await run(inMain('terminal_send', { text: command }))
    expect(texts[1]).toContain('[the program waits for an answer that it does not show: Password:]')
    expect(texts[1]).toContain('[wait: stdin-wait]')
  })

  it('is withdrawn when the model answers a confirmation', async () => {
    person({})
    const command = script('sure', 'read -rp "Continue? " x; echo "<$x>"\n')
    const { agent, texts } = await run(
      inMain('terminal_send', { text: command }),
      inMain('terminal_send', { text: 'yes' }),
    )
    expect(texts[1]).toContain('[the program waits for an answer: Continue?]')
    expect(texts[2]).toContain('<yes>')
    expect(asked).toEqual([expect.objectContaining({ question: 'Continue?', secret: false })])
    expect(host.ctx.userQuestions.pending(agent.id)).toEqual([])
  })

  it('is withdrawn when its terminal is closed, and lines behind it are told as not typed', async () => {
    person({ 'Password:': { text: SECRET } })
    const { texts, agent } = await run(
      inMain('terminal_send', { text: 'read -rsp "Password: " x\necho behind' }),
      inMain('terminal_close'),
    )
    expect(texts[1]).toContain('[not typed: the last line')
    expect(texts[2]).toMatch(/closed main\\n\[kill: \d+ process(es)? ended by SIG/)
    expect(host.ctx.userQuestions.pending(agent.id)).toEqual([])
    expect(host.ctx.terminals.list(agent)).toEqual([])
  })

  it('ends the terminals of an agent with it', async () => {
    const { agent } = await run()
    const [terminal] = host.ctx.terminals.list(agent)
    expect(terminal?.status).toEqual({ kind: 'running' })
    await agent.dispose()
    expect(host.ctx.terminals.list(agent)).toEqual([])
    expect(() => process.kill(terminal?.pid ?? 0, 0)).toThrow(/ESRCH/)
  })
})
