// A permission gate: allows, denies or asks before a tool runs, by rules from its configuration. An `ask` goes to whoever answers approvals.
import { configSchema, type Context } from '@deepseek-ai/cordis'
import { decide, rulesFault, stricter, type GateConfig } from './rules.ts'

export const name = 'permission-gate'
export const inject = ['tools']

export const Config = configSchema<GateConfig>(
  'permission-gate',
  { rules: [], otherwise: 'allow' },
  {
    rules: rulesFault,
    otherwise: (value) => (value === 'allow' || value === 'ask' || value === 'deny' ? undefined : 'allow, ask or deny'),
  },
)

export function apply(ctx: Context, config: GateConfig): void {
  // Other listeners are heard as well: a gate makes a decision stricter, never laxer.
  ctx.on('tools/pre-execute', async (exec, next) => stricter(decide(config, exec.name, exec.arguments), await next()))
}
