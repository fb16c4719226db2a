/**
 * The kill: cancels what rests at the venue, closes positions if asked, and goes on until nothing is left, over restarts
 * too. The halt that goes with it keeps everyone else from making anything; what the kill makes walks the same road as any
 * order, verified and journaled, under the operator's name.
 */
import { BaseError, reasonOf } from '../../base/errors.ts'
import { sideKeyOf } from '../../domain/account/accountRecord.ts'
import type { HeldSide, HeldSides } from '../../domain/account/held.ts'
import type { KillState } from '../../domain/account/tradingState.ts'
import type { Decision } from '../../domain/order/decision.ts'
import type { Denial, IntentState } from '../../domain/order/intent.ts'
import { hasEnded, labelOf, lastAttempt } from '../../domain/order/intent.ts'
import type { Snapshot } from '../../domain/snapshot.ts'
import { accountOf } from '../../execution/context/executionContext.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import { isOnMarket, type Order, type Position } from '../../protocol/position.ts'
import { formatDollars } from '../../protocol/units.ts'
import type { Holdings } from '../account/holdings.ts'
import { OPERATOR } from '../account/tradingHalts.ts'
import type { EngineContext } from '../context/engineContext.ts'

/** What a kill still has before it. */
export interface KillReport extends KillState {
  /** Resting orders, positions (0 when they stay) and orders in flight; absent before the first look. */
  readonly left?: { readonly orders: number; readonly positions: number; readonly inFlight: number }
  /** What kept it from going on at its last look. Lists that are a moment apart are no problem. */
  readonly problem?: string
  /** Everything is done that it can do: what it waits to see in the lists, and since when, Unix ms. */
  readonly waits?: { readonly until: string; readonly sinceMs: number }
}

/** The kill's worker. */
export interface Kill {
  /** The newest kill of this journal, or undefined. */
  report(): KillReport | undefined
  /** Begins one, or turns a running one into one that closes; resolves when that is durable. */
  begin(by: string, close: boolean): Promise<void>
  /** Ends a running one: an operator lets trading go on. */
  abandon(by: string): Promise<void>
  /** Works while one is open. Resolves when the engine ends. */
  run(signal: AbortSignal): Promise<void>
}

/** What the kill is handed of the engine. */
export interface KillContext
  extends Pick<EngineContext, 'api' | 'clock' | 'orderManager' | 'signer' | 'delegation' | 'trading'> {
  readonly holdings: Pick<Holdings, 'journal' | 'elsewhere'>
  /** Reads a snapshot with these markets and every market with a position. */
  readonly read: (symbols: readonly string[]) => Promise<Snapshot>
  /** Symbols by lower-cased market token. */
  readonly symbols: () => Readonly<Record<string, string>>
  /** Hands a decision of the operator to admission, and the intent to the road. */
  readonly admit: (snapshot: Snapshot, decision: Decision, decisionKey: string) => Promise<Denial | undefined>
}

const pollMs = 2_000
/** Most orders that one message cancels. */
const cancelMost = 20
/** Fills that lists may not show yet, and how long lists may be apart before it is told, ms. */
const listLagMs = 30_000
/** The venue refused because there is nothing any more: the list that shows it is late. */
const goneAtVenue = /\((POSITION|ORDER)_NOT_FOUND\)/
/** Denials that say no more than that a list is behind another one, or behind the journal. */
const lagCodes: ReadonlySet<string> = new Set([
  'NO_POSITION',
  'ORDER_CHANGING',
  'ORDER_UNKNOWN',
  'POSITION_UNPROVEN',
])
/** Market orders decide themselves within seconds, and the venue lets them be cancelled after minutes only. */
const marketOrderTypes: ReadonlySet<number> = new Set([0, 2, 4])

