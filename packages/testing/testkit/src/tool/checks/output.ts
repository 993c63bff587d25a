// What a body returned and what is made of it for a model and for cards: lossless, pure, bounded.
import { Buffer } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import { errorMessage } from '@deepseek-ai/cordis'
import {
  compileValueSchema,
  contentText,
  snapshotJson,
  validatorFor,
  type ContentBlock,
  type Json,
} from '@deepseek-ai/dsh-tools'
import { CONTENT as BLOCKS } from '../view-schemas.ts'
import type { CanonicalPair, Session } from '../session.ts'
import { withTripwires } from '../tripwires.ts'
import { fail, shown, skip, thrownText } from '../verdict.ts'

const CONTENT = compileValueSchema(BLOCKS)

export async function checkLossless(session: Session): Promise<void> {
  await session.withBench(async ({ definition }) => {
    let seen = 0
    const validator = validatorFor(definition.output.schema)
    for (const { args, returned } of await session.corpus()) {
      if (returned === undefined) continue
      seen++
      try {
        snapshotJson(returned.value)
      } catch (error) {
        fail(`the value is not lossless JSON: ${errorMessage(error)}`, args)
      }
      const violations = validator.violations(returned.value)
      if (violations.length > 0) fail(`the value does not match output.schema: ${violations.join('; ')}`, args)
    }
    if (seen === 0) skip('no run returned a value: give args that succeed')
  })
}

export async function checkRenderPurity(session: Session): Promise<void> {
  await session.withBench(async ({ definition }) => {
    const { output } = definition
    const projected = pureTwice('output.render', await session.pairs(definition), ({ args, value }) =>
      output.render(args as never, value as never),
    )
    for (const [blocks, pair] of projected) {
      const violations = validatorFor(CONTENT).violations(blocks, 'content')
      if (violations.length > 0) fail(`output.render gives no content blocks: ${violations.join('; ')}`, pair.args)
    }
  })
}

export async function checkMetaPurity(session: Session): Promise<void> {
  await session.withBench(async ({ definition }) => {
    const { output } = definition
    if (output.presentationMeta === undefined) skip('declares no presentationMeta')
    const projected = pureTwice('output.presentationMeta', await session.pairs(definition), ({ args, value }) =>
      output.presentationMeta?.(args as never, value as never),
    )
    for (const [meta, { args }] of projected) {
      if (meta === undefined) continue
      try {
        snapshotJson(meta)
      } catch (error) {
        fail(`meta is not lossless JSON: ${errorMessage(error)}`, args)
      }
    }
  })
}

type Project = (pair: CanonicalPair) => unknown

/** Calls a projection twice for each pair, with the process out of reach. Returns what it gave, beside the pair. */
function pureTwice(
  what: string,
  pairs: readonly CanonicalPair[],
  project: Project,
): (readonly [unknown, CanonicalPair])[] {
  const runs = pairs.map((pair) => ({ pair, frozen: copyOf(pair, true), loose: copyOf(pair, false) }))
  // The second inputs are other objects, so that an answer remembered by identity does not pass for one made from the value.
  const watched = withTripwires((watch) =>
    runs.map(({ pair, frozen, loose }) => ({
      pair,
      first: watch(() => project(frozen)),
      second: watch(() => project(loose)),
      changed: loose,
    })),
  )
  return watched.map(({ pair, first, second, changed }) => {
    const reached = new Set([...first.reached, ...second.reached])
    if (reached.size > 0) fail(`${what} reaches for ${[...reached].join(', ')}`, pair.args)
    const thrown = first.thrown ?? second.thrown
    if (thrown !== undefined) fail(`${what} throws ${thrownText(thrown.error)}`, pair.args)
    if (!isDeepStrictEqual(first.value, second.value)) {
      fail(`${what} gives ${shown(first.value)} and then ${shown(second.value)} for the same value`, pair.args)
    }
    if (!isDeepStrictEqual(changed, copyOf(pair, false))) fail(`${what} changes what it is given`, pair.args)
    return [first.value, pair] as const
  })
}

function copyOf({ args, value }: CanonicalPair, freeze: boolean): CanonicalPair {
  return { args: snapshotJson(args, { freeze }), value: snapshotJson(value, { freeze }) }
}

export async function checkRenderSize(session: Session): Promise<void> {
  const limit = session.spec.maxRenderBytes
  await session.withBench(async ({ definition }) => {
    for (const { args, value } of await session.pairs(definition)) {
      const blocks = rendered(() => definition.output.render(args as never, value as never))
      const bytes = Buffer.byteLength(contentText(blocks))
      if (bytes > limit) fail(`renders ${bytes} bytes for a model to read, more than ${limit}`, args)
    }
  })
}

function rendered(render: () => readonly ContentBlock[]): readonly ContentBlock[] {
  try {
    const blocks = render()
    return validatorFor(CONTENT).check(blocks) ? blocks : skip('output.render gives no content blocks')
  } catch {
    return skip('output.render throws')
  }
}

export async function checkMetaSize(session: Session): Promise<void> {
  const limit = session.spec.maxMetaBytes
  await session.withBench(async ({ definition }) => {
    const { output } = definition
    if (output.presentationMeta === undefined) skip('declares no presentationMeta')
    for (const { args, value } of await session.pairs(definition)) {
      let meta: Json | undefined
      try {
        meta = output.presentationMeta(args as never, value as never)
      } catch {
        skip('output.presentationMeta throws')
      }
      const bytes = meta === undefined ? 0 : Buffer.byteLength(JSON.stringify(meta) ?? '')
      if (bytes > limit) fail(`keeps ${bytes} bytes of meta in the session log, more than ${limit}`, args)
    }
  })
}
