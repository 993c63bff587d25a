// A program of `run_code` in a session: its calls are in the log, beside and never inside what the model is sent.
import { defineTool } from '@deepseek-ai/dsh-tools'
import { expect, it } from 'vitest'
import { provideRuntime } from '../../tools/tests/program-runner.ts'
import { callTools, eventsOf, say, startHost } from './harness.ts'

it('logs the calls of a program and ends the turn that a call concludes', async () => {
  const h = await startHost()
  provideRuntime(h.ctx)
  h.ctx.tools.register(
    defineTool({
      name: 'finish',
      description: 'Ends the work.',
      parameters: { answer: { type: 'integer', required: true } },
      output: { schema: { type: 'integer' }, render: (_args, value) => [{ type: 'text', text: `is ${value}` }] },
      execute(args, exec) {
        exec.concludeTurn()
        return args.answer
      },
    }),
  )
  h.model.next(
    callTools({ name: 'run_code', args: { code: 'return await tools.finish({ answer: 42 })', description: 'finish' } }),
    say('never asked'),
  )
  const agent = await h.agents.create({ ephemeral: true })
  agent.ctx.tools.presentAs('code')
  agent.send('go')
  await agent.whenIdle()
  const events = await eventsOf(agent.session)
  expect(events.filter(({ type }) => type.startsWith('tool/')).map(({ type }) => type)).toEqual([
    'tool/call',
    'tool/sub-call',
    'tool/sub-result',
    'tool/result',
  ])
  const [start, end] = events.filter(({ type }) => type.startsWith('tool/sub-'))
  expect(start?.data).toMatchObject({ name: 'finish', arguments: '{"answer":42}' })
  expect(end?.data).toMatchObject({ callSeq: start?.seq, isError: false, content: [{ type: 'text', text: 'is 42' }] })
  expect(h.model.requests).toHaveLength(1)
  expect(events.at(-1)).toMatchObject({ type: 'turn/end', data: { reason: { kind: 'completed' } } })
  expect(JSON.stringify(agent.session.messages())).not.toContain('is 42')
  await h.dispose()
})
