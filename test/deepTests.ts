/**
 * The test files that `npm test` leaves to `npm run test:deep`: those that are named here, since they try thousands of cases, kill in a loop, or follow
 * processes for long, and those that took longer than a quick file may when they were last measured (test/gate/proven.json). Every other file below
 * `test/` is in the quick tier (vitest.config.ts).
 */
import { globSync } from 'node:fs'
import { matchesGlob, sep } from 'node:path'
import { type Proof, type Proofs, readProofs } from './gate/proven.ts'

/**
 * Seconds of the clock that a file of the quick tier may take. A file that was never measured is quick; one that is deep becomes quick below half of
 * them, so that the load of a machine moves none from tier to tier.
 */
export const QUICK_SECONDS = 4

/** Files that are quick whatever they take: the walls, a kill and a handful of simulated worlds belong to each change. */
const alwaysQuick: readonly string[] = [
  'house.test.ts',
  'world/killOnce.test.ts',
  'simulation/someSeeds.test.ts',
]

/** Files below `test/` that are deep by what they do, in processes of their own or in the tests'. */
const namedDeep: readonly string[] = [
  // Stories by their seeds, crashes at every point, and seeded bugs that must be caught.
  'simulation/seeds.test.ts',
  'simulation/crashPoints.test.ts',
  'simulation/engine.test.ts',
  'simulation/files.test.ts',
  'simulation/shared.test.ts',
  'simulation/fileCrashes.test.ts',
  'simulation/mutants.test.ts',
  'simulation/engineMutants.test.ts',
  'simulation/fileMutants.test.ts',
  'simulation/rpcMutants.test.ts',
  'journal/sharedWorlds.test.ts',
  'adversary/seeds.test.ts',
  'adversary/attacks.test.ts',
  'adversary/mutants.test.ts',
  'adversary/waysOut.test.ts',
  'adversary/figures.test.ts',
  'adversary/honestDay.test.ts',
  'day/day.test.ts',
  'month/month.test.ts',
  'month/backtestMonth.test.ts',
  'day/idle.test.ts',
  'backtest/checkKinds.test.ts',
  'backtest/exactRun.test.ts',
  'backtest/knownAnswers.test.ts',
  'backtest/vectorLives.test.ts',
  'backtest/recordedDelays.test.ts',
  'backtest/recordedImpact.test.ts',
  'backtest/recordedSession.test.ts',
  'backtest/historicRates.test.ts',
  'backtest/fast.test.ts',
  'backtest/fastMutants.test.ts',
  'cli/backtest.test.ts',
  'history/chainLogs.test.ts',
  'history/getCandles.test.ts',
  'engine/exitCrashes.test.ts',
  'engine/withheld.test.ts',
  'engine/exitPrices.test.ts',
  'engine/hiddenLoss.test.ts',
  'engine/maintainExits.test.ts',
  'tasks/strategyTasks.test.ts',
  'engine/janitorCrashes.test.ts',
  'engine/claimer.test.ts',
  'engine/openDayLoss.test.ts',
  'exits/entriesTakenBack.test.ts',
  'exits/plannedByHand.test.ts',
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
  'operator/operator.test.ts',
  'engine/ownPart.test.ts',
  'engine/pauses.test.ts',
  'tasks/unwinder.test.ts',
  'engine/unproven.test.ts',
  'execution/chainStorm.test.ts',
  'execution/endpointBehind.test.ts',
  'cli/approve.test.ts',

  // Trials of strategies: the command in the tests' own process, and a processor busy all the time.
  'cli/strategyTest.test.ts',
  'cli/trialExits.test.ts',

  // Months of the paper venue's books.
  'paper/ledger.test.ts',
  'paper/traders.test.ts',
]

/** Deep files that hold a time that users are promised: each runs with no other beside it, after all others. */
export const aloneTests: readonly string[] = ['api/firstFill.test.ts']

