import { defineConfig } from 'vitest/config'

// Tests run straight from source: the private export condition points every internal package at its `src`.
const conditions = ['@deepseek-ai/source', 'module', 'node', 'import', 'default']
const resolve = { conditions }
const ssr = { resolve: { conditions, externalConditions: conditions } }

export default defineConfig({
  resolve,
  ssr,
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
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
          include: ['packages/*/*/tests/product/**/*.test.ts', 'scripts/tests/product/**/*.test.ts'],
          pool: 'forks',
          isolate: true,
          testTimeout: 60_000,
          // A fact that a page or a process brings about takes what the machine takes.
          expect: { poll: { timeout: 10_000 } },
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
