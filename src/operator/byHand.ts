/**
 * Orders by hand. They take the path of every order: admission, journal, verification, one send. An entry is subject to all limits, halts and budgets
 * of a strategy's order; a close or cancel is an exit, which no halt holds back.
 *
 * Each command has an id from its requester, which determines its order's id: a repeated command, before or after a crash, is the same order, and
 * nothing is done twice.
 */

import type { HasCatalogue, HasOrders, HasTrading } from '../account/accountParts.ts'
import { OPERATOR } from '../account/halts/tradingHalts.ts'
import { intentIdOf } from '../account/ids.ts'
import { defined } from '../base/defined.ts'
import type { Decision, DecisionFacts, ExitRequest } from '../domain/order/decision.ts'
import { type Denial, labelOf } from '../domain/order/intent.ts'
import type { MarketView, Snapshot } from '../domain/snapshot.ts'
import { accountOf } from '../execution/context/executionContext.ts'
import type { HasAccount, HasEmit } from '../execution/context/executionParts.ts'
import { isDenial } from '../risk/exposure/admissionContext.ts'
import { farBpsOf } from './farPrice.ts'
import { type PreviewContext, previewOf } from './manualPreview.ts'
import { denied, type OperatorAnswer, type Refusal, refusal } from './operatorAnswer.ts'
import type { QuotedTerms } from './quotes/manualQuote.ts'
import { quoteWorse } from './quoteWorse.ts'

/** Parts of the engine that orders by hand receive. */
export interface HandContext
  extends PreviewContext,
    HasAccount,
    HasCatalogue,
    HasEmit,
    HasOrders,
    HasTrading {
  /** False while the account is not read yet. */
  readonly isRunning: () => boolean
  /** Reads a snapshot with these markets and every market with a position or an order. */
  readonly read: (symbols: readonly string[]) => Promise<Snapshot>
  /** Hands a decision of the operator to admission, and the intent to the road. */
  readonly admit: (snapshot: Snapshot, decision: Decision, decisionKey: string) => Promise<Denial | undefined>
}

/** A command of an order by hand. */
interface HandCommand {
  readonly type: string
  /** Chosen by the requester: the same id is carried out once, over restarts too. */
  readonly id: string
  readonly isPreview?: boolean
}

/** A command as understood: its decision, its snapshot, and its description. */
export interface HandDecision {
  readonly snapshot: Snapshot
  readonly decision: Decision
  readonly symbol: string
  /** `long ETH/USD [WETH-USDC] of $500.00`. */
  readonly words: string
  /** Name of the manager of the remaining position, or another fact that the operator should know. */
  readonly note?: string
  /** The rule that took the market of a short symbol; absent: it was named. */
  readonly chosen?: string
  /** It cancels the last stop-loss of a position that is held. */
  readonly isLastStop?: true
  /** It moves a stop-loss to where more is lost. */
  readonly isLooser?: true
  /** The cap that made the size of an entry smaller than its risk allows. */
  readonly cap?: string
  /** Exits that a plan of the operator keeps on the position of an entry; absent: none. */
  readonly planned?: readonly ExitRequest[]
  /** The terms that were shown for an entry. Absent: none were. */
  readonly quoted?: QuotedTerms
  /** The operator agrees to a price far from the present one. */
  readonly isFarAgreed?: boolean
}

/** Facts of the decision, and its reason. */
export interface HandReason {
  readonly facts: DecisionFacts
  readonly reason: string
  /** Its key, which no other decision of the operator has. */
  readonly decisionKey: string
}

/** One order by hand. */
export interface HandOrder<Command extends HandCommand> {
  /** Describes the request without its id: two commands of one id must agree in it. */
  asked(command: Command): string
  /** Returns the decision, or the answer to a command that makes no order. Throws what reading throws. */
  decide(context: HandContext, command: Command, why: HandReason): Promise<HandDecision | OperatorAnswer>
}

/** The `preview` and `run` of a command's row that makes one order. */
export function byHand<Command extends HandCommand>(order: HandOrder<Command>) {
  const carryOut = (
    { byHand: context }: { readonly byHand: HandContext },
    command: Command,
    { by }: { readonly by: string },
  ) => makeOrder(context, command, by, order)
  return { preview: carryOut, run: carryOut }
}

