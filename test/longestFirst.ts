/**
 * The order of test files: those that take longest begin first, so that no worker is left with one of them when all others are done.
 * Without it a file begins the earlier the larger it is, and files that kill in a loop are small.
 */
import { relative, sep } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { readProofs } from './gate/proven.ts'

/** Sorts within each group of projects by the seconds of the last recorded run (test/gate/proven.json), the rest as Vitest does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const proofs = readProofs()
    const secondsOf = ({ moduleId }: TestSpecification): number => {
      const file = relative(import.meta.dirname, moduleId)
        .split(sep)
        .join('/')
      return proofs[`test/${file}`]?.seconds ?? 0
    }
    const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder
    return (await super.sort(files)).toSorted(
      (one, other) => groupOf(one) - groupOf(other) || secondsOf(other) - secondsOf(one),
    )
  }
}