/** Files below `test/` that are deep because they follow real processes. */
const namedProcesses: readonly string[] = [
  // The package installed elsewhere, the image built in a clean root and run, and the recipes of CONTRIBUTING.md followed in copies of the source.
  'api/package.test.ts',
  'container/containerRun.test.ts',
  'world/clockBesideVenue.test.ts',
  'world/clockStepped.test.ts',
  'world/unreadOutput.test.ts',
  'world/waysOut.test.ts',
  'docs/recipes.test.ts',
  'docs/site.test.ts',

  // Commands, a process each.
  'cli/keys.test.ts',
  'cli/revoke.test.ts',
  'control/consoleAssets.test.ts',
  'report/reportBrowser.test.ts',

  // Kill loops, and stories of real processes: a user's first day, an operator's hand, hosts that fail, keys that are handed over.
  'journal/durability.test.ts',
  'journal/composedServers.test.ts',
  'journal/copyJournal.test.ts',
  'journal/postgres.test.ts',
  'journal/postgresFaults.test.ts',
  'journal/postgresFleet.test.ts',
  'journal/postgresUpgrade.test.ts',
  'journal/postgresReplication.test.ts',
  'journal/postgresHosts.test.ts',
  'journal/pointInTime.test.ts',
  'journal/upkeep.test.ts',
  'world/accounts.test.ts',
  'world/accountsRetaken.test.ts',
  'world/accountsStandby.test.ts',
  'world/alertsOnPaper.test.ts',
  'world/anyFolder.test.ts',
  'world/backtestKill.test.ts',
  'world/badInput.test.ts',
  'world/besideDaemon.test.ts',
  'world/breakers.test.ts',
  'world/byHand.test.ts',
  'world/canary.test.ts',
  'world/consoleAccounts.test.ts',
  'world/chainLogs.test.ts',
  'world/consoleAxe.test.ts',
  'world/consoleChart.test.ts',
  'world/consoleChoices.test.ts',
  'world/consoleCommands.test.ts',
  'world/consoleFleet.test.ts',
  'world/consoleForeign.test.ts',
  'world/consoleKeyboard.test.ts',
  'world/deskLimits.test.ts',
  'world/consoleMark.test.ts',
  'world/consoleNarrow.test.ts',
  'world/consolePage.test.ts',
  'world/consolePages.test.ts',
  'world/consolePhoneTrade.test.ts',
  'world/consolePhoneOrders.test.ts',
  'world/consolePhoneResults.test.ts',
  'world/consoleReading.test.ts',
  'world/consoleRestart.test.ts',
  'world/consoleResults.test.ts',
  'world/consoleRuns.test.ts',
  'world/consoleSignal.test.ts',
  'world/consoleStale.test.ts',
  'world/consoleStart.test.ts',
  'world/consoleTicket.test.ts',
  'world/documentServer.test.ts',
  'world/embeddedSubaccount.test.ts',
  'world/endpointAside.test.ts',
  'world/exitKills.test.ts',
  'world/protectKills.test.ts',
  'world/failover.test.ts',
  'world/faults.test.ts',
  'world/fence.test.ts',
  'world/firstDay.test.ts',
  'world/fleet.test.ts',
  'world/fleetKills.test.ts',
  'world/fleetRefused.test.ts',
  'world/firstHour.test.ts',
  'world/firstStop.test.ts',
  'world/terminals.test.ts',
  'world/timeZones.test.ts',
  'world/unwind.test.ts',
  'world/goingLive.test.ts',
  'world/hangUp.test.ts',
  'world/hardening.test.ts',
  'world/hidden.test.ts',
  'world/inventory.test.ts',
  'world/kill.test.ts',
  'world/killRelay.test.ts',
  'world/killRun.test.ts',
  'world/postgresKills.test.ts',
  'world/standby.test.ts',
  'world/standbyEnds.test.ts',
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
  'world/tradersDay.test.ts',
  'world/unmanaged.test.ts',
]

/** The files of both tiers, below `test/`. */
export interface Tiers {
  readonly quick: readonly string[]
  /** Deep files that run in the tests' own processes. */
  readonly deep: readonly string[]
  /** Deep files that follow real processes. They wait for three quarters of their time, so six of them run at a time, after the others. */
  readonly processes: readonly string[]
}

const followsProcesses = (file: string) =>
  ['world/**', 'container/**'].some((glob) => matchesGlob(file, glob))

/** True for a file that took too long for the quick tier, by its record: only deep files have a key. */
export function isSlow(proof: Proof | undefined): boolean {
  if (proof === undefined) return false
  return proof.seconds > (proof.key === undefined ? QUICK_SECONDS : QUICK_SECONDS / 2)
}

/** Sorts test files into the tiers by their names and by a record of the seconds that they took. */
export function tiersOf(files: readonly string[], proofs: Proofs): Tiers {
  const named: ReadonlySet<string> = new Set([...namedDeep, ...namedProcesses, ...aloneTests])
  const slow = files.filter(
    (file) => !named.has(file) && !alwaysQuick.includes(file) && isSlow(proofs[`test/${file}`]),
  )
  return {
    quick: files.filter((file) => !named.has(file) && !slow.includes(file)),
    deep: [...namedDeep, ...slow.filter((file) => !followsProcesses(file))],
    processes: [...namedProcesses, ...slow.filter(followsProcesses)],
  }
}

/** Every test file below `test/`, in the order of their names. */
export const testFiles: readonly string[] = globSync('**/*.test.ts', { cwd: import.meta.dirname })
  .map((file) => file.split(sep).join('/'))
  .sort()

/** The tiers by the record of this tree. */
export const { deep: deepTests, processes: processTests } = tiersOf(testFiles, readProofs())
