// A host: a root context that prints its log, survives stray rejections and shuts down in order on a signal.
import { Context, Logger, type Exporter, type Message } from '../upstream/index.js'
import { errorMessage } from './errors.ts'
import { disposeAndJoin } from './fibers.ts'

export type LogLevel = 'error' | 'warn' | 'info' | 'debug'

export interface HostOptions {
  /** What is printed to standard error: this level and worse. Default `warn`. */
  logLevel?: LogLevel
  /** Where a log line goes, without its line end. Default: standard error. */
  write?: (line: string) => void
  /** Take SIGINT, SIGTERM and SIGHUP: the first stops in order, a second one ends the process at once. Default false. */
  handleSignals?: boolean
  /**
   * Log what a plugin throws in a timer or rejects without a catch, and go on; Node would end the process. Default: the value of
   * `handleSignals`, since a long-lived host must not lose everybody's work to one plugin.
   */
  containFaults?: boolean
  /** How long an ordered stop may take before the process ends anyway, in milliseconds. Default 5000. */
  shutdownTimeoutMs?: number
}

export interface Host {
  readonly ctx: Context
  /** Stops every plugin and waits for it. Later calls return the same promise. */
  dispose(): Promise<void>
}

const LEVELS: Record<LogLevel, number> = { error: 0, warn: 1, info: 2, debug: 3 }
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** Creates a root context with a log exporter. Without an exporter upstream drops every message, plugin failures included. */
export function createHost(options: HostOptions = {}): Host {
  const ctx = new Context()
  const write = options.write ?? ((line: string) => void process.stderr.write(`${line}\n`))
  const exporter: Exporter = {
    colors: 0,
    levels: { default: LEVELS[options.logLevel ?? 'warn'] },
    export(message: Message) {
      write(`${message.type} ${message.name}: ${Logger.format(exporter, message)}`)
    },
  }
  ctx.logger.exporter(exporter)
  let disposal: Promise<void> | undefined
  const dispose = (): Promise<void> => (disposal ??= disposeAndJoin(ctx.fiber))
  if (options.containFaults ?? options.handleSignals === true) containFaults(ctx)
  if (options.handleSignals === true) installSignals(ctx, dispose, options.shutdownTimeoutMs ?? 5000, write)
  return { ctx, dispose }
}

function containFaults(ctx: Context): void {
  const log = ctx.logger('host')
  const report = (what: string) => (thrown: unknown) =>
    log.error('%s: %s', what, thrown instanceof Error ? (thrown.stack ?? thrown.message) : errorMessage(thrown))
  const onRejection = report('unhandled rejection')
  const onException = report('uncaught exception')
  process.on('unhandledRejection', onRejection)
  process.on('uncaughtException', onException)
  ctx.effect(
    () => () => {
      process.off('unhandledRejection', onRejection)
      process.off('uncaughtException', onException)
    },
    'host.faults',
  )
}

function installSignals(
  ctx: Context,
  dispose: () => Promise<void>,
  timeoutMs: number,
  write: (line: string) => void,
): void {
  let stopping = false
  const onSignal = (signal: keyof typeof SIGNALS): void => {
    if (stopping) process.exit(SIGNALS[signal])
    stopping = true
    const late = setTimeout(() => {
      write(`error host: still stopping after ${timeoutMs} ms; ending now`)
      process.exit(SIGNALS[signal])
    }, timeoutMs)
    late.unref()
    dispose().then(
      () => process.exit(SIGNALS[signal]),
      (error: unknown) => {
        write(`error host: ${errorMessage(error)}`)
        process.exit(1)
      },
    )
  }
  for (const signal of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) process.on(signal, onSignal)
  ctx.effect(
    () => () => {
      if (stopping) return // a second signal must still end the process at once
      for (const signal of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) process.off(signal, onSignal)
    },
    'host.signals',
  )
}
