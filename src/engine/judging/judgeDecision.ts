/**
 * Judges a decision by the facts of one look at the account: the exposure of that moment, limits, budgets, halts and pauses. Pure: it reads nothing
 * else, and accepts, writes and reports nothing.
 */
import type { AccountFacts } from '../../account/facts.ts'
import { intentIdOf } from '../../account/ids.ts'
import { impactSpentBy } from '../../account/impactSpent.ts'
import { withLimitSizes } from '../../account/limitsInForce.ts'
import { NO_HOST_REASON } from '../../account/watch/increasesWait.ts'
import { defined, ifDefined } from '../../base/defined.ts'
import { madeOnce } from '../../base/madeOnce.ts'
import { openResultUsd } from '../../books/bookView.ts'
import { OPERATOR } from '../../domain/accountRecords/operatorName.ts'
import { haltsOn, strictest } from '../../domain/accountRecords/tradingState.ts'
import { addsRisk, type Decision, type IncreaseDecision } from '../../domain/order/decision.ts'
import type { EntryExits } from '../../domain/order/exitSettings.ts'
import type { Denial, Intent } from '../../domain/order/intent.ts'
import { type MarketView, marketOf, type Snapshot } from '../../domain/snapshot.ts'
import { checkExitsLeft } from '../../exits/exitsLeft.ts'
import { hexKey, sameHex } from '../../protocol/address.ts'
import { formatDollars, maxOf, NATIVE_DECIMALS, USD_DECIMALS, type Usd } from '../../protocol/units.ts'
import { admit } from '../../risk/admit.ts'
import { type Budget, checkBudget, OPERATOR_RETRY_MS } from '../../risk/breakers/budget.ts'
import { checkPause } from '../../risk/breakers/pause.ts'
import { slippageOf } from '../../risk/checks/checks.ts'
import { checkEdge } from '../../risk/checks/edgeCheck.ts'
import { withReductionPrice } from '../../risk/checks/reductionPrice.ts'
import {
  type AdmissionContext,
  type CountedUsage,
  isDenial,
  type Protection,
} from '../../risk/exposure/admissionContext.ts'
import { availableCapacityOf } from '../../risk/exposure/availableCapacity.ts'
import { increaseLimitsOf, type SizeLimit } from '../../risk/sizing/sizeLimits.ts'
import { checkWholeLeverage, checkWholeSize } from '../../risk/sizing/wholeLeverage.ts'
import { exitsNow } from '../../strategy/fileExits.ts'
import type { LoadedStrategy } from '../../strategy/files/load.ts'
import { exposuresOf, withinOwn } from './ownPart.ts'
import { checkReduction, reducedSides } from './reduction.ts'

/** Source of a decision: a strategy, or the operator. */
export interface DecisionSource
  extends Pick<LoadedStrategy, 'name' | 'slippageBps' | 'orderExpiryMs' | 'exits' | 'protect'> {
  /** Absent: the operator, and who acts on whole positions. */
  readonly strategy?: Pick<LoadedStrategy['strategy'], 'opensPositions' | 'tidiesOrders'>
  /** True if an increase must be whole or is denied. Absent: a smaller one is acceptable. */
  readonly isWhole?: boolean
}

/** A decision with its source and its key, which no other decision of that source has. */
export interface AskedDecision {
  readonly source: DecisionSource
  readonly decision: Decision
  readonly decisionKey: string
}

/** A decision in the middle of its judgement. */
interface Judged {
  readonly adds: boolean
  /** True for an operator's reduction, which only the protocol's own bounds hold. */
  readonly isOperator: boolean
  readonly view: MarketView | undefined
}

