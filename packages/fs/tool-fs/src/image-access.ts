// Offers read_image where a picture can be looked at: on the host by its default model, and to each agent by its own.
import type { Context } from '@deepseek-ai/cordis'
import type { Agent } from '@deepseek-ai/dsh-agent'
import type { ModelRef } from '@deepseek-ai/dsh-llm'
import type { ToolDefinition, ToolExecution } from '@deepseek-ai/dsh-tools'

interface Choice {
  readonly key: string
  readonly undo: () => void
}

/** `ctx` has `tools` and `llm`. Returns who can look at pictures now; an agent's choice is made before each of its requests. */
export function followModels(ctx: Context, tool: ToolDefinition): (agent: ToolExecution['agent']) => boolean {
  const { llm, tools } = ctx
  const reads = (model: ModelRef): boolean => llm.inputOf(model).includes('image')
  const choices = new Map<Agent, Choice>()
  let dispose: (() => void) | undefined

  const followHost = (): void => {
    const wanted = defaultReads()
    if (wanted === (dispose !== undefined)) return
    dispose?.()
    dispose = wanted ? tools.register(tool) : undefined
  }
  const defaultReads = (): boolean => {
    try {
      return reads(llm.resolve())
    } catch {
      return false // no model is ready
    }
  }
  const followAgent = (agent: Agent): void => {
    const wanted = reads(agent.model)
    const there = dispose !== undefined
    const key = `${wanted} ${there}`
    const choice = choices.get(agent)
    if (choice?.key === key) return
    choice?.undo()
    choices.set(agent, { key, undo: wanted === there ? () => {} : differing(agent, wanted) })
  }
  const differing = ({ ctx: scope }: Agent, wanted: boolean): (() => void) =>
    wanted ? scope.tools.register(tool) : scope.tools.restrict({ deny: [tool.name] })

  followHost()
  ctx.on('llm/changed', followHost)
  ctx.on('agent/disposed', ({ agent }) => void choices.delete(agent))
  // What is placed in the scope of an agent would outlive this plugin.
  ctx.effect(() => () => choices.forEach(({ undo }) => undo()), 'tool-fs.imageAccess')
  ctx.on('agent/pre-step', ({ agent }, next) => {
    followAgent(agent)
    return next()
  })
  return (agent) => tools.get(tool.name, agent) !== undefined
}
