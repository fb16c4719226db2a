/**
 * The test files that `npm test` leaves to `npm run test:deep`: what tries thousands of cases, kills in a loop, or follows
 * processes for long. Every other file below `test/` is in the quick tier (vitest.config.ts).
 */

/** Files below `test/`. */
export const deepTests: readonly string[] = [
  // Stories by their seeds, crashes at every point, and seeded bugs that must be caught.
  'simulation/seeds.test.ts',
  'simulation/crashPoints.test.ts',
  'simulation/engine.test.ts',
  'simulation/files.test.ts',
  'simulation/fileCrashes.test.ts',
  'simulation/mutants.test.ts',
  'simulation/engineMutants.test.ts',
  'simulation/fileMutants.test.ts',
  'simulation/rpcMutants.test.ts',
  'adversary/seeds.test.ts',
  'adversary/attacks.test.ts',
  'adversary/mutants.test.ts',
  'day/day.test.ts',
  'month/month.test.ts',
  'day/idle.test.ts',
  'engine/exitCrashes.test.ts',
  'engine/keptExits.test.ts',
  'engine/strategyTasks.test.ts',
  'engine/janitorCrashes.test.ts',
  'engine/claimer.test.ts',
  'engine/openDayLoss.test.ts',
  'engine/entriesTakenBack.test.ts',
  'tasks/crashes.test.ts',
  'tasks/executorCrashes.test.ts',
  'tasks/executorRuns.test.ts',
  'engine/removedFile.test.ts',
  'engine/ownBooks.test.ts',
  'tasks/twapCrashes.test.ts',
  'strategy/paths.test.ts',
  'engine/tradeSignals.test.ts',

  // Corpora: every value of every field changed, and what the contracts' own bytes say.
  'fuzz/readers.test.ts',
  'api/hostile.test.ts',
  'contract/conformance.test.ts',
  'contract/hashing.test.ts',
  'execution/payloads.test.ts',
  'execution/randomKinds.test.ts',
  'paper/strict-seed.test.ts',
  'paper/malformed.test.ts',

  // Hosts and endpoints that lie or fail for hours of the daemon's clock.
  'engine/changedOrder.test.ts',
  'engine/closedByHand.test.ts',
  'engine/flood.test.ts',
  'engine/held.test.ts',
  'engine/imperfect.test.ts',
  'engine/markets.test.ts',
  'engine/operator.test.ts',
  'engine/ownPart.test.ts',
  'engine/pauses.test.ts',
  'engine/unwinder.test.ts',
  'engine/unproven.test.ts',
  'execution/chainStorm.test.ts',
  'execution/endpointBehind.test.ts',
  'cli/approve.test.ts',

  // Months of the paper venue's books.
  'paper/ledger.test.ts',
  'paper/traders.test.ts',
]

/** Deep files that hold a time that users are promised: each runs with no other beside it, after all others. */
export const aloneTests: readonly string[] = ['api/firstFill.test.ts']

/** Deep files that follow real processes. They wait for two thirds of their time, so four of them run at a time, after the others. */
export const processTests: readonly string[] = [
  // The package installed elsewhere, the image built in a clean root and run, and the recipes of CONTRIBUTING.md followed in copies of the source.
  'api/package.test.ts',
  'container/containerRun.test.ts',
  'docs/recipes.test.ts',
  'docs/site.test.ts',

  // Commands, a process each.
  'cli/keys.test.ts',
  'cli/revoke.test.ts',
  'cli/strategyTest.test.ts',
  'cli/trialExits.test.ts',
  'control/consoleAssets.test.ts',

  // Kill loops, and stories of real processes: a user's first day, an operator's hand, hosts that fail, keys that are handed over.
  'journal/durability.test.ts',
  'world/alertsOnPaper.test.ts',
  'world/anyFolder.test.ts',
  'world/badInput.test.ts',
  'world/besideDaemon.test.ts',
  'world/breakers.test.ts',
  'world/byHand.test.ts',
  'world/canary.test.ts',
  'world/consoleAxe.test.ts',
  'world/consoleCommands.test.ts',
  'world/consoleForeign.test.ts',
  'world/consoleNarrow.test.ts',
  'world/consolePage.test.ts',
  'world/consoleReading.test.ts',
  'world/consoleRestart.test.ts',
  'world/consoleSignal.test.ts',
  'world/consoleStart.test.ts',
  'world/embeddedSubaccount.test.ts',
  'world/endpointAside.test.ts',
  'world/exitKills.test.ts',
  'world/faults.test.ts',
  'world/fence.test.ts',
  'world/firstDay.test.ts',
  'world/firstHour.test.ts',
  'world/firstStop.test.ts',
  'world/flatten.test.ts',
  'world/goingLive.test.ts',
  'world/hangUp.test.ts',
  'world/hardening.test.ts',
  'world/hidden.test.ts',
  'world/inventory.test.ts',
  'world/kill.test.ts',
  'world/killRelay.test.ts',
  'world/killRun.test.ts',
  'world/killSwitch.test.ts',
  'world/liveFiles.test.ts',
  'world/liveModules.test.ts',
  'world/logsFollow.test.ts',
  'world/ownKinds.test.ts',
  'world/memory.test.ts',
  'world/planted.test.ts',
  'world/recovery.test.ts',
  'world/rehearsal.test.ts',
  'world/screens.test.ts',
  'world/subaccount.test.ts',
  'world/tasks.test.ts',
  'world/top.test.ts',
  'world/tradeSignals.test.ts',
  'world/unmanaged.test.ts',
]
