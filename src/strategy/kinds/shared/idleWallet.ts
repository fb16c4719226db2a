/** Idle collateral in the wallet for a position, and the text of a leverage. Pure. */
import { isFresh, marketOf, type Snapshot } from '../../../domain/snapshot.ts'
import { hexKey, sameHex } from '../../../protocol/address.ts'
import type { Token } from '../../../protocol/market.ts'
import type { Position } from '../../../protocol/position.ts'
import {
  amountOfUsd,
  BPS_ONE,
  maxOf,
  minOf,
  mulDivUp,
  type TokenAmount,
  tenTo,
  type Usd,
  usdOfAmount,
} from '../../../protocol/units.ts'

/** Oldest wallet that is spent from, ms. */
const maxWalletAgeMs = 60_000

/** Part of a wallet, in units of the collateral token. */
export interface IdleShare {
  readonly amount: TokenAmount
  /** At the token's lower price. */
  readonly worthUsd: Usd
}

/** A wallet that one turn spends from. */
export interface IdleWallet {
  /**
   * Returns at most this much of the idle collateral for a position, without parts already taken; undefined where the wallet or the token's price is
   * unknown.
   */
  offer(position: Position, mostUsd: Usd): IdleShare | undefined
  /** Counts a part as spent, so that no other position of this turn is offered it. */
  take(position: Position, share: IdleShare): void
}

/** The wallet of a snapshot, of which `keepUsd` of each token stay. Nothing is idle in one that is older than a minute. */
export function idleWalletOf(snapshot: Snapshot, keepUsd: Usd): IdleWallet {
  const spent = new Map<string, TokenAmount>()
  const { balances } = snapshot
  return {
    offer(position, mostUsd) {
      const token = collateralOf(snapshot, position)
      const price = token?.minPrice
      // A list that lacks rows, or is old, does not show the present balances.
      if (balances === undefined || balances.missing || !isFresh(snapshot, balances, maxWalletAgeMs))
        return undefined
      if (token === undefined || price === undefined || price <= 0n) return undefined
      const row = balances.value.find(({ address }) => sameHex(address, token.address))
      const kept = mulDivUp(keepUsd, tenTo(token.decimals), price)
      const idle = (row?.balance ?? 0n) - kept - (spent.get(hexKey(token.address)) ?? 0n)
      const amount = minOf(maxOf(0n, idle), amountOfUsd(maxOf(0n, mostUsd), price, token.decimals))
      return { amount, worthUsd: usdOfAmount(amount, price, token.decimals) }
    },
    take({ collateralToken }, { amount }) {
      const key = hexKey(collateralToken)
      spent.set(key, (spent.get(key) ?? 0n) + amount)
    },
  }
}

/** The token that backs a position; undefined where its market was not read. */
export function collateralOf(
  snapshot: Snapshot,
  { marketToken, collateralToken }: Position,
): Token | undefined {
  const market = marketOf(snapshot, marketToken)
  return [market?.longToken, market?.shortToken].find(
    (token) => token !== undefined && sameHex(token.address, collateralToken),
  )
}

/** `12.50x`; 10000 = 1x. */
export function leverageText(leverageBps: bigint): string {
  return `${(Number(leverageBps) / BPS_ONE).toFixed(2)}x`
}