/** A worker over the engine's parts. */
export function createKill(context: KillContext): Kill {
  const { api, clock, orderManager, trading } = context
  const { accountJournal } = trading
  let left: KillReport['left']
  let problem: string | undefined
  let waits: KillReport['waits']
  /** What lists contradict each other or the journal in, and since when, monotonic ms. */
  let apartSinceMs: ReadonlyMap<string, number> = new Map()
  let quietLooks = 0
  let count = 0
  const waiting = new Set<() => void>()

  const state = () => accountJournal.state().trading.kill
  const isOpen = () => {
    const kill = state()
    return kill !== undefined && kill.endedAtMs === undefined
  }

  function restart(): void {
    left = undefined
    problem = undefined
    waits = undefined
    apartSinceMs = new Map()
    quietLooks = 0
    for (const wake of waiting) wake()
    waiting.clear()
  }

  async function look(close: boolean): Promise<void> {
    const orders = await api.getOrders({ account: accountOf(context) })
    const symbols = context.symbols()
    // A swap is on no market: any one stands for it.
    const [anySymbol] = Object.values(symbols)
    const ofOrders = orders.value.map((order) =>
      isOnMarket(order) ? symbols[hexKey(order.marketToken)] : anySymbol,
    )
    const snapshot = await context.read([...new Set(ofOrders.filter((symbol) => symbol !== undefined))])
    const resting = snapshot.orders.value.filter(({ orderType }) => !marketOrderTypes.has(orderType))
    const held = close ? snapshot.positions.value.filter(({ sizeInUsd }) => sizeInUsd > 0n) : []
    const open = orderManager.open().map((each) => each.state)
    const inFlight = open.filter((each) => labelOf(each) !== 'resting').length
    // What the journal knows and no list shows is left too: a host may hide it, or it ended and nothing proves that yet.
    const hiddenOrders = ordersNotListed(open, snapshot.orders.value)
    const elsewhere = close ? context.holdings.elsewhere(held) : []
    const hiddenSides = close ? sidesNotShown(context.holdings.journal(), [...held, ...elsewhere]) : []
    left = {
      orders: resting.length + hiddenOrders.length,
      positions: held.length + elsewhere.length + hiddenSides.length,
      inFlight,
    }
    const changing = new Set(
      open.flatMap(({ intent: { terms } }) => [
        ...(terms.cancelOrderKeys ?? []),
        ...(terms.batch?.cancelOrderKeys ?? []),
      ]),
    )
    const cancellable = resting.filter(
      ({ orderKey }) => ![...changing].some((key) => hexKey(key) === hexKey(orderKey)),
    )
    const decisions = [
      ...cancels(cancellable, [...snapshot.markets.values()][0]?.market.marketToken),
      ...held.map(
        ({ marketToken, direction, collateralToken }): Decision => ({
          kind: 'close',
          marketToken,
          direction,
          collateralToken,
          reason: 'an operator wants every position closed',
        }),
      ),
    ]
    const denials: string[] = []
    const apart: { readonly key: string; readonly text: string }[] = []
    let admitted = 0
    for (const decision of decisions) {
      count += 1
      const key = `${OPERATOR}@${new Date(clock.now()).toISOString()}#${count}`
      const denial = await context.admit(snapshot, decision, key)
      // A close that is on its way is no problem; admission says when another may follow.
      if (denial === undefined) admitted += 1
      if (denial === undefined || denial.code === 'REDUCE_IN_FLIGHT') continue
      const text = `${decision.kind}: ${denial.code}, ${denial.reason}`
      if (!lagCodes.has(denial.code) && !goneAtVenue.test(denial.reason)) denials.push(text)
      else apart.push({ key: `${denial.code}:${hexKey(decision.marketToken)}:${decision.direction}`, text })
    }
    // Lists that lack rows say nothing of what is left.
    const unread = [
      ...(snapshot.orders.missing ?? []).map((row) => `an order cannot be read: ${row.problem}`),
      ...(close ? (snapshot.positions.missing ?? []) : []).map(
        (row) => `a position cannot be read: ${row.problem}`,
      ),
    ]
    apart.push(
      ...hiddenOrders.map((key) => ({
        key: hexKey(key),
        text: `no list shows the order ${key}, which rests by the journal`,
      })),
      ...hiddenSides.map((side) => ({
        key: `journal:${sideKeyOf(side)}`,
        text: `no list shows ${symbols[hexKey(side.marketToken)] ?? side.marketToken} ${side.direction}; by the journal ${formatDollars(side.sizeUsd)} are held (if they are not: perpd discrepancies)`,
      })),
      ...elsewhere.map((row) => ({
        key: `host:${sideKeyOf(row)}`,
        text: `one host shows ${formatDollars(row.sizeInUsd)} of ${symbols[hexKey(row.marketToken)] ?? row.marketToken} ${row.direction}, and another shows none`,
      })),
    )
    const nowMs = clock.monotonicMs()
    apartSinceMs = new Map(apart.map(({ key }) => [key, apartSinceMs.get(key) ?? nowMs]))
    const lasting = apart.filter(({ key }) => nowMs - (apartSinceMs.get(key) ?? nowMs) >= listLagMs)
    const problems = [...unread, ...denials, ...lasting.map(({ text }) => text)]
    problem = problems.length === 0 ? undefined : problems.join('; ')
    // An increase that just executed may be in no list yet.
    const readAgoMs = Math.max(0, clock.now() - snapshot.orders.atMs)
    const hasNewFills = orderManager
      .recentlyLanded()
      .some(
        ({ intent }) =>
          intent.reservationUsd > 0n && orderManager.closedAgoMs(intent.intentId) - readAgoMs < listLagMs,
      )
    const isNothingLeft = left.orders + left.positions + left.inFlight === 0
    const isQuiet = isNothingLeft && !hasNewFills && unread.length === 0
    quietLooks = isQuiet ? quietLooks + 1 : 0
    const isWaiting = problem === undefined && inFlight === 0 && admitted === 0
    waits = isWaiting ? { until: awaited(left), sinceMs: waits?.sinceMs ?? clock.now() } : undefined
  }

  return {
    report() {
      const kill = state()
      if (kill === undefined) return undefined
      return {
        ...kill,
        ...(left === undefined ? {} : { left }),
        ...(problem === undefined ? {} : { problem }),
        ...(waits === undefined || kill.endedAtMs !== undefined ? {} : { waits }),
      }
    },
    async begin(by, close) {
      await trading.halt({
        scope: 'global',
        cause: 'kill',
        state: 'halted',
        reason: close ? 'everything is cancelled and closed' : 'everything is cancelled',
        by,
        lifts: 'operator',
      })
      const before = state()
      const isSame = isOpen() && before?.close === (close || before?.close)
      if (isSame) return
      await accountJournal.write({
        kind: 'kill.started',
        by,
        close: close || (isOpen() && before?.close === true),
      })
      restart()
    },
    async abandon(by) {
      if (isOpen()) await accountJournal.write({ kind: 'kill.ended', by, outcome: 'abandoned' })
    },
    async run(signal) {
      while (!signal.aborted) {
        const kill = state()
        if (kill === undefined || kill.endedAtMs !== undefined) {
          await new Promise<void>((resolve) => {
            waiting.add(resolve)
            signal.addEventListener('abort', () => resolve(), { once: true })
          })
          continue
        }
        try {
          await look(kill.close)
        } catch (error) {
          if (!(error instanceof BaseError) || error.code.startsWith('JOURNAL_')) throw error
          problem = reasonOf(error)
        }
        // Two looks in a row: lists of one venue may be a moment apart.
        if (quietLooks >= 2 && isOpen())
          await accountJournal.write({ kind: 'kill.ended', by: 'perpd', outcome: 'done' })
        else await clock.sleep(pollMs, signal)
      }
    },
  }
}

