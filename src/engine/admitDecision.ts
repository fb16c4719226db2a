/** Hands a decision to admission, with all that it is judged by: the exposure of that moment, limits, budgets, halts and pauses. */
import { type Ending, spentBy } from '../domain/account/spend.ts'
import { addsRisk, type Decision } from '../domain/order/decision.ts'
import type { Denial, Intent, IntentState } from '../domain/order/intent.ts'
import { signedOrderIn } from '../domain/order/signedOrder.ts'
import { type MarketView, marketOf, type Snapshot } from '../domain/snapshot.ts'
import { hostsSkewMs } from '../execution/clock/hostsClock.ts'
import { accountOf } from '../execution/context/executionContext.ts'
import { maxPriceImpactsOf } from '../execution/context/policy.ts'
import { sameHex } from '../protocol/address.ts'
import { formatDollars, maxOf, NATIVE_DECIMALS, USD_DECIMALS, type Usd } from '../protocol/units.ts'
import { admit } from '../risk/admit.ts'
import { type Budget, checkBudget, OPERATOR_RETRY_MS } from '../risk/breakers/budget.ts'
import { dayStartOf } from '../risk/breakers/circuitBreakers.ts'
import { checkPause } from '../risk/breakers/pause.ts'
import { slippageOf } from '../risk/checks/checks.ts'
import { withSizes } from '../risk/checks/dataGaps.ts'
import { checkEdge } from '../risk/checks/edgeCheck.ts'
import { withReductionPrice } from '../risk/checks/reductionPrice.ts'
import { type AdmissionContext, isDenial } from '../risk/exposure/admissionContext.ts'
import { checkWholeLeverage, checkWholeSize } from '../risk/sizing/wholeLeverage.ts'
import { exitsNow } from '../strategy/fileExits.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import { protectionOf } from './account/fileProtection.ts'
import { intentIdOf } from './account/ids.ts'
import { OPERATOR } from './account/tradingHalts.ts'
import { closeLanesOf } from './closeLanes.ts'
import type { EngineContext } from './context/engineContext.ts'
import { impactSpentBy } from './context/impactSpent.ts'
import { checkExitsLeft } from './exits/exitsLeft.ts'
import { marketSymbol } from './market/marketSymbol.ts'
import { exposuresOf, withinOwn } from './ownPart.ts'
import { checkReduction, reducedSides } from './reduction.ts'
import { isKept } from './strayOrders.ts'
import { isNoHost, NO_HOST_REASON } from './watch/increasesWait.ts'

const hourMs = 3_600_000

const dayMs = 86_400_000

/** Newest intents of a strategy among which refusals of a decision are looked for. */
const refusalsRead = 40

/**
 * Intents that the exposure must count on top of the snapshot's positions: the open ones, and fills too new to be seen; of one strategy
 * alone where it is named.
 */
export type UnseenIntents = (snapshot: Snapshot, strategy?: string) => readonly IntentState[]

/** Source of a decision: a strategy, or the operator. */
export interface DecisionSource
  extends Pick<LoadedStrategy, 'name' | 'slippageBps' | 'orderExpiryMs' | 'exits' | 'protect'> {
  /** Absent: the operator, and who acts on whole positions. */
  readonly strategy?: Pick<LoadedStrategy['strategy'], 'opensPositions' | 'tidiesOrders'>
  /** True if an increase must be whole or is denied. Absent: a smaller one is acceptable. */
  readonly isWhole?: boolean
}

/**
 * Admits one decision and hands it to execution, or returns the denial. `beside` writes records that must be durable together with its acceptance.
 */
export async function admitDecision(
  context: EngineContext,
  source: DecisionSource,
  snapshot: Snapshot,
  decision: Decision,
  decisionKey: string,
  unseen: UnseenIntents,
  beside?: () => Promise<void>,
): Promise<Denial | undefined> {
  const intent = judge(context, source, snapshot, decision, decisionKey, unseen)
  if (isDenial(intent)) return intent
  tellAdmitted(context, intent)
  if (await context.orderManager.accept(intent, beside)) {
    return undefined
  }
  return {
    code: 'DUPLICATE_DECISION',
    reason: 'this decision was accepted before; it is not taken twice',
  }
}

/** Tells of an admitted intent, before it is handed to the road. */
export function tellAdmitted({ emit }: Pick<EngineContext, 'emit'>, intent: Intent): void {
  emit({ type: 'decision.admitted', intent })
  const { sizing, terms } = intent
  if (sizing.contested !== undefined)
    emit({ type: 'price.contested', symbol: terms.symbol, contested: sizing.contested })
  if (sizing.priceSource === undefined) return
  const { priceSource: source, dataAgeMs: ageMs } = sizing
  emit({ type: 'price.fallback', symbol: terms.symbol, source, ageMs })
}

