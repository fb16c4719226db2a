import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { deepTests } from './test/deepTests.ts'

const deep = deepTests.map((file) => `test/${file}`)

export default defineConfig({
  test: {
    setupFiles: ['test/support/guardTests.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Concurrent tests start two real processes each; a small machine has two cores.
    maxConcurrency: 4,
    // Vitest leaves one core to itself; of two that would be half of the machine.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // `npm test` runs the quick tier, `npm run test:deep` the other; a file named on the command line runs in its own.
    projects: [
      { extends: true, test: { name: 'quick', include: ['test/**/*.test.ts'], exclude: deep } },
      { extends: true, test: { name: 'deep', include: deep } },
    ],
  },
})
