// `checkTool`: every check of the tool contract against one definition, in the real registry, with no model and no test framework.
import { checkHostile, checkNearValid, checkValid } from './checks/arguments.ts'
import { checkCancelAfter, checkCancelBefore, checkCancelDuring, checkTimeout } from './checks/cancellation.ts'
import { checkConcurrency } from './checks/concurrency.ts'
import { checkArguments, checkProcess } from './checks/isolation.ts'
import { checkLossless, checkMetaPurity, checkMetaSize, checkRenderPurity, checkRenderSize } from './checks/output.ts'
import { checkAmbient, checkPure, checkTotal, checkView } from './checks/presenters.ts'
import {
  checkDescription,
  checkExamples,
  checkName,
  checkOutputSchema,
  checkParameters,
  checkRegistration,
} from './checks/schema.ts'
import { resolveOptions, type ToolCheckOptions, type ToolUnderTest } from './options.ts'
import { CHECK_IDS, CHECK_TITLES, type CheckId, type CheckReport, type ToolReport } from './report.ts'
import { Session, watchingRejections } from './session.ts'
import { Broken, NotChecked } from './verdict.ts'

const CHECKS: Readonly<Record<CheckId, (session: Session) => Promise<void>>> = {
  'schema-name': checkName,
  'schema-description': checkDescription,
  'schema-parameters': checkParameters,
  'schema-examples': checkExamples,
  'schema-output': checkOutputSchema,
  registration: checkRegistration,
  'args-valid': checkValid,
  'args-near-valid': checkNearValid,
  'args-hostile': checkHostile,
  'output-lossless': checkLossless,
  'render-is-pure': checkRenderPurity,
  'render-size': checkRenderSize,
  'meta-is-pure': checkMetaPurity,
  'meta-size': checkMetaSize,
  'presenters-pure': checkPure,
  'presenters-ambient': checkAmbient,
  'presenters-total': checkTotal,
  'presenters-view': checkView,
  'cancel-before': checkCancelBefore,
  'cancel-during': checkCancelDuring,
  'cancel-after': checkCancelAfter,
  concurrency: checkConcurrency,
  'isolation-args': checkArguments,
  'isolation-process': checkProcess,
  timeout: checkTimeout,
}

/**
 * Checks a tool and reports on every check; a tool that breaks the contract is a report, never a rejection. Rejects with
 * `TestkitOptionsError` for options that do not fit the tool, and with whatever `plugins`, `setup` or `teardown` throw.
 * Takes `unhandledRejection` from other listeners of the process while it runs.
 */
export async function checkTool(subject: ToolUnderTest, options: ToolCheckOptions = {}): Promise<ToolReport> {
  const checker = new ToolChecker(subject, options)
  const began = performance.now()
  const checks: CheckReport[] = []
  for (const id of CHECK_IDS) checks.push(await checker.check(id))
  const { seed, runs } = checker.session.spec
  const ok = checks.every(({ status }) => status !== 'failed')
  return { tool: await checker.name(), ok, checks, seed, runs, durationMs: performance.now() - began }
}

/** One check at a time, for runners that order and choose tests themselves. What checks share is made by the first that needs it. */
export class ToolChecker {
  readonly session: Session

  constructor(subject: ToolUnderTest, options: ToolCheckOptions) {
    this.session = new Session(subject, resolveOptions(options))
  }

  name(): Promise<string> {
    return this.session.withSubject(async ({ definition }) => definition.name)
  }

  async check(id: CheckId): Promise<CheckReport> {
    const title = CHECK_TITLES[id]
    const excuse = this.session.spec.skip[id]
    if (excuse !== undefined) return { id, title, status: 'skipped', reason: excuse }
    try {
      await watchingRejections(this.session, () => CHECKS[id](this.session))
      return { id, title, status: 'passed' }
    } catch (error) {
      if (error instanceof NotChecked) return { id, title, status: 'skipped', reason: error.message }
      if (!(error instanceof Broken)) throw error
      const { message: reason, example } = error
      return { id, title, status: 'failed', reason, ...(example === undefined ? {} : { example }) }
    }
  }
}
