/**
 * The order of test files: those that take longest begin first, so that no worker is left with one of them when all others are done.
 * Without it a file begins the earlier the larger it is, and files that kill in a loop are small.
 */
import { relative, sep } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files below `test/` of half a minute and more each, the longest first. */
export const longTests: readonly string[] = [
  'month/month.test.ts',
  'day/day.test.ts',
  'simulation/crashPoints.test.ts',
  'simulation/engine.test.ts',
  'tasks/executorCrashes.test.ts',
  'simulation/seeds.test.ts',
  'adversary/seeds.test.ts',
  'simulation/engineMutants.test.ts',
  'engine/exitCrashes.test.ts',
  'engine/janitorCrashes.test.ts',
  'day/idle.test.ts',
  'simulation/fileCrashes.test.ts',
  'engine/removedFile.test.ts',
  'simulation/files.test.ts',
  'simulation/fileMutants.test.ts',
  'engine/strategyTasks.test.ts',
  'simulation/mutants.test.ts',
  'adversary/mutants.test.ts',
  'api/package.test.ts',
  'container/containerRun.test.ts',
  'world/killRun.test.ts',
  'world/alertsOnPaper.test.ts',
  'world/badInput.test.ts',
  'world/firstDay.test.ts',
  'world/endpointAside.test.ts',
  'world/rehearsal.test.ts',
  'world/byHand.test.ts',
  'world/killSwitch.test.ts',
  'world/consoleCommands.test.ts',
  'world/consolePage.test.ts',
  'world/kill.test.ts',
  'world/screens.test.ts',
  'world/firstHour.test.ts',
  'world/hidden.test.ts',
  'world/tasks.test.ts',
  'world/memory.test.ts',
  'world/goingLive.test.ts',
  'world/breakers.test.ts',
  'world/exitKills.test.ts',
  'world/liveFiles.test.ts',
]

/** Sorts by `longTests` within each group of projects, the rest as Vitest does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const place = longTests.indexOf(
        relative(import.meta.dirname, moduleId)
          .split(sep)
          .join('/'),
      )
      return place === -1 ? longTests.length : place
    }
    const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder
    return (await super.sort(files)).toSorted(
      (one, other) => groupOf(one) - groupOf(other) || placeOf(one) - placeOf(other),
    )
  }
}
