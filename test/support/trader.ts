/** A trader, or the order machine alone, over a bench: what every test of them hands in, unless it says otherwise. */

import { inspect } from 'node:util'
import type { EngineSettings } from '../../src/account/engineSettings.ts'
import type { ConfiguredLimits } from '../../src/account/limitsInForce.ts'
import type { Api } from '../../src/api/client.ts'
import { createTrader, type Trader, type TraderParts, type TraderSettings } from '../../src/daemon/trader.ts'
import type { Event } from '../../src/domain/event.ts'
import type { ExecutionContext } from '../../src/execution/context/executionContext.ts'
import type { ExecutionSettings } from '../../src/execution/context/executionSettings.ts'
import type { SigningPolicy } from '../../src/execution/context/policy.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import type { CatalogueParts } from '../../src/market/marketCatalogue.ts'
import { createMarketData, type MarketData } from '../../src/market/marketData.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import type { Chain } from '../../src/protocol/chains/chain.ts'
import { ethSwapMarkets } from './intents.ts'

/** The account of tests, and whose key signs. */
export const testSigner = createLocalSigner(`0x${'11'.repeat(32)}`)

/** Cadences that a simulated clock runs through fast. */
export const executionSettings: ExecutionSettings = {
  statusPollMs: 500,
  statusPollMaxMs: 5_000,
  restingPollMs: 60_000,
  prepareRetryMs: 500,
  payloadMismatchCooldownMs: 60_000,
  relayDeadlineSeconds: 120,
  relayFeePerOrder: 1_000_000n,
}

/** What tests sign unless they say otherwise. */
export const signingPolicy: SigningPolicy = {
  minDeadlineSeconds: 20,
  maxDeadlineSeconds: 3700,
  maxExecutionFee: 10n ** 16n,
  maxRelayFee: 5_000_000n,
  priceToleranceBps: 200,
  swapMarkets: ethSwapMarkets,
}

/** Cadences of the engine, and the slippage of strategies that say none. */
export const engineSettings: EngineSettings = {
  lane: 'order-chain',
  intentExpiryMs: 30_000,
  drainMs: 10_000,
  defaultSlippageBps: 100,
  watchMs: 5_000,
  heartbeatMs: 60_000,
}

/** By the APIs alone, which are trusted: there is one venue, and it is the test's. */
const rules: TraderSettings['rules'] = { source: 'api', trustVenue: true, deadlineMarginMs: 5_000 }

/** No limit but what the code has by itself. */
export const noLimits: ConfiguredLimits = { account: {}, markets: {}, strategies: {}, breakers: { sets: {} } }

/** A mistake of ours ends the test. */
function fatal(error: unknown): never {
  throw error
}

/** What the order machine is handed; `parts` stand in the place of what tests share. */
export function testExecution(
  parts: Pick<ExecutionContext, 'api' | 'clock'> & Partial<ExecutionContext>,
): ExecutionContext {
  return {
    journal: createMemoryJournal(),
    signer: testSigner,
    chain: arbitrum,
    emit: () => undefined,
    rules,
    settings: executionSettings,
    signingPolicy: () => signingPolicy,
    fatal,
    ...parts,
  }
}

/** What a trader of a test is made from: parts of a trader, with single settings beside each other. */
export type TestTraderParts = Pick<TraderParts, 'clock'> &
  Partial<Omit<TraderParts, 'market' | 'settings' | 'limits'>> & {
    readonly api: Api
    /** Data of the chain's markets that others share; absent: made of the parts below. */
    readonly market?: MarketData
    /** Arbitrum when absent. */
    readonly chain?: Chain
    /** How the chain is asked about a market that is not shipped; absent: it is not. */
    readonly proveMarket?: CatalogueParts['prove']
    readonly limits?: Partial<ConfiguredLimits>
    readonly settings?: {
      readonly execution?: Partial<ExecutionSettings>
      readonly engine?: Partial<EngineSettings>
    } & Partial<Omit<TraderSettings, 'execution' | 'engine'>>
  }

/** A trader, its journal, what it told, and the codes of what it denied, in order. It is the test's to abort. */
export interface TestTrader {
  readonly trader: Trader
  readonly journal: Journal
  readonly events: readonly Event[]
  codes(): readonly string[]
}

/** Makes a trader; `parts` stand in the place of what tests share. */
export function testTrader(parts: TestTraderParts): TestTrader {
  const { api, chain = arbitrum, proveMarket, market, ...given } = parts
  const { journal = createMemoryJournal(), limits, settings, emit: heard, ...others } = given
  const events: Event[] = []
  const emit = (event: Event): void => {
    // A mistake of ours, whatever the test is about.
    if (event.type === 'account.booksDiffer') throw new Error(`books do not add up: ${inspect(event)}`)
    events.push(event)
    heard?.(event)
  }
  const { clock } = others
  const trader = createTrader({
    market:
      market ??
      createMarketData({
        ...{ chain, api, clock, journal, emit, fatal: others.fatal ?? fatal },
        ...(proveMarket === undefined ? {} : { prove: proveMarket }),
      }),
    signer: testSigner,
    strategies: [],
    labels: { version: 'test', profile: 'paper', journalPath: 'memory:', evidence: 'the venue' },
    fatal,
    ...others,
    journal,
    emit,
    limits: { ...noLimits, ...limits },
    settings: {
      rules,
      signingPolicy: () => signingPolicy,
      ...settings,
      execution: { ...executionSettings, ...settings?.execution },
      engine: { ...engineSettings, ...settings?.engine },
    },
  })
  const codes = () => events.flatMap((event) => (event.type === 'decision.denied' ? [event.denial.code] : []))
  return { trader, journal, events, codes }
}
