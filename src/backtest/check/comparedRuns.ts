/** Compares two recordings of one run, of which the second had noise in the place of what came later. Pure. */
import type { CheckFinding } from './checkKinds.ts'
import { canonical, differencesOf } from './difference.ts'
import type { RecordedTurn } from './recordedTurns.ts'

/** Most places that are shown of a difference. */
const MOST_PLACES = 6

/**
 * The first turn in which the recordings differ, by its view or by what was decided; undefined where each turn of the shorter one is the same
 * in both.
 */
export function firstApart(
  whole: readonly RecordedTurn[],
  noisy: readonly RecordedTurn[],
): CheckFinding | undefined {
  const nameOf = ({ strategy }: RecordedTurn): string => strategy
  // Threads of one moment answer in any order: each instance is compared with itself.
  const wholes = Map.groupBy(whole, nameOf)
  const pairs = [...Map.groupBy(noisy, nameOf)].flatMap(([name, turns]) =>
    turns.flatMap((other, at) => {
      const one = wholes.get(name)?.[at]
      return one === undefined ? [] : [{ one, other }]
    }),
  )
  for (const { one, other } of pairs.toSorted((left, right) => left.one.atMs - right.one.atMs)) {
    const isSameView = one.bytes.equals(other.bytes) || canonical(one.scene()) === canonical(other.scene())
    if (isSameView && one.answer === other.answer) continue
    return {
      strategy: one.strategy,
      by: 'in a run in which all candles that began later were noise',
      atMs: one.atMs,
      views: differencesOf(one.scene(), other.scene(), MOST_PLACES),
      answers: differencesOf(JSON.parse(one.answer), JSON.parse(other.answer), MOST_PLACES),
    }
  }
  return undefined
}
