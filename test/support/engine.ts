/** The running engine over a bench of `kinds.ts`. */

import type { Engine } from '../../src/daemon/engine.ts'
import type { Event } from '../../src/domain/event.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import type { LaneName } from '../../src/domain/order/laneTable.ts'
import type { CatalogueParts } from '../../src/market/marketCatalogue.ts'
import type { ShippedFacts } from '../../src/protocol/catalogue.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import type { BreakerSettings } from '../../src/risk/breakers/circuitBreakers.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { type KindsBench, usualFees } from './kinds.ts'
import { testTrader } from './trader.ts'

/** An engine, what it told, and the codes of what it denied, in order. It is the test's to abort. */
export function engineOver(
  bench: KindsBench,
  options: {
    readonly strategies?: readonly LoadedStrategy[]
    /** Limits by strategy. */
    readonly limits?: Readonly<Record<string, Limits>>
    readonly account?: Limits
    readonly breakers?: BreakerSettings
    /** Facts in the place of those that are shipped. */
    readonly facts?: ShippedFacts
    /** How the chain is asked about markets that are not among them; absent: it is not. */
    readonly prove?: CatalogueParts['prove']
    /** The order chain when absent. */
    readonly lane?: LaneName
  },
): { readonly engine: Engine; readonly events: readonly Event[]; readonly codes: () => readonly string[] } {
  const { api, clock, journal, context } = bench
  const { facts = arbitrum.facts, prove } = options
  const { trader, events, codes } = testTrader({
    api,
    clock,
    journal,
    signer: context.signer,
    chain: { ...arbitrum, facts },
    ...(context.chainReader === undefined ? {} : { chainReader: context.chainReader }),
    ...(prove === undefined ? {} : { proveMarket: prove }),
    ...(options.strategies === undefined ? {} : { strategies: options.strategies }),
    limits: {
      account: options.account ?? {},
      strategies: options.limits ?? {},
      breakers: options.breakers ?? { sets: {} },
    },
    settings: {
      rules: context.rules,
      execution: context.settings,
      signingPolicy: context.signingPolicy,
      usualFees,
      ...(options.lane === undefined ? {} : { engine: { lane: options.lane } }),
    },
  })
  return { engine: trader, events, codes }
}
