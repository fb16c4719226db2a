import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/guardTests.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Concurrent tests start two real processes each; a small machine has two cores.
    maxConcurrency: 4,
  },
})
