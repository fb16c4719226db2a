/** Makes the facts of one look at the account out of the daemon's parts. All of it is read at once, so that it is of one moment. */

import { defined } from '../../base/defined.ts'
import { noTrackRecord } from '../../books/trackRecord.ts'
import type { Discrepancy } from '../../domain/accountRecords/accountRecord.ts'
import { type Ending, spentBy } from '../../domain/accountRecords/spend.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { signedOrderIn } from '../../domain/order/signedOrder.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import { hostsSkewMs } from '../../execution/clock/hostsClock.ts'
import type { ExecutionContext } from '../../execution/context/executionContext.ts'
import { accountOf } from '../../execution/context/executionContext.ts'
import type { HasJournal } from '../../execution/context/executionParts.ts'
import { maxPriceImpactsOf } from '../../execution/context/policy.ts'
import { type OpenOrders, openStatesOf } from '../../execution/openOrders.ts'
import { hexKey } from '../../protocol/address.ts'
import type { Position } from '../../protocol/position.ts'
import type { Usd } from '../../protocol/units.ts'
import { dayStartOf } from '../../risk/breakers/circuitBreakers.ts'
import type {
  HasAheadStamps,
  HasCatalogue,
  HasEngineSettings,
  HasHoldings,
  HasLimits,
  HasOrders,
  HasPrices,
  HasStrategies,
  HasTrading,
} from '../accountParts.ts'
import type { ShownEquity } from '../equity/shownEquity.ts'
import type { FactsSource, LookAtAccount, OrdersInFlight, OwnFacts, UsageFacts } from '../facts.ts'
import { settledTrack } from '../fileProtection.ts'
import type { UnseenIntents } from '../holdings/unseen.ts'
import { closeLanesOf } from './closeLanes.ts'
import { isNoHost } from './increasesWait.ts'
import { lastChanges } from './lastChanges.ts'
import { isKept } from './strayOrders.ts'

const [hourMs, dayMs] = [3_600_000, 86_400_000]

/** Newest intents of a source among which refusals of a decision are looked for. */
const refusalsRead = 40

/** Answers that change while the daemon runs. */
export interface LiveAnswers {
  /** Equity of the account for limits; undefined while it is unknown. */
  readonly equity: () => ShownEquity | undefined
  /** Result of a strategy's day since 00:00 UTC, USD, signed, by lists of positions; by those of the last look when none are given. */
  readonly dayResultUsd: (strategy: string, positions?: readonly Position[]) => Usd
  /** Realized results of all orders since then by lower-case market token, USD, signed. */
  readonly marketDaysUsd: () => ReadonlyMap<string, Usd>
  /** Unexplained discrepancies: increases on their markets wait for an operator. */
  readonly pausing: () => readonly Discrepancy[]
  readonly unseen: UnseenIntents
  /** False once a stop was requested. */
  readonly isDeciding: () => boolean
}

/** Parts that a look reads. */
export interface WatchedParts
  extends HasAheadStamps,
    HasCatalogue,
    HasEngineSettings,
    HasHoldings,
    HasLimits,
    HasOrders,
    HasPrices,
    HasStrategies,
    HasTrading {
  readonly execution: ExecutionContext
  readonly live: LiveAnswers
}

