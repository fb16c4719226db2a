/** Tells of sides whose books do not add up to the journal, and that they do again; nothing else is done by it. */

import { type SummedLedger, type WrongSum, wrongSums } from '../../books/bookSums.ts'
import { sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import type { Emit } from '../../domain/event.ts'
import { hexKey } from '../../protocol/address.ts'

/** Returns a check that knows of no wrong sum: each call looks once, and reports news since the previous one. */
export function createBooksCheck(journal: SummedLedger, emit: Emit): () => void {
  /** Sums that were wrong at the last look, by their sides and both sizes and tokens. */
  let before: ReadonlyMap<string, WrongSum> = new Map()
  return () => {
    const now = new Map(wrongSums(journal).map((sum) => [sumKey(sum), sum]))
    for (const [key, { collateralToken: _, ...sum }] of now) {
      if (!before.has(key)) emit({ type: 'account.booksDiffer', ...sum })
    }
    const wrong = new Set([...now.values()].map(toldAs))
    const over = new Map([...before.values()].map((sum) => [toldAs(sum), sum]))
    for (const [side, { marketToken, direction }] of over) {
      if (!wrong.has(side)) emit({ type: 'account.booksAgree', marketToken, direction })
    }
    before = now
  }
}

function sumKey(sum: WrongSum): string {
  const { booksUsd, expectedUsd, booksTokens = '', expectedTokens = '' } = sum
  return `${sideKeyOf(sum)} ${booksUsd} ${expectedUsd} ${booksTokens} ${expectedTokens}`
}

/** Key of the reported side: whatever its collateral. */
function toldAs({ marketToken, direction }: WrongSum): string {
  return `${hexKey(marketToken)} ${direction}`
}