/** What lists are yet to show when nothing is left to do. */
function awaited({ orders, positions }: NonNullable<KillReport['left']>): string {
  const parts = [
    ...(orders === 0 ? [] : [`${orders} order${orders === 1 ? '' : 's'}`]),
    ...(positions === 0 ? [] : [`${positions} position${positions === 1 ? '' : 's'}`]),
  ]
  return parts.length === 0
    ? `the lists are newer than the last fill, up to ${listLagMs / 1_000} s`
    : `every list shows the end of ${parts.join(' and ')}`
}

/** Keys of orders of ours that rest by the journal and are not in the list. */
function ordersNotListed(open: readonly IntentState[], listed: readonly Order[]): readonly string[] {
  const keys = new Set(listed.map(({ orderKey }) => hexKey(orderKey)))
  return open
    .filter((state) => labelOf(state) === 'resting')
    .flatMap((state) => lastAttempt(state)?.children ?? [])
    .filter((child) => !hasEnded(child) && !keys.has(hexKey(child.orderKey)))
    .map(({ orderKey }) => orderKey)
}

/** Sides that are held by the journal and of which no row shows anything. */
function sidesNotShown(journal: HeldSides, rows: readonly Position[]): readonly HeldSide[] {
  const shown = new Set(rows.map(sideKeyOf))
  return [...journal].filter(([key, { sizeUsd }]) => sizeUsd > 0n && !shown.has(key)).map(([, side]) => side)
}

/** Orders that may be cancelled in one message: those of one side of one market. `anyMarket` stands for those that are on none. */
function cancels(orders: readonly Order[], anyMarket: Address | undefined): readonly Decision[] {
  const sides = new Map<string, Order[]>()
  for (const order of orders) {
    const key = `${hexKey(order.marketToken)}:${order.direction}`
    sides.set(key, [...(sides.get(key) ?? []), order])
  }
  return [...sides.values()].flatMap((side): Decision[] => {
    const [first] = side
    if (first === undefined) return []
    return Array.from({ length: Math.ceil(side.length / cancelMost) }, (_, page) => ({
      kind: 'cancel',
      marketToken: isOnMarket(first) ? first.marketToken : (anyMarket ?? first.marketToken),
      direction: first.direction,
      orderKeys: side.slice(page * cancelMost, (page + 1) * cancelMost).map(({ orderKey }) => orderKey),
      reason: 'an operator wants nothing to rest at the venue',
    }))
  })
}
