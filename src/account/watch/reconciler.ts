/**
 * Compares the account with the journal, at the start and while perpd runs. It reads positions, orders and the trades since the last pass, and
 * records what the journal cannot explain. `domain/accountRecords/reconcile.ts` has the comparison. An order or a wrong sum is reported when two
 * passes in a row see it: lists of one host may be a moment apart.
 */

import { CLOCK_STEP_MS } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import {
  type AccountState,
  type Discrepancy,
  type DiscrepancyEnd,
  type DiscrepancyKind,
  type DiscrepancyState,
  pauses,
  sideKeyOf,
} from '../../domain/accountRecords/accountRecord.ts'
import { fillsOf } from '../../domain/accountRecords/fills.ts'
import { LIST_LAG_MS } from '../../domain/accountRecords/listLag.ts'
import {
  isOfTrade,
  isReduction,
  type Reconciliation,
  reconcile,
} from '../../domain/accountRecords/reconcile.ts'
import { isUnresolved, lastAttempt } from '../../domain/order/intent.ts'
import { accountOf } from '../../execution/context/executionContext.ts'
import type { HasAccount, HasApi, HasBasics, HasChainReader } from '../../execution/context/executionParts.ts'
import { hexKey, sameHex } from '../../protocol/address.ts'
import type { MissingRow } from '../../protocol/missing.ts'
import type { Order, Trade } from '../../protocol/position.ts'
import type { HasOrders, HasTrading } from '../accountParts.ts'
import type { EngineSettings } from '../engineSettings.ts'
import type { PositionList } from '../holdings/hostLooks.ts'
import { isBusy, keysNotListed } from '../holdings/lag.ts'
import { createProofs } from '../proofs.ts'
import { createBooksCheck } from './booksCheck.ts'
import { discrepanciesLeft } from './discrepancyRate.ts'
import { createOwnOrders } from './ownOrders.ts'

/** Rows asked for in a page of trades, and pages read in one pass: more wait for the next. */
const tradesLimit = 500
const tradesPagesMax = 20
/** Trades are read again from this long before where the last pass ended, seconds: a list may be late. */
const overlapSeconds = 3_600
/** The lead of the journal's time over a clock that was set back, seconds. */
const aheadSeconds = CLOCK_STEP_MS / 1_000
/** Interval between records of progress when nothing was found, seconds. */
const progressSeconds = 600
/** An attempt was armed no longer than this before its signed deadline: the venue's clients sign for an hour, seconds. */
const longestDeadlineSeconds = 3_600
/** The venue's clock may stand before ours by this much, seconds. */
const clockGraceSeconds = 60
/** Takes the place of a host, for the list of orders. */
const ORDERS = 'orders'
/** Kinds that only lists report, which may be a moment apart: two looks must show them. */
const ofLists: ReadonlySet<DiscrepancyKind> = new Set([
  'unexplained-order',
  'changed-order',
  'unexplained-position',
])
/** Name of the setting that adopts everything from before the first look without asking anybody. */
const ADOPT_SETTING = 'account.adoptInitial'
/**
 * Longest time that an order resting by the journal but not by the list defers the judgement of its market, ms: endpoints may lag behind the list, or
 * be away.
 */
const evidenceLagMs = 600_000
/** The account's watch. Discrepancies beyond the permitted number are held back: see discrepancyRate.ts. */
export interface Reconciler {
  /**
   * Makes one pass over the position lists of each host that was read; absent: over one that is read here. Rejects with what reading throws; nothing
   * is judged then.
   */
  pass(symbols: Readonly<Record<string, string>>, lists?: readonly PositionList[]): Promise<void>
  /** Settles an open discrepancy for an operator; resolves when it is durable. */
  settle(discrepancyId: string, as: DiscrepancyEnd, by: string): Promise<void>
  /** Open discrepancies, oldest first. */
  open(): readonly DiscrepancyState[]
  /** Orders of the newest list that the journal does not explain by now; undefined before the first look. */
  othersOrders(): readonly Order[] | undefined
  /** Returns the discrepancies for which increases on their markets wait. */
  pausing(): readonly Discrepancy[]
}

