// What a call leaves behind: its arguments, listeners of the process, the working directory, rejections that nobody handled.
import { isDeepStrictEqual } from 'node:util'
import { turns, type Session } from '../session.ts'
import { fail } from '../verdict.ts'

export async function checkArguments(session: Session): Promise<void> {
  await session.withBench(async (bench) => {
    for (const args of session.runnable(bench.definition, 5)) {
      // A body that writes to frozen arguments fails in strict code only; a loose copy shows it in any.
      const bodyArgs = structuredClone(args)
      await bench.run(args, { bodyArgs })
      if (!isDeepStrictEqual(bodyArgs, structuredClone(args))) fail('the body changes its arguments', args, bodyArgs)
    }
  })
}

export async function checkProcess(session: Session): Promise<void> {
  await session.withBench(async (bench) => {
    const args = session.runnable(bench.definition, 5)
    // What is set up on first use and kept is no leak.
    await bench.run(args[0])
    const before = processState()
    for (const each of args) await bench.run(each)
    await turns()
    const after = processState()
    for (const [what, value] of Object.entries(before)) {
      const now = after[what as keyof ProcessState]
      if (now !== value) fail(`${what} changed from ${value} to ${now}`, args[0])
    }
    session.failOnRejections(0)
  })
}

interface ProcessState {
  'the number of listeners on process': string
  'the working directory': string
  'the environment': string
}

function processState(): ProcessState {
  const listeners = process.eventNames().map((name) => [String(name), process.listenerCount(name)] as const)
  return {
    'the number of listeners on process': listeners
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${name}=${count}`)
      .sort()
      .join(' '),
    'the working directory': process.cwd(),
    // Values may be secrets; a report must not show them.
    'the environment': Object.keys(process.env).sort().join(' '),
  }
}
