// The plugin of the terminal tools: registers them, tells models when to use them, and finds the person to ask.
import type { Context } from '@deepseek-ai/cordis'
import type { PromptSection } from '@deepseek-ai/dsh-system-prompt'
import type { UserQuestionService } from '@deepseek-ai/dsh-user-questions'
import { Config, withDefaults, type ToolTerminalConfig } from './config.ts'
import { Sends } from './sends.ts'
import { terminalTools, type TerminalTools } from './tools.ts'

const GUIDANCE = `Terminals keep running between your calls and until you close them. After terminal_send look at [wait: …]: stdin-wait means that \
the shell or the program is ready for you, idle and timeout that it may still be working. Close terminals that you no longer need.`

const SECTION: PromptSection = { name: 'tool:terminal', order: 106, text: GUIDANCE }

export const name = 'tool-terminal'
export const inject = ['tools', 'terminals']
export { Config }

export function apply(ctx: Context, options: Partial<ToolTerminalConfig> = {}): void {
  const { terminals, tools } = ctx
  let questions: UserQuestionService | undefined
  ctx.inject(['userQuestions'], (child) => {
    questions = child.userQuestions
    child.effect(
      () => () => {
        questions = undefined
      },
      'tool-terminal.questions',
    )
  })
  const logger = ctx.logger('tool-terminal')
  const host: TerminalTools = {
    terminals,
    questions: () => questions,
    config: withDefaults(options),
    onTrouble: (message) => logger.warn('%s', message),
  }
  const sends = new Sends(host)
  ctx.effect(() => () => sends.dispose(), 'tool-terminal.prompts')
  for (const tool of terminalTools(host, sends)) tools.register(tool)
  ctx.inject(['systemPrompt'], (child) => {
    child.systemPrompt.section(SECTION)
  })
}