/** Makes the account's watch from the journal's state. */
export function createReconciler(
  context: HasAccount &
    HasApi &
    HasChainReader &
    HasBasics &
    HasOrders &
    HasTrading & { readonly engineSettings?: EngineSettings },
): Reconciler {
  const { api, clock, emit, journal, openOrders } = context
  const { accountJournal } = context.trading
  const account = accountOf(context)
  const proofs = createProofs(context, account)
  const ownOrders = createOwnOrders(context)
  const checkBooks = createBooksCheck(journal, emit)
  /** Unreported suspicions of each host's list, or of the list of orders, at its last look, and their starts, monotonic ms. */
  const suspects = new Map<string, ReadonlyMap<string, number>>()
  /** Times from which resting orders are missing from the list, by lower-case key, monotonic ms. */
  let goneSinceMs: ReadonlyMap<string, number> = new Map()
  /** Discrepancies that are not written down yet: more than may be, or the journal keeps the last of its space. */
  let heldBack: readonly Discrepancy[] = []
  let listedOrders: readonly Order[] | undefined
  /** Time of the first look in this run, by the lowest reading of the clock: it may have been ahead, and be set back. */
  let startedSeconds = Math.floor(clock.now() / 1000)

  async function settle(discrepancyId: string, as: DiscrepancyEnd, by?: string): Promise<void> {
    await accountJournal.write({
      kind: 'discrepancy.settled',
      discrepancyId,
      as,
      ...defined({ by }),
    })
    const discrepancy = accountJournal.state().discrepancies.get(discrepancyId)?.discrepancy
    if (discrepancy !== undefined) emit({ type: 'account.discrepancySettled', discrepancy, as })
  }

  /** Trades since then, of as many pages as one pass reads. */
  async function pagesOf(
    read: (asked: {
      readonly account: typeof account
      readonly limit: number
      readonly cursor?: string
    }) => Promise<Pick<Awaited<ReturnType<typeof api.getTrades>>, 'value' | 'missing'>>,
  ): Promise<{ readonly trades: readonly Trade[]; readonly missing: readonly MissingRow[] }> {
    const trades: Trade[] = []
    const lacking: MissingRow[] = []
    let cursor: string | undefined
    for (let page = 0; page < tradesPagesMax; page += 1) {
      const paged = { account, limit: tradesLimit, ...defined({ cursor }) }
      const { value, missing = [] } = await read(paged)
      trades.push(...value.trades)
      lacking.push(...missing)
      cursor = value.nextCursor
      if (!value.hasMore || cursor === undefined) break
    }
    return { trades, missing: lacking }
  }

  async function readTrades(sinceSeconds: number): ReturnType<typeof pagesOf> {
    try {
      // Rows show how orders were made; for market orders they are hidden unless requested.
      return await pagesOf((paged) =>
        api.searchTrades({ ...paged, fromSeconds: sinceSeconds, showDebugValues: true }),
      )
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
      // The account is judged all the same. Without the rows of how orders were made, a deleveraging that no chain proves is reported as reduced by
      // hand, and holds back increases.
      return await pagesOf((paged) => api.getTrades({ ...paged, sinceSeconds }))
    }
  }

  function unresolvedSince(): ReadonlyMap<string, number> {
    const since = new Map<string, number>()
    for (const { state: each } of openOrders.open()) {
      const attempt = lastAttempt(each)
      if (attempt === undefined || !isUnresolved(attempt)) continue
      const token = hexKey(each.intent.terms.marketToken)
      const { armed, armedAtMs = 0 } = attempt
      const armedSeconds = Math.floor(armedAtMs / 1000)
      // Our clock may have stood anywhere when it was armed; the signed deadline is in the venue's time.
      const signedSeconds = (armed?.deadlineSeconds ?? armedSeconds) - longestDeadlineSeconds
      const sinceSeconds = Math.min(armedSeconds, signedSeconds) - clockGraceSeconds
      since.set(token, Math.min(since.get(token) ?? sinceSeconds, sinceSeconds))
    }
    return since
  }

  /** Open intents with an order that rests by the journal and has left the list, and whether that may still be lag. */
  function leftTheList(listed: ReadonlySet<string>): ReadonlyMap<string, boolean> {
    const nowMs = clock.monotonicMs()
    const since = new Map<string, number>()
    const left = new Map<string, boolean>()
    for (const { state } of openOrders.open()) {
      for (const key of keysNotListed(state, listed)) {
        const sinceMs = goneSinceMs.get(key) ?? nowMs
        since.set(key, sinceMs)
        const { intentId } = state.intent
        left.set(intentId, left.get(intentId) === true || nowMs - sinceMs <= evidenceLagMs)
      }
    }
    goneSinceMs = since
    return left
  }

  /** `left`: as of `leftTheList`. */
  function busyMarkets(left: ReadonlyMap<string, boolean>): ReadonlySet<string> {
    const nowMs = clock.now()
    const open = openOrders.open().map((each) => each.state)
    const busy = [
      ...open.filter((each) => isBusy(each, nowMs) || left.get(each.intent.intentId) === true),
      ...openOrders
        .recentlyLanded()
        .filter(({ intent }) => openOrders.closedAgoMs(intent.intentId) < LIST_LAG_MS),
    ]
    return new Set(busy.map(({ intent }) => hexKey(intent.terms.marketToken)))
  }

  /** Open intents with an order that rests by the journal, on a market. */
  function restingOn(marketToken: string): readonly string[] {
    return openOrders
      .open()
      .filter(({ state: { intent } }) => sameHex(intent.terms.marketToken, marketToken))
      .filter(({ state }) => keysNotListed(state, new Set()).length > 0)
      .map(({ state }) => state.intent.intentId)
  }

  /**
   * Returns the discrepancies to report now, each once. Trades are reported at once. A discrepancy of lists is reported when the same host shows it
   * twice in a row. While another host's list agrees with the journal, or an order of ours rests on the market, it must outlast the lag of the
   * lists: that order may have executed, and the list of orders and our evidence may lag behind the list of positions.
   */
  function tellable(
    judged: readonly { readonly list: PositionList; readonly found: Reconciliation }[],
  ): readonly Discrepancy[] {
    const nowMs = clock.monotonicMs()
    const told = new Map<string, Discrepancy>()
    const seen = new Map<string, Map<string, number>>()
    for (const { list, found } of judged) {
      seen.set(list.host, seen.get(list.host) ?? new Map())
      for (const discrepancy of found.raised) {
        const { discrepancyId, kind } = discrepancy
        if (!ofLists.has(kind)) {
          told.set(discrepancyId, discrepancy)
          continue
        }
        // The list of orders is one for all.
        const source = kind === 'unexplained-position' ? list.host : ORDERS
        const beforeMs = suspects.get(source)?.get(discrepancyId)
        const ofSource = seen.get(source) ?? new Map<string, number>()
        seen.set(source, ofSource.set(discrepancyId, beforeMs ?? nowMs))
        const isAgreed = judged.some((other) =>
          other.found.raised.every((each) => sideOf(each) !== sideOf(discrepancy)),
        )
        const resting = kind === 'unexplained-position' ? restingOn(discrepancy.marketToken) : []
        for (const intentId of resting) openOrders.pollSoon(intentId)
        const mayBeLag = isAgreed || resting.length > 0
        if (beforeMs === undefined || (mayBeLag && nowMs - beforeMs < LIST_LAG_MS)) continue
        told.set(discrepancyId, discrepancy)
      }
    }
    suspects.set(ORDERS, new Map())
    for (const [source, ofSource] of seen) suspects.set(source, ofSource)
    return [...told.values()]
  }

  return {
    async pass(symbols, lists) {
      checkBooks()
      const state = accountJournal.state()
      const readSeconds = Math.floor(clock.now() / 1000)
      startedSeconds = Math.min(startedSeconds, readSeconds)
      const { throughSeconds, firstLookSeconds, sinceSeconds, isFirst, isAhead } = spanOfTrades(
        state,
        readSeconds,
        startedSeconds,
      )
      const [read, orders, { trades, missing }] = await Promise.all([
        lists ?? api.getPositions({ account }).then((list) => [list]),
        api.getOrders({ account }),
        readTrades(sinceSeconds),
      ])
      const told = [...state.discrepancies.values()].map(({ discrepancy }) => discrepancy)
      const keys = [...orders.value, ...trades, ...told].map(({ orderKey = '0x' }) => hexKey(orderKey))
      openOrders.sawOrders({ ...orders, atMs: orders.readAtMs })
      const listed = new Set(orders.value.map(({ orderKey }) => hexKey(orderKey)))
      const left = leftTheList(listed)
      // Resting orders are queried seldom.
      for (const intentId of left.keys()) openOrders.pollSoon(intentId)
      const unproven = await proofs.unproven(
        trades.filter(
          (trade) =>
            isReduction(trade) &&
            !journal.explains(hexKey(trade.orderKey), '') &&
            !state.discrepancies.has(`trade:${trade.id}`),
        ),
      )
      const withdrawn = await proofs.withdrawn(
        [...state.discrepancies.values()]
          .filter(({ discrepancy, end }) => end === undefined && isOfTrade(discrepancy))
          .filter(
            ({ discrepancy: { discrepancyId, atSeconds = 0 } }) =>
              atSeconds >= sinceSeconds && trades.every(({ id }) => discrepancyId !== `trade:${id}`),
          ),
      )
      // Proofs take their time: our own orders are judged by the journal's state after them.
      const explained = new Set(keys.filter((key) => journal.explains(key, '')))
      listedOrders = orders.value
      const view = {
        orders: orders.value,
        trades,
        explained,
        own: ownOrders(orders.value),
        unproven,
        withdrawn,
        results: proofs.results,
        received: proofs.received(),
        deleveraged: proofs.deleveraged(),
        fills: [...journal.closedFills(), ...openOrders.open().flatMap((each) => fillsOf(each.state))],
        busyMarkets: busyMarkets(left),
        unresolvedSince: unresolvedSince(),
        account: accountJournal.state(),
        ...defined({ firstLookSeconds }),
        symbols,
      }
      const judged = read.map((list) => ({
        list,
        found: reconcile({
          ...view,
          positions: list.value,
          missing: { positions: list.missing ?? [], orders: orders.missing ?? [], trades: missing },
        }),
      }))
      const found = together(judged.map((each) => each.found))
      const waiting: Discrepancy[] = []
      let room = journal.isShort() ? 0 : discrepanciesLeft(state.discrepancies.values(), clock.now())
      for (const discrepancy of tellable(judged)) {
        if (room <= 0) {
          waiting.push(discrepancy)
          continue
        }
        room -= 1
        await accountJournal.write({ kind: 'discrepancy.raised', discrepancy })
        const isAdopted = discrepancy.isInitial === true && context.engineSettings?.adoptInitial === true
        const isPausing = !isAdopted && pauses({ discrepancy, raisedAtMs: 0 })
        emit({ type: 'account.discrepancy', discrepancy, isPausing })
        if (isAdopted) await settle(discrepancy.discrepancyId, 'adopted', ADOPT_SETTING)
      }
      if (waiting.length + heldBack.length > 0) {
        emit({
          type: 'account.discrepanciesDeferred',
          held: waiting.length,
          isJournalShort: journal.isShort(),
        })
      }
      heldBack = waiting
      for (const discrepancyId of found.gone) {
        const known = accountJournal.state().discrepancies.get(discrepancyId)
        // An operator may have been quicker. A settled change of an order also shows which terms are in force.
        if (known?.end === undefined || known.discrepancy.kind === 'changed-order')
          await settle(discrepancyId, 'gone')
      }
      const isDue = isFirst || isAhead || readSeconds - throughSeconds >= progressSeconds
      if (isDue && found.deferred + waiting.length === 0) {
        await accountJournal.write({ kind: 'account.reconciled', throughSeconds: readSeconds })
      }
    },
    settle,
    // A start matches orders of ours while the first look is over: the journal of now explains them.
    othersOrders: () => listedOrders?.filter(({ orderKey }) => !journal.explains(hexKey(orderKey), '')),
    open() {
      return [...accountJournal.state().discrepancies.values()].filter(({ end }) => end === undefined)
    },
    pausing: () => [
      ...[...accountJournal.state().discrepancies.values()]
        .filter(pauses)
        .map(({ discrepancy }) => discrepancy),
      ...heldBack.filter((discrepancy) => pauses({ discrepancy, raisedAtMs: 0 })),
    ],
  }
}

