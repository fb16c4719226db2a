/** Share of the account's positions in one strategy's book: the positions by which an instance trades. docs/books.md. Pure. */
import { defined } from '../base/defined.ts'
import { type PositionSide, sideKeyOf } from '../domain/accountRecords/accountRecord.ts'
import type { ListedPositions, Snapshot } from '../domain/snapshot.ts'
import { type Address, hexKey } from '../protocol/address.ts'
import type { Direction } from '../protocol/market.ts'
import { maxOf, mulDiv, type TokenAmount, tenTo, type Usd } from '../protocol/units.ts'
import type { Part } from './sideParts.ts'

/** An instance's own part of a position. */
export interface OwnPosition {
  readonly marketToken: Address
  /** Token that backs it. */
  readonly collateralToken: Address
  readonly direction: Direction
  /** By its book, and never more than the venue lists of the whole position, USD. */
  readonly sizeInUsd: Usd
  /** Index token, base units; 0 where no evidence says it. */
  readonly sizeInTokens: TokenAmount
  /** Collateral token, base units: payments of its orders, less collateral that left with reductions. */
  readonly collateralAmount: TokenAmount
  /** Entry price of the part's tokens, USD per whole index token; the position's where its book does not know it. */
  readonly entryPrice?: Usd
  /**
   * False while the venue lists less than the book: a reduction is not explained by the journal yet, or the list is older than a fill. The figures
   * are then those of the list.
   */
  readonly isWhole: boolean
}

/** A strategy's parts as it sees them: of positions that the snapshot lists. */
export function ownPositionsOf(
  parts: readonly (PositionSide & Part)[],
  snapshot: Snapshot,
): readonly OwnPosition[] {
  if (parts.length === 0) return []
  const listed = new Map(snapshot.positions.value.map((position) => [sideKeyOf(position), position]))
  return parts.flatMap((book): OwnPosition[] => {
    const position = listed.get(sideKeyOf(book))
    if (book.sizeUsd <= 0n || position === undefined || position.sizeInUsd <= 0n) return []
    const { marketToken, collateralToken, direction } = position
    const isWhole = book.sizeUsd <= position.sizeInUsd
    const share = (amount: bigint) =>
      isWhole ? maxOf(0n, amount) : (maxOf(0n, amount) * position.sizeInUsd) / book.sizeUsd
    const indexToken = snapshot.markets.get(hexKey(marketToken))?.indexToken
    const entryPrice =
      indexToken !== undefined && book.sizeInTokens > 0n && book.costUsd > 0n
        ? mulDiv(book.costUsd, tenTo(indexToken.decimals), book.sizeInTokens)
        : position.entryPrice
    return [
      {
        marketToken,
        collateralToken,
        direction,
        sizeInUsd: isWhole ? book.sizeUsd : position.sizeInUsd,
        sizeInTokens: share(book.sizeInTokens),
        collateralAmount: share(book.collateral),
        ...defined({ entryPrice: entryPrice === undefined || entryPrice <= 0n ? undefined : entryPrice }),
        isWhole,
      },
    ]
  })
}

/** All listed positions as one instance's: where nobody else trades on the account. */
export function allAsOwn({ positions }: ListedPositions): readonly OwnPosition[] {
  return positions.value
    .filter(({ sizeInUsd }) => sizeInUsd > 0n)
    .map(
      ({
        marketToken,
        collateralToken,
        direction,
        sizeInUsd,
        sizeInTokens,
        collateralAmount,
        entryPrice,
      }) => ({
        marketToken,
        collateralToken,
        direction,
        sizeInUsd,
        sizeInTokens,
        collateralAmount,
        ...defined({ entryPrice }),
        isWhole: true,
      }),
    )
}
