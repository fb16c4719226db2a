/** Explains the PnL of a fill below tables and stories. */

/** Meaning of a fill's `pnlUsd` in one sentence; docs/reference/glossary.md explains it at length. */
const PNL_NOTE =
  'PnL is after all costs, by the book of the strategy whose part it took: the price PnL from its own entry, price impact, fees, its funding and borrowing, what sending it cost, its share by size of what the entry cost, and cancelling the exits that were left. Fees of sending count less what the relay and keepers gave back where a chain endpoint shows it and its worth, else whole.'

const UNKNOWN_ENTRY =
  'What others opened, or orders that the journal does not hold, has no entry costs in its PnL: they are not known.'

/** The sentences below a table of fills; none where no PnL is shown. */
export function pnlNote(
  fills: readonly { readonly pnlUsd: string | null; readonly isEntryKnown: boolean | null }[],
): readonly string[] {
  if (fills.every(({ pnlUsd }) => pnlUsd === null)) return []
  return [PNL_NOTE, ...(fills.some(({ isEntryKnown }) => isEntryKnown === false) ? [UNKNOWN_ENTRY] : [])]
}
