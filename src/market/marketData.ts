/**
 * Data of one chain's markets: their facts, and what the venue says of them with these facts in every answer. It is made once for a chain and knows no
 * account, so that all accounts on the chain read the same.
 */
import type { Api } from '../api/client.ts'
import type { Clock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import type { Emit } from '../domain/event.ts'
import type { HasJournal } from '../execution/context/executionParts.ts'
import { createNativePrice, type NativePrice } from '../execution/context/nativePrice.ts'
import type { Chain } from '../protocol/chains/chain.ts'
import type { Usd } from '../protocol/units.ts'
import { createKnown, type KnownVenue } from './knownVenue.ts'
import { type Catalogue, type CatalogueParts, createCatalogue } from './marketCatalogue.ts'
import { createMarketMarks, type MarketMarks } from './marketMarks.ts'
import { createMarketRecords } from './marketRecords.ts'
import { pinnedApi } from './pinnedApi.ts'

/** Data of one chain's markets. */
export interface MarketData {
  readonly chain: Chain
  /** The client of both APIs, with the facts of markets and tokens in every answer. */
  readonly api: Api
  /** Facts of markets and tokens, and hosts that contradict them. */
  readonly catalogue: Catalogue
  readonly nativePrice: NativePrice
  /** Memory of the venue's lists from one reading to the next. */
  readonly known: KnownVenue
  /** Medians of oracle prices that were not doubted, by lower-cased token. */
  readonly acceptedPrices: Map<string, Usd>
  /** Newest mark price of each market. */
  readonly marks: MarketMarks
}

/** Parts from which market data are made. */
export interface MarketDataParts {
  readonly chain: Chain
  /** The client of both APIs, as the hosts list. */
  readonly api: Api
  readonly clock: Clock
  /** Journal of the records about these markets. */
  readonly journal: HasJournal['journal']
  readonly emit: Emit
  /** Takes a mistake of ours, or a journal that cannot be written. */
  readonly fatal: (error: unknown) => void
  /** Proves a market that is not shipped; absent: no chain endpoint is configured. */
  readonly prove?: CatalogueParts['prove']
}

/** Makes them; nothing is read yet. */
export function createMarketData({ chain, prove, ...parts }: MarketDataParts): MarketData {
  const { clock, journal, emit, fatal } = parts
  const records = createMarketRecords({ journal, clock })
  const catalogue = createCatalogue({
    shipped: chain.facts,
    ...{ records, clock, emit, fatal, ...defined({ prove }) },
  })
  const marks = createMarketMarks(clock)
  const api = pinnedApi(parts.api, catalogue, marks.saw)
  return {
    ...{ chain, api, catalogue },
    nativePrice: createNativePrice(api, chain, clock),
    known: createKnown(catalogue.facts()),
    acceptedPrices: new Map(),
    marks,
  }
}