/** Makes the order of a command or shows it, or returns the reason why there is none. Throws what reading and the journal throw. */
async function makeOrder<Command extends HandCommand>(
  context: HandContext,
  command: Command,
  by: string,
  order: HandOrder<Command>,
): Promise<OperatorAnswer> {
  const { emit } = context
  const { id, type } = command
  const asked = order.asked(command)
  const decisionKey = `${OPERATOR}#${id}`
  const before = await madeBefore(context, decisionKey, asked)
  if (before !== undefined) return before
  if (!context.isRunning()) {
    return refusal('NOT_READY', 'perpd has not read the account yet; retry in a moment (perpd status)')
  }
  const facts = { asked, by, command: id }
  const hand = await order.decide(context, command, {
    ...{ facts, decisionKey },
    reason: `manual order of ${by}: ${asked}`,
  })
  if ('ok' in hand) return hand
  const { snapshot, decision, symbol, words, note } = hand
  if (command.isPreview === true) return await preview(context, type, decisionKey, hand)
  const worse = await worseThanShown(context, decisionKey, hand)
  if (worse !== undefined) return worse
  emit({ type: 'decision.made', strategy: OPERATOR, decisionKey, decision, symbol })
  const denial = await context.admit(snapshot, decision, decisionKey)
  if (denial !== undefined) {
    // Asked twice at once: the other one did it, which may be why this one is denied.
    const other = await madeBefore(context, decisionKey, asked)
    if (other !== undefined) return other
    emit({ type: 'decision.denied', strategy: OPERATOR, decisionKey, decision, symbol, denial })
    return denied(denial)
  }
  const intentId = intentIdOf(accountOf(context), OPERATOR, decisionKey)
  return {
    ok: true,
    intentId,
    statement: `${type} ${words} is accepted as order ${intentId}${note === undefined ? '' : `; ${note}`}`,
  }
}

/**
 * The reason why an entry is not made although limits may allow it: STOP_BEHIND_LIQUIDATION, PRICE_FAR where nobody agreed to a price so far away, and
 * QUOTE_WORSE where it became worse than what was shown. Whatever admission denies is left to admission.
 */
async function worseThanShown(
  context: HandContext,
  decisionKey: string,
  hand: HandDecision,
): Promise<Refusal | undefined> {
  const { decision, quoted, isFarAgreed } = hand
  if (decision.kind !== 'increase') return undefined
  const farBps = farBpsOf(hand.snapshot, decision)
  if (farBps !== undefined && isFarAgreed !== true) {
    return refusal(
      'PRICE_FAR',
      `the order would wait ${farBps / 100}% from the price now; agree to that with --far, or give a nearer price`,
    )
  }
  const hasStop = decision.tpsl?.some(({ type }) => type === 'stop-loss') === true
  if (quoted === undefined && !hasStop) return undefined
  const shown = await previewOf(context, { ...hand, decisionKey })
  if ('ok' in shown) return shown.code === 'STOP_BEHIND_LIQUIDATION' ? shown : undefined
  if ('closing' in shown) return undefined
  return quoted === undefined ? undefined : quoteWorse(shown.now, quoted)
}

/** The order that a command of the same id made before, or a refusal where that command asked for something else. */
async function madeBefore(
  context: HandContext,
  decisionKey: string,
  asked: string,
): Promise<OperatorAnswer | undefined> {
  const made = await context.journal.intent(intentIdOf(accountOf(context), OPERATOR, decisionKey))
  if (made === undefined) return undefined
  const { intentId, decision } = made.intent
  if (decision.facts?.asked !== asked) {
    return refusal(
      'ID_USED',
      `this id belongs to an earlier command: ${String(decision.facts?.asked)} (order ${intentId}); choose another --id`,
    )
  }
  return {
    ok: true,
    intentId,
    statement: `this was done before, as order ${intentId}, which is ${labelOf(made)}; perpd does not repeat it`,
  }
}

/**
 * Returns a preview of the order as it would be now, with other facts that the operator should know first; for an entry, the quote contains them.
 */
async function preview(
  context: HandContext,
  type: string,
  decisionKey: string,
  hand: HandDecision,
): Promise<OperatorAnswer> {
  const { snapshot, decision, words, note, isLastStop, isLooser } = hand
  const more = note === undefined || decision.kind === 'increase' ? '' : `; ${note}`
  const statement = `${type} ${words} would be accepted now${more}`
  // A change of what rests costs its sending alone: it fills nothing.
  if (decision.kind !== 'cancel' && decision.kind !== 'edit') {
    const seen = await previewOf(context, { ...hand, decisionKey })
    if ('ok' in seen) return seen
    return { ok: true, statement, ...('closing' in seen ? seen : { quote: seen.quote }) }
  }
  const intent = context.judging.judge(snapshot, decision, decisionKey)
  return isDenial(intent) ? denied(intent) : { ok: true, statement, ...defined({ isLastStop, isLooser }) }
}

/** The address of a token of a market's pool. */
export function poolToken(view: MarketView, side: 'long' | 'short') {
  return side === 'long' ? view.longToken.address : view.shortToken.address
}
