/** Makes the facts of one look at the account out of the daemon's parts. All of it is read at once, so that it is of one moment. */
import type { FactsSource, LookAtAccount, OrdersInFlight, OwnFacts, UsageFacts } from '../account/facts.ts'
import { defined } from '../base/defined.ts'
import { type Ending, spentBy } from '../domain/account/spend.ts'
import { noTrackRecord } from '../domain/books/trackRecord.ts'
import { signedOrderIn } from '../domain/order/signedOrder.ts'
import type { Snapshot } from '../domain/snapshot.ts'
import { hostsSkewMs } from '../execution/clock/hostsClock.ts'
import { accountOf } from '../execution/context/executionContext.ts'
import { maxPriceImpactsOf } from '../execution/context/policy.ts'
import { hexKey } from '../protocol/address.ts'
import { dayStartOf } from '../risk/breakers/circuitBreakers.ts'
import { settledTrack } from './account/fileProtection.ts'
import { closeLanesOf } from './closeLanes.ts'
import type { EngineContext } from './context/engineContext.ts'
import { isKept } from './strayOrders.ts'
import { isNoHost } from './watch/increasesWait.ts'

const [hourMs, dayMs] = [3_600_000, 86_400_000]

/** Newest intents of a source among which refusals of a decision are looked for. */
const refusalsRead = 40

/** Parts that a look reads. */
type Watched = Omit<EngineContext, 'facts'>

/** Makes the look. */
export function createLookAtAccount(parts: Watched): LookAtAccount {
  const { api, catalogue, chain, clock, engineSettings, holdings, journal, limits, prices } = parts
  return (snapshot, source) => {
    const nowMs = clock.now()
    journal.lookAt(clock)
    const policy = parts.signingPolicy()
    const { priceImpactPerDayUsd, reducing, maxRelayFee } = policy
    const { withheldMs } = parts.settings
    const shown = parts.equity()
    const ageMs = shown?.atMs === undefined ? undefined : Math.max(0, nowMs - shown.atMs)
    const equity = shown && { equityUsd: shown.equityUsd, ...defined({ ageMs }) }
    return {
      nowMs,
      snapshot,
      account: {
        address: accountOf(parts),
        chain: chain.name,
        feeTokenDecimals: chain.feeToken.decimals,
        lane: engineSettings.lane,
        closeLanes: closeLanesOf(parts, nowMs),
      },
      standstills: {
        isStopping: !parts.isDeciding(),
        isNoHost: isNoHost(api),
        isJournalShort: journal.isShort(),
        halts: parts.trading.halts(),
        discrepancies: parts.pausing(),
      },
      limits: limits.now(),
      orders: ordersInFlight(parts, snapshot),
      usage: usageFacts(parts, nowMs, priceImpactPerDayUsd !== undefined),
      own: ownFacts(parts, snapshot, source),
      known: {
        prices: new Map([...snapshot.markets.keys()].map((key) => [key, prices.of(key)])),
        symbols: catalogue.facts().markets,
        clockSkewMs: hostsSkewMs(api) ?? 0,
        exposureOf: holdings.exposing(),
        isVouched: holdings.vouching(),
        ...(source.strategy?.tidiesOrders === true ? { isManaged: isKept(parts) } : {}),
      },
      settings: {
        expiryMs: engineSettings.intentExpiryMs,
        slippageBps: engineSettings.defaultSlippageBps,
        maxPriceImpactBps: maxPriceImpactsOf(policy),
        maxReductionFee: reducing?.maxRelayFee ?? maxRelayFee,
        ...defined({ withheldMs, priceImpactPerDayUsd }),
      },
      ...defined({ equity, fees: parts.fees }),
    }
  }
}

function ordersInFlight(
  { journal, orderManager, unseen }: Pick<Watched, 'journal' | 'orderManager' | 'unseen'>,
  snapshot: Snapshot,
): OrdersInFlight {
  const open = orderManager.open().map(({ state }) => state)
  const makers = journal.openIntents()
  const keys = open.flatMap(({ attempts }) => attempts.flatMap(({ children }) => children))
  const changes = new Map(
    keys.flatMap(({ orderKey }) => {
      const change = journal.changeOf(orderKey)
      return change === undefined ? [] : [[hexKey(orderKey), change] as const]
    }),
  )
  const told = { openIntents: () => makers, changeOf: (key: string) => changes.get(hexKey(key)) }
  return {
    open,
    unseen: unseen(snapshot),
    pending: [],
    signedOrder: (orderKey) => signedOrderIn(told, orderKey),
  }
}

function usageFacts(parts: Watched, nowMs: number, isImpactLimited: boolean): UsageFacts {
  const { journal } = parts
  return {
    acceptedLastHour: journal.acceptedSince(nowMs - hourMs),
    acceptedToday: isImpactLimited ? journal.acceptedSince(dayStartOf(nowMs)) : [],
    endings: spentOfDay(parts, nowMs),
    marketDaysUsd: parts.marketDaysUsd(),
  }
}

function ownFacts(parts: Watched, { positions }: Snapshot, { name, protect }: FactsSource): OwnFacts {
  const { journal } = parts
  const recent = journal.recentIntents({ strategy: name, limit: refusalsRead })
  const setBack = recent.map(
    ({ intent: { intentId } }) => [intentId, journal.setBackSince(intentId)] as const,
  )
  return {
    parts: journal.books().partsOf(name),
    finalParts: journal.books().partsOf(name, true),
    track: protect === undefined ? noTrackRecord : settledTrack(journal.books(), name, parts.aheadStamps),
    dayResultUsd: parts.dayResultUsd(name, positions.value),
    recent,
    setBackMs: new Map(setBack.filter(([, ms]) => ms !== 0)),
  }
}

/** Returns the spending of the last day's orders: ended ones, and those still open. */
export function spentOfDay(
  { journal, orderManager }: Pick<EngineContext, 'journal' | 'orderManager'>,
  nowMs: number,
): readonly Ending[] {
  return [
    ...journal.endingsSince(nowMs - dayMs),
    ...orderManager
      .open()
      .flatMap(({ state }) => spentBy(state, nowMs - dayMs, journal.setBackSince(state.intent.intentId))),
  ]
}
