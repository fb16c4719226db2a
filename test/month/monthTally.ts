/** What a simulated month comes to: figures of the journal's books, and what was wrong by the venue's own state. */

import type { BookRow, Results } from '../../src/books/bookView.ts'
import { resultsOf, sumOf } from '../../src/books/bookView.ts'
import { fillsOf } from '../../src/domain/accountRecords/fills.ts'
import { journalSides } from '../../src/domain/accountRecords/held.ts'
import type { Event } from '../../src/domain/event.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import { EXIT_TOLERANCE_BPS } from '../../src/domain/order/exitSettings.ts'
import { hasEnded, type IntentState } from '../../src/domain/order/intent.ts'
import type { Journal } from '../../src/journal/journal.ts'
import type { EngineStatus } from '../../src/operator/port/engineStatus.ts'
import type { Venue } from '../../src/paper/server/venue.ts'
import { positionsOfAccount } from '../../src/paper/state/accounts.ts'
import { orderTypes } from '../../src/paper/state/orderTypes.ts'
import { type Address, sameHex } from '../../src/protocol/address.ts'
import { bps, formatUsd, maxOf, minOf, type Usd } from '../../src/protocol/units.ts'
import { counts, createDiscrepancyJudge } from './monthDiscrepancies.ts'
import type { MonthStrategies } from './monthKinds.ts'
import { createLimitJudge } from './monthLimits.ts'
import type { ReadTimes } from './monthRoad.ts'
import { createMonthWatch } from './monthWatch.ts'

const HOUR_MS = 3_600_000
/** No order closes less than this alone, USD. */
const DUST_USD = 10n ** 30n
/**
 * What is to have a stop may be without it this long while one is being placed, changed or hit, ms. Longer than the alert's five minutes
 * (docs/reference/alerts.md): a month looks every ten minutes, turns come every seven by default, and hosts fail for some of them, so that one loss and its
 * mending span three looks.
 */
const STOP_GRACE_MS = 1_800_000
/** What a month came to. Money is USD with 30 decimals. */
export interface MonthTold {
  /** Of the instance that is judged, after all costs; realized. */
  readonly results: Results
  /** What its open part would bring at the end, before the costs of leaving. */
  readonly unrealizedUsd: Usd
  /** Deepest fall of what was realized and open from its highest before, looked at every ten minutes. */
  readonly drawdownUsd: Usd
  /** Share of the looks at which it held something, bps. */
  readonly heldBps: number
  /** Intents of all, by how they ended. */
  readonly ends: Readonly<Record<string, number>>
  /** Tasks that began, and that ended. */
  readonly tasksBegun: number
  readonly tasksEnded: number
  /** Increases that were refused, by code. */
  readonly refusedIncreases: Readonly<Record<string, number>>
  /** What is wrong, as sentences; empty when all held. */
  readonly problems: readonly string[]
}

/** One month. */
export interface MonthReport extends MonthTold {
  readonly kind: string
  readonly seed: number
  readonly days: number
  readonly requests: number
  readonly lost: number
}

