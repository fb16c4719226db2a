/** Runs the breakers after every look at the account: measures, judges, sets halts and lifts those that are over. */

import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import { openResultsOf } from '../../books/bookView.ts'
import { isUnexplained } from '../../domain/accountRecords/accountRecord.ts'
import type { HeldSides } from '../../domain/accountRecords/held.ts'
import { LIST_LAG_MS } from '../../domain/accountRecords/listLag.ts'
import { type HaltReason, haltKey, type TradingHalt } from '../../domain/accountRecords/tradingState.ts'
import {
  type Child,
  hasEnded,
  type IntentState,
  isUnresolved,
  isWaiting,
  labelOf,
  lastAttempt,
} from '../../domain/order/intent.ts'
import { accountOf } from '../../execution/context/executionContext.ts'
import type { HasAccount, HasApi, HasBasics } from '../../execution/context/executionParts.ts'
import { waitAtMost } from '../../execution/context/waitAtMost.ts'
import type { Usd } from '../../protocol/units.ts'
import {
  AHEAD_FOR_MS,
  type BreakerSettings,
  isOver,
  receivedFromMs,
  tripsOf,
} from '../../risk/breakers/circuitBreakers.ts'
import type { HasOrders, HasSubaccount, HasTrading } from '../accountParts.ts'
import { type AccountReading, createEquityTracker, type EquityTracker, readEquity } from '../equity/equity.ts'
import type { HiddenWorth } from '../equity/hiddenWorth.ts'
import { addsUp, type Books, type Happening, happeningsOf } from '../equity/readingsAddUp.ts'
import {
  createShownEquity,
  createShownPeak,
  limitEquityOf,
  type ShownEquity,
  type ShownPeak,
} from '../equity/shownEquity.ts'
import { createTransferRounds, type HeardHost } from './transferRounds.ts'

/** The running breakers. */
export interface Breakers {
  readonly equity: EquityTracker
  /** The figure that is shown to people; absent before the first reading. */
  shownEquity(): ShownEquity | undefined
  /** The peak for display; people see this one. */
  readonly shownPeak: ShownPeak
  /** The figure that limits are shares of; absent before the first reading. */
  limitEquity(): ShownEquity | undefined
  /** Runs one round. `isFresh`: the account could be read just now. Never rejects because of network faults. */
  check(isFresh: boolean): Promise<void>
  /** Reads once more between two rounds, for the shown figure alone. Never rejects because of network faults. */
  lookAgain(): Promise<void>
  /** Returns the time when the account was last read, monotonic ms. */
  accountReadMs(): number
}

type Realized = {
  ofAll(sinceMs: number, nowMs: number): Usd
  receivedSince(sinceMs: number, nowMs: number): Usd
}

const noneRealized: Realized = { ofAll: () => 0n, receivedSince: () => 0n }

/** Halts that no breaker put on, and none lifts. */
const otherHalts: ReadonlySet<HaltReason> = new Set(['operator', 'kill', 'lost-records'])

const dayMs = 86_400_000
/** Longest wait for the hosts' lists, ms. */
const hostPatienceMs = 3_000

/**
 * Makes the breakers over the engine's parts. `settings` may change while the daemon runs; `day` gives today's realized result of our orders by their
 * settlements. `held`: sizes by the journal, signed; `hiddenUsd`: the part of them that a reading hides.
 */