/**
 * Returns the intent that a decision becomes now, or the reason why it is denied. Nothing is accepted, written or reported. `pending`: judged intents
 * that are not accepted yet, and count as if they were.
 */
export function judge(
  context: EngineContext,
  source: DecisionSource,
  snapshot: Snapshot,
  asked: Decision,
  decisionKey: string,
  accepted: UnseenIntents,
  pending: readonly Intent[] = [],
): Intent | Denial {
  const { journal, chain, engineSettings, clock, api } = context
  if (!context.isDeciding()) return { code: 'STOPPING', reason: 'perpd is stopping; nothing new is made' }
  const own = withinOwn(context, source, asked, snapshot, pending)
  const decision = isDenial(own) ? asked : own
  const adds = addsRisk(decision, snapshot.orders.value)
  const heldBack =
    increaseHeldBack(context, decision, snapshot, adds) ?? leftBefore(context, source, decision, pending)
  if (heldBack !== undefined) return heldBack
  const nowMs = clock.now()
  journal.lookAt(clock)
  // Ages count until now: the process may have stood still since the world was read.
  const counted = withLimitSizes(context, snapshot, source.name)
  const judged: Snapshot = { ...counted, atMs: Math.max(snapshot.atMs, nowMs) }
  const symbol = marketOf(snapshot, decision.marketToken)?.market.symbol
  const spent = spentOfDay(context, nowMs)
  const overBudget = checkBudget(
    decision,
    source.name,
    spent,
    budgetOn(context, symbol, source.name),
    { nativeDecimals: NATIVE_DECIMALS, feeTokenDecimals: chain.feeToken.decimals },
    nowMs,
  )
  if (overBudget !== undefined) return overBudget
  const unfit =
    adds || source.name === OPERATOR
      ? undefined
      : checkReduction(context, source.name, decision, spent, snapshot)
  if (unfit !== undefined) return unfit
  if (isDenial(own)) return own
  const account = accountOf(context)
  const { name } = source
  // An operator's increase by hand is subject to all limits of a strategy's order; only reductions bypass them.
  const isOperator = name === OPERATOR && !adds
  const { maxOrdersPerHour, ...others } = context.limits.on(symbol, name)
  // Cancels and closes by an operator do not count toward the hourly limit: a kill must be able to finish.
  const hourly = isOperator || maxOrdersPerHour === undefined ? {} : { maxOrdersPerHour }
  const limits = { ...others, ...hourly }
  const halt = isOperator ? undefined : context.trading.haltOn(name)
  const market = marketOf(snapshot, decision.marketToken)?.market
  const bounds = { limits, accountLimits: context.limits.current().account, ...(market && { market }) }
  // Report the halt before other reasons; it overrides them.
  const steep =
    source.isWhole === true && halt === undefined ? checkWholeLeverage(decision, bounds) : undefined
  if (steep !== undefined) return steep
  const { defaultSlippageBps } = engineSettings
  const policy = context.signingPolicy()
  const admitted = admit(decision, {
    snapshot: withReductionPrice(judged, { decision, adds }, limits, context.prices.of(decision.marketToken)),
    limits,
    ...exposuresOf(context, name, counted, [...accepted(snapshot), ...pending.map(begun)]),
    accountLimits: isOperator ? {} : context.limits.current().account,
    marketLimits: isOperator ? {} : context.limits.countedOn(symbol),
    tradingState: halt?.state ?? (isOperator ? 'reducing' : 'active'),
    ...(halt === undefined ? {} : { tradingReason: halt.reason }),
    ...equityFacts(context, nowMs),
    ...ofFile(context, source, judged, decision, nowMs),
    dayResultUsd: context.dayResultUsd(name, judged.positions.value),
    marketDayResultUsd: context.marketDayResultUsd(decision.marketToken),
    clockSkewMs: hostsSkewMs(api) ?? 0,
    signedOrder: (orderKey) => signedOrderIn(journal, orderKey),
    isOperator,
    ...(source.strategy?.tidiesOrders === true
      ? { tidiesOrders: true, isKept: (own) => isKept(context, own) }
      : {}),
    intentId: intentIdOf(account, name, decisionKey),
    decisionKey,
    strategy: name,
    account,
    chain: chain.name,
    lane: engineSettings.lane,
    closeLanes: closeLanesOf(context, nowMs),
    ...(context.settings.withheldMs === undefined ? {} : { withheldMs: context.settings.withheldMs }),
    slippageBps: slippageOf(
      adds,
      source.slippageBps ?? Math.min(defaultSlippageBps, limits.maxSlippageBps ?? defaultSlippageBps),
      limits,
    ),
    nowMs,
    expiresAtMs: nowMs + (source.orderExpiryMs ?? engineSettings.intentExpiryMs),
    maxPriceImpactBps: maxPriceImpactsOf(policy),
    ...(isOperator ? {} : impactLeft(context, nowMs, pending, adds)),
    ...(context.fees === undefined ? {} : { executionFeeOf: context.fees.executionFeeOf }),
    acceptedLastHour: acceptedLastHour(context, name, decision, pending, nowMs),
  })
  if (admitted.kind === 'denial') return admitted.denial
  const view = marketOf(judged, decision.marketToken)
  return afterLimits(context, source, admitted.intent, { adds, isOperator, nowMs, view }) ?? admitted.intent
}

