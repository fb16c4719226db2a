/** Ids of findings as people type them: eight characters instead of a key of a hundred. Pure. */
import type { FindingState } from './accountRecord.ts'

const OFFSET = 0x811c9dc5
const PRIME = 0x01000193

/** Eight hex digits that stand for a finding's id: FNV-1a, 32 bits. Two findings of one account hardly ever share them. */
export function shortFindingId(findingId: string): string {
  let hash = OFFSET
  for (let at = 0; at < findingId.length; at += 1) {
    hash = Math.imul(hash ^ findingId.charCodeAt(at), PRIME) >>> 0
  }
  return hash.toString(16).padStart(8, '0')
}

/** The findings that a text names: by the whole id, by its short form, or by the beginning of either. */
export function findingsNamed(findings: readonly FindingState[], wanted: string): readonly FindingState[] {
  const exact = findings.filter(
    ({ finding: { findingId } }) => findingId === wanted || shortFindingId(findingId) === wanted,
  )
  if (exact.length > 0 || wanted === '') return exact
  return findings.filter(
    ({ finding: { findingId } }) =>
      findingId.startsWith(wanted) || shortFindingId(findingId).startsWith(wanted.toLowerCase()),
  )
}
