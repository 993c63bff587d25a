// The contract suite of sandboxes: what a confined command must not do, tried, and looked at from outside. Linux, with real processes.
// Runner-agnostic: the caller hands in `describe` and `it`, so that this package needs no test framework.
import { spawnSync } from 'node:child_process'
import type { Sandbox } from '@deepseek-ai/dsh-sandbox'
import { filesystemRows } from './filesystem-rows.ts'
import { kernelRows } from './kernel-rows.ts'
import { lifecycleRows } from './lifecycle-rows.ts'
import { networkRows } from './network-rows.ts'
import { repositoryRows } from './repository-rows.ts'
import { makeWorld, type SandboxWorld } from './world.ts'

type Register = (name: string, body: () => Promise<void>) => unknown

/** Vitest's and `node:test`'s own functions fit. */
export interface SandboxSuiteRunner {
  describe: (name: string, body: () => void) => unknown
  it: Register & { skip: Register }
}

export interface SandboxUnderTest {
  sandbox: Sandbox
  /** Ends the provider as its host would. */
  dispose: () => Promise<unknown>
}

/** Makes a fresh provider a test. */
export type SandboxFactory = () => Promise<SandboxUnderTest>

/** One attempt. `needs` names programs without which it is skipped by name. */
export interface SandboxRow {
  readonly title: string
  readonly needs?: readonly string[]
  readonly body: (world: SandboxWorld) => Promise<void>
}

/** Registers the suite. Its tests start real processes and servers on loopback: files run in a process of their own. */
export function testSandbox({ describe, it }: SandboxSuiteRunner, name: string, factory: SandboxFactory): void {
  const register = (rows: readonly SandboxRow[]): void => {
    for (const { title, needs = [], body } of rows) {
      const missing = needs.filter((program) => !hasProgram(program))
      const test = missing.length > 0 ? it.skip : it
      test(missing.length > 0 ? `${title} (no ${missing.join(', ')})` : title, () => inWorld(factory, body))
    }
  }
  describe(`${name} keeps the sandbox contract`, () => {
    describe('files', () => register(filesystemRows))
    describe('repositories and configuration', () => register(repositoryRows))
    describe('kernel', () => register(kernelRows))
    describe('network and sockets', () => register(networkRows))
    describe('sessions, processes and results', () => register(lifecycleRows))
  })
}

async function inWorld(factory: SandboxFactory, body: SandboxRow['body']): Promise<void> {
  const under = await factory()
  const world = makeWorld(under.sandbox)
  try {
    await body(world)
  } finally {
    await under.dispose()
    await world.remove()
  }
}

const programs = new Map<string, boolean>()

function hasProgram(name: string): boolean {
  let known = programs.get(name)
  if (known === undefined) {
    // Started, not only found: a shim may be there for someone else alone.
    known = spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0
    programs.set(name, known)
  }
  return known
}
