/**
 * The account against the journal, at start and all the while: reads positions, orders and the trades since the last pass,
 * and writes down what the journal cannot explain. What is compared and why is in `domain/reconcile.ts`.
 *
 * An order or a wrong sum is reported when two passes in a row see it: lists of one host may be a moment apart.
 */
import { type Finding, type FindingEnd, type FindingState, pauses } from '../domain/accountRecord.ts'
import { hexKey } from '../domain/address.ts'
import { fillsOf } from '../domain/fills.ts'
import { hasEnded, type IntentState, isUnresolved, lastAttempt } from '../domain/intent.ts'
import type { MissingRow } from '../domain/missing.ts'
import type { Trade } from '../domain/position.ts'
import { reconcile } from '../domain/reconcile.ts'
import { accountOf } from '../execution/context.ts'
import type { EngineContext } from './context.ts'
import { findingsLeft } from './findingRate.ts'

/** Rows asked for in a page of trades, and pages read in one pass: more wait for the next. */
const tradesLimit = 500
const tradesPagesMax = 20
/** Trades are read again from this long before where the last pass ended, seconds: a list may be late. */
const overlapSeconds = 3_600
/** How often progress is written down when nothing was found, seconds. */
const progressSeconds = 600
/** An attempt was armed no longer than this before its signed deadline: the venue's clients sign for an hour, seconds. */
const longestDeadlineSeconds = 3_600
/** The venue's clock may stand before ours by this much, seconds. */
const clockGraceSeconds = 60
/** How long after an intent's last record its market is not judged, ms: lists may lag behind a fill. */
const settleMs = 30_000

/** The account's watch. Findings beyond what may be written are held back: see findingRate.ts. */
export interface Reconciler {
  /** One pass. Rejects with what reading throws; nothing is judged then. */
  pass(symbols: Readonly<Record<string, string>>): Promise<void>
  /** Settles an open finding by an operator's word; resolves when it is durable. */
  settle(findingId: string, as: FindingEnd, by: string): Promise<void>
  /** Open findings, oldest first. */
  open(): readonly FindingState[]
  /** Why increases on this market wait, or undefined. */
  pausedBy(marketToken: string): Finding | undefined
}

