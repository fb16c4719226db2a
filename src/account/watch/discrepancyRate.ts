/**
 * Limits how many discrepancies are recorded. A host's list is no proof that anything happened: thousands of invented executions would fill journal
 * and log. A discrepancy that is held back is not lost: every pass reads its trades again, and its market waits meanwhile as if it were recorded.
 */
import type { DiscrepancyState } from '../../domain/accountRecords/accountRecord.ts'

/** Most discrepancies of one pass, of an hour and of a day, and most that nobody has settled. */
export const discrepancyLimits = { perPass: 20, perHour: 60, perDay: 200, unsettled: 300 } as const

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** Returns how many more discrepancies may be recorded now, given the recorded ones. After a clock was set back, later stamps count as of now. */
export function discrepanciesLeft(written: Iterable<DiscrepancyState>, nowMs: number): number {
  let ofHour = 0
  let ofDay = 0
  let unsettled = 0
  for (const { raisedAtMs, end } of written) {
    const ageMs = Math.abs(nowMs - raisedAtMs)
    if (ageMs < HOUR_MS) ofHour += 1
    if (ageMs < DAY_MS) ofDay += 1
    if (end === undefined) unsettled += 1
  }
  const { perPass, perHour, perDay } = discrepancyLimits
  return Math.max(
    0,
    Math.min(perPass, perHour - ofHour, perDay - ofDay, discrepancyLimits.unsettled - unsettled),
  )
}