/** Returns the reason why an entry of an instance with exits waits for those that another exit left. */
function leftBefore(
  context: EngineContext,
  { name, exits }: DecisionSource,
  decision: Decision,
  pending: readonly Intent[],
): Denial | undefined {
  return decision.kind === 'increase' && exits !== undefined
    ? checkExitsLeft(context, name, decision, pending)
    : undefined
}

/** Returns the reason why an intent within limits and capacity is held back all the same. */
function afterLimits(
  context: EngineContext,
  source: DecisionSource,
  intent: Intent,
  {
    adds,
    isOperator,
    nowMs,
    view,
  }: {
    readonly adds: boolean
    readonly isOperator: boolean
    readonly nowMs: number
    readonly view: MarketView | undefined
  },
): Denial | undefined {
  const recent = context.journal.recentIntents({ strategy: source.name, limit: refusalsRead })
  // Closing everything waits for no pause, unless only a host's passing statement shows the position to be closed.
  const isAtOnce =
    isOperator && reducedSides(intent.decision).every((side) => context.holdings.isVouched(side))
  return (
    edgeDenial(context, source, intent, view) ??
    checkPause(intent, adds, recent, nowMs, isAtOnce, context.journal.setBackSince) ??
    (source.isWhole === true ? checkWholeSize(intent, adds) : undefined)
  )
}

/** Returns the reason why an entry is not worth its costs by the rules of its file. */
function edgeDenial(
  { fees, chain }: Pick<EngineContext, 'fees' | 'chain'>,
  { protect }: DecisionSource,
  intent: Intent,
  view: MarketView | undefined,
): Denial | undefined {
  if (protect?.edge === undefined || view === undefined) return undefined
  const sending = fees?.expectedFor(intent)
  const { decimals } = chain.feeToken
  const sendingUsd =
    sending === undefined ? undefined : sending.relayFee * 10n ** BigInt(USD_DECIMALS - decimals)
  return checkEdge(intent, protect, view, sendingUsd)
}

/** Applies the rules of a strategy's file to its decisions: the exits that its increases bring, and the times when it adds nothing. */
function ofFile(
  { aheadStamps, journal }: Pick<EngineContext, 'aheadStamps' | 'journal'>,
  { name, exits, protect }: DecisionSource,
  judged: Snapshot,
  decision: Decision,
  nowMs: number,
): Pick<AdmissionContext, 'exits' | 'protection'> {
  const view = marketOf(judged, decision.marketToken)
  return {
    ...(exits === undefined ? {} : { exits: exitsNow(exits, view, nowMs) ?? 'unknown' }),
    ...(protect === undefined
      ? {}
      : { protection: protectionOf(journal.books(), name, protect, judged, aheadStamps) }),
  }
}

/** Returns the account's equity and the age of that figure; empty while it is unknown. */
function equityFacts(
  { equity }: Pick<EngineContext, 'equity'>,
  nowMs: number,
): Pick<AdmissionContext, 'equityUsd' | 'equityAgeMs'> {
  const { equityUsd, atMs } = equity() ?? {}
  return {
    ...(equityUsd === undefined ? {} : { equityUsd }),
    ...(atMs === undefined ? {} : { equityAgeMs: Math.max(0, nowMs - atMs) }),
  }
}

