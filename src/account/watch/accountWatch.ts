/** The look at the account that every round of the watch takes: positions, their names, and positions that lists hide. */

import { defined, someOf } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import { tolerate } from '../../base/tolerate.ts'
import type { HiddenSide, UnlistedSide } from '../../domain/accountRecords/held.ts'
import type { HasApi, HasClock, HasEmit, HasFees } from '../../execution/context/executionParts.ts'
import { openStatesOf } from '../../execution/openOrders.ts'
import { marketList, withHeldMarkets } from '../../market/heldMarkets.ts'
import { hexKey, sameHex } from '../../protocol/address.ts'
import type { Position } from '../../protocol/position.ts'
import { formatDollars } from '../../protocol/units.ts'
import type {
  HasCatalogue,
  HasEngineSettings,
  HasHoldings,
  HasMarks,
  HasOrders,
  HasSubaccount,
} from '../accountParts.ts'
import type { PositionList } from '../holdings/hostLooks.ts'
import type { PriceWatch } from '../holdings/priceWatch.ts'
import {
  type ShownExposure,
  type ShownHoldings,
  type ShownSide,
  shownExposure,
  shownHoldings,
  shownSideSizes,
} from '../holdings/shownExposure.ts'
import type { Unseen } from '../holdings/unseen.ts'
import type { FeedAges } from './feedAges.ts'
import type { Reconciler } from './reconciler.ts'
import type { UnmanagedWatch } from './unmanaged.ts'

/** Oldest gas price that a look leaves as it is, ms: fees are judged by one of the last minute. */
const GAS_YOUNG_MS = 15_000

/** Shortest time between two reads of marks for screens, and the longest that such a read may hold up a look, ms. */
const MARKS_PAUSE_MS = 30_000
const MARKS_TIMEOUT_MS = 2_000

/** Dependencies of the look. */
export interface AccountWatchContext
  extends HasApi,
    HasCatalogue,
    HasClock,
    HasEmit,
    HasEngineSettings,
    HasFees,
    HasHoldings,
    HasMarks,
    HasOrders,
    HasSubaccount {
  readonly prices: PriceWatch
  readonly feeds: FeedAges
  readonly filled: Unseen
  readonly reconciler: Reconciler
  readonly unmanaged: UnmanagedWatch
}

/** Latest observations of the account. */
export interface AccountWatch {
  /** Takes a look. Rejects as reading does. */
  look(): Promise<void>
  /** Looks at positions between two rounds of the watch; nothing is judged by it. A look that fails is left to the next. */
  lookAgain(signal: AbortSignal): Promise<void>
  /** A strategy's snapshot shows newer positions. */
  saw(rows: readonly Position[]): void
  positions(): readonly Position[]
  /** Market symbol by lower-cased market token, of the last look. */
  symbols(): Readonly<Record<string, string>>
  /** Returns the sides of which one of the newest lists shows less than the journal knows. */
  hidden(): readonly HiddenSide[]
  /** Positions without a row that can be read in the newest list. */
  unlisted(): readonly UnlistedSide[]
  /** The exposure that people are shown, of the newest positions. */
  exposure(): ShownExposure
  /** The sides that it is the sum of. */
  sides(): readonly ShownSide[]
  /** Returns the positions of the newest list, with fills of ours that it does not show yet. */
  held(): ShownHoldings
  /** Describes the positions, a few words each: `long ETH/USD [WETH-USDC] of $500.00`. */
  heldWords(): readonly string[]
}

/** Makes the watch; nothing is seen before the first look. */
export function createAccountWatch(context: AccountWatchContext): AccountWatch {
  const { api, catalogue, clock, emit, engineSettings, holdings, openOrders } = context
  const { feeds, reconciler, unmanaged } = context
  let positions: readonly Position[] = []
  let hidden: readonly HiddenSide[] = []
  let unlisted: readonly UnlistedSide[] = []
  let symbols: Readonly<Record<string, string>> = {}
  let marksAskedMs = Number.NEGATIVE_INFINITY

  const openStates = () => openStatesOf(openOrders)
  const held = () => shownHoldings(positions, holdings.journal(), context.filled.recent(), symbols)

  /** Accepts a list as the newest one, and reports it. */
  function take(read: PositionList): void {
    positions = holdings.withOthers(read.value)
    unlisted = holdings.unlistedIn({ ...read, value: positions })
    feeds.onFeed('positions', Math.max(0, clock.now() - read.readAtMs))
  }

  const tell = () =>
    emit({ type: 'account.positions', positions, symbols, ...defined({ unlisted: someOf(unlisted) }) })

  /** Reads the marks of markets on which orders rest and nothing is held, where nobody read them within the last minute. */
  async function lookAtMarks(held: readonly string[]): Promise<void> {
    const ownTokens = openStates().map(({ intent }) => intent.terms.marketToken)
    const otherTokens = (reconciler.othersOrders() ?? []).map(({ marketToken }) => marketToken)
    const known = new Set(held.map(hexKey))
    const lacking = new Set(
      [...ownTokens, ...otherTokens]
        .filter((token) => !known.has(hexKey(token)) && context.marks.of(token) === undefined)
        .flatMap((token) => symbols[hexKey(token)] ?? []),
    )
    if (lacking.size === 0 || clock.monotonicMs() - marksAskedMs < MARKS_PAUSE_MS) return
    marksAskedMs = clock.monotonicMs()
    const options = { attempts: 1, timeoutMs: MARKS_TIMEOUT_MS }
    await tolerate(api.getMarketTickers({ symbols: [...lacking] }, options))
  }

  return {
    async lookAgain(signal) {
      try {
        const [read] = await holdings.refresh()
        if (read === undefined || signal.aborted) return
        take(read)
        tell()
      } catch (error) {
        if (!(error instanceof BaseError)) throw error
      }
    },
    async look() {
      await context.fees?.refresh(Math.min(3 * engineSettings.watchMs, GAS_YOUNG_MS))
      const [markets, lists] = await Promise.all([api.getMarkets(), holdings.refresh()])
      const [read] = lists
      if (read === undefined) return
      take(read)
      const tokens = [...positions, ...unlisted].map(({ marketToken }) => marketToken)
      const known = await withHeldMarkets(api, marketList(markets.value), tokens, catalogue.facts())
      symbols = Object.fromEntries(known.map((market) => [hexKey(market.marketToken), market.symbol]))
      tell()
      await context.prices.look(
        known.filter(({ marketToken }) => tokens.some((token) => sameHex(token, marketToken))),
      )
      await unmanaged.check(positions, symbols)
      const resting = openOrders.open().filter(({ label }) => label === 'resting').length
      await context.subaccount?.check(positions.length + resting)
      hidden = lists.flatMap((list) => holdings.hiddenIn(list))
      await reconciler.pass(symbols, lists)
      // Last, since only screens wait for it.
      await lookAtMarks(tokens)
    },
    saw(rows) {
      positions = holdings.withOthers(rows)
    },
    positions: () => positions,
    symbols: () => symbols,
    hidden: () => hidden,
    unlisted: () => unlisted,
    exposure: () => shownExposure(positions, holdings.journal(), openStates()),
    sides: () => shownSideSizes(positions, holdings.journal(), openStates()),
    held,
    heldWords: () =>
      held().sides.map(({ direction, name, sizeUsd }) => `${direction} ${name} of ${formatDollars(sizeUsd)}`),
  }
}
