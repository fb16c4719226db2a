/** Single parts of the engine that functions receive: each names those that it needs, and nothing else. */

import type { ClaimDecision, RenewalDecision } from '../domain/order/decision.ts'
import type { Denial } from '../domain/order/intent.ts'
import type { OpenOrders } from '../execution/openOrders.ts'
import type { Catalogue } from '../market/marketCatalogue.ts'
import type { MarketMarks } from '../market/marketMarks.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import type { AheadStamps } from './aheadStamps.ts'
import type { EngineSettings } from './engineSettings.ts'
import type { Trading } from './halts/tradingHalts.ts'
import type { Holdings } from './holdings/holdings.ts'
import type { PriceWatch } from './holdings/priceWatch.ts'
import type { ConfiguredLimits } from './limitsInForce.ts'
import type { LiveLimits } from './liveLimits.ts'
import type { SubaccountWatch } from './subaccountWatch.ts'

/** Machine over the open orders. */
export interface HasOrders {
  readonly openOrders: OpenOrders
}

/** Strategies that run now. */
export interface HasStrategies {
  readonly strategies: () => readonly LoadedStrategy[]
}

/** Limits of account, markets and strategies and the breakers' thresholds in force. */
export interface HasLimits {
  readonly limits: LiveLimits
}

/** Reader of the configured limits. */
export interface HasReadLimits {
  /**
   * Reads the configured limits anew, with other changes of the configuration that wait for a restart, a few words each. Absent: limits cannot be
   * changed while this runs. Throws what reading throws.
   */
  readonly readLimits?: () => Promise<ConfiguredLimits & { readonly waiting?: readonly string[] }>
}

/** Records of the account, and the halts on trading. */
export interface HasTrading {
  readonly trading: Trading
}

/** Facts about markets and tokens, independent of any host's list. */
export interface HasCatalogue {
  readonly catalogue: Catalogue
}

/** Newest mark prices of markets, for screens. */
export interface HasMarks {
  readonly marks: MarketMarks
}

/** Approval of a delegated key. */
export interface HasSubaccount {
  /** Remaining approval when a delegated key signs. */
  readonly subaccount?: SubaccountWatch
}

/** Preparation of a renewal for the owner. */
export interface HasPrepareRenewal {
  /** Has the renewal of its approval prepared, with the owner's next nonce; `same` where one is there that fits. */
  readonly prepareRenewal?: (wish: RenewalDecision, nonce: bigint) => 'same' | Promise<Denial | undefined>
}

/** Preparation of a claim for the owner. */
export interface HasPrepareClaim {
  /**
   * Prepares the claim of the amounts due; `busy` right after a look, `nothing` where too little is due or it is prepared. Absent: it cannot be read.
   */
  readonly prepareClaim?: (wish: ClaimDecision) => 'busy' | Promise<'nothing' | 'prepared' | Denial>
}

/** Prices of markets with positions, from every host. */
export interface HasPrices {
  readonly prices: PriceWatch
}

/** Positions by all sources. */
export interface HasHoldings {
  readonly holdings: Holdings
}

/** Settings of the loop. */
export interface HasEngineSettings {
  readonly engineSettings: EngineSettings
}

/** Times of fills and stops that the clock has not reached, as of when they were first seen. */
export interface HasAheadStamps {
  readonly aheadStamps: AheadStamps
}