export function createBreakers(
  context: HasAccount & HasApi & HasBasics & HasOrders & HasSubaccount & HasTrading,
  settings: () => BreakerSettings,
  day: () => Realized = () => noneRealized,
  held: () => HeldSides = () => new Map(),
  hiddenUsd: HiddenWorth = () => 0n,
): Breakers {
  const { api, clock, journal, openOrders, trading } = context
  const account = accountOf(context)
  const shownPeak = createShownPeak(trading.accountJournal.state().trading.equity?.shownPeakUsd)
  const tracker = createEquityTracker(
    trading.accountJournal,
    (jump) => context.emit({ type: 'account.equityJumped', ...jump }),
    shownPeak.highest,
  )
  const equity: EquityTracker = {
    ...tracker,
    rebase() {
      shownPeak.forget()
      return tracker.rebase()
    },
  }
  const shownEquity = createShownEquity(LIST_LAG_MS)
  /** Lists of the shown figure, and the effects of our orders that it contains. */
  let before: Books | undefined
  let accounted: ReadonlySet<string> = new Set()
  /** True while a step of the shown figure's wallet is not judged yet; it may be true before the first look. */
  let isStepPending = true
  const transfers = createTransferRounds(context, LIST_LAG_MS, held)
  let readMs = clock.monotonicMs()
  /** Halts that begin later than now, as a clock that was ahead wrote them, with when that was first seen, Unix ms. */
  const aheadSinceMs = new Map<string, number>()
  /** Intents whose fate is unknown, with the monotonic ms since when. */
  let unresolvedSinceMs: ReadonlyMap<string, number> = new Map()
  /** Time of their latest look, monotonic ms; undefined before the first look of this process. */
  let lookedMs: number | undefined

  /**
   * Returns the time for which the fate of the oldest has been unknown, ms. An order armed before the first look is as old as the wall clock says.
   * One armed since the previous look is no older than that look. From then on the monotonic clock counts, because the wall clock may be set back or
   * forth.
   */
  function oldestUnresolvedMs(): number {
    const monotonicMs = clock.monotonicMs()
    const now = new Map<string, number>()
    for (const { state } of openOrders.open()) {
      const attempt = lastAttempt(state)
      if (attempt === undefined || !isUnresolved(attempt)) continue
      const { intentId } = state.intent
      const ageMs = Math.max(0, clock.now() - (attempt.armedAtMs ?? clock.now()))
      const earliestMs = Math.max(monotonicMs - ageMs, lookedMs ?? Number.NEGATIVE_INFINITY)
      now.set(intentId, unresolvedSinceMs.get(intentId) ?? earliestMs)
    }
    unresolvedSinceMs = now
    lookedMs = monotonicMs
    return Math.max(0, ...[...now.values()].map((sinceMs) => monotonicMs - sinceMs))
  }

  /** Orders of ours whose payment or fill lists may not show. */
  function movingNow(): readonly IntentState[] {
    return [
      ...openOrders
        .open()
        .map(({ state }) => state)
        .filter((state) => labelOf(state) !== 'resting'),
      ...openOrders
        .recentlyLanded()
        .filter(({ intent }) => openOrders.closedAgoMs(intent.intentId) < LIST_LAG_MS),
    ]
  }

  /**
   * Tells whether an order of ours is in flight: its payment may be in no list. A resting order is in a list, and so is an ended one, final or not.
   */
  function isUnderWay(): boolean {
    return openOrders.open().some(({ state }) => {
      const attempt = lastAttempt(state)
      const isMoving = (child: Child) => !hasEnded(child) && !isWaiting(state.intent, child)
      return attempt?.phase !== 'LANDED' || attempt.children.some(isMoving)
    })
  }

  /** Returns the effects of our orders that the shown figure does not contain yet. */
  function unaccounted(): readonly Happening[] {
    return happeningsNow().filter(({ key }) => !accounted.has(key))
  }

  /** All that orders did that are open, or ended lately. */
  function happeningsNow(): readonly Happening[] {
    return happeningsOf([...openOrders.open().map(({ state }) => state), ...openOrders.recentlyLanded()])
  }

  /** Tells whether one of these is so recent that lists may predate it. */
  function isYoung({ state }: Happening): boolean {
    const { intentId } = state.intent
    return state.closing === undefined
      ? Math.abs(clock.now() - state.updatedAtMs) < LIST_LAG_MS
      : openOrders.closedAgoMs(intentId) < LIST_LAG_MS
  }

  async function measure(): Promise<void> {
    const moving = movingNow()
    const { api: all } = api.hosts
    const asked = all.length < 2 ? [] : all.filter((host) => !api.isCoolingDown(host))
    const hosts = asked.length === 0 ? [undefined] : asked
    const wasUnderWay = isUnderWay()
    let first: HeardHost | undefined
    // A host that hangs is not waited for beyond the others: its figures are those of its last reading.
    await waitAtMost(
      clock,
      hostPatienceMs,
      Promise.all(
        hosts.map(async (host, place) => {
          const heard = await measureBy(host, moving, wasUnderWay)
          // The shown figure is of one host: readings of two hosts do not follow each other.
          if (heard === undefined || place !== 0) return
          first = heard
          isStepPending = heard.isStepPending
          show(heard.reading, wasUnderWay)
        }),
      ),
    )
    if (first === undefined) return
    const transfer = await transfers.settle(
      hosts.map((host) => host ?? ''),
      first,
    )
    if (transfer === undefined) return
    equity.transfer(transfer.amountUsd, transfer.afterUsd)
    shownPeak.transfer(transfer.amountUsd, transfer.afterUsd)
    show(first.reading, false, true)
    context.emit({ type: 'account.transferred', ...transfer })
  }

  /** Before lists belong together the lowest of their figures stands: it counts no payments in flight. */
  function shown(): ShownEquity | undefined {
    const floorUsd = equity.floorUsd()
    const figure = shownEquity.shown()
    if (figure === undefined) return floorUsd === undefined ? undefined : { equityUsd: floorUsd }
    // An order may have left since the newest reading.
    return { ...figure, isSettling: figure.isSettling || isUnderWay() || unaccounted().length > 0 }
  }

  /**
   * Takes a reading for the shown figure. `wasUnderWay`: an order was in flight when the lists were requested. `isKnown`: the lists are known to
   * belong together.
   */
  function show(
    { lowUsd: equityUsd, inventory, books }: AccountReading,
    wasUnderWay: boolean,
    isKnown = false,
  ): void {
    const moved = unaccounted()
    const underWay = wasUnderWay || isUnderWay()
    const isProven =
      isKnown ||
      (!underWay && moved.length > 0 && before !== undefined && addsUp(before, books, moved, held()))
    const isShown = shownEquity.take({
      ...{ equityUsd, inventory, isProven },
      isMoving: underWay || isStepPending || moved.some(isYoung),
      nowMs: clock.now(),
      monotonicMs: clock.monotonicMs(),
    })
    if (!isShown) return
    before = books
    accounted = new Set(happeningsNow().map(({ key }) => key))
  }

  /** Reads once more for the figure that is shown; the breakers' own, which go by the number of readings, are left alone. */
  async function lookAgain(): Promise<void> {
    const { api: all } = api.hosts
    const host = all.length < 2 ? undefined : all.find((each) => !api.isCoolingDown(each))
    const wasUnderWay = isUnderWay()
    try {
      const reading = await readEquity(api, account, [], host)
      if (reading !== undefined) show(reading, wasUnderWay)
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
    }
  }

  async function measureBy(
    host: string | undefined,
    moving: readonly IntentState[],
    wasUnderWay: boolean,
  ): Promise<HeardHost | undefined> {
    try {
      const read = await readEquity(api, account, moving, host)
      if (read === undefined) return undefined
      const reading = { ...read, highUsd: read.highUsd + hiddenUsd(read.books, moving) }
      const happenings = happeningsNow()
      const isMoving = wasUnderWay || isUnderWay() || happenings.some(isYoung)
      const { pendingUsd, base } = transfers.look(host ?? '', reading, happenings, isMoving)
      const opens = () => openResultsOf(journal.books().all(), reading.books.positions)
      await equity.take({ ...reading, pendingUsd, opens }, clock.now(), host)
      return { reading, isStepPending: pendingUsd !== 0n, ...defined({ base }) }
    } catch (error) {
      // An unreadable account is no loss; another breaker judges how long it stays unreadable.
      if (!(error instanceof BaseError) || error.code.startsWith('JOURNAL_')) throw error
      return undefined
    }
  }

  /** Gives when a halt began: one that a clock ahead put on began when that was first seen, as soon as this lasts. */
  function begunMs(halt: TradingHalt, nowMs: number): number {
    const key = haltKey(halt)
    if (halt.sinceMs <= nowMs) aheadSinceMs.delete(key)
    else if (!aheadSinceMs.has(key)) aheadSinceMs.set(key, nowMs)
    const sinceMs = aheadSinceMs.get(key)
    return sinceMs === undefined || nowMs - sinceMs < AHEAD_FOR_MS ? halt.sinceMs : sinceMs
  }

  return {
    equity,
    shownEquity: shown,
    shownPeak,
    limitEquity: () => limitEquityOf(shown(), equity.worthUsd()),
    accountReadMs: () => readMs,
    lookAgain,
    async check(isFresh) {
      if (isFresh) {
        readMs = clock.monotonicMs()
        await measure()
      }
      const nowMs = clock.now()
      journal.lookAt(clock)
      const { discrepancies, trading: fold } = trading.accountJournal.state()
      const mark = equity.mark()
      const figure = shown()
      if (mark !== undefined && figure !== undefined) {
        shownPeak.raise(mark.peakUsd, figure.equityUsd)
        await equity.keepShown(nowMs)
      }
      const subaccount = context.subaccount?.report()
      const lossLiftedAtMs = fold.releasedAtMs[haltKey({ scope: 'account', cause: 'daily-loss' })]
      const trips = tripsOf(
        {
          nowMs,
          ...defined({ equity: mark }),
          realizedUsd: day().ofAll(lossLiftedAtMs ?? Number.NEGATIVE_INFINITY, nowMs),
          receivedUsd: day().receivedSince(receivedFromMs(mark, lossLiftedAtMs), nowMs),
          endings: journal.endingsSince(nowMs - dayMs),
          releasedAtMs: fold.releasedAtMs,
          ...defined({ liftedAtSeq: fold.liftedAtSeq }),
          oldestUnresolvedMs: oldestUnresolvedMs(),
          accountAgeMs: clock.monotonicMs() - readMs,
          ...defined({ subaccount }),
          openDiscrepancies: [...discrepancies.values()].filter(isUnexplained).length,
        },
        settings(),
      )
      for (const halt of trading.halts()) {
        if (otherHalts.has(halt.cause) || !isOver(halt, trips, nowMs, begunMs(halt, nowMs))) continue
        await trading.release(
          halt,
          'perpd',
          halt.releasedBy === 'next-day' ? 'a new day began' : 'the cause ended',
        )
      }
      const held = new Set(trading.halts().map(haltKey))
      for (const trip of trips) {
        if (!held.has(haltKey(trip))) await trading.halt({ ...trip, by: 'perpd' })
      }
    },
  }
}
