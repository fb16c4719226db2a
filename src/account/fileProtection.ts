/** The `protect` block of an instance's file with the facts for judging it now. */

import type { BookReads } from '../books/books.ts'
import { openResultUsd } from '../books/bookView.ts'
import type { TrackRecord } from '../books/trackRecord.ts'
import type { Protections } from '../domain/limits/protection.ts'
import type { ListedPositions } from '../domain/snapshot.ts'
import type { Protection } from '../risk/exposure/admissionContext.ts'
import type { AheadStamps } from './aheadStamps.ts'

/** Returns the record by which protections judge a strategy, with its exits and stops at their times by the present clock. */
export function settledTrack(
  books: { trackOf(strategy: string): TrackRecord },
  strategy: string,
  { settledMs }: AheadStamps,
): TrackRecord {
  const track = books.trackOf(strategy)
  const exitsMs = new Map([...track.exitsMs].map(([market, atMs]) => [market, settledMs(atMs)]))
  return { ...track, exitsMs, stopsMs: track.stopsMs.map(settledMs) }
}

/** Returns a strategy's rules for when it adds nothing, with its record and the unrealized result of its open parts. */
export function protectionOf(
  books: Pick<BookReads, 'trackOf' | 'partsOf'>,
  strategy: string,
  rules: Protections,
  { positions }: ListedPositions,
  stamps: AheadStamps,
): Protection {
  const openUsd = openResultUsd(books.partsOf(strategy), positions.value)
  return { rules, track: settledTrack(books, strategy, stamps), openUsd }
}
