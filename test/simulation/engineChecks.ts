/**
 * What must hold of a whole daemon besides I1 to I14, judged by what is durable and by the truth of the model:
 *
 * E1 no side, market or account, and no strategy's own part of them, ever may grow above the limit that was in force when an
 * increase was accepted;
 * E2 no increase takes more of a side than a host said it has, less headroom and what is reserved there;
 * E3 after a hold is journaled nothing is accepted or armed that it forbids, over crashes too, until it is lifted;
 * E4 a decision is taken once;
 * E5 an hour holds no more orders than its budget, and the same decision is not ended by the same cause more often than its;
 * E6 a discrepancy is reported once, and is never an order of ours;
 * E7 a kill is done when nothing is left open in truth;
 * E8 a loss that never was stops nothing, what lifts itself is lifted when its cause is over, and what an operator lifted
 *    does not come back for what was before;
 * E9 no strategy stops being asked.
 */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import type { AccountRecord, Discrepancy } from '../../src/domain/accountRecords/accountRecord.ts'
import { LIMITS_IN_FORCE } from '../../src/domain/accountRecords/tradingState.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import { reservedOf } from '../../src/domain/machine/intentExposure.ts'
import { hasEnded, type Intent, type IntentState, lastAttempt } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import type { Tasks } from '../../src/domain/taskStates/taskRecord.ts'
import type { EngineStatus } from '../../src/operator/port/engineStatus.ts'
import type { KillParams } from '../../src/tasks/killTask.ts'
import type { ModelChain, ModelOrder } from './chainModel.ts'
import type { MarketModel } from './engineMarkets.ts'
import type { ExitChecks } from './exitChecks.ts'
import { partKey } from './ownParts.ts'
import { createTaskChecks, isOfTasks } from './taskChecks.ts'
import type { Truth } from './truth.ts'

/** The name under which operators' orders are made. */
const operator = '@operator'
const hourMs = 3_600_000
/** How long lists may take to show what was done by hand, with both looks of a pass. */
const byHandMs = 60_000
const increaseTypes: ReadonlySet<number> = new Set([2, 3, 8])
/** Ends that are told apart by our own code alone. */
const wordless: ReadonlySet<string> = new Set(['REFUSED_LOCAL', 'EXPIRED', 'VOID_CONSUMED'])
/** Nobody's fault, so that a pause waits for it and no budget counts it: a market that runs would end a strategy's day. */
const movesByItself: ReadonlySet<string> = new Set([
  'PRICE_OUT_OF_BOUNDS',
  'POSITION_MOVED',
  'OFFER_EXPIRED',
  'FEE_ABOVE_LIMIT',
])
const restingTypes: ReadonlySet<number> = new Set([1, 3, 5, 6, 8])
/** LimitDecrease and StopLossDecrease. */
const exitTypes: ReadonlySet<number> = new Set([5, 6])

/** Limits as they are in force now. */
export interface InForce {
  readonly account: Limits
  readonly strategies: Readonly<Record<string, Limits>>
}

type ExposureLimit = 'maxPositionSizeUsd' | 'maxMarketExposureUsd' | 'maxTotalExposureUsd'

/** The limits that a record says are in force: figures by `SCOPE|LIMIT`, as decimal text. */
function inForceOf(detail: string): InForce {
  const strategies: Record<string, Limits> = {}
  let account: Limits = {}
  for (const [key, figure] of Object.entries(JSON.parse(detail) as Record<string, string>)) {
    const bar = key.lastIndexOf('|')
    const [scope, name] = [key.slice(0, bar), key.slice(bar + 1)]
    const limit = { [name]: name.endsWith('Usd') ? BigInt(figure) : Number(figure) }
    if (scope === '') account = { ...account, ...limit }
    else if (scope.startsWith('strategy ')) {
      const strategy = scope.slice('strategy '.length)
      strategies[strategy] = { ...strategies[strategy], ...limit }
    }
  }
  return { account, strategies }
}