/** Returns the intent that a decision becomes by these facts, which are of its source, or the reason why it is denied. */
export function judge(facts: AccountFacts, asked: AskedDecision): Intent | Denial {
  const { nowMs, snapshot, standstills } = facts
  const { source } = asked
  if (standstills.isStopping) return { code: 'STOPPING', reason: 'perpd is stopping and makes no new orders' }
  const own = withinOwn(facts, source, asked.decision)
  const decision = isDenial(own) ? asked.decision : own
  const adds = addsRisk(decision, snapshot.orders.value)
  const view = marketOf(snapshot, decision.marketToken)
  const before =
    (adds ? increaseHeldBack(facts, decision) : undefined) ??
    leftBefore(facts, source, decision) ??
    overBudget(facts, source.name, decision, view?.market.symbol) ??
    (adds || source.name === OPERATOR ? undefined : checkReduction(facts, source.name, decision))
  if (before !== undefined) return before
  if (isDenial(own)) return own
  // An operator's increase by hand is subject to all limits of a strategy's order; only reductions bypass them.
  const isOperator = source.name === OPERATOR && !adds
  // Ages count until now: the process may have stood still since the world was read.
  const counted = withLimitSizes(facts.limits, snapshot, source.name)
  const judged: Snapshot = { ...counted, atMs: Math.max(snapshot.atMs, nowMs) }
  const context = contextOf(facts, { ...asked, decision }, { adds, isOperator, view }, judged)
  // Report the halt before other reasons; it overrides them.
  const isHalted = context.trading.reason !== undefined
  const bounds = {
    limits: context.limits,
    accountLimits: facts.limits.current().account,
    ...(view && { market: view.market }),
  }
  const steep = source.isWhole === true && !isHalted ? checkWholeLeverage(decision, bounds) : undefined
  if (steep !== undefined) return steep
  const admitted = admit(decision, context)
  if (admitted.kind === 'denial') return admitted.denial
  const judgedView = marketOf(judged, decision.marketToken)
  return (
    afterLimits(facts, source, admitted.intent, { adds, isOperator, view: judgedView }) ?? admitted.intent
  )
}

/** Room that limits, capacity and the venue leave for an increase, whatever its size. */
export interface Room {
  /** The caps of its size, in the order in which they cut it. */
  readonly limits: readonly SizeLimit[]
  /** Equity of which limits are shares, USD; absent while it is unknown. */
  readonly equityUsd?: Usd
}

/** Returns the room for an increase by these facts, or the reason why its market's capacity is unknown. */
export function roomFor(
  facts: AccountFacts,
  asked: AskedDecision & { readonly decision: IncreaseDecision },
): Room | Denial {
  const { nowMs, snapshot } = facts
  const counted = withLimitSizes(facts.limits, snapshot, asked.source.name)
  const judged: Snapshot = { ...counted, atMs: Math.max(snapshot.atMs, nowMs) }
  const view = marketOf(snapshot, asked.decision.marketToken)
  const context = contextOf(facts, asked, { adds: true, isOperator: false, view }, judged)
  const { marketToken, direction } = asked.decision
  const available = availableCapacityOf(marketToken, direction, context)
  if (isDenial(available)) return available
  const limits = increaseLimitsOf(asked.decision, available, context)
  return { limits, ...defined({ equityUsd: facts.equity?.equityUsd }) }
}

/** Returns all that the checks of an order and its plan are made of. */
function contextOf(
  facts: AccountFacts,
  { source, decision, decisionKey }: AskedDecision,
  { adds, isOperator, view }: Judged,
  judged: Snapshot,
): AdmissionContext {
  const { account, equity, fees, known, nowMs, orders, own, settings, standstills, usage } = facts
  const { name } = source
  const symbol = view?.market.symbol
  const { maxOrdersPerHour, ...others } = facts.limits.on(symbol, name)
  // Cancels and closes by an operator do not count toward the hourly limit: a kill must be able to finish.
  const hourly = isOperator || maxOrdersPerHour === undefined ? {} : { maxOrdersPerHour }
  const limits = { ...others, ...hourly, ...defined({ desk: facts.desk }) }
  const halt = isOperator ? undefined : strictest(haltsOn(standstills.halts, name))
  const marketKey = hexKey(decision.marketToken)
  const slippageBps =
    source.slippageBps ?? Math.min(settings.slippageBps, limits.maxSlippageBps ?? settings.slippageBps)
  return {
    snapshot: withReductionPrice(judged, { decision, adds }, limits, known.prices.get(marketKey)),
    nowMs,
    limits,
    ...exposuresOf(facts, name, judged),
    usage: {
      accountLimits: isOperator ? {} : facts.limits.current().account,
      marketLimits: isOperator ? {} : facts.limits.countedOn(symbol),
      dayResultUsd: own.dayResultUsd,
      marketDayResultUsd: usage.marketDaysUsd.get(marketKey) ?? 0n,
      acceptedLastHour: acceptedLastHour(facts, name, decision),
    },
    ...ofFile(facts, source, judged, decision),
    trading: {
      state: halt?.state ?? (isOperator ? 'reducing' : 'active'),
      ...defined({ reason: halt?.reason }),
    },
    ...defined({ equity }),
    impact: { maxPriceImpactBps: settings.maxPriceImpactBps, ...(isOperator ? {} : impactLeft(facts, adds)) },
    venue: {
      clockSkewMs: known.clockSkewMs,
      ...defined({ withheldMs: settings.withheldMs, executionFeeOf: fees?.executionFeeOf }),
    },
    maker: {
      strategy: name,
      isOperator,
      ...(source.strategy?.tidiesOrders === true
        ? { tidiesOrders: true, ...defined({ isKept: known.isManaged }) }
        : {}),
    },
    signedOrder: orders.signedOrder,
    intent: {
      // A hash, which a denied decision needs none of.
      get intentId() {
        return intentIdOf(account.address, name, decisionKey)
      },
      decisionKey,
      account: account.address,
      chain: account.chain,
      lane: account.lane,
      closeLanes: account.closeLanes,
      expiresAtMs: nowMs + (source.orderExpiryMs ?? settings.expiryMs),
    },
    slippageBps: slippageOf(adds, slippageBps, limits),
  }
}

