/** Settings of the paper venue for its operator. */
import { simulated } from '../../protocol/settings/paperSection.ts'
import { defaultsOf, type Typed } from '../../protocol/settings/setting.ts'
import type { PriceHistory } from '../catalog/historyPrices.ts'
import type { PriceReplay } from '../catalog/replayFile.ts'
import type { FollowedMarkets } from './followedMarkets.ts'

/** Settings of a paper venue; every field has a default. */
export interface VenueSettings extends Typed<typeof simulated> {
  /** Paper balance of an address seen for the first time, whole tokens as decimal text by token symbol. */
  readonly startBalances: Readonly<Record<string, string>>
  /** Slippage in bps of a prepare that names none. Default 100. */
  readonly defaultSlippageBps: number
  /** Gas price that the chain's price walks around, wei. Default 0: the chain's own, 0.02 gwei on Arbitrum. */
  readonly gasPriceWei: bigint
  /** More holders since the venue began: millionths of a pool by market symbol, by wallet. Default none. */
  readonly poolShares: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** Pools open to the deposits of a wallet, by wallet: market tokens or symbols. Default none. */
  readonly whitelists: Readonly<Record<string, readonly string[]>>
  /** Candles that the prices follow from the world's start. Default none: seeded prices. */
  readonly replay: PriceReplay | undefined
  /** Candles of real dates by asset, which the prices follow at those dates; the clock is to be at one of them. Default none. */
  readonly history: ReadonlyMap<string, PriceHistory> | undefined
  /** Initial excess of the longs over the shorts, bps of the open interest: 10000 is all long. Default 0. */
  readonly skewBps: number
  /** Times from an order to its execution, ms, of which each order has one by chance, in the place of `keeperDelayMs` and its jitter. Default none. */
  readonly keeperDelaysMs: readonly number[]
  /** False: no order has a price impact. Default true. */
  readonly hasPriceImpact: boolean
  /** False: no market takes an increase, and nobody holds anything at the beginning. Default true. */
  readonly takesIncreases: boolean
  /** Markets with hours; all others are always open. Default none. */
  readonly marketHours: readonly MarketHours[]
  /**
   * Prepared requests of a host, operations that have ended, and submits that are remembered, and transactions that a state file keeps, as far as no
   * other limit is lower; of more the oldest go. Default 20000.
   */
  readonly mostRequests: number
  /** Rows of people's trades, and ends of orders, that are remembered; of more the oldest go. Default 20000. */
  readonly mostTrades: number
  /** Markets that follow a history. Default none: what their seeded state and the venue's accounts make of them. */
  readonly followed: FollowedMarkets
}

/**
 * The defaults of a venue that is made in code: those of `perpd paper`, without other traders and with a slower `safe` block.
 * `startBalances` is filled from the chain: 100000 of the first gas token and 50 of the native coin.
 */
export const defaultVenueSettings: VenueSettings = {
  ...defaultsOf(simulated),
  safeLagBlocks: 20,
  traders: 0,
  startBalances: {},
  defaultSlippageBps: 100,
  gasPriceWei: 0n,
  poolShares: {},
  whitelists: {},
  replay: undefined,
  history: undefined,
  skewBps: 0,
  keeperDelaysMs: [],
  hasPriceImpact: true,
  takesIncreases: true,
  marketHours: [],
  mostRequests: 20_000,
  mostTrades: 20_000,
  followed: new Map(),
}

/** Trading hours of the markets of a name, UTC, Monday to Friday. */
export interface MarketHours {
  /** Index name as `XAU/USD` (all its pools), full symbol, or market token. */
  readonly market: string
  /** Minute of the day at which trading begins, 0 to 1439. */
  readonly opensAtMinute: number
  /** First minute of the day without trading; below `opensAtMinute` the session runs past midnight. */
  readonly closesAtMinute: number
}