/**
 * Returns the span of the trades that a look judges. Times of a clock that was ahead show nothing about later events: the look reaches as far back
 * from now as they lie ahead of it.
 */
function spanOfTrades(state: AccountState, readSeconds: number, startedSeconds: number) {
  const isFirst = state.throughSeconds === undefined
  const throughSeconds = state.throughSeconds ?? startedSeconds
  const { firstLookSeconds: known } = state
  const isKnown = !isFirst && (known === undefined || known <= readSeconds)
  // Events of before perpd's first look are not its story.
  const firstLookSeconds = isKnown ? known : startedSeconds
  const isAhead = throughSeconds > readSeconds + aheadSeconds
  const judgedSeconds = isAhead ? 2 * readSeconds - throughSeconds : throughSeconds
  const sinceSeconds = Math.max(0, firstLookSeconds ?? 0, isFirst ? 0 : judgedSeconds - overlapSeconds)
  return { throughSeconds, firstLookSeconds, sinceSeconds, isFirst, isAhead }
}

/** Merges the results of all lists: a discrepancy is gone when none of them shows it. */
function together(each: readonly Reconciliation[]): {
  readonly gone: readonly string[]
  readonly deferred: number
} {
  const [first, ...others] = each
  return {
    gone: (first?.gone ?? []).filter((id) => others.every(({ gone }) => gone.includes(id))),
    deferred: Math.max(0, ...each.map(({ deferred }) => deferred)),
  }
}

function sideOf(discrepancy: Discrepancy): string {
  return `${discrepancy.kind}:${sideKeyOf(discrepancy)}`
}
