/** The account of a path: positions and a wallet. Fills are ideal: a price, and a fee. */

import { defined } from '../../src/base/defined.ts'
import { type Address, type Hex, hexKey, sameHex } from '../../src/protocol/address.ts'
import type { Balance, Direction } from '../../src/protocol/market.ts'
import type { Position } from '../../src/protocol/position.ts'
import {
  amountOfUsd,
  BPS_ONE,
  bps,
  maxOf,
  minOf,
  mulDiv,
  type TokenAmount,
  tenTo,
  type Usd,
  usdOfAmount,
} from '../../src/protocol/units.ts'
import type { PathMarket, PathToken } from './pathMarkets.ts'

/** Fee of a fill, bps of its size. */
const FEE_BPS = 6

/** Collateral below which a position is liquidated, bps of its size. */
const LEAST_COLLATERAL_BPS = 100

/** One position. */
export interface Held {
  readonly market: PathMarket
  readonly direction: Direction
  readonly collateral: PathToken
  sizeUsd: Usd
  sizeTokens: TokenAmount
  collateralAmount: TokenAmount
  increasedAtSeconds: number
  decreasedAtSeconds: number
}

/** A position by its parts. */
export type HeldKey = Pick<Held, 'market' | 'direction' | 'collateral'>

/** Result of a fill, USD. */
export interface FillResult {
  readonly sizeUsd: Usd
  readonly feeUsd: Usd
  /** PnL of a fill that reduces, USD: signed, before the fee. */
  readonly pnlUsd: Usd
}

/** The account. */
export interface PathAccount {
  readonly held: readonly Held[]
  find(key: HeldKey): Held | undefined
  increase(key: HeldKey, sizeUsd: Usd, collateral: TokenAmount, price: Usd, atSeconds: number): FillResult
  /** At most what is held. */
  reduce(held: Held, sizeUsd: Usd, keepsLeverage: boolean, price: Usd, atSeconds: number): FillResult
  /** All of it and its collateral are gone. */
  liquidate(held: Held): FillResult
  /** Into a position (positive) or out of it. */
  moveCollateral(held: Held, amount: TokenAmount): void
  move(token: PathToken, amount: TokenAmount): void
  /** The price at which a position is liquidated; undefined where none is. */
  liquidationPrice(held: Held): Usd | undefined
  positions(account: Address, price: (token: PathToken) => Usd): readonly Position[]
  balances(): readonly Balance[]
}

/** Returns the PnL of a position at a price, USD, signed. */
function pnlOf({ direction, sizeUsd, sizeTokens, market }: Held, price: Usd): Usd {
  const worth = usdOfAmount(sizeTokens, price, market.index.token.decimals)
  return direction === 'long' ? worth - sizeUsd : sizeUsd - worth
}