/** Intents of the last hour, with those that are judged and not accepted yet. */
function acceptedLastHour(
  { journal }: EngineContext,
  name: string,
  { marketToken }: Decision,
  pending: readonly Intent[],
  nowMs: number,
): AdmissionContext['acceptedLastHour'] {
  const accepted = journal.acceptedSince(nowMs - hourMs)
  const isSameMarket = ({ terms }: Intent) => sameHex(terms.marketToken, marketToken)
  return {
    strategy: accepted.filter(({ strategy }) => strategy === name).length + pending.length,
    market: [...accepted, ...pending].filter(isSameMarket).length,
    account: accepted.length + pending.length,
  }
}

/** An intent as it will be once it is accepted. */
function begun(intent: Intent): IntentState {
  return { intent, attempts: [], updatedAtMs: intent.acceptedAtMs }
}

/** Returns the reason why an order that adds risk must wait, whatever its size: cooldowns, discrepancies, the journal's space, hidden positions. */
function increaseHeldBack(
  context: EngineContext,
  decision: Decision,
  snapshot: Snapshot,
  adds: boolean,
): Denial | undefined {
  const { journal, api } = context
  // A host is in cooldown after a payload mismatch, or after failing again and again. What adds risk waits for
  // one that does not; a reduction may still be tried, and is verified like any other.
  if (adds && isNoHost(api)) {
    return { code: 'NO_HOST', reason: NO_HOST_REASON }
  }
  const discrepancy = adds ? context.pausedBy(decision.marketToken) : undefined
  if (discrepancy !== undefined) {
    return {
      code: 'UNEXPLAINED',
      reason: `increases on this market wait for an operator: ${discrepancy.statement} (perpd discrepancies)`,
    }
  }
  if (adds && journal.isShort()) {
    return {
      code: 'JOURNAL_SHORT',
      reason:
        "the rest of the journal's space is kept for what must be written; increases wait until there is more (journal.maxMiB, or space on the disk)",
    }
  }
  return adds ? hiddenOn(context, decision, snapshot) : undefined
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

/** The snapshot, with the most that its limit allows for a position whose row does not say its size. */
function withLimitSizes({ limits }: EngineContext, snapshot: Snapshot, strategy: string): Snapshot {
  return withSizes(snapshot, (token) => {
    const { symbol: other } = marketOf(snapshot, token)?.market ?? {}
    return limits.on(other, strategy).maxPositionSizeUsd
  })
}

/**
 * Returns the remainder of the day's budget of price impact, counting judged intents that are not accepted yet. Half of it is reserved for orders
 * that reduce risk.
 */
function impactLeft(
  { journal, signingPolicy }: EngineContext,
  nowMs: number,
  pending: readonly Intent[],
  adds: boolean,
): { readonly priceImpactLeftUsd?: Usd } {
  const policy = signingPolicy()
  const { priceImpactPerDayUsd: perDayUsd } = policy
  if (perDayUsd === undefined) return {}
  const today = [...journal.acceptedSince(dayStartOf(nowMs)), ...pending]
  const spentUsd = impactSpentBy(today, maxPriceImpactsOf(policy))
  return { priceImpactLeftUsd: maxOf(0n, (adds ? perDayUsd / 2n : perDayUsd) - spentUsd) }
}

/** POSITION_NOT_SHOWN: the list shows less of a side of the market than the journal knows; lag, or a host that hides it. */
function hiddenOn(
  { catalogue }: EngineContext,
  { marketToken }: Decision,
  snapshot: Snapshot,
): Denial | undefined {
  const found = snapshot.hidden?.find((each) => sameHex(each.marketToken, marketToken))
  if (found === undefined) return undefined
  const symbol = marketSymbol(catalogue, snapshot, marketToken)
  return {
    code: 'POSITION_NOT_SHOWN',
    reason: `the list of positions shows less of ${symbol} ${found.direction} than the journal knows; increases on this market wait until they agree`,
    wanted: `${formatDollars(found.shownUsd)} shown`,
    allowed: `${formatDollars(found.knownUsd)} by the journal`,
  }
}

/** Returns the day's budget of a strategy's orders on a market. */
function budgetOn({ limits }: EngineContext, symbol: string | undefined, strategy: string): Budget {
  const { account, strategies } = limits.current()
  const { attemptsPerCause } = limits.on(symbol, strategy)
  return {
    ...(attemptsPerCause === undefined ? {} : { attemptsPerCause }),
    ...(strategy === OPERATOR ? { retryPastMs: OPERATOR_RETRY_MS } : {}),
    strategy: strategies[strategy] ?? {},
    market: limits.countedOn(symbol),
    account,
  }
}
