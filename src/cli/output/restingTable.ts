/** Resting orders as a table, the same one in `perpd orders`, `status` and `top`. Pure. */
import type { Plain } from '../../domain/summaries/orderView.ts'
import type { RestingRow } from '../../domain/summaries/restingRow.ts'
import { distanceText, shortMarkets, shortOwner } from '../../monitor/restingText.ts'
import { money, shortId, span } from '../../monitor/text.ts'
import { type Column, fitTable } from './fitTable.ts'
import { triggersIn } from './pricePlaces.ts'

/** Characters of a key that stand in place of an id, as many as an id has. */
const KEY_CHARACTERS = 8

/** A row as the daemon tells it. */
export type PlainResting = Plain<RestingRow>

/** The table in so many columns; `isNoted`: it names the columns that the width left out. */
export function restingTable(
  rows: readonly PlainResting[],
  nowMs: number,
  { width, isNoted }: { readonly width: number; readonly isNoted: boolean },
): string {
  const triggerText = triggersIn(
    rows,
    ({ market }) => market,
    ({ triggerPrice }) => [triggerPrice],
  )
  const nameOf = shortMarkets(rows.map(({ market }) => market))
  const columns: readonly Column<PlainResting>[] = [
    { title: 'TYPE', rank: 0, of: ({ type, isFrozen }) => (isFrozen ? `${type}, frozen` : type) },
    { title: 'MARKET', rank: 0, of: ({ market }) => nameOf(market) },
    { title: 'SIDE', rank: 0, of: ({ direction }) => direction },
    { title: 'TRIGGER', rank: 0, isFigure: true, of: (row) => triggerText(row, row.triggerPrice) },
    {
      title: 'AWAY',
      rank: 0,
      isFigure: true,
      of: ({ distanceBps100 }) => (distanceBps100 === null ? '-' : distanceText(distanceBps100)),
    },
    { title: 'SIZE', rank: 0, isFigure: true, of: ({ sizeUsd }) => money(BigInt(sizeUsd)) },
    // The name that move and cancel take: an order of others has none but its key at the venue, whose first characters suffice.
    {
      title: 'ORDER',
      rank: 1,
      of: ({ intentId, orderKey }) =>
        intentId === null ? orderKey.slice(0, KEY_CHARACTERS) : shortId(intentId),
    },
    { title: 'OWNER', rank: 2, isName: true, of: ({ ownerKind, owner }) => shortOwner(ownerKind, owner) },
    { title: 'AGE', rank: 3, isFigure: true, of: ({ sinceMs }) => span(Math.max(0, nowMs - sinceMs)) },
    { title: 'VENUE KEY', rank: 4, of: ({ orderKey }) => orderKey },
  ]
  return fitTable(columns, rows, width, isNoted)
}
