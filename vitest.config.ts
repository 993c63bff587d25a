import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// Tests run straight from source: the private export condition points every internal package at its `src`.
const conditions = ['@deepseek-ai/source', 'module', 'node', 'import', 'default']
const resolve = { conditions }
const ssr = { resolve: { conditions, externalConditions: conditions } }

/** Ten thousand commands, one after the other. */
const LONGEST = 'packages/shell/bash-local/tests/product/contract.test.ts'

/** The longest file goes beside all others instead of after them. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLongest = ({ moduleId }: TestSpecification): boolean => moduleId.endsWith(LONGEST)
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))]
  }
}

export default defineConfig({
  resolve,
  ssr,
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          include: ['packages/*/*/tests/**/*.test.ts', 'scripts/tests/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/tests/product/**'],
          pool: 'threads',
          isolate: false,
        },
      },
      {
        // Processes, environment, working directory, signals, browsers: each file in a process of its own.
        extends: true,
        test: {
          name: 'product',
          sequence: { groupOrder: 1 },
          include: ['packages/*/*/tests/product/**/*.test.ts', 'scripts/tests/product/**/*.test.ts'],
          pool: 'forks',
          isolate: true,
          // They wait for processes and pages more than they compute: on two cores one at a time would leave half of them idle.
          maxWorkers: Math.max(2, availableParallelism() - 1),
          testTimeout: 60_000,
          // A fact that a page or a process brings about takes what the machine takes.
          expect: { poll: { timeout: 10_000 } },
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
