import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { apartTests } from './test/apartTests.ts'
import { aloneTests, deepTests, processTests } from './test/deepTests.ts'
import { LongestFirst } from './test/longestFirst.ts'

// Processes and threads that run tests, and those that tests start, find their modules compiled: most of what a short command takes
// is reading them.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'perpd-tests')

// Paper venues of tests have the same prices each time; a user's new folder draws its own.
process.env.PERPD__PAPER__SEED ??= '1'

const below = (files: readonly string[]) => files.map((file) => `test/${file}`)
const deep = below(deepTests)
const processes = below(processTests)
const apart = below(apartTests)
const alone = below(aloneTests)
/** Projects whose files start perpd as processes have it bundled first. */
const globalSetup = 'test/support/bundleProgram.ts'
/**
 * Long simulations run in modules as Node loads them, as perpd does: Vite's own have a call in the place of each imported name, which takes a tenth of
 * their processor time. Only mocks of modules would need those, and there are none.
 */
const nativeModules = { viteModuleRunner: false, nodeLoader: false }

export default defineConfig({
  test: {
    setupFiles: ['test/support/guardTests.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Real processes, sockets and clocks on a busy machine: the run names a test that passed at its second attempt only (retry x1), and
    // somebody looks into it. A wrong result of a seeded test stays wrong.
    retry: 1,
    sequence: { sequencer: LongestFirst },
    // Concurrent tests start two real processes each; a small machine has two cores.
    maxConcurrency: 4,
    // Vitest leaves one core to itself; of two that would be half of the machine.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // `npm test` runs the quick tier, `npm run test:deep` the other; a file named on the command line runs in its own.
    // Quick files share processes, but for those that are named as apart.
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...deep, ...processes, ...alone, ...apart],
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'quick-apart',
          include: apart,
          exclude: [...deep, ...processes, ...alone],
          globalSetup,
        },
      },
      { extends: true, test: { name: 'deep', include: deep, isolate: false, experimental: nativeModules } },
      {
        extends: true,
        test: {
          name: 'deep-processes',
          include: processes,
          isolate: false,
          experimental: nativeModules,
          globalSetup,
          // They wait for clocks and answers three quarters of their time (`processor` beside `seconds` in test/gate/proven.json).
          maxWorkers: Math.max(6, availableParallelism() - 1),
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'deep-alone', include: alone, fileParallelism: false, sequence: { groupOrder: 2 } },
      },
    ],
  },
})