/** An account whose wallet begins with an amount of each token. */
export function createPathAccount(tokens: readonly PathToken[], walletUsd: Usd): PathAccount {
  const held: Held[] = []
  const wallet = new Map(
    tokens.map((each) => [
      hexKey(each.token.address),
      { each, amount: amountOfUsd(walletUsd, each.basePrice, each.token.decimals) },
    ]),
  )

  function move({ token }: PathToken, amount: TokenAmount): void {
    const entry = wallet.get(hexKey(token.address))
    if (entry !== undefined) entry.amount = maxOf(0n, entry.amount + amount)
  }

  /** A result comes in the token of the collateral. */
  function pay(collateral: PathToken, resultUsd: Usd): void {
    const magnitude = amountOfUsd(
      resultUsd < 0n ? -resultUsd : resultUsd,
      collateral.basePrice,
      collateral.token.decimals,
    )
    move(collateral, resultUsd < 0n ? -magnitude : magnitude)
  }

  function liquidationPrice(position: Held): Usd | undefined {
    const { direction, sizeUsd, sizeTokens, collateral, collateralAmount, market } = position
    if (sizeTokens <= 0n) return undefined
    const marginUsd = usdOfAmount(collateralAmount, collateral.basePrice, collateral.token.decimals)
    const lossUsd = marginUsd - bps(sizeUsd, LEAST_COLLATERAL_BPS)
    const worthUsd = direction === 'long' ? sizeUsd - lossUsd : sizeUsd + lossUsd
    return worthUsd <= 0n ? undefined : mulDiv(worthUsd, tenTo(market.index.token.decimals), sizeTokens)
  }

  return {
    held,
    find: (key) =>
      held.find(
        ({ market, direction, collateral }) =>
          sameHex(market.marketToken, key.market.marketToken) &&
          direction === key.direction &&
          sameHex(collateral.token.address, key.collateral.token.address),
      ),
    increase(key, sizeUsd, collateral, price, atSeconds) {
      let position = this.find(key)
      if (position === undefined) {
        position = {
          ...key,
          sizeUsd: 0n,
          sizeTokens: 0n,
          collateralAmount: 0n,
          increasedAtSeconds: atSeconds,
          decreasedAtSeconds: 0,
        }
        held.push(position)
      }
      position.sizeUsd += sizeUsd
      position.sizeTokens += amountOfUsd(sizeUsd, price, key.market.index.token.decimals)
      position.collateralAmount += collateral
      position.increasedAtSeconds = atSeconds
      const feeUsd = bps(sizeUsd, FEE_BPS)
      move(key.collateral, -collateral)
      pay(key.collateral, -feeUsd)
      return { sizeUsd, feeUsd, pnlUsd: 0n }
    },
    reduce(position, wantedUsd, keepsLeverage, price, atSeconds) {
      const sizeUsd = minOf(wantedUsd, position.sizeUsd)
      const isWhole = sizeUsd === position.sizeUsd
      const whole = pnlOf(position, price)
      const pnlUsd = (whole * sizeUsd) / position.sizeUsd
      const collateral = isWhole
        ? position.collateralAmount
        : keepsLeverage
          ? mulDiv(position.collateralAmount, sizeUsd, position.sizeUsd)
          : 0n
      position.sizeTokens -= isWhole
        ? position.sizeTokens
        : mulDiv(position.sizeTokens, sizeUsd, position.sizeUsd)
      position.sizeUsd -= sizeUsd
      position.collateralAmount -= collateral
      position.decreasedAtSeconds = atSeconds
      if (isWhole) held.splice(held.indexOf(position), 1)
      const feeUsd = bps(sizeUsd, FEE_BPS)
      move(position.collateral, collateral)
      pay(position.collateral, pnlUsd - feeUsd)
      return { sizeUsd, feeUsd, pnlUsd }
    },
    liquidate(position) {
      const { sizeUsd, collateral, collateralAmount } = position
      held.splice(held.indexOf(position), 1)
      const pnlUsd = -usdOfAmount(collateralAmount, collateral.basePrice, collateral.token.decimals)
      return { sizeUsd, feeUsd: 0n, pnlUsd }
    },
    moveCollateral(position, amount) {
      position.collateralAmount = maxOf(0n, position.collateralAmount + amount)
      move(position.collateral, -amount)
    },
    move,
    liquidationPrice,
    positions: (account, price) =>
      held.map((position) =>
        rowOf(position, account, price(position.market.index), liquidationPrice(position)),
      ),
    balances: () =>
      [...wallet.values()].map(({ each: { token }, amount }) => ({
        symbol: token.symbol,
        address: token.address,
        decimals: token.decimals,
        balance: amount,
      })),
  }
}

/** A position as the venue lists it. Collateral counts at the price that the path began with. */
function rowOf(position: Held, account: Address, price: Usd, liquidationPrice: Usd | undefined): Position {
  const { market, direction, collateral, sizeUsd, sizeTokens, collateralAmount } = position
  const collateralUsd = usdOfAmount(collateralAmount, collateral.basePrice, collateral.token.decimals)
  const pnlUsd = pnlOf(position, price)
  const netValueUsd = collateralUsd + pnlUsd
  const { marketToken } = market
  return {
    positionKey: `${account}:${marketToken}:${collateral.token.address}:${direction === 'long'}`,
    contractKey:
      `0x${hexKey(marketToken).slice(2)}${hexKey(collateral.token.address).slice(2, 24)}${direction === 'long' ? '01' : '00'}` as Hex,
    account,
    marketToken,
    collateralToken: collateral.token.address,
    direction,
    sizeInUsd: sizeUsd,
    sizeInTokens: sizeTokens,
    collateralAmount,
    collateralUsd,
    remainingCollateralUsd: collateralUsd,
    markPrice: price,
    ...(sizeTokens > 0n
      ? { entryPrice: mulDiv(sizeUsd, tenTo(market.index.token.decimals), sizeTokens) }
      : {}),
    ...defined({ liquidationPrice }),
    pnlUsd,
    pnlAfterFeesUsd: pnlUsd,
    positionValueInUsd: netValueUsd,
    netValueUsd,
    ...(netValueUsd > 0n ? { leverageBps: (sizeUsd * BigInt(BPS_ONE)) / netValueUsd } : {}),
    increasedAtSeconds: position.increasedAtSeconds,
    decreasedAtSeconds: position.decreasedAtSeconds,
  }
}
