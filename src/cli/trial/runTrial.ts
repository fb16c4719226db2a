/**
 * The trial of a strategy in one situation: at each turn the exits of the file are kept as the engine keeps them, its kind is asked as the
 * engine asks it, what is decided is judged by risk, and what is admitted is filled ideally. No clock, no network, no randomness: the same file gives the same trial.
 */

import type { LiveLimits } from '../../account/liveLimits.ts'
import { defined } from '../../base/defined.ts'
import { reasonOf } from '../../base/errors.ts'
import { allAsOwn } from '../../books/ownPositions.ts'
import type { DeniedEvent } from '../../domain/memory/ownEvent.ts'
import { addsRisk, type Decision, isOrderDecision, isTaskDecision } from '../../domain/order/decision.ts'
import type { Denial, Intent, IntentState, SignedOrder } from '../../domain/order/intent.ts'
import type { LaneName } from '../../domain/order/laneTable.ts'
import { marketOf, type Snapshot } from '../../domain/snapshot.ts'
import { callKind, type GivenPast } from '../../engine/callKind.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import type { Order } from '../../protocol/position.ts'
import { amountOfUsd, maxOf, minOf, type Usd, usd } from '../../protocol/units.ts'
import { admit } from '../../risk/admit.ts'
import { slippageOf } from '../../risk/checks/checks.ts'
import { exposureOf } from '../../risk/exposure/accountExposure.ts'
import type { Protection } from '../../risk/exposure/admissionContext.ts'
import { decisionProblem, returnedProblem } from '../../strategy/decisionProblem.ts'
import { exitsNow } from '../../strategy/fileExits.ts'
import type { LoadedStrategy } from '../../strategy/files/load.ts'
import type { CheckedTurn, GivenMemory } from '../../strategy/kindMemory.ts'
import { openIntentsOf, restingOrdersOf } from '../../strategy/resting.ts'
import type { StrategyDecision } from '../../strategy/strategyDecision.ts'
import { type Situation, TRIAL_STEPS } from './situations.ts'
import { createTrialAccount } from './trialAccount.ts'
import { trialEdgeDenial } from './trialEdge.ts'
import { trialKept, trialOrphans } from './trialExits.ts'
import { createTrialPrices, type TrialClock, type TrialMarket } from './trialMarkets.ts'
import { trialSignals } from './trialSignals.ts'
import { createTrialVenue, type TrialFill, type TrialMoment } from './trialVenue.ts'

/** Strategy and situation of a trial. */
export interface TrialSetting {
  readonly loaded: LoadedStrategy
  /** The first follows the situation whole. */
  readonly markets: readonly [TrialMarket, ...TrialMarket[]]
  readonly limits: Pick<LiveLimits, 'on' | 'ownOn' | 'current'>
  /** Slippage of a file that names none, bps. */
  readonly defaultSlippageBps: number
  readonly chain: string
  readonly lane: LaneName
  readonly clock: TrialClock
}

/** One decision, and what became of it. */
export interface TrialRow {
  /** From 1. */
  readonly turn: number
  /** Source of the decision: the kind, or perpd itself for the exits of the file. */
  readonly by: TrialDecider
  /** Number of fills before the decision was judged. */
  readonly fillsBefore: number
  readonly decision?: StrategyDecision
  readonly symbol: string
  /** `taken`, `invalid`, or the code of the denial. */
  readonly outcome: string
  /** Reason why it was not taken; absent when it was. */
  readonly reason?: string
  /** As admitted, USD; absent of what was not, or has no size. */
  readonly sizeUsd?: Usd
}

/** Source of a decision in a trial. */
export type TrialDecider = 'kind' | 'exits'

/** A trial that is over. */
export interface Trial {
  readonly situation: Situation
  readonly rows: readonly TrialRow[]
  readonly fills: readonly TrialFill[]
  /** After fees, with what is still held at its last price, USD, signed. */
  readonly resultUsd: Usd
  /** The furthest fall of that from its highest, USD. */
  readonly maxDrawdownUsd: Usd
  /** Error that the kind threw, and its turn; the trial ends there. */
  readonly failed?: { readonly turn: number; readonly reason: string }
}

