// Remembers what the proxy refused, for as long as a call may ask about it.
import type { SandboxDenial, SandboxRule } from '@deepseek-ai/dsh-sandbox'

/** A command can knock as often as it likes; only the last knocks are kept. */
const KEPT = 512
const TOLD = 20

export class DenialLog {
  private entries: { readonly time: number; readonly target: string; readonly rule: SandboxRule }[] = []

  add(target: string, rule: SandboxRule): void {
    this.entries.push({ time: Date.now(), target, rule })
    if (this.entries.length >= 2 * KEPT) this.entries = this.entries.slice(-KEPT)
  }

  /** Each target and rule once, in the order of its first refusal, at most 20. */
  since(time: number): SandboxDenial[] {
    const seen = new Map<string, SandboxDenial>()
    for (const { target, rule, time: at } of this.entries) {
      const key = `${rule} ${target}`
      if (at < time || seen.has(key)) continue
      seen.set(key, { kind: 'network', target, rule, confidence: 'confirmed' })
      if (seen.size === TOLD) break
    }
    return [...seen.values()]
  }
}
