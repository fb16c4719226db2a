/**
 * What must hold of the exits of strategy files, by the truth of the chain and by what is durable:
 *
 * E12 an instance's exits of one type never come to more than its part and what its own entries may still add, but for fills that the
 *     daemon cannot know yet, and for exits of no file whose entry is not final; none is placed beyond it by what the journal has, but for
 *     a part that others took something off without a proof yet;
 * E13 no part whose file writes a stop is without it for longer than the grace, while hosts answer and nothing of it is on its way;
 * E14 what keeps the exits never moves a stop-loss away from profit, and places none farther from it than one lies or lay, when it was
 *     lost, that rested since the part was opened and has not fired;
 * E15 while exits of an instance rest for more than what is left of its part, no entry of it on that side is accepted before they
 *     are cancelled or made smaller.
 */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import type { AccountRecord, AccountState } from '../../src/domain/accountRecords/accountRecord.ts'
import {
  type Attempt,
  type Child,
  hasEnded,
  type Intent,
  type IntentState,
  isProvisional,
  lastAttempt,
} from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import { contractPriceOf, MAX_UINT256 } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import type { ModelChain, ModelOrder } from './chainModel.ts'
import { BY_WORD, type OwnPart, ownPartsOf, partKey } from './ownParts.ts'
import type { Truth } from './truth.ts'

/** Longest time for which a part may be without its stop, or its exits may be too large, while nothing keeps the daemon from it, ms. */
const graceMs = 60_000
/** Time between two looks, ms. */
export const exitLookMs = 1_000
/** What of a part may be uncovered, or covered too much, bps, as the product says; and an order that is too small for the venue. */
const toleranceBps = 200n
const leastUsd = 2n * 10n ** 30n
/** Keys of decisions that keep exits begin with this number. */
const KEPT_FROM = 1_000
/** What a denial of an exit keeps the daemon from trying, ms. */
const denialMs = 30_000

/** Why the daemon may not do what the exits call for, whatever it wants: limits, halts, and evidence that is awaited. */
const explained: ReadonlySet<string> = new Set([
  'ORDERS_PER_HOUR',
  'TRADING_HALTED',
  'REDUCE_IN_FLIGHT',
  'RETRY_BUDGET',
  'REFUSED_BEFORE',
  'FAILED_BEFORE',
  'ORDER_CHANGING',
  'NO_HOST',
  'STOPPING',
])

/** The process of now, as far as it is judged. */
interface Look {
  readonly strategies: readonly LoadedStrategy[]
  /** Open intents by its journal. */
  readonly open: readonly IntentState[]
  /** It runs, hosts answer, and no operator closes everything. */
  readonly isWell: boolean
  readonly isHalted: (strategy: string) => boolean
}

/** The judge; it outlives the processes. */
export interface ExitChecks {
  /** A process begins with what the journal holds: intents, and the account's discrepancies. */
  begin(states: readonly IntentState[], discrepancies: AccountState['discrepancies']): void
  look(now: Look): void
  /** A decision was denied. */
  denied(denial: {
    readonly strategy: string
    readonly decisionKey: string
    readonly kind: string
    readonly code: string
    readonly marketToken: string
  }): void
  /** A record is on its way to the disk. */
  leaving(record: JournalRecord | AccountRecord, now: Pick<Look, 'strategies' | 'open'>): void
  durable(record: JournalRecord | AccountRecord): void
  /** Own parts by all executions. */
  parts(): ReadonlyMap<string, OwnPart>
  /** Own parts by the executions in final blocks. */
  finalParts(): ReadonlyMap<string, OwnPart>
  /** Own parts by the executions that the journal has; mixed where the parts of all executions are. */
  knownParts(): ReadonlyMap<string, OwnPart>
}

interface Lack {
  readonly sinceMs: number
  calmMs: number
}

const exitTypes: Readonly<Record<number, string>> = { 5: 'take-profits', 6: 'stop-losses' }
const TAKE_PROFIT = 5
const STOP_LOSS = 6

