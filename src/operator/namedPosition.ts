/** Finds the position that an operator names by market, direction and, where two share a side, the collateral. */
import type { HasCatalogue } from '../account/accountParts.ts'
import { tolerate } from '../base/tolerate.ts'
import type { MarketView, Snapshot } from '../domain/snapshot.ts'
import type { HasApi } from '../execution/context/executionParts.ts'
import { marketSymbol } from '../market/marketSymbol.ts'
import { sameHex } from '../protocol/address.ts'
import type { Direction } from '../protocol/market.ts'
import { marketsNamed } from '../protocol/marketName.ts'
import type { Position } from '../protocol/position.ts'
import { poolToken } from './byHand.ts'
import { type Refusal, refusal } from './operatorAnswer.ts'
import { delistedText } from './unknownMarket.ts'

/** Names of a position. */
interface PositionName {
  readonly market: string
  readonly direction: Direction
  /** The pool's token that backs it; absent: the side has one position. */
  readonly collateral?: 'long' | 'short'
}

/** A position with the facts that are known of every held one. */
type HeldRow = Pick<Position, 'marketToken' | 'direction' | 'collateralToken' | 'sizeInUsd'> &
  Partial<{ readonly why: string }>

/** The one position of that name with its market, or the refusal POSITION_NOT_FOUND or POSITION_AMBIGUOUS. */
export async function namedPosition(
  context: HasApi & HasCatalogue,
  snapshot: Snapshot,
  { market, direction: side, collateral }: PositionName,
): Promise<{ readonly view: MarketView; readonly position: HeldRow } | Refusal> {
  const rows = snapshot.positions.value.filter(({ sizeInUsd }) => sizeInUsd > 0n)
  const known = (snapshot.unlisted ?? []).map((row) => ({ ...row, sizeInUsd: row.sizeUsd }))
  const held: readonly HeldRow[] = [...rows, ...known]
  const views = [...snapshot.markets.values()]
  const named = marketsNamed(
    views.map((view) => ({ ...view, symbol: view.market.symbol, marketToken: view.market.marketToken })),
    market,
  )
  const found = named.flatMap((view) =>
    held
      .filter(
        (row) =>
          sameHex(row.marketToken, view.marketToken) &&
          row.direction === side &&
          (collateral === undefined || sameHex(row.collateralToken, poolToken(view, collateral))),
      )
      .map((position) => ({ view, position })),
  )
  const [one] = found
  const symbolOf = (row: HeldRow): string => marketSymbol(context.catalogue, snapshot, row.marketToken)
  if (one === undefined) {
    const all = held.map((row) => `${row.direction} ${symbolOf(row)}`).join(', ')
    const listed = (await tolerate(context.api.getMarkets()))?.value.filter(({ isListed }) => isListed)
    const gone = listed && delistedText(context.catalogue.standings(), listed, market)?.split(':')[0]
    return refusal(
      'POSITION_NOT_FOUND',
      `there is no ${side} position on ${market}${gone === undefined ? '' : ` (${gone})`}; ${all === '' ? 'no position is open' : `open: ${all}`}`,
    )
  }
  if (found.length === 1) return one
  const words = found.map(({ view, position }) => `${view.symbol} on ${backing(view, position)}`)
  return refusal(
    'POSITION_AMBIGUOUS',
    `several positions match: ${words.join(', ')}; give the whole symbol, or --collateral long or short`,
  )
}

function backing(view: MarketView, { collateralToken }: HeldRow): string {
  return (
    [view.longToken, view.shortToken].find(({ address }) => sameHex(address, collateralToken))?.symbol ??
    collateralToken
  )
}
