/** What the operator may set of the paper venue. */
import type { MarketHours } from './hours.ts'
import type { PriceReplay } from './replayFile.ts'

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
  /** Keeper's fee for one order before buffers, USD with 30 decimals. Default 0.15 USD. */
  readonly executionFeeUsd: bigint
  /** Relayer's own cost of one operation, USD with 30 decimals. Default 0.05 USD. */
  readonly relayFeeUsd: bigint
  /** Buffer in bps on the execution fee when a prepare names none. Default 3000. */
  readonly executionFeeBufferBps: number
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
  executionFeeUsd: 15n * 10n ** 28n,
  relayFeeUsd: 5n * 10n ** 28n,
  executionFeeBufferBps: 3000,
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