/** Makes the judge of a world. */
export function createExitChecks(parts: {
  readonly timeline: Timeline
  readonly chain: ModelChain
  readonly truth: Truth
}): ExitChecks {
  const { timeline, chain } = parts
  const truth: Truth = parts.truth
  /** Orders whose execution the journal has. */
  const known = new Set<string>()
  /** Those of them whose evidence names block and log. */
  const placed = new Set<string>()
  /** Orders of others of which the journal has a discrepancy. */
  const told = new Set<string | undefined>()
  const lacks = new Map<string, Lack>()
  const deniedUntilMs = new Map<string, number>()
  const byWord = new Set<string>()
  /** Orders that an edit may have moved whose fate an operator's word alone tells. */
  const movedByWord = new Set<string>()
  const strategyOf = (intentId: string) =>
    byWord.has(intentId) ? BY_WORD : truth.intents.get(intentId)?.strategy

  /** Orders of an instance that rest on a side, exits of both types. */
  function exitsOn(strategy: string, marketToken: string, direction: string): readonly ModelOrder[] {
    return [...chain.canonical.orders.values()].filter(
      ({ spec, intentId, state }) =>
        exitTypes[spec.orderType] !== undefined &&
        spec.role !== 'part' &&
        (state === 'open' || state === 'frozen') &&
        intentId !== undefined &&
        strategyOf(intentId) === strategy &&
        spec.direction === direction &&
        spec.marketToken.toLowerCase() === marketToken,
    )
  }

  /** Whether anything on the side is on its way, or has happened and is not in the journal. */
  function isBusy(strategy: string, marketToken: string, direction: string, open: Look['open']): boolean {
    return open.some((state) => {
      const { terms, kind, strategy: whose } = state.intent
      const isHere = terms.marketToken.toLowerCase() === marketToken && terms.direction === direction
      if (!isHere) return false
      const attempt = lastAttempt(state)
      if (whose !== strategy && !whose.startsWith('@')) return isUntold(attempt)
      if (attempt?.phase !== 'LANDED' || kind === 'edit' || kind === 'cancel') return true
      // What is to close at once may come back until its end is final: nothing is closed twice.
      if (kind === 'close' || (kind === 'decrease' && terms.orderType === 'market')) return true
      return (
        isUntold(attempt) ||
        attempt.children.some((child) => {
          // An entry that was cancelled may come back until that is final: its exits are kept for it.
          if (child.phase === 'CANCELLED' && isProvisional(child.evidence)) return true
          const order = chain.canonical.orders.get(child.orderKey)
          const isMarket = order?.spec.orderType === 2 || order?.spec.orderType === 4
          return isMarket && !isOver(order)
        })
      )
    })
  }

  /** Whether the message of an entry of the instance, or the entry's own end, may be taken back yet by what the journal has. */
  function isEntryProvisional(
    strategy: string,
    marketToken: string,
    direction: string,
    open: Look['open'],
  ): boolean {
    return open.some((state) => {
      const { terms, kind, strategy: whose } = state.intent
      if (whose !== strategy || kind !== 'increase') return false
      if (terms.marketToken.toLowerCase() !== marketToken || terms.direction !== direction) return false
      const attempt = lastAttempt(state)
      const entries = attempt?.children.filter(({ role }) => role !== 'take-profit' && role !== 'stop-loss')
      return [attempt, ...(entries ?? [])].some((each) => isProvisional(each?.evidence))
    })
  }

  /** Whether an order of it has ended, or is back, and the journal does not have that. */
  function isUntold(attempt: Attempt | undefined): boolean {
    return (
      attempt?.children.some(
        (child) => isOver(chain.canonical.orders.get(child.orderKey)) !== hasEnded(child),
      ) === true
    )
  }

  /** What an order closes at most, USD: one that is to close all closes what its own entry adds while that waits, and then the position. */
  function sizeOf({ spec, intentId }: ModelOrder): bigint {
    if (spec.sizeDeltaUsd !== MAX_UINT256) return spec.sizeDeltaUsd
    const entries = [...chain.canonical.orders.values()].filter(
      (order) =>
        order.intentId === intentId &&
        order.spec.adds &&
        (order.state === 'open' || order.state === 'frozen'),
    )
    return entries.length === 0
      ? chain.canonical.heldUsd(spec.marketToken, spec.direction)
      : entries.reduce((sum, entry) => sum + entry.spec.sizeDeltaUsd, 0n)
  }

  /** What entries of the instance may still add on the side, USD. */
  function comingUsd(strategy: string, marketToken: string, direction: string): bigint {
    let sum = 0n
    for (const { spec, intentId, state } of chain.canonical.orders.values()) {
      const isOpen = state === 'open' || state === 'frozen'
      const isHere = spec.marketToken.toLowerCase() === marketToken && spec.direction === direction
      if (!isOpen || !isHere || !spec.adds || intentId === undefined) continue
      if (strategyOf(intentId) === strategy) sum += spec.sizeDeltaUsd
    }
    return sum
  }

  /** Fails once something has been so for longer than the grace in which nothing kept the daemon from mending it. */
  function judge(key: string, isSo: boolean, isCalm: boolean, invariant: string, text: () => string): void {
    if (!isSo) {
      lacks.delete(key)
      return
    }
    const lack = lacks.get(key) ?? { sinceMs: timeline.nowMs, calmMs: 0 }
    lacks.set(key, lack)
    if (isCalm) lack.calmMs += exitLookMs
    if (lack.calmMs > graceMs)
      truth.fail(invariant, `${text()}, for ${Math.round((timeline.nowMs - lack.sinceMs) / 1000)} s`)
  }

  function lookAt(loaded: LoadedStrategy, part: OwnPart, now: Look): void {
    const { name, exits } = loaded
    const { marketToken, direction, heldUsd, isMixed } = part
    const key = partKey(name, marketToken, direction)
    const isDenied = (deniedUntilMs.get(`${name} ${marketToken}`) ?? 0) > timeline.nowMs
    const isCalm =
      now.isWell && !isDenied && !now.isHalted(name) && !isBusy(name, marketToken, direction, now.open)
    const resting = exitsOn(name, marketToken, direction)
    const toleranceUsd = maxOf((heldUsd * toleranceBps) / 10_000n, leastUsd)
    // Exits that no file asks for wait, without a part, until their entry is final: taken back and made anew it needs them.
    const isKept =
      exits === undefined && heldUsd === 0n && isEntryProvisional(name, marketToken, direction, now.open)
    for (const [type, words] of Object.entries(exitTypes)) {
      const ofType = resting.filter(({ spec }) => spec.orderType === Number(type))
      const sumUsd = ofType.reduce((sum, order) => sum + sizeOf(order), 0n)
      const mostUsd = heldUsd + comingUsd(name, marketToken, direction) + toleranceUsd
      // What somebody else took off and nobody has proven yet: the books hold more than there is, and a list that shows none is no proof.
      const isSure = isCalm && !isKept && !isTakenOffUnproven(part, now.open)
      judge(`${key} ${type} over`, !isMixed && sumUsd > mostUsd, isSure, 'E12', () => {
        return `${words} of ${name} on ${marketToken} ${direction} are ${sumUsd}, and its part is ${heldUsd}`
      })
    }
    const trails = exits?.trailingStop !== undefined && exits.trailingStop.activation === undefined
    const hasStop = exits?.stopLoss !== undefined || trails
    const coveredUsd = resting
      .filter(({ spec, state }) => spec.orderType === STOP_LOSS && state === 'open')
      .reduce((sum, order) => sum + sizeOf(order), 0n)
    const isBare = hasStop && !isMixed && heldUsd - coveredUsd > toleranceUsd
    judge(`${key} bare`, isBare, isCalm, 'E13', () => {
      return `${name} holds ${heldUsd} on ${marketToken} ${direction} and stop-losses of ${coveredUsd} rest`
    })
  }

  /** What of the instance's exits is being changed or cancelled already. */
  function changing(open: Look['open']): ReadonlySet<string> {
    return new Set(
      open.flatMap(({ intent: { terms } }) => [
        ...(terms.edit === undefined ? [] : [terms.edit.orderKey]),
        ...(terms.cancelOrderKeys ?? []),
      ]),
    )
  }

  /** E15: exits that the journal knows to rest, of entries that filled, against what it knows of the part. */
  function checkEntry({ intentId, strategy, terms }: Intent, open: Look['open']): void {
    const marketToken = terms.marketToken.toLowerCase()
    const { direction } = terms
    const part = knownParts().get(partKey(strategy, marketToken, direction))
    if (part === undefined || part.isMixed) return
    const isChanging = changing(open)
    const own = open.filter(
      ({ intent }) =>
        intent.strategy === strategy &&
        intent.terms.marketToken.toLowerCase() === marketToken &&
        intent.terms.direction === direction,
    )
    const settled = own.flatMap((state) => {
      const children = lastAttempt(state)?.children ?? []
      const isExit = (role: string | undefined) => role === 'stop-loss' || role === 'take-profit'
      const entries = state.intent.kind === 'increase' ? children.filter(({ role }) => !isExit(role)) : []
      return entries.every(hasEnded) ? children.filter((child) => !hasEnded(child)) : []
    })
    for (const [type, words] of Object.entries(exitTypes)) {
      const left = settled.flatMap(({ orderKey }) => {
        const order = chain.canonical.orders.get(orderKey)
        const isOpen = order?.state === 'open' || order?.state === 'frozen'
        return isOpen && order.spec.orderType === Number(type) && !isChanging.has(orderKey) ? [order] : []
      })
      const sumUsd = left.reduce((sum, order) => sum + sizeOf(order), 0n)
      const mostUsd = part.heldUsd + maxOf((part.heldUsd * toleranceBps) / 10_000n, leastUsd)
      if (sumUsd > mostUsd)
        truth.fail(
          'E15',
          `${intentId} enters, and ${words} of ${sumUsd} are left where ${strategy} has ${part.heldUsd}`,
        )
    }
  }

  /** Whether the journal has a fill of the instance on a side that the chain took back, and cannot know of that yet. */
  function isTakenBack(
    strategy: string,
    marketToken: string,
    direction: string,
    open: Look['open'],
  ): boolean {
    return open.some(
      (state) =>
        state.intent.strategy === strategy &&
        state.intent.terms.marketToken.toLowerCase() === marketToken &&
        state.intent.terms.direction === direction &&
        lastAttempt(state)?.children.some(
          ({ phase, orderKey }) =>
            phase === 'EXECUTED' && chain.canonical.orders.get(orderKey)?.state !== 'executed',
        ) === true,
    )
  }

  /**
   * Says whether somebody else, or an order of the operator or of another instance, took something off the side since the part was opened, without a proof in the journal yet. A host's row is
   * no proof that a position became smaller (`proofs.ts`): a host that hides a position and invents its liquidation shows the very same rows,
   * and a part that is held would stand without its stop for as long as an endpoint does not answer. Until the chain proves it, exits are for
   * what the books hold of a side that a list shows, and take risk away or do nothing.
   */
  function isTakenOffUnproven(
    { strategy, marketToken, direction, openedBy }: OwnPart,
    open: Look['open'],
  ): boolean {
    return [...chain.canonical.logs.entries()].some(([place, { orderKey, movedUsd = 0n }]) => {
      const { spec, intentId } = chain.canonical.orders.get(orderKey) ?? {}
      const isHere = spec?.marketToken.toLowerCase() === marketToken && spec.direction === direction
      if (!isHere || spec.adds || movedUsd <= 0n || place <= openedBy) return false
      // A close by hand or of an unwind counts here as it executes; the process has it with the record of that.
      if (intentId === undefined) return !told.has(orderKey)
      const whose = strategyOf(intentId)
      if (whose?.startsWith('@') === true) return !known.has(orderKey)
      // Another instance's exit that one endpoint alone shows may yet be taken back: then the part is there, and needs its exits.
      return whose !== strategy && isProvisionalIn(open, orderKey)
    })
  }

  /** Whether the process knows an order's end by evidence that the chain may take back. */
  function isProvisionalIn(open: Look['open'], orderKey: string): boolean {
    return open.some((state) =>
      lastAttempt(state)?.children.some(
        (child) => child.orderKey === orderKey && hasEnded(child) && isProvisional(child.evidence),
      ),
    )
  }

  /** E12, before it can be so: what is placed comes to no more than the part with what rests, and with what is on its way. */
  function checkPlaced({ intentId, strategy, kind, terms }: Intent, open: Look['open']): void {
    const marketToken = terms.marketToken.toLowerCase()
    const { direction, orderType, sizeDeltaUsd } = terms
    const part = knownParts().get(partKey(strategy, marketToken, direction))
    const type = orderType === 'stop-loss' ? STOP_LOSS : TAKE_PROFIT
    if (kind !== 'decrease' || orderType === 'market' || orderType === 'twap') return
    // What is unproven keeps exits that rest; it is no reason to place more.
    if (part === undefined || part.isMixed || isTakenOffUnproven(part, [])) return
    if (isTakenBack(strategy, marketToken, direction, open)) return
    // Exits of an entry that waits by the journal are for what it will add.
    const isExit = (role: string | undefined) => role === 'stop-loss' || role === 'take-profit'
    const waiting = new Set(
      open
        .filter(({ intent }) => intent.kind === 'increase')
        .filter((state) =>
          lastAttempt(state)?.children.some((child) => !isExit(child.role) && !hasEnded(child)),
        )
        .map(({ intent }) => intent.intentId),
    )
    const resting = exitsOn(strategy, marketToken, direction).filter(
      (order) => order.spec.orderType === type && !waiting.has(order.intentId ?? ''),
    )
    const coming = open.filter(
      ({ intent, attempts }) =>
        intent.intentId !== intentId &&
        intent.strategy === strategy &&
        intent.kind === 'decrease' &&
        intent.terms.orderType === orderType &&
        intent.terms.marketToken.toLowerCase() === marketToken &&
        intent.terms.direction === direction &&
        attempts.at(-1)?.phase !== 'LANDED' &&
        !resting.some((order) => order.intentId === intent.intentId),
    )
    const sumUsd =
      sizeDeltaUsd +
      resting.reduce((sum, order) => sum + sizeOf(order), 0n) +
      coming.reduce((sum, { intent }) => sum + intent.terms.sizeDeltaUsd, 0n)
    const mostUsd = part.heldUsd + maxOf((part.heldUsd * toleranceBps) / 10_000n, leastUsd)
    if (sumUsd > mostUsd)
      truth.fail(
        'E12',
        `${intentId} makes the exits of ${strategy} ${sumUsd}, and its part is ${part.heldUsd}`,
      )
  }

  /** E14, of a stop-loss that is placed. */
  function checkLevel({ intentId, strategy, kind, terms }: Intent): void {
    const { direction, orderType, triggerPrice, indexToken } = terms
    if (kind !== 'decrease' || orderType !== 'stop-loss' || triggerPrice === undefined) return
    const marketToken = terms.marketToken.toLowerCase()
    const part = knownParts().get(partKey(strategy, marketToken, direction))
    if (part === undefined || part.isMixed || part.heldUsd === 0n) return
    const trigger = contractPriceOf(triggerPrice, indexToken.decimals)
    const { logs, orders } = chain.canonical
    const all = [...orders.values()]
    for (const { orderKey, spec, intentId: maker, state, created, newest } of all) {
      const before = spec.kept?.triggerPrice
      const isHere = spec.direction === direction && spec.marketToken.toLowerCase() === marketToken
      if (spec.orderType !== STOP_LOSS || !isHere || before === undefined || state === 'executed') continue
      if (maker === undefined || strategyOf(maker) !== strategy || movedByWord.has(orderKey)) continue
      const entries = all.filter((order) => order.intentId === maker && order.spec.adds)
      const filled = entries.filter((entry) => entry.state === 'executed' && known.has(entry.orderKey))
      if (entries.length > 0 && filled.length === 0) continue
      const restedFrom = Math.max(
        ...[created, ...filled.map((entry) => entry.newest)].map((log) => logs.indexOf(log)),
      )
      // What was lost before its entry filled never rested for the part, nor did a stop of an earlier one.
      const isBefore = state === 'cancelled' && logs.indexOf(newest) < restedFrom
      if (isBefore || restedFrom < part.openedBy) continue
      if (direction === 'long' ? trigger < before : trigger > before)
        truth.fail('E14', `${intentId} places a stop-loss at ${trigger}, where one rested at ${before}`)
    }
  }

  /** E14, of a move. */
  function checkMove({ intentId, decisionKey, terms }: Intent): void {
    const { edit } = terms
    const order = edit === undefined ? undefined : chain.canonical.orders.get(edit.orderKey)
    const before = order?.spec.kept?.triggerPrice
    if (edit === undefined || before === undefined || order?.spec.orderType !== STOP_LOSS) return
    if (!isKept(decisionKey)) return
    const isLong = order.spec.direction === 'long'
    const after = edit.triggerContractPrice
    if (isLong ? after < before : after > before)
      truth.fail('E14', `${intentId} moves a stop-loss away from profit: from ${before} to ${after}`)
  }

  function takeWord(intentId: string, intent: Pick<Intent, 'terms'> | undefined): void {
    byWord.add(intentId)
    const { edit } = intent?.terms ?? {}
    if (edit !== undefined) movedByWord.add(edit.orderKey)
  }

  function execute({ orderKey, evidence }: Pick<Child, 'orderKey' | 'evidence'>): void {
    known.add(orderKey)
    if (evidence?.block === undefined || evidence.logIndex === undefined) placed.delete(orderKey)
    else placed.add(orderKey)
  }

  const isPlaced = ({ orderKey }: Pick<ModelOrder, 'orderKey'>) => placed.has(orderKey)
  const wholeParts = () => ownPartsOf(chain, { strategyOf, isPlaced })
  function knownParts(): ReadonlyMap<string, OwnPart> {
    const whole = wholeParts()
    const isCounted = ({ orderKey }: Pick<ModelOrder, 'orderKey'>) => known.has(orderKey)
    const own = ownPartsOf(chain, { strategyOf, isCounted, isPlaced })
    return new Map(
      [...own].map(([key, part]) => [
        key,
        { ...part, isMixed: part.isMixed || whole.get(key)?.isMixed === true },
      ]),
    )
  }

  return {
    parts: wholeParts,
    finalParts() {
      const final = chain.finalAt(timeline.nowMs).number
      return ownPartsOf(chain, { strategyOf, isCounted: ({ block }) => block.number <= final, isPlaced })
    },
    knownParts,
    begin(states, discrepancies) {
      known.clear()
      placed.clear()
      told.clear()
      for (const { discrepancy } of discrepancies.values()) told.add(discrepancy.orderKey)
      for (const { intent, closing } of states)
        if (closing?.evidence.level === 'operator') takeWord(intent.intentId, intent)
      for (const state of states)
        for (const child of lastAttempt(state)?.children ?? []) if (child.phase === 'EXECUTED') execute(child)
    },
    look(now) {
      const all = wholeParts()
      for (const loaded of now.strategies) {
        if (!loaded.strategy.opensPositions) continue
        for (const part of all.values()) if (part.strategy === loaded.name) lookAt(loaded, part, now)
      }
    },
    denied({ strategy, decisionKey, kind, code, marketToken }) {
      // Exits whose position others took off are cancelled among what the kind decides.
      if ((!isKept(decisionKey) && kind !== 'cancel') || !explained.has(code)) return
      deniedUntilMs.set(`${strategy} ${marketToken.toLowerCase()}`, timeline.nowMs + denialMs)
    },
    leaving(record, { strategies, open }) {
      if (record.kind !== 'intent.accepted') return
      const { intent } = record
      if (intent.kind === 'edit') checkMove(intent)
      if (isKept(intent.decisionKey)) {
        checkPlaced(intent, open)
        checkLevel(intent)
      }
      const loaded = strategies.find(({ name }) => name === intent.strategy)
      if (loaded?.exits !== undefined && intent.kind === 'increase') checkEntry(intent, open)
    },
    durable(record) {
      if (record.kind === 'child.executed') execute(record)
      if (record.kind === 'intent.closed' && record.closing.evidence.level === 'operator')
        takeWord(record.intentId, truth.intents.get(record.intentId))
      if (record.kind === 'child.reopened') known.delete(record.orderKey)
      if (record.kind === 'discrepancy.raised') told.add(record.discrepancy.orderKey)
    },
  }
}

/** Whether it is what keeps the exits that decided, and not the kind. */
function isKept(decisionKey: string): boolean {
  return Number(decisionKey.slice(decisionKey.lastIndexOf('#') + 1)) >= KEPT_FROM
}

function maxOf(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

function isOver(order: ModelOrder | undefined): boolean {
  return order === undefined || order.state === 'executed' || order.state === 'cancelled'
}