/** Returns the reason why an entry of an instance with exits waits for those that another exit left. */
function leftBefore(
  facts: AccountFacts,
  { name, exits }: DecisionSource,
  decision: Decision,
): Denial | undefined {
  return decision.kind === 'increase' && exits !== undefined
    ? checkExitsLeft(facts, name, decision)
    : undefined
}

/** Returns the reason why an intent within limits and capacity is held back all the same. */
function afterLimits(
  facts: AccountFacts,
  source: DecisionSource,
  intent: Intent,
  { adds, isOperator, view }: Judged,
): Denial | undefined {
  const { known, nowMs, own } = facts
  // Closing everything waits for no pause, unless only a host's passing statement shows the position to be closed.
  const isAtOnce = isOperator && reducedSides(intent.decision).every((side) => known.isVouched(side))
  const setBackSince = (intentId: string) => own.setBackMs.get(intentId) ?? 0
  return (
    edgeDenial(facts, source, intent, view) ??
    checkPause(intent, adds, own.recent, nowMs, isAtOnce, setBackSince) ??
    (source.isWhole === true ? checkWholeSize(intent, adds) : undefined)
  )
}

/** Returns the reason why an entry is not worth its costs by the rules of its file. */
function edgeDenial(
  { account, fees }: AccountFacts,
  { protect }: DecisionSource,
  intent: Intent,
  view: MarketView | undefined,
): Denial | undefined {
  if (protect?.edge === undefined || view === undefined) return undefined
  const sending = fees?.expectedFor(intent)
  const sendingUsd =
    sending === undefined
      ? undefined
      : sending.relayFee * 10n ** BigInt(USD_DECIMALS - account.feeTokenDecimals)
  return checkEdge(intent, protect, view, sendingUsd)
}

/** Applies the rules of a strategy's file to its decisions: the exits that its increases bring, and the times when it adds nothing. */
function ofFile(
  { nowMs, own }: AccountFacts,
  { exits, protect }: DecisionSource,
  judged: Snapshot,
  decision: Decision,
): { readonly exits?: EntryExits | 'unknown'; readonly protection?: Protection } {
  const view = marketOf(judged, decision.marketToken)
  const openUsd = protect === undefined ? 0n : openResultUsd(own.parts, judged.positions.value)
  return {
    ...defined({ exits: ifDefined(exits, (own) => exitsNow(own, view, nowMs) ?? 'unknown') }),
    ...defined({ protection: ifDefined(protect, (rules) => ({ rules, track: own.track, openUsd })) }),
  }
}

/** Counts the intents of the last hour, with those that are judged and not accepted yet. */
function acceptedLastHour(
  { orders, usage }: AccountFacts,
  name: string,
  { marketToken }: Decision,
): CountedUsage['acceptedLastHour'] {
  const { pending } = orders
  const accepted = countsOf(usage.acceptedLastHour)
  return {
    strategy: (accepted.strategies.get(name) ?? 0) + pending.length,
    market:
      (accepted.markets.get(hexKey(marketToken)) ?? 0) +
      pending.filter(({ terms }) => sameHex(terms.marketToken, marketToken)).length,
    account: usage.acceptedLastHour.length + pending.length,
  }
}

