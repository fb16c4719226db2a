/** Explains the PnL of a fill below tables and stories. */

/** Meaning of a fill's `pnlUsd` in one sentence; docs/reference/glossary.md explains it at length. */
const PNL_NOTE =
  'PnL is after all costs, by the book of the strategy whose part was closed: price PnL from its own entry, price impact, fees, funding and borrowing, sending, its share of the entry costs by size, and cancelling leftover exits. Sending fees are net of refunds by relay and keepers where a chain endpoint shows them, else gross.'

const UNKNOWN_ENTRY =
  'Parts opened by others, or by orders that the journal lacks, have no entry costs in their PnL: they are unknown.'

/** The sentences below a table of fills; none where no PnL is shown. */
export function pnlNote(
  fills: readonly { readonly pnlUsd: string | null; readonly isEntryKnown: boolean | null }[],
): readonly string[] {
  if (fills.every(({ pnlUsd }) => pnlUsd === null)) return []
  return [PNL_NOTE, ...(fills.some(({ isEntryKnown }) => isEntryKnown === false) ? [UNKNOWN_ENTRY] : [])]
}
