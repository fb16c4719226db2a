/**
 * The quick test files that run in a process of their own each: they change what a process has (its environment, its clock, its
 * network), load code of users, or follow real processes. All other quick files share a few processes, which is most of the quick
 * tier's speed: one loads its modules once. So a test outside this list leaves the process as it was.
 */

/** Globs below `test/`. */
export const apartTests: readonly string[] = [
  '*.test.ts',
  'container/**/*.test.ts',
  'day/**/*.test.ts',
  'docs/**/*.test.ts',
  'simulation/**/*.test.ts',
  'support/**/*.test.ts',
  'world/**/*.test.ts',
  'api/nock.test.ts',
  'daemon/tellDays.test.ts',
  'strategy/hostKind.test.ts',
  'strategy/load.test.ts',
]
