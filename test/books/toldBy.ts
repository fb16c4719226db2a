/** What books say of a history, without what depends on the order in which it was told. */
import type { Books } from '../../src/books/books.ts'
import { type Figures, isNone } from '../../src/books/figures.ts'
import { encodeExact } from '../../src/domain/records.ts'
import type { Ledger } from '../../src/journal/journalLedger.ts'

/** Rows that say something, as text, in an order of their own: which of them came first does not matter. */
export function rowsOf(
  rows: readonly { readonly figures: Figures; readonly sizeUsd?: bigint }[],
): readonly string[] {
  return rows
    .filter(({ figures, sizeUsd = 0n }) => sizeUsd !== 0n || !isNone(figures))
    .map((row) => encodeExact(row))
    .sort()
}

/** Books, sums and results of a ledger; the highest result and the exits that protections judge by stay as they were seen. */
export function toldBy(ledger: Ledger) {
  const books = ledger.books() as Books
  const { sides, totals, days, fills, tracks } = books.state()
  return {
    books: rowsOf(books.all()),
    sides: sides.map(({ waiting, ...side }) => ({
      ...side,
      parts: new Map(side.parts),
      ids: waiting.map(({ move }) => move.id),
    })),
    totals: rowsOf(totals),
    days: rowsOf(days),
    fills: new Map(fills),
    tracks: new Map(
      tracks
        .filter(([, { resultUsd, stopsMs }]) => resultUsd !== 0n || stopsMs.length > 0)
        .map(([strategy, { resultUsd, stopsMs }]) => [strategy, { resultUsd, stopsMs }]),
    ),
  }
}
