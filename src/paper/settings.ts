/** What the operator may set of the paper venue. */
import type { PriceReplay } from './replayFile.ts'

/** How exits that come with an increase are made (`VenueSettings`). */
export type ExitShape = 'sdk' | 'sdk-keep' | 'zero' | 'max'

/** Settings of a paper venue; every field has a default. */
export interface VenueSettings {
  /** Milliseconds from a submit's acceptance to the keeper's execution of a market order. Default 1500. */
  readonly keeperDelayMs: number
  /** Milliseconds from a submit's acceptance until the transaction is mined. Default 500. */
  readonly relayDelayMs: number
  /** Largest random part added to the keeper's delay, from the seed. Default 300. */
  readonly keeperJitterMs: number
  /** Seconds a prepared order may be submitted and landed. Default 300. */
  readonly orderDeadlineSeconds: number
  /** Paper balance of an address seen for the first time, whole tokens as decimal text by token symbol. */
  readonly startBalances: Readonly<Record<string, string>>
  /** Slippage in bps of a prepare that names none. Default 100. */
  readonly defaultSlippageBps: number
  /** Gas price that the chain's price walks around, wei. Default 0: the chain's own, 0.02 gwei on Arbitrum. */
  readonly gasPriceWei: bigint
  /**
   * How exits that come with an increase are made. `sdk`: a whole exit carries all collateral, a part none. `sdk-keep`: a
   * part carries what keeps the leverage. `zero`: no exit carries any. `max`: as `sdk`, and an exit of the whole position
   * has the largest uint256 as its size, also one that is prepared by itself. Default `sdk`.
   */
  readonly exitShape: ExitShape
  /** Whether exits come in another order than they were asked for. Default false. */
  readonly exitsReordered: boolean
  /** Whether slippage is put on top of the price of limit and take-profit orders. Default false, as the venue's client. */
  readonly slippageOnLimits: boolean
  /** Least output of a withdrawal of collateral. `usd`: its worth less slippage. `zero`: none. Default `usd`. */
  readonly collateralOutMinOutput: 'usd' | 'zero'
  /** Whether an update writes "any price" divided by the index token's decimals. Default false. */
  readonly dividesAnyPrice: boolean
  /** Whether an edit adds what an order's execution fee lacks today, unasked. Default false. */
  readonly topsUpFees: boolean
  /** Whether fields that the venue's own client does not know are refused: `autoCancel`, and `gasPaymentToken` of edits and cancels. Default true. */
  readonly strictPrepare: boolean
  /** Referral code of orders whose request names none, as an account that has one gets it. Default none. */
  readonly referralCode: string
  /** Names by which collateral/prepare knows a position: its row's key, its contract key, or both. Default `any`. */
  readonly positionKeyForm: 'any' | 'row' | 'contract'
  /** Part of the allowed maximum that seeded pools hold, bps. Default 3000. */
  readonly poolShareBps: number
  /** Milliseconds between blocks of the chain. Default 0: the chain's own pace, 250 on Arbitrum. */
  readonly blockTimeMs: number
  /** Blocks that `safe` is behind `latest`. Default 20. */
  readonly safeLagBlocks: number
  /** Blocks that `finalized` is behind `latest`. Default 100. */
  readonly finalizedLagBlocks: number
  /** Part of the allowed maximum that seeded open interest holds, bps. Default 1000. */
  readonly openInterestShareBps: number
  /** What vaults can add just in time to what a pool may reserve, bps of the latter, on average. 0 = no JIT. Default 1500. */
  readonly jitPoolShareBps: number
  /** Seeded wallets that hold pool tokens and earn fees. Default 24. */
  readonly liquidityProviders: number
  /** More holders since the world began: millionths of a pool by market symbol, by wallet. Default none. */
  readonly poolShares: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** Seconds after a start in which earnings answer 503. Default 0. */
  readonly earningsWarmUpSeconds: number
  /** Dollars a week that the deepest pools get on top of their fees. Default 12000. */
  readonly weeklyIncentivesUsd: number
  /** Pools open to the deposits of a wallet, by wallet: market tokens or symbols. Default none. */
  readonly whitelists: Readonly<Record<string, readonly string[]>>
  /** Extra yearly rate for the launch of the stable coin USDG, bps, falling by half every 30 days. Default 1200. */
  readonly boostAprBps: number
  /** Part of the protocol's revenue that buys back the platform token, bps. Default 3000. */
  readonly buybackShareBps: number
  /** Whether an address seen for the first time has let the router take its tokens. Default true. */
  readonly startAllowance: boolean
  /** What a new address holds in its GMX account, whole units of the chain's stable token as decimal text. Default 1000. */
  readonly startGmxAccount: string
  /** Other traders in the world. Default 0: quiet; `perpd paper` has a few dozen. */
  readonly traders: number
  /** Candles that the prices follow from the world's start. Default none: seeded prices. */
  readonly replay: PriceReplay | undefined
  /** Markets with hours; all others are always open. Default none. */
  readonly marketHours: readonly MarketHours[]
}

/** The defaults; `startBalances` is filled from the chain: 100000 of the first gas token and 50 of the native coin. */
export const defaultVenueSettings: VenueSettings = {
  keeperDelayMs: 1500,
  relayDelayMs: 500,
  keeperJitterMs: 300,
  orderDeadlineSeconds: 300,
  startBalances: {},
  defaultSlippageBps: 100,
  gasPriceWei: 0n,
  exitShape: 'sdk',
  exitsReordered: false,
  slippageOnLimits: false,
  collateralOutMinOutput: 'usd',
  dividesAnyPrice: false,
  topsUpFees: false,
  strictPrepare: true,
  referralCode: '',
  positionKeyForm: 'any',
  poolShareBps: 3000,
  openInterestShareBps: 1000,
  blockTimeMs: 0,
  safeLagBlocks: 20,
  finalizedLagBlocks: 100,
  jitPoolShareBps: 1500,
  liquidityProviders: 24,
  poolShares: {},
  earningsWarmUpSeconds: 0,
  weeklyIncentivesUsd: 12_000,
  whitelists: {},
  boostAprBps: 1200,
  buybackShareBps: 3000,
  startAllowance: true,
  startGmxAccount: '1000',
  traders: 0,
  replay: undefined,
  marketHours: [],
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
