/** Ids of discrepancies as people type them: eight characters instead of a key of a hundred. Pure. */
import type { DiscrepancyState } from './accountRecord.ts'

const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

/**
 * Eight hex digits that stand for a discrepancy's id: FNV-1a, 32 bits. Two discrepancies of one account hardly ever share
 * them.
 */
export function shortDiscrepancyId(discrepancyId: string): string {
  let hash = OFFSET
  for (let at = 0; at < discrepancyId.length; at += 1) {
    hash = Math.imul(hash ^ discrepancyId.charCodeAt(at), PRIME) >>> 0
  }
  return hash.toString(16).padStart(8, '0')
}

/** The discrepancies that a text names: by the whole id, by its short form, or by the beginning of either. */
export function discrepanciesNamed(
  discrepancies: readonly DiscrepancyState[],
  wanted: string,
): readonly DiscrepancyState[] {
  const exact = discrepancies.filter(
    ({ discrepancy: { discrepancyId } }) =>
      discrepancyId === wanted || shortDiscrepancyId(discrepancyId) === wanted,
  )
  if (exact.length > 0 || wanted === '') return exact
  return discrepancies.filter(
    ({ discrepancy: { discrepancyId } }) =>
      discrepancyId.startsWith(wanted) || shortDiscrepancyId(discrepancyId).startsWith(wanted.toLowerCase()),
  )
}