/** Makes the account's watch from what the journal holds of it. */
export function createReconciler(
  context: Pick<
    EngineContext,
    'api' | 'clock' | 'emit' | 'journal' | 'shell' | 'signer' | 'delegation' | 'trading'
  >,
): Reconciler {
  const { api, clock, emit, journal, shell } = context
  const { book } = context.trading
  const account = accountOf(context)
  let suspects: ReadonlySet<string> = new Set()
  /** Findings that are not written down yet: more than may be, or the journal keeps its room. */
  let heldBack: readonly Finding[] = []
  const startedSeconds = Math.floor(clock.now() / 1000)

  async function settle(findingId: string, as: FindingEnd, by?: string): Promise<void> {
    await book.write({ kind: 'finding.settled', findingId, as, ...(by === undefined ? {} : { by }) })
    const finding = book.state().findings.get(findingId)?.finding
    if (finding !== undefined) emit({ type: 'account.findingSettled', finding, as })
  }

  async function readTrades(
    sinceSeconds: number,
  ): Promise<{ readonly trades: readonly Trade[]; readonly missing: readonly MissingRow[] }> {
    const trades: Trade[] = []
    const lacking: MissingRow[] = []
    let cursor: string | undefined
    for (let page = 0; page < tradesPagesMax; page += 1) {
      const { value, missing = [] } = await api.getTrades({
        account,
        sinceSeconds,
        limit: tradesLimit,
        ...(cursor === undefined ? {} : { cursor }),
      })
      trades.push(...value.trades)
      lacking.push(...missing)
      cursor = value.nextCursor
      if (!value.hasMore || cursor === undefined) break
    }
    return { trades, missing: lacking }
  }

  function unresolvedSince(): ReadonlyMap<string, number> {
    const since = new Map<string, number>()
    for (const { state: each } of shell.open()) {
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

  /** `listed`: lower-case keys of the orders that rest, as far as they could be read. */
  function busyMarkets(listed: ReadonlySet<string>): ReadonlySet<string> {
    const nowMs = clock.now()
    const open = shell.open().map((each) => each.state)
    const busy = [
      ...open.filter((each) => isBusy(each, nowMs) || hasLeftTheList(each, listed)),
      ...shell.recentlyLanded().filter(({ intent }) => shell.closedAgoMs(intent.intentId) < settleMs),
    ]
    return new Set(busy.map(({ intent }) => hexKey(intent.terms.marketToken)))
  }

  return {
    async pass(symbols) {
      const state = book.state()
      // What happened before perpd first looked is not its story.
      const throughSeconds = state.throughSeconds ?? startedSeconds
      const isFirst = state.throughSeconds === undefined
      const sinceSeconds = Math.max(0, isFirst ? throughSeconds : throughSeconds - overlapSeconds)
      const readSeconds = Math.floor(clock.now() / 1000)
      const [positions, orders, { trades, missing }] = await Promise.all([
        api.getPositions({ account }),
        api.getOrders({ account }),
        readTrades(sinceSeconds),
      ])
      const keys = [...orders.value, ...trades].map(({ orderKey }) => hexKey(orderKey))
      const listed = new Set(orders.value.map(({ orderKey }) => hexKey(orderKey)))
      // The chain is asked about resting orders every half minute only.
      for (const { state: each } of shell.open())
        if (hasLeftTheList(each, listed)) shell.lookSoon(each.intent.intentId)
      const found = reconcile({
        positions: positions.value,
        orders: orders.value,
        trades,
        missing: {
          positions: positions.missing ?? [],
          orders: orders.missing ?? [],
          trades: missing,
        },
        explained: new Set(keys.filter((key) => journal.explains(key, ''))),
        fills: [...journal.closedFills(), ...shell.open().flatMap((each) => fillsOf(each.state))],
        busyMarkets: busyMarkets(listed),
        unresolvedSince: unresolvedSince(),
        account: state,
        symbols,
      })
      const seen = new Set<string>()
      const waiting: Finding[] = []
      let left = journal.isShort() ? 0 : findingsLeft(state.findings.values(), clock.now())
      for (const finding of found.raised) {
        seen.add(finding.findingId)
        if (finding.kind.startsWith('unexplained') && !suspects.has(finding.findingId)) continue
        if (left <= 0) {
          waiting.push(finding)
          continue
        }
        left -= 1
        await book.write({ kind: 'finding.raised', finding })
        emit({ type: 'account.finding', finding, isPausing: pauses({ finding, raisedAtMs: 0 }) })
      }
      suspects = seen
      if (waiting.length + heldBack.length > 0) {
        emit({ type: 'account.findingsHeld', held: waiting.length, isJournalShort: journal.isShort() })
      }
      heldBack = waiting
      for (const findingId of found.gone) {
        // An operator may have been quicker.
        if (book.state().findings.get(findingId)?.end === undefined) await settle(findingId, 'gone')
      }
      const isDue = isFirst || readSeconds - throughSeconds >= progressSeconds
      if (isDue && found.deferred + waiting.length === 0) {
        await book.write({ kind: 'account.reconciled', throughSeconds: readSeconds })
      }
    },
    settle,
    open() {
      return [...book.state().findings.values()].filter(({ end }) => end === undefined)
    },
    pausedBy(marketToken) {
      const token = hexKey(marketToken)
      for (const found of book.state().findings.values()) {
        if (pauses(found) && hexKey(found.finding.marketToken) === token) return found.finding
      }
      return heldBack.find(
        (finding) => pauses({ finding, raisedAtMs: 0 }) && hexKey(finding.marketToken) === token,
      )
    },
  }
}

/** Whether an order of the intent may exist without our knowing, or its fill may not show in the lists yet. */
function isBusy(state: IntentState, nowMs: number): boolean {
  const attempt = lastAttempt(state)
  if (attempt !== undefined && isUnresolved(attempt)) return true
  // A stamp of the future is one from before the clock was set back.
  return attempt?.phase !== 'LANDED' || Math.abs(nowMs - state.updatedAtMs) <= settleMs
}

/**
 * Whether an order of the intent rests by the journal and is in the list no longer: it was executed or cancelled, which the
 * positions show before our evidence does.
 */
function hasLeftTheList(state: IntentState, listed: ReadonlySet<string>): boolean {
  const children = lastAttempt(state)?.children ?? []
  return children.some((child) => !hasEnded(child) && !listed.has(hexKey(child.orderKey)))
}