/** Counts intents by strategy and by lower-case market token; made once for a list: each decision of each strategy asks. */
const countsOf = madeOnce((intents: readonly Intent[]) => {
  const strategies = new Map<string, number>()
  const markets = new Map<string, number>()
  const count = (counts: Map<string, number>, key: string): void =>
    void counts.set(key, (counts.get(key) ?? 0) + 1)
  for (const { strategy, terms } of intents) {
    count(strategies, strategy)
    count(markets, hexKey(terms.marketToken))
  }
  return { strategies, markets }
})

/** Returns the reason why an order that adds risk must wait, whatever its size: cooldowns, discrepancies, the journal's space, hidden positions. */
function increaseHeldBack(facts: AccountFacts, decision: Decision): Denial | undefined {
  const { isNoHost, isJournalShort, discrepancies } = facts.standstills
  // A host is in cooldown after a payload mismatch, or after failing again and again. What adds risk waits for
  // one that does not; a reduction may still be tried, and is verified like any other.
  if (isNoHost) return { code: 'NO_HOST', reason: NO_HOST_REASON }
  const discrepancy = discrepancies.find(({ marketToken }) => sameHex(marketToken, decision.marketToken))
  if (discrepancy !== undefined) {
    return {
      code: 'UNEXPLAINED',
      reason: `increases on this market wait for an operator: ${discrepancy.statement} (perpd discrepancies)`,
    }
  }
  if (isJournalShort) {
    return {
      code: 'JOURNAL_SHORT',
      reason:
        'the remaining journal space is reserved for necessary records; increases wait until there is more (journal.maxMiB, or space on the disk)',
    }
  }
  return hiddenOn(facts, decision)
}

/**
 * Returns the remainder of the day's budget of price impact, counting judged intents that are not accepted yet. Half of it is reserved for orders
 * that reduce risk.
 */
function impactLeft(
  { orders, settings, usage }: AccountFacts,
  adds: boolean,
): { readonly priceImpactLeftUsd?: Usd } {
  const { priceImpactPerDayUsd: perDayUsd, maxPriceImpactBps } = settings
  if (perDayUsd === undefined) return {}
  const pendingUsd = orders.pending.length === 0 ? 0n : impactSpentBy(orders.pending, maxPriceImpactBps)
  const spentUsd = impactSpentBy(usage.acceptedToday, maxPriceImpactBps) + pendingUsd
  return { priceImpactLeftUsd: maxOf(0n, (adds ? perDayUsd / 2n : perDayUsd) - spentUsd) }
}

/** POSITION_NOT_SHOWN: the list shows less of a side of the market than the journal knows; lag, or a host that hides it. */
function hiddenOn({ known, snapshot }: AccountFacts, { marketToken }: Decision): Denial | undefined {
  const found = snapshot.hidden?.find((each) => sameHex(each.marketToken, marketToken))
  if (found === undefined) return undefined
  const symbol =
    marketOf(snapshot, marketToken)?.market.symbol ??
    known.symbols.get(hexKey(marketToken))?.symbol ??
    marketToken
  return {
    code: 'POSITION_NOT_SHOWN',
    reason: `the list of positions shows less of ${symbol} ${found.direction} than the journal; increases on this market wait until they agree`,
    wanted: `${formatDollars(found.shownUsd)} shown`,
    allowed: `${formatDollars(found.knownUsd)} by the journal`,
  }
}

/** Returns the reason why the day's budget allows no more of a strategy's orders on a market. */
function overBudget(
  { account, limits, nowMs, usage }: AccountFacts,
  strategy: string,
  decision: Decision,
  symbol: string | undefined,
): Denial | undefined {
  const inForce = limits.current()
  const { attemptsPerCause } = limits.on(symbol, strategy)
  const budget: Budget = {
    ...defined({ attemptsPerCause, retryPastMs: strategy === OPERATOR ? OPERATOR_RETRY_MS : undefined }),
    strategy: inForce.strategies[strategy] ?? {},
    market: limits.countedOn(symbol),
    account: inForce.account,
  }
  const units = { nativeDecimals: NATIVE_DECIMALS, feeTokenDecimals: account.feeTokenDecimals }
  return checkBudget(decision, strategy, usage.endings, budget, units, nowMs)
}