/** Makes the look. */
export function createLookAtAccount(parts: WatchedParts): LookAtAccount {
  const { catalogue, engineSettings, execution, holdings, limits, live, prices } = parts
  const { api, chain, clock, journal } = execution
  const changesOf = lastChanges(journal)
  return (snapshot, source) => {
    const nowMs = clock.now()
    journal.lookAt(clock)
    const policy = execution.signingPolicy()
    const { priceImpactPerDayUsd, reducing, maxRelayFee } = policy
    const { withheldMs } = execution.settings
    const shown = live.equity()
    const ageMs = shown?.atMs === undefined ? undefined : Math.max(0, nowMs - shown.atMs)
    const equity = shown && { equityUsd: shown.equityUsd, ...defined({ ageMs }) }
    return {
      nowMs,
      snapshot,
      account: {
        address: accountOf(execution),
        chain: chain.name,
        feeTokenDecimals: chain.feeToken.decimals,
        lane: engineSettings.lane,
        closeLanes: closeLanesOf({ ...execution, engineSettings }, nowMs),
      },
      standstills: {
        isStopping: !live.isDeciding(),
        isNoHost: isNoHost(api),
        isJournalShort: journal.isShort(),
        halts: parts.trading.halts(),
        discrepancies: live.pausing(),
      },
      limits: limits.now(),
      orders: ordersInFlight(journal, parts.openOrders, live.unseen(snapshot), changesOf),
      usage: usageFacts(parts, nowMs, priceImpactPerDayUsd !== undefined),
      own: ownFacts(parts, snapshot, source),
      known: {
        prices: new Map([...snapshot.markets.keys()].map((key) => [key, prices.of(key)])),
        symbols: catalogue.facts().markets,
        clockSkewMs: hostsSkewMs(api) ?? 0,
        exposureOf: holdings.exposing(),
        isVouched: holdings.vouching(),
        ...defined({ isManaged: source.strategy?.tidiesOrders === true ? isKept(parts) : undefined }),
      },
      settings: {
        expiryMs: engineSettings.intentExpiryMs,
        slippageBps: engineSettings.defaultSlippageBps,
        maxPriceImpactBps: maxPriceImpactsOf(policy),
        maxReductionFee: reducing?.maxRelayFee ?? maxRelayFee,
        ...defined({ withheldMs, priceImpactPerDayUsd }),
      },
      ...defined({ equity, fees: execution.fees, desk: limits.desk() }),
    }
  }
}

function ordersInFlight(
  journal: HasJournal['journal'],
  openOrders: OpenOrders,
  unseen: readonly IntentState[],
  changesOf: ReturnType<typeof lastChanges>,
): OrdersInFlight {
  const open = openStatesOf(openOrders)
  const makers = journal.openIntents()
  const changes = changesOf(open)
  const told = { openIntents: () => makers, changeOf: (key: string) => changes.get(hexKey(key)) }
  return {
    open,
    unseen,
    pending: [],
    signedOrder: (orderKey) => signedOrderIn(told, orderKey),
  }
}

function usageFacts(parts: WatchedParts, nowMs: number, isImpactLimited: boolean): UsageFacts {
  const { journal } = parts.execution
  return {
    acceptedLastHour: journal.acceptedSince(nowMs - hourMs),
    acceptedToday: isImpactLimited ? journal.acceptedSince(dayStartOf(nowMs)) : [],
    endings: spentOfDay({ journal, openOrders: parts.openOrders }, nowMs),
    marketDaysUsd: parts.live.marketDaysUsd(),
  }
}

function ownFacts(parts: WatchedParts, { positions }: Snapshot, { name, protect }: FactsSource): OwnFacts {
  const { journal } = parts.execution
  const recent = journal.recentIntents({ strategy: name, limit: refusalsRead })
  const setBack = recent.map(
    ({ intent: { intentId } }) => [intentId, journal.setBackSince(intentId)] as const,
  )
  return {
    parts: journal.books().partsOf(name),
    finalParts: journal.books().partsOf(name, true),
    track: protect === undefined ? noTrackRecord : settledTrack(journal.books(), name, parts.aheadStamps),
    dayResultUsd: parts.live.dayResultUsd(name, positions.value),
    recent,
    setBackMs: new Map(setBack.filter(([, ms]) => ms !== 0)),
  }
}

/** Returns the spending of the last day's orders: ended ones, and those still open. */
export function spentOfDay(
  { journal, openOrders }: HasJournal & HasOrders,
  nowMs: number,
): readonly Ending[] {
  return [
    ...journal.endingsSince(nowMs - dayMs),
    ...openOrders
      .open()
      .flatMap(({ state }) => spentBy(state, nowMs - dayMs, journal.setBackSince(state.intent.intentId))),
  ]
}
