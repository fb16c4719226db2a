/** The `protect` block of an instance's file with what it is judged by now. */
import type { Protections } from '../../domain/account/protection.ts'
import type { BookReads } from '../../domain/books/books.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import { openResultUsd } from '../../domain/views/bookView.ts'
import type { Protection } from '../../risk/exposure/admissionContext.ts'
import type { AheadStamps } from './aheadStamps.ts'

/**
 * A strategy's rules of when it adds nothing, with its record and what its open parts would bring. Its exits and stops have the times
 * that they have by the clock of now.
 */
export function protectionOf(
  books: Pick<BookReads, 'trackOf' | 'partsOf'>,
  strategy: string,
  rules: Protections,
  { positions }: Pick<Snapshot, 'positions'>,
  { settledMs }: AheadStamps,
): Protection {
  const openUsd = openResultUsd(books.partsOf(strategy), positions.value)
  const track = books.trackOf(strategy)
  const exitsMs = new Map([...track.exitsMs].map(([market, atMs]) => [market, settledMs(atMs)]))
  return { rules, track: { ...track, exitsMs, stopsMs: track.stopsMs.map(settledMs) }, openUsd }
}
