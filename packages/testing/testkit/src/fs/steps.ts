// Stands between a provider and the file calls of Node: told before each call, which it may delay, fail or never make.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/** Told of each call before it is made: its name, e.g. `rename` or `FileHandle.write`. What it throws is what the call throws. */
export type OnCall = (name: string) => void

export type Stepped = <T>(onCall: OnCall, work: () => Promise<T>) => Promise<T>

type Callable = (...args: unknown[]) => unknown
type Holder = Record<string, unknown>

/**
 * Makes the function that runs `work` with every file call of this process announced; what else goes on in the process is announced too.
 * Its source is sent to other processes: it may use nothing that is not in it.
 */
export function makeStepped(node: typeof fs, syncExports: () => void): Stepped {
  let announce: OnCall = () => {}
  let restore: (() => void)[] = []

  function wrap(holder: Holder, key: string, label: string, isAsync: boolean): void {
    const descriptor = Object.getOwnPropertyDescriptor(holder, key)
    const original: unknown = descriptor?.value
    if (descriptor === undefined || typeof original !== 'function' || descriptor.configurable !== true) return
    const announced = function (this: unknown, ...args: unknown[]): unknown {
      try {
        announce(label)
      } catch (error) {
        // What fails to close is closed nevertheless.
        if (key === 'close') void Promise.resolve(Reflect.apply(original as Callable, this, args))
        if (isAsync) return Promise.reject(error)
        throw error
      }
      const made: unknown = Reflect.apply(original as Callable, this, args)
      return label === 'open' && made instanceof Promise ? made.then(watched) : made
    }
    // Functions carry functions: `realpathSync.native`.
    Object.defineProperties(announced, Object.getOwnPropertyDescriptors(original))
    Object.defineProperty(holder, key, { ...descriptor, value: announced })
    restore.push(() => Object.defineProperty(holder, key, descriptor))
  }

  /** A handle closes by a function of its own. */
  function watched(handle: unknown): unknown {
    wrap(handle as Holder, 'close', 'FileHandle.close', true)
    return handle
  }

  async function wrapAll(): Promise<void> {
    const handle = await node.promises.open(process.execPath)
    const handles = Object.getPrototypeOf(handle) as Holder
    await handle.close()
    const names = Object.getOwnPropertyNames(handles).filter((key) => key !== 'constructor' && key !== 'getAsyncId')
    for (const key of names) wrap(handles, key, `FileHandle.${key}`, true)
    wrap(node.realpathSync as unknown as Holder, 'native', 'realpathSync', false)
    for (const key of Object.keys(node.promises)) wrap(node.promises, key, key, true)
    for (const key of Object.keys(node)) if (key.endsWith('Sync')) wrap(node, key, key, false)
    syncExports()
  }

  return async (onCall, work) => {
    await wrapAll()
    announce = onCall
    try {
      return await work()
    } finally {
      announce = () => {}
      for (const each of restore.toReversed()) each()
      restore = []
      syncExports()
    }
  }
}

export const stepped = makeStepped(fs, syncBuiltinESMExports)

/** The calls that `work` makes. */
export async function callsOf(work: () => Promise<unknown>): Promise<string[]> {
  const calls: string[] = []
  await stepped((name) => void calls.push(name), work)
  return calls
}