/** Listens to a month. */
export function createMonthTally(parts: {
  readonly strategies: MonthStrategies
  readonly venue: Venue
  readonly account: Address
  readonly nowMs: () => number
  readonly clockNow: () => number
  /** The account's own limits, beside those of the files. */
  readonly limits: Limits
  readonly maxDrawdownBps: number | undefined
  readonly readTimes: () => ReadTimes
}) {
  const { strategies, venue, account, nowMs, clockNow, readTimes } = parts
  const { venueState } = venue
  const { name, loaded, isKeeper } = strategies
  const problems: string[] = []
  const refusedIncreases: Record<string, number> = {}
  const withoutStopSince = new Map<string, number>()
  /** Instances that bring or write a stop, with the side. */
  const stopAsked = new Set<string>()
  const [judged] = loaded
  const protectsAll = judged?.strategy.kind === 'protector'
  let [tasksBegun, tasksEnded] = [0, 0]
  let [samples, held, peakUsd, drawdownUsd, unrealizedUsd] = [0, 0, 0n, 0n, 0n]

  /** Of a keeper's month what it keeps counts, too; an operator's tasks are in no row. */
  const shown = new Set(isKeeper ? loaded.map((each) => each.name) : [name])
  const isShown = ({ strategy }: { readonly strategy: string }): boolean => shown.has(strategy)

  const say = (text: string): void => {
    if (problems.length < 50) problems.push(`${(nowMs() / HOUR_MS).toFixed(1)} h: ${text}`)
  }

  const files = Object.fromEntries(loaded.map(({ name: file, limits }) => [file, limits]))
  const judge = createLimitJudge({
    account: parts.limits,
    files,
    maxDrawdownBps: parts.maxDrawdownBps,
    say,
  })
  const watch = createMonthWatch({ venueState, account, clockNow, judge, readTimes })

  const listenToDiscrepancies = createDiscrepancyJudge(nowMs, say)

  /** By the venue: stops for all of what is to have them, by the size that they would close. */
  function lookAtVenue(rows: readonly BookRow[]): void {
    const stops = [...venueState.orders.values()].filter(
      (order) =>
        sameHex(order.account, account) && Number(order.params.orderType) === orderTypes.stopLossDecrease,
    )
    const shown = new Set<string>()
    for (const { marketKey, state } of positionsOfAccount(venueState, account)) {
      const side = `${marketKey} ${state.side}`
      shown.add(side)
      const isLong = state.side === 'long'
      const coveredUsd = stops
        .filter(({ params }) => sameHex(params.addresses.market, marketKey) && params.isLong === isLong)
        .reduce((sum, { params }) => sum + params.numbers.sizeDeltaUsd, 0n)
      const askedUsd = rows
        .filter((row) => `${row.marketToken.toLowerCase()} ${row.direction}` === side)
        .filter(({ strategy }) => stopAsked.has(`${strategy} ${side}`))
        .reduce((sum, { sizeUsd }) => sum + sizeUsd, 0n)
      const heldUsd = protectsAll ? state.sizeInUsd : minOf(askedUsd, state.sizeInUsd)
      const bareUsd = heldUsd - coveredUsd
      if (bareUsd <= maxOf(bps(heldUsd, EXIT_TOLERANCE_BPS), DUST_USD)) {
        withoutStopSince.delete(side)
        continue
      }
      const sinceMs = withoutStopSince.get(side) ?? nowMs()
      withoutStopSince.set(side, sinceMs)
      if (nowMs() - sinceMs >= STOP_GRACE_MS) {
        say(`${formatUsd(bareUsd)} of ${side} has had no stop for ${(nowMs() - sinceMs) / 60_000} min`)
        withoutStopSince.set(side, nowMs())
      }
    }
    for (const side of withoutStopSince.keys()) if (!shown.has(side)) withoutStopSince.delete(side)
  }

  return {
    /** Looks at what happened at the venue; before each of its answers. */
    watch: watch.look,
    listen(event: Event): void {
      watch.listen(event)
      if (event.type === 'decision.admitted' && event.intent.kind === 'increase') {
        const { strategy, terms } = event.intent
        const side = `${terms.marketToken.toLowerCase()} ${terms.direction}`
        const brings = terms.tpsl?.some(({ type }) => type === 'stop-loss') === true
        const isWritten = loaded.find((each) => each.name === strategy)?.exits?.stopLoss !== undefined
        // What an operator's task leaves when its exits are over needs none.
        const isOfFile = loaded.some((each) => each.name === strategy)
        if ((brings || isWritten) && isOfFile) stopAsked.add(`${strategy} ${side}`)
      }
      if (event.type === 'decision.denied' && event.decision.kind === 'increase')
        refusedIncreases[event.denial.code] = (refusedIncreases[event.denial.code] ?? 0) + 1
      listenToDiscrepancies(event)
      // Nothing is sent to the account and nothing leaves it but by orders.
      if (event.type === 'account.transferred') say(`${formatUsd(event.amountUsd)} taken for a transfer`)
      if (event.type === 'decision.invalid') say(`${event.strategy}: no decision: ${event.denial.reason}`)
      if (event.type === 'task.started') tasksBegun += 1
      if (event.type === 'task.ended') tasksEnded += 1
      if (event.type === 'signal.refused') say(`signal refused: ${event.reason}`)
      if (event.type === 'order.payload_rejected') say(`payload of ${event.host} rejected`)
    },
    /** Looks at what is held now. */
    sample(rows: readonly BookRow[]): void {
      watch.look()
      lookAtVenue(rows)
      const own = rows.filter(isShown)
      samples += 1
      if (own.some(({ sizeUsd }) => sizeUsd > 0n)) held += 1
      unrealizedUsd = own.reduce((sum, each) => sum + (each.unrealizedUsd ?? 0n), 0n)
      const worthUsd = own.reduce((sum, { results }) => sum + results.pnlUsd, unrealizedUsd)
      if (worthUsd > peakUsd) peakUsd = worthUsd
      if (peakUsd - worthUsd > drawdownUsd) drawdownUsd = peakUsd - worthUsd
    },
    /** What it came to. `open`: the intents that have not ended. */
    told(status: EngineStatus, journal: Journal, open: readonly IntentState[]): MonthTold {
      lookAtEnd(status, journal, open)
      const books = journal.books().all()
      const own = books.filter(isShown)
      const ends: Record<string, number> = {}
      for (const { closing } of journal.recentIntents()) {
        const end = closing?.code ?? 'open'
        ends[end] = (ends[end] ?? 0) + 1
      }
      return {
        results: resultsOf(sumOf(own.map(({ figures }) => figures))),
        unrealizedUsd,
        drawdownUsd,
        heldBps: samples === 0 ? 0 : Math.round((held * 10_000) / samples),
        ends,
        tasksBegun,
        tasksEnded,
        refusedIncreases,
        problems,
      }
    },
  }

  /** Both books agree, nothing is unexplained, and nothing of perpd's own runs on. */
  function lookAtEnd(status: EngineStatus, journal: Journal, open: readonly IntentState[]): void {
    for (const { discrepancy } of status.discrepancies.filter((each) => counts(each.discrepancy)))
      say(`open discrepancy: ${discrepancy.statement}`)
    for (const { label, state } of status.openIntents)
      if (label !== 'resting') say(`order ${state.intent.intentId} has not ended: ${label}`)
    if (judged?.strategy.kind === 'order-janitor')
      for (const { state } of status.openIntents)
        if (state.intent.strategy === '@operator' && state.intent.terms.orderType === 'limit')
          say(`the janitor left entry ${state.intent.intentId}`)
    if (tasksBegun !== tasksEnded) say(`${tasksBegun} tasks began and ${tasksEnded} ended`)
    for (const [kind, count] of Object.entries(status.tasksRunning))
      if (count > 0) say(`${count} tasks of ${kind} run on`)
    if (status.unwinds.length > 0) say(`${status.unwinds.length} orders are still to be unwound`)
    const sides = journalSides([...journal.closedFills(), ...open.flatMap(fillsOf)], journal.account())
    const byJournal = [...sides.values()]
      .filter(({ sizeUsd }) => sizeUsd !== 0n)
      .map(({ marketToken, direction, sizeUsd }) => `${marketToken.toLowerCase()} ${direction} ${sizeUsd}`)
    const byVenue = positionsOfAccount(venueState, account).map(
      ({ marketKey, state }) => `${marketKey} ${state.side} ${state.sizeInUsd}`,
    )
    const known = new Set(
      open.flatMap(({ attempts }) =>
        attempts.flatMap(({ children }) =>
          children.filter((child) => !hasEnded(child)).map(({ orderKey }) => orderKey.toLowerCase()),
        ),
      ),
    )
    if (byJournal.sort().join() !== byVenue.sort().join())
      say(`positions differ: journal [${byJournal.join('; ')}], venue [${byVenue.join('; ')}]`)
    for (const { key, account: owner } of venueState.orders.values())
      if (sameHex(owner, account) && !known.has(key.toLowerCase())) say(`unexplained order ${key}`)
  }
}