/** Initial balance of the wallet in each token, USD. */
const WALLET_USD = usd(10_000)
const ACCOUNT: Address = '0x1111111111111111111111111111111111111111'
/** Moments between two turns at which orders that rest are looked at. */
const LOOKS = 4
const HOUR_SECONDS = 3_600
const DAY_SECONDS = 86_400
/** Size and leverage of the position, opened by somebody else, that a keeper receives. */
const [KEPT_USD, KEPT_LEVERAGE] = [usd(2_000), 10n]

/** Tries a strategy in a situation. What its kind throws is in the trial. */
export function runTrial(setting: TrialSetting, situation: Situation): Promise<Trial> {
  return createTrial(setting, situation).run()
}

function createTrial(setting: TrialSetting, situation: Situation): { run(): Promise<Trial> } {
  const { loaded, markets, clock } = setting
  const [first] = markets
  const prices = createTrialPrices(situation, first.index.asset, clock)
  const tokens = markets.flatMap(({ long, short }) => [long, short])
  const account = createTrialAccount(tokens, WALLET_USD)
  const venue = createTrialVenue(account, new Map(markets.map((each) => [hexKey(each.marketToken), each])))
  const momentAt = (step: number): TrialMoment => ({
    atSeconds: Math.floor(clock.startSeconds + step * clock.stepSeconds),
    price: (token) => prices.at(token, step),
  })
  const startUsd = WALLET_USD * BigInt(new Set(tokens.map(({ token }) => hexKey(token.address))).size)
  if (!loaded.strategy.opensPositions) {
    const key = { market: first, direction: 'long', collateral: first.short } as const
    const collateral = amountOfUsd(
      KEPT_USD / KEPT_LEVERAGE,
      first.short.basePrice,
      first.short.token.decimals,
    )
    account.increase(key, KEPT_USD, collateral, prices.at(first.index, 0), clock.startSeconds)
  }
  const rows: TrialRow[] = []
  const accepted: number[] = []
  const keeps = loaded.hosted?.remembers ?? loaded.strategy.memory !== undefined
  let memory: GivenMemory | undefined
  let denied: DeniedEvent[] = []
  let [peakUsd, maxDrawdownUsd] = [0n, 0n]
  let day = { number: Math.floor(clock.startSeconds / DAY_SECONDS), realizedUsd: 0n, resultUsd: 0n }

  const count = (price: TrialMoment['price']): void => {
    const resultUsd = account.resultUsd(price)
    peakUsd = maxOf(peakUsd, resultUsd)
    maxDrawdownUsd = maxOf(maxDrawdownUsd, peakUsd - resultUsd)
  }

  function snapshotAt(step: number): Snapshot {
    const { atSeconds, price } = momentAt(step)
    const atMs = atSeconds * 1000
    const { candles = [], balances } = loaded.needs
    return {
      atMs,
      account: ACCOUNT,
      markets: new Map(markets.map((each) => [hexKey(each.marketToken), prices.view(each, step, candles)])),
      positions: { value: account.positions(ACCOUNT, price), atMs },
      orders: { value: venue.orders(), atMs },
      ...(balances === true ? { balances: { value: account.balances(), atMs } } : {}),
    }
  }

  function judge(
    decision: Decision,
    snapshot: Snapshot,
    decisionKey: string,
    pending: readonly Intent[],
  ): Intent | Denial {
    const nowMs = snapshot.atMs
    const symbol = markets.find((each) => hexKey(each.marketToken) === hexKey(decision.marketToken))?.symbol
    const limits = setting.limits.on(symbol, loaded.name)
    const adds = addsRisk(decision, snapshot.orders.value)
    const lately = accepted.filter((atMs) => atMs > nowMs - HOUR_SECONDS * 1000).length + pending.length
    const resultUsd = account.resultUsd((token) => prices.at(token, stepOf(nowMs, clock)))
    const exposure = exposureOf(snapshot, [...venue.open(), ...pending.map(begun)])
    const admitted = admit(decision, {
      snapshot,
      exposure,
      limits,
      // All that the trial's account holds is the strategy's own.
      own: { limits: setting.limits.ownOn(loaded.name), exposure },
      usage: {
        accountLimits: setting.limits.current().account,
        dayResultUsd: minOf(account.realizedUsd() - day.realizedUsd, resultUsd - day.resultUsd),
        acceptedLastHour: { strategy: lately, account: lately },
      },
      trading: { state: 'active' },
      equity: { equityUsd: startUsd + resultUsd },
      impact: {},
      venue: {},
      maker: { strategy: loaded.name },
      ...(loaded.exits === undefined
        ? {}
        : { exits: exitsNow(loaded.exits, marketOf(snapshot, decision.marketToken), nowMs) ?? 'unknown' }),
      ...protectionAt(nowMs),
      signedOrder: (orderKey) => {
        const row = snapshot.orders.value.find((each) => each.orderKey === orderKey)
        return row && signedAs(row)
      },
      intent: {
        intentId: decisionKey,
        decisionKey,
        account: ACCOUNT,
        chain: setting.chain,
        lane: setting.lane,
        expiresAtMs: nowMs + 60_000,
      },
      slippageBps: slippageOf(adds, loaded.slippageBps ?? setting.defaultSlippageBps, limits),
      nowMs,
    })
    if (admitted.kind !== 'intent') return admitted.denial
    return trialEdgeDenial(admitted.intent, loaded.protect) ?? admitted.intent
  }

  /** Returns the rules and facts of its `protect` block at an instant, Unix ms. */
  function protectionAt(atMs: number): { readonly protection?: Protection } {
    if (loaded.protect === undefined) return {}
    const resultUsd = account.resultUsd((token) => prices.at(token, stepOf(atMs, clock)))
    const openUsd = resultUsd - account.realizedUsd()
    return { protection: { rules: loaded.protect, track: venue.track(), openUsd } }
  }

  /** Judges decisions of a turn, and fills what is taken once all are judged. The denials of those that the kind made are given. */
  function takeAll(
    decisions: readonly unknown[],
    by: TrialDecider,
    snapshot: Snapshot,
    step: number,
  ): DeniedEvent[] {
    const moment = momentAt(step)
    const pending: Intent[] = []
    const unwound: string[] = []
    const denials: DeniedEvent[] = []
    const turn = { turn: step + 1, by, fillsBefore: venue.fills.length } as const
    for (const [index, returned] of decisions.entries()) {
      const decisionKey = `${loaded.name}:${snapshot.atMs}:${by}:${index}`
      const problem = decisionProblem(returned)
      if (problem !== undefined) {
        const { reason } = problem
        rows.push({ ...turn, symbol: '', outcome: 'invalid', reason })
        denials.push({ kind: 'denied', atMs: snapshot.atMs, decisionKey, code: 'DECISION_INVALID', reason })
        continue
      }
      const decision = returned as StrategyDecision
      if (decision.kind === 'unwind') {
        const isOpen = venue.open().some(({ intent }) => intent.intentId === decision.intentId)
        if (isOpen) unwound.push(decision.intentId)
        rows.push({ ...turn, decision, symbol: '', outcome: isOpen ? 'taken' : 'ORDER_UNKNOWN' })
        continue
      }
      if (!isOrderDecision(decision) && !isTaskDecision(decision)) {
        const isTold = decision.kind === 'report-order'
        const reason = isTold ? decision.reason : 'nothing is prepared in a trial'
        rows.push({ ...turn, decision, symbol: '', outcome: 'taken', reason })
        continue
      }
      if (isTaskDecision(decision)) {
        const reason = 'tasks do not run in a trial'
        rows.push({ ...turn, decision, symbol: '', outcome: 'taken', reason })
        continue
      }
      const { marketToken, direction, kind: order } = decision
      const symbol = markets.find((each) => hexKey(each.marketToken) === hexKey(marketToken))?.symbol ?? ''
      const judged = judge(decision, snapshot, decisionKey, pending)
      if ('code' in judged) {
        rows.push({ ...turn, decision, symbol, outcome: judged.code, reason: judged.reason })
        denials.push({
          kind: 'denied',
          atMs: snapshot.atMs,
          decisionKey,
          order,
          marketToken,
          direction,
          ...judged,
        })
        continue
      }
      const { sizeDeltaUsd } = judged.terms
      const sized = sizeDeltaUsd > 0n ? { sizeUsd: sizeDeltaUsd } : {}
      rows.push({ ...turn, decision, symbol, outcome: 'taken', ...sized })
      pending.push(judged)
    }
    for (const intent of pending) {
      accepted.push(snapshot.atMs)
      venue.take(intent, moment)
    }
    for (const intentId of unwound) venue.unwind(intentId, moment)
    return denials
  }

  /** The situation at a step, once what the exits of the file call for is taken. */
  function withKeptExits(step: number): Snapshot {
    const before = snapshotAt(step)
    const kept = trialKept(loaded, protectionAt(before.atMs).protection, before, venue.open())
    if (kept.length === 0) return before
    takeAll(kept, 'exits', before, step)
    return snapshotAt(step)
  }

  /** Keeps exits, asks the kind, and hands on what it decides. Throws what it throws. */
  async function turnAt(step: number): Promise<void> {
    const number = Math.floor(momentAt(step).atSeconds / DAY_SECONDS)
    if (number > day.number) {
      const resultUsd = account.resultUsd(momentAt(step).price)
      day = { number, realizedUsd: account.realizedUsd(), resultUsd }
    }
    const snapshot = withKeptExits(step)
    const states = venue.open()
    // A position that a keeper receives belongs to somebody else.
    const own = loaded.strategy.opensPositions ? allAsOwn(snapshot) : []
    const scene = {
      snapshot,
      openIntents: openIntentsOf(states, { orders: snapshot.orders, own }),
      own,
      restingOrders: restingOrdersOf(snapshot, states),
      tasks: [],
    }
    const past: GivenPast | undefined = keeps
      ? {
          ...defined({ memory }),
          events: [...denied, ...venue.takeEvents()],
          eventsMissed: 0,
          signals: trialSignals(loaded, first.symbol, step, snapshot.atMs),
        }
      : undefined
    const { returned, failed: crash } = await callKind(loaded, scene, past)
    if (crash !== undefined) throw crash
    const turn = keeps && !(returned instanceof Promise) ? (returned as CheckedTurn) : undefined
    if (turn !== undefined)
      memory = { strategyKind: loaded.strategy.kind, version: turn.version, memory: turn.memory }
    const decisions = turn === undefined ? returned : turn.decisions
    const problem = returnedProblem(decisions)
    if (problem !== undefined)
      rows.push({
        turn: step + 1,
        by: 'kind',
        fillsBefore: venue.fills.length,
        symbol: '',
        outcome: 'invalid',
        reason: problem.reason,
      })
    const orphans = trialOrphans(snapshot, states)
    denied = takeAll(problem === undefined ? (decisions as readonly unknown[]) : [], 'kind', snapshot, step)
    takeAll(orphans, 'exits', snapshot, step)
  }

  async function run(): Promise<Trial> {
    let failed: Trial['failed']
    for (let step = 0; step < TRIAL_STEPS && failed === undefined; step++) {
      for (let look = 1; step > 0 && look <= LOOKS; look++) {
        const moment = momentAt(step - 1 + look / LOOKS)
        venue.pass(moment)
        count(moment.price)
      }
      try {
        await turnAt(step)
      } catch (error) {
        failed = { turn: step + 1, reason: reasonOf(error) }
      }
      count(momentAt(step).price)
    }
    const resultUsd = account.resultUsd(momentAt(TRIAL_STEPS - 1).price)
    return { situation, rows, fills: venue.fills, resultUsd, maxDrawdownUsd, ...(failed && { failed }) }
  }

  return { run }
}

function stepOf(atMs: number, { startSeconds, stepSeconds }: TrialClock): number {
  return (atMs / 1000 - startSeconds) / stepSeconds
}

/** An intent as it will be once it is accepted. */
function begun(intent: Intent): IntentState {
  return { intent, attempts: [], updatedAtMs: intent.acceptedAtMs }
}

/** A resting order as its own message made it: in a trial nobody else changes one. */
function signedAs(row: Order): SignedOrder {
  return {
    orderType: row.orderType,
    sizeDeltaUsd: row.sizeDeltaUsd,
    collateralAmount: row.initialCollateralDeltaAmount,
    kept: {
      marketToken: row.marketToken,
      direction: row.direction,
      collateralToken: row.initialCollateralToken,
      triggerContractPrice: row.triggerContractPrice,
      acceptableContractPrice: row.acceptableContractPrice,
      minOutputAmount: row.minOutputAmount ?? 0n,
      autoCancel: row.autoCancel ?? false,
    },
  }
}