/** The judge of a world's daemon; it outlives the processes. */
export interface EngineChecks {
  /** A process begins with what the journal holds, under these limits. */
  begin(states: readonly IntentState[], tasks: Tasks | undefined, limits: InForce): void
  /** An unwind was told to be over. */
  unwound(intentId: string): void
  /** An operator was told that trading is held. */
  held(scope: string, state: string): void
  /** A record is on its way to the disk: a hold that it lifts counts no more, and what it accepts is decided. */
  leaving(record: JournalRecord | AccountRecord): void
  /** `state`: of the record's intent after it; `open`: all intents that the journal holds open. */
  durable(
    record: JournalRecord | AccountRecord,
    state: IntentState | undefined,
    open: readonly IntentState[],
  ): void
  finish(status: EngineStatus): void
}

interface Hold {
  readonly scope: string
  readonly state: string
  readonly sinceMs: number
}

const floored = (value: bigint): bigint => (value < 0n ? 0n : value)

/** Makes the judge of a world. */
export function createEngineChecks(parts: {
  readonly timeline: Timeline
  readonly chain: ModelChain
  readonly truth: Truth
  readonly market: MarketModel
  /** Whether it never jumped. */
  readonly isClockSteady: () => boolean
  /** Own parts by all executions and by final ones; absent: nobody tells them apart. */
  readonly ownParts?: Pick<ExitChecks, 'parts' | 'finalParts'> | undefined
}): EngineChecks {
  const { timeline, chain, market } = parts
  const truth: Truth = parts.truth
  const tasks = createTaskChecks(truth)
  const accepted = new Map<string, Intent>()
  const decisions = new Map<string, string>()
  const halts = new Map<string, Hold>()
  const raised = new Map<string, Discrepancy>()
  /** Ends of one decision by one cause in a row. */
  const runs = new Map<string, number>()
  const closed = new Set<string>()
  /** When acceptances were on their way to the disk, ms of the world. */
  const decidedAtMs = new Map<string, number>()
  /** Holds that an operator lifted, with how many intents had ended. */
  const lifted = new Map<string, number>()
  /** Closed by an operator's word. */
  const byWord = new Set<string>()
  /** Sides of orders that an operator closed by his word while an execution of theirs was unseen, or an exit had no known end. */
  const leftByWord = new Set<string>()
  let limits: InForce = { account: {}, strategies: {} }
  let before = { limits, untilMs: -1 }
  /** Strategy files are being taken over: which limits of theirs hold is known when it is written down. */
  let isReloading = false
  const ownLimits = (strategy: string, of: InForce = limits): Limits =>
    isReloading ? {} : (of.strategies[strategy] ?? {})

  function adds({ kind, reservationUsd }: Intent): boolean {
    return reservationUsd > 0n || kind === 'swap' || kind === 'collateral-out'
  }

  function checkHolds(intent: Intent, what: string): void {
    if (intent.strategy === operator) return
    for (const { scope, state, sinceMs } of halts.values()) {
      const reaches = scope === 'global' || scope === 'account' || scope === `strategy:${intent.strategy}`
      if (!reaches || sinceMs >= timeline.nowMs || (state === 'reducing' && !adds(intent))) continue
      truth.fail('E3', `${intent.intentId} is ${what} and ${scope} is ${state}`)
    }
  }

  /**
   * What orders of ours hold, those that add at the final block, and everything of ours that may still come, USD. `of`: of one strategy's
   * orders alone; what others took off a side that it shares leaves it at most what the side still has, and at most `mostOwnUsd`.
   */
  function worstUsd(
    open: readonly IntentState[],
    isOf: (marketToken: string, direction: string) => boolean,
    of?: string,
    mostOwnUsd: (marketToken: string, direction: string) => bigint | undefined = () => undefined,
  ): bigint {
    const { logs, orders } = chain.canonical
    const final = chain.finalAt(timeline.nowMs).number
    const sides = new Map<string, { own: bigint; all: bigint; most?: bigint | undefined }>()
    const isOwn = ({ strategy }: Intent) => of === undefined || strategy === of
    for (const { block, orderKey, movedUsd } of logs) {
      const order = orders.get(orderKey)
      if (movedUsd === undefined || order === undefined) continue
      const { spec, intentId } = order
      const isIncrease = increaseTypes.has(spec.orderType)
      // Lists show a reduction as soon as it is in a block; what a reorganisation brings back of it was not promised.
      if (isIncrease && block.number > final) continue
      if (!isOf(spec.marketToken, spec.direction)) continue
      const key = `${spec.marketToken} ${spec.direction}`
      const before = sides.get(key) ?? { own: 0n, all: 0n }
      const intent = intentId === undefined ? undefined : truth.intents.get(intentId)
      // What the owner adds by hand may show late, and is no order of ours.
      const addedUsd = isIncrease ? (intentId === undefined ? 0n : movedUsd) : -movedUsd
      const isCounted = of === undefined || intent?.strategy === of
      const all = floored(before.all + addedUsd)
      const own = floored(before.own + (isCounted ? addedUsd : 0n))
      sides.set(key, {
        own: own < all ? own : all,
        all,
        most: mostOwnUsd(spec.marketToken, spec.direction),
      })
    }
    let sum = 0n
    for (const { own, most = own } of sides.values()) sum += own < most ? own : most
    for (const intent of truth.intents.values()) {
      // What an operator says is over counts as over.
      if (byWord.has(intent.intentId) || !isOwn(intent)) continue
      if (isOf(intent.terms.marketToken, intent.terms.direction)) sum += truth.riskOf(intent)
    }
    for (const { intent, attempts } of open) {
      const isUnsent = attempts.every(({ armed }) => armed === undefined)
      if (isUnsent && isOwn(intent) && isOf(intent.terms.marketToken, intent.terms.direction))
        sum += intent.reservationUsd
    }
    return sum
  }

  /**
   * The most of a side that is a strategy's by the rules of the books, by executions in any block and in final ones; undefined: nobody can tell.
   *
   * `worstUsd` lets what others reduce come off others' parts first. That is too much for a strategy where an order took more than its
   * instance had, as a stop does that executes before its entry: by rule 2 of docs/books.md the rest comes off all other parts by size, for
   * good, and the entry that follows is its instance's own. A 500, B 150, C's stop of 500 and then C's entry of 500: A 115, B 35, C 500. Once
   * C and A have closed, B's part is 35 of the 150 that the side still has; `worstUsd` makes it 150, and of A's as well.
   */
  function mostOwnUsd(strategy: string): (marketToken: string, direction: string) => bigint | undefined {
    const told = [parts.ownParts?.parts(), parts.ownParts?.finalParts()]
    return (marketToken, direction) => {
      const key = partKey(strategy, marketToken, direction)
      const [now, final] = told.map((all) => all?.get(key))
      if (now === undefined || now.isMixed || final?.isMixed === true) return undefined
      const finalUsd = final?.heldUsd ?? 0n
      return now.heldUsd > finalUsd ? now.heldUsd : finalUsd
    }
  }

  function checkLimits(intent: Intent, open: readonly IntentState[]): void {
    const { marketToken, direction } = intent.terms
    const scopes: readonly { readonly limitsOf: (of: InForce) => Limits; readonly of?: string }[] = [
      { limitsOf: ({ account }) => account },
      // A file's limits count its own part.
      { limitsOf: (of) => ownLimits(intent.strategy, of), of: intent.strategy },
    ]
    const bound = (name: ExposureLimit, isOf: (marketToken: string, direction: string) => boolean) => {
      for (const { limitsOf, of } of scopes) {
        const [now, was] = [limitsOf(limits)[name], limitsOf(before.limits)[name]]
        // An order that was admitted in the millisecond of a change was admitted before it or after it.
        const isBoth = before.untilMs === timeline.nowMs && now !== undefined && was !== undefined
        const most = isBoth && was > now ? was : now
        let worst = most === undefined ? 0n : worstUsd(open, isOf, of)
        if (most !== undefined && worst > most && of !== undefined)
          worst = worstUsd(open, isOf, of, mostOwnUsd(of))
        if (most !== undefined && worst > most)
          truth.fail(
            'E1',
            `${intent.intentId} makes the worst case ${worst} of ${of ?? 'the account'}'s ${name} ${most}`,
          )
      }
    }
    bound('maxPositionSizeUsd', (token, side) => token === marketToken && side === direction)
    bound('maxMarketExposureUsd', (token) => token === marketToken)
    bound('maxTotalExposureUsd', () => true)
  }

  function checkCapacity(intent: Intent, open: readonly IntentState[]): void {
    const { account, strategies } = limits
    const { marketToken, direction } = intent.terms
    const ageMs = Math.min(
      account.maxDataAgeMs ?? Number.POSITIVE_INFINITY,
      strategies[intent.strategy]?.maxDataAgeMs ?? Number.POSITIVE_INFINITY,
    )
    // A process may freeze between its word and the disk, and its clock may jump meanwhile: what counts is what it had heard.
    const decidedMs = decidedAtMs.get(intent.intentId) ?? timeline.nowMs
    const saidUsd = market.saidUsd(marketToken, direction, decidedMs - ageMs, decidedMs)
    if (saidUsd === undefined) truth.fail('E2', `${intent.intentId} stands on no capacity that a host said`)
    const headroomBps = BigInt(account.capacityHeadroomBps ?? 0)
    const others = open.filter(
      ({ intent: { intentId, terms } }) =>
        intentId !== intent.intentId && terms.marketToken === marketToken && terms.direction === direction,
    )
    const takenUsd = others.reduce((sum, state) => sum + reservedOf(state), intent.reservationUsd)
    if (takenUsd * 10_000n > saidUsd * (10_000n - headroomBps))
      truth.fail('E2', `${intent.intentId} makes ${takenUsd} of ${saidUsd} that there is`)
  }

  function checkBudgets(intent: Intent): void {
    if (intent.strategy === operator) return
    const factor = adds(intent) ? 1 : 2
    const within = [...accepted.values()].filter(
      ({ intentId, acceptedAtMs }) =>
        intentId !== intent.intentId && acceptedAtMs >= intent.acceptedAtMs - hourMs,
    )
    const bound = (who: string, count: number, most: number | undefined) => {
      if (most !== undefined && count >= most * factor)
        truth.fail('E5', `${intent.intentId} is order ${count + 1} of ${who} in an hour of ${most}`)
    }
    const own = within.filter(({ strategy }) => strategy === intent.strategy)
    bound('its strategy', own.length, ownLimits(intent.strategy).maxOrdersPerHour)
    bound('the account', within.length, limits.account.maxOrdersPerHour)
    const most = limits.account.attemptsPerCause
    // Ends stand in the order of the wall clock: where it jumps, another order is as good.
    if (most === undefined || !adds(intent) || !parts.isClockSteady()) return
    for (const [key, count] of runs) {
      if (key.startsWith(`${wishOf(intent)} `) && count >= most)
        truth.fail('E5', `${intent.intentId} is tried again after ${count} ends of ${key}`)
    }
  }

  function wishOf({ strategy, kind, terms }: Intent): string {
    return `${strategy} ${kind} ${terms.marketToken} ${terms.direction}`
  }

  /** An end, as budgets count it. */
  function end(state: IntentState): void {
    const { intent, closing } = state
    if (closing === undefined || closed.has(intent.intentId)) return
    closed.add(intent.intentId)
    if (closing.evidence.level === 'operator') {
      byWord.add(intent.intentId)
      const children = lastAttempt(state)?.children ?? []
      const isUnseen = closing.outcome === 'EXECUTED' && children.every(({ phase }) => phase !== 'EXECUTED')
      const isUnknown = isUnseen || children.some((child) => !hasEnded(child))
      const { marketToken, direction } = intent.terms
      if (isUnknown) leftByWord.add(`${marketToken} ${direction}`)
    }
    const wish = wishOf(intent)
    if (closing.outcome === 'EXECUTED' || closing.outcome === 'PARTIAL') {
      for (const key of runs.keys()) if (key.startsWith(`${wish} `)) runs.delete(key)
      return
    }
    // Only causes without a word of the venue's in them: those are one cause whatever the words are.
    if (!wordless.has(closing.outcome) || movesByItself.has(closing.code)) return
    const key = `${wish} ${closing.outcome} ${closing.code}`
    runs.set(key, (runs.get(key) ?? 0) + 1)
  }

  function isOpenInTruth({ state }: ModelOrder): boolean {
    return state === 'open' || state === 'frozen'
  }

  function isOld({ created, newest, intentId }: ModelOrder): boolean {
    // What the owner does by hand shows late.
    const since = chain.timeAt(timeline.nowMs - byHandMs)
    return (
      intentId !== undefined ||
      (created.block.timestampSeconds < since && newest.block.timestampSeconds < since)
    )
  }

  /**
   * Exits of what is held stay at rest after a kill that does not close: that is what it is for. So do those of a side that changed, or was
   * settled by the operator's word, so lately that a list may show it otherwise.
   */
  function mayStay({ spec: { orderType, marketToken, direction } }: ModelOrder): boolean {
    if (!exitTypes.has(orderType)) return false
    if (chain.canonical.heldUsd(marketToken, direction) > 0n) return true
    if (leftByWord.has(`${marketToken} ${direction}`)) return true
    return [...chain.canonical.orders.values()].some(
      (each) =>
        each.spec.marketToken === marketToken &&
        each.spec.direction === direction &&
        !isOld({ ...each, intentId: undefined }),
    )
  }

  /**
   * A cancel whose orders all ended in final blocks can land never, so nothing of it is left for a kill to wait for. Proof by the contract:
   *
   * - A message of cancels is one transaction. `GelatoRelayRouter.batch` (and the subaccounts' router) marks the digest as used and calls
   *   `BaseGelatoRelayRouter._batch`, which calls `_cancelOrder` for each key and catches nothing: one revert takes back all, the digest's mark too.
   * - `_cancelOrder` reads the order by `OrderStoreUtils.get`, which gives an empty one for a key that is not on `ORDER_LIST`, and reverts with
   *   `EmptyOrder` where the account is zero. `ExchangeRouter.cancelOrder` does the same; behind both `OrderUtils.cancelOrder` asks
   *   `validateNonEmptyOrder` again.
   * - An order that was executed or cancelled is off that list: `ExecuteOrderUtils.executeOrder` and `OrderUtils.cancelOrder` call
   *   `OrderStoreUtils.remove`. A frozen one stays on it, and counts as open here.
   * - A key that left the list does not come back. New ones are `NonceUtils.getNextKey`, the hash of a number that only grows; `freezeOrder` and
   *   `updateOrder`, the other two that write orders, revert with `EmptyOrder` first. Final blocks are not taken back by a reorganisation.
   *
   * One key that is gone would be enough for that; all are asked for here.
   */
  function hasNothingToCancel({ kind, terms: { cancelOrderKeys = [] } }: Intent): boolean {
    const final = chain.finalAt(timeline.nowMs).number
    return (
      kind === 'cancel' &&
      cancelOrderKeys.length > 0 &&
      cancelOrderKeys.every((key) => {
        const order = chain.canonical.orders.get(key)
        return order !== undefined && !isOpenInTruth(order) && order.newest.block.number <= final
      })
    )
  }

  /**
   * A message that made the exits which a kill leaves at rest is as open as they are. It lands no more: its digest was used in a final block,
   * and the contract takes none twice (InvalidUserDigest). Its orders have ended in final blocks but for exits that may stay, which take risk
   * away or do nothing; one of them that ended in a block that is not final is back at rest where it is taken back, with what it protected.
   * A message that made nothing else than such exits makes nothing else when it lands again either.
   */
  function leavesExitsOnly(intentId: string, { kind }: Intent): boolean {
    const final = chain.finalAt(timeline.nowMs).number
    const made = [...chain.canonical.orders.values()].filter((order) => order.intentId === intentId)
    return (
      made.length > 0 &&
      made.every(
        (order) =>
          (kind === 'decrease' || order.created.block.number <= final) &&
          (mayStay(order) || (!isOpenInTruth(order) && order.newest.block.number <= final)),
      )
    )
  }

  function checkKill({ close, exits }: KillParams): void {
    const keepsExits = !close && exits !== true
    for (const order of chain.canonical.orders.values()) {
      if (keepsExits && mayStay(order)) continue
      if (restingTypes.has(order.spec.orderType) && isOpenInTruth(order) && isOld(order))
        truth.fail('E7', `the kill is done and ${order.orderKey} rests`)
    }
    for (const [intentId, intent] of truth.intents) {
      if (byWord.has(intentId) || hasNothingToCancel(intent)) continue
      if (keepsExits && leavesExitsOnly(intentId, intent)) continue
      const fate = truth.fateOf(intentId)
      if (fate === 'open') truth.fail('E7', `the kill is done and ${intentId} may still land`)
    }
    const hasNew = [...chain.canonical.orders.values()].some((order) => !isOld(order))
    if (!close || hasNew) return
    for (const { spec } of chain.canonical.orders.values()) {
      const leftUsd = chain.canonical.heldUsd(spec.marketToken, spec.direction)
      if (leftUsd > 0n) truth.fail('E7', `the kill is done and ${leftUsd} are left of ${spec.marketToken}`)
    }
  }

  function raise(discrepancy: Discrepancy, open: readonly IntentState[]): void {
    const { discrepancyId, kind, orderKey } = discrepancy
    if (raised.has(discrepancyId)) truth.fail('E6', `${discrepancyId} is reported again`)
    raised.set(discrepancyId, discrepancy)
    const order = orderKey === undefined ? undefined : chain.canonical.orders.get(orderKey)
    // Of an order that an operator closed by his word nobody knows the key: it is found like a stranger's.
    // And a landing that is not final may stand in another block by now, with another key.
    const isProvisional = open.some(
      ({ intent, attempts }) =>
        intent.intentId === order?.intentId && attempts.at(-1)?.evidence?.level === 'chain-latest',
    )
    if (order?.intentId !== undefined && !byWord.has(order.intentId) && !isProvisional)
      truth.fail('E6', `${order.intentId}'s own order is reported as ${kind}`)
  }

  /**
   * A kill that waits for the operator alone. His word closed an order of which an execution was unseen; what
   * that took off stands in no record, so by the journal the side is held and no list shows it. Nothing but a second word of
   * his, about the discrepancy that he was told of, can say which is right: that the side is empty is known to this model
   * alone.
   */
  function waitsForHim({ kill, discrepancies }: EngineStatus): boolean {
    const { orders = 0, positions = 0, inFlight = 0 } = kill?.left ?? {}
    const told = sidesLeftToHim(discrepancies)
    return orders + inFlight === 0 && positions > 0 && positions <= told.length
  }

  /** Sides that the journal holds on by his word alone, and of which a discrepancy is told, by market and direction. */
  function sidesLeftToHim(discrepancies: EngineStatus['discrepancies']): readonly string[] {
    return discrepancies.flatMap(({ discrepancy: { kind, marketToken, direction } }) =>
      kind === 'unexplained-position' &&
      leftByWord.has(`${marketToken} ${direction}`) &&
      chain.canonical.heldUsd(marketToken, direction) === 0n
        ? [`${marketToken} ${direction}`]
        : [],
    )
  }

  /** The side that an unwind is to close, by market and direction. */
  function sideOf(intentId: string): string {
    const decision = accepted.get(intentId)?.decision
    return decision !== undefined && 'marketToken' in decision && 'direction' in decision
      ? `${decision.marketToken} ${decision.direction}`
      : ''
  }

  return {
    begin(states, known, now) {
      limits = now
      isReloading = false
      tasks.begin(known)
      for (const state of states) {
        const { intent } = state
        accepted.set(intent.intentId, intent)
        decisions.set(`${intent.strategy} ${intent.decisionKey}`, intent.intentId)
        end(state)
      }
    },
    unwound: tasks.unwound,
    held(scope, state) {
      const key = `${scope} operator`
      if (!halts.has(key)) halts.set(key, { scope, state, sinceMs: timeline.nowMs })
    },
    leaving(record) {
      tasks.leaving(record)
      if (record.kind === 'intent.accepted') decidedAtMs.set(record.intentId, timeline.nowMs)
      if (record.kind === 'operator.command' && record.command === 'strategies.reloaded') isReloading = true
      if (record.kind === 'operator.command' && record.command === LIMITS_IN_FORCE) {
        before = { limits, untilMs: timeline.nowMs }
        isReloading = false
        limits = inForceOf(record.detail)
      }
      if (record.kind !== 'trading.state' || record.state !== 'active') return
      const key = `${record.scope} ${record.cause}`
      halts.delete(key)
      if (record.by !== 'perpd') lifted.set(key, closed.size)
    },
    durable(record, state, open) {
      const done = tasks.durable(record)
      if (done !== undefined) checkKill(done)
      switch (record.kind) {
        case 'intent.accepted': {
          const { intent } = record
          const decision = `${intent.strategy} ${intent.decisionKey}`
          if (decisions.has(decision)) truth.fail('E4', `${decision} is taken again`)
          decisions.set(decision, intent.intentId)
          checkHolds(intent, 'accepted')
          checkBudgets(intent)
          accepted.set(intent.intentId, intent)
          if (isOfTasks(intent)) tasks.accepted(intent)
          if (intent.reservationUsd === 0n) return
          checkLimits(intent, open)
          checkCapacity(intent, open)
          return
        }
        case 'attempt.armed': {
          const intent = accepted.get(record.intentId)
          if (intent !== undefined) checkHolds(intent, 'armed')
          return
        }
        case 'trading.state': {
          const { scope, cause, state: to } = record
          if (to === 'active') return
          if ((cause === 'daily-loss' || cause === 'drawdown') && market.lostUsd === 0)
            truth.fail('E8', `${cause} without a loss: ${record.reason}`)
          if (
            (cause === 'rejects' || cause === 'payload-mismatch') &&
            lifted.get(`${scope} ${cause}`) === closed.size
          )
            truth.fail('E8', `${cause} comes back after an operator lifted it, and nothing ended since`)
          const before = halts.get(`${scope} ${cause}`)
          if (before?.state !== to)
            halts.set(`${scope} ${cause}`, { scope, state: to, sinceMs: timeline.nowMs })
          return
        }
        case 'intent.closed': {
          if (state !== undefined) end(state)
          return
        }
        case 'discrepancy.raised':
          raise(record.discrepancy, open)
          return
        case 'discrepancy.settled':
          // What a reorganisation took back is told anew when it is made again.
          if (record.as === 'gone' && record.discrepancyId.startsWith('trade:'))
            raised.delete(record.discrepancyId)
          return
      }
    },
    finish(status) {
      const { state, strategies, halts: held, nowMs, unresolved, kill, unwinds, openIntents } = status
      const leftToHim = sidesLeftToHim(status.discrepancies)
      const unwound = unwinds.find(({ intentId }) => !leftToHim.includes(sideOf(intentId)))
      if (unwound !== undefined && openIntents.length === 0)
        truth.fail('E10', `an unwind does not end: ${unwound.intentId} ${unwound.problem ?? ''}`)
      if (
        kill !== undefined &&
        kill.endedAtMs === undefined &&
        openIntents.length === 0 &&
        !waitsForHim(status)
      )
        truth.fail('E7', `the kill does not end: ${JSON.stringify(kill.left)} ${kill.problem ?? ''}`)
      if (state !== 'running')
        truth.fail('E9', `the engine is ${state} in the end: ${status.notReady.join()}`)
      for (const { name, lastTickAtMs = 0, cadenceMs, failures, lastError } of strategies) {
        if (Math.abs(nowMs - lastTickAtMs) > cadenceMs + 30_000)
          truth.fail('E9', `${name} was asked last ${nowMs - lastTickAtMs} ms ago`)
        if (failures > 0) truth.fail('E9', `${name} fails in the end: ${lastError}`)
      }
      for (const { cause, reason } of held) {
        if (cause === 'stale-data' || (cause === 'unknowns' && unresolved === 0))
          truth.fail('E8', `${cause} is not lifted: ${reason}`)
      }
    },
  }
}
