/**
 * Pauses after refusals: a 400 of prepare is not cured by asking again unchanged
 * (docs/reference/api-coverage.md A21). The same decision waits, longer with each refusal by the same cause, and only the shortest
 * pause once something changed that could change the answer. What cannot add risk waits for short and is never given up.
 */
import { endingOf, isWanted } from '../../domain/accountRecords/spend.ts'
import { type Denial, type Intent, type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import { sameHex } from '../../protocol/address.ts'
import { absOf, bps, minOf } from '../../protocol/units.ts'
import { requestedCause } from './circuitBreakers.ts'

interface Pauses {
  readonly firstMs: number
  readonly mostMs: number
}

const ofIncreases: Pauses = { firstMs: 5_000, mostMs: 900_000 }
const ofReductions: Pauses = { firstMs: 2_000, mostMs: 60_000 }
/** Age beyond which the venue may answer differently for other reasons, ms. */
const forgottenMs = 86_400_000

/** Least part by which a size, a payment or the capacity must differ to be another question, bps, and a price. */
const sizeChangeBps = 500
const priceChangeBps = 50

/** Reductions that were signed and came to nothing cost a fee each: their pauses are longer. */
const ofSigned: Pauses = { firstMs: 5_000, mostMs: 300_000 }

/**
 * REFUSED_BEFORE: the decision's pause after a refusal is not over. The venue refused to prepare it, or its fee was above the limit; for a decision
 * that adds risk, also when another value moved beyond a bound. `states`: the strategy's newest intents, newest first. Refusals count back to the
 * last success of the decision, or to a refusal by another cause. FAILED_BEFORE: the same for a reduction that was signed and had no effect; an
 * operator's reduction of a certain position (`isAtOnce`) does not wait for that. `setBackSince`: how far the clock was set back since an intent was
 * accepted, ms.
 */
export function checkPause(
  intent: Intent,
  adds: boolean,
  states: readonly IntentState[],
  nowMs: number,
  isAtOnce = false,
  setBackSince: (intentId: string) => number = () => 0,
): Denial | undefined {
  const agoMs = (state: IntentState) => nowMs + setBackSince(state.intent.intentId) - closedAtMs(state)
  let newest: IntentState | undefined
  let count = 0
  for (const state of states) {
    if (!isSameDecision(state.intent, intent) || state.closing === undefined) continue
    const { outcome, code } = state.closing
    if (outcome === 'EXECUTED' || outcome === 'PARTIAL') break
    if (!(isCurable(state, adds) || (!adds && !isAtOnce && hasFailed(state))) || agoMs(state) >= forgottenMs)
      continue
    if (newest !== undefined && newest.closing?.code !== code) break
    newest ??= state
    count += 1
  }
  if (newest === undefined) return undefined
  const isSigned = !isCurable(newest, adds)
  const { firstMs, mostMs } = adds ? ofIncreases : isSigned ? ofSigned : ofReductions
  const grownMs = Math.min(firstMs * 2 ** (count - 1), mostMs)
  const change = changeOf(newest.intent, intent)
  const pauseMs = change === undefined || isSigned ? grownMs : firstMs
  const pausedMs = agoMs(newest)
  // An end that lies farther ahead of now than its pause is long is of a clock that was ahead.
  if (Math.abs(pausedMs) >= pauseMs) return undefined
  const untilMs = nowMs + pauseMs - pausedMs
  const waits = { wanted: `again after ${pausedMs} ms`, allowed: `again after ${pauseMs} ms` }
  if (isSigned) {
    return {
      code: 'FAILED_BEFORE',
      reason: `This reduction was signed and had no effect ${count === 1 ? 'once' : `${count} times in a row`} (${endingOf(newest)?.cause}); perpd retries it at ${new Date(untilMs).toISOString()}.`,
      ...waits,
    }
  }
  return {
    code: 'REFUSED_BEFORE',
    reason: `${causeOf(newest)} this order ${count === 1 ? 'once' : `${count} times in a row`} (${newest.closing?.code}); perpd retries it at ${new Date(untilMs).toISOString()}, or soon after its size, its price or the capacity changes.`,
    ...waits,
  }
}

function closedAtMs({ closedAtMs: atMs, updatedAtMs }: IntentState): number {
  return atMs ?? updatedAtMs
}

const FEE_ABOVE_LIMIT = 'FEE_ABOVE_LIMIT'

/** Refusals because a value changed by itself meanwhile; nothing was signed. */
const moved: ReadonlyMap<string | undefined, string> = new Map([
  ['PRICE_OUT_OF_BOUNDS', 'The price had moved beyond its bound for'],
  ['POSITION_MOVED', 'The position had changed for'],
  ['OFFER_EXPIRED', 'The offer had expired for'],
  ['CHAIN_CLOCK_SKEW', "The chain's time was not known for"],
])

function causeOf({ closing }: IntentState): string {
  if (closing?.code === FEE_ABOVE_LIMIT) return 'The fee was above the limit for'
  return moved.get(closing?.code) ?? 'The venue refused'
}

/**
 * Tells whether time may cure the cause: the venue refused it, or its fee was above the limit, as in a gas spike. An order that reduces risk is
 * requested again at once when a value moved: a position must be closable at the present price.
 */
function isCurable(state: IntentState, adds: boolean): boolean {
  const code = state.closing?.code
  return isRefusedByVenue(state) || code === FEE_ABOVE_LIMIT || (adds && moved.has(code))
}

/** Tells whether it was signed and had no effect, without anybody requesting that. */
function hasFailed(state: IntentState): boolean {
  const ending = endingOf(state)
  return (
    ending !== undefined &&
    lastAttempt(state)?.armed !== undefined &&
    !isWanted(ending) &&
    !requestedCause.test(ending.cause)
  )
}

function isRefusedByVenue({ closing }: IntentState): boolean {
  const status = closing?.facts?.httpStatus
  return closing?.outcome === 'REFUSED_LOCAL' && typeof status === 'number' && status >= 400 && status < 500
}

/** One question of the venue: the same kind of order on the same side, or about the same orders. */
function isSameDecision(one: Intent, other: Intent): boolean {
  const [a, b] = [one.terms, other.terms]
  return (
    one.kind === other.kind &&
    a.orderType === b.orderType &&
    a.direction === b.direction &&
    sameHex(a.marketToken, b.marketToken) &&
    sameHex(a.collateralToken.address, b.collateralToken.address) &&
    a.edit?.orderKey === b.edit?.orderKey &&
    a.cancelOrderKeys?.join() === b.cancelOrderKeys?.join()
  )
}

/** Returns the change since the refusal that could change the answer; undefined when there is none. */
function changeOf(
  refused: Intent,
  intent: Intent,
): 'size' | 'payment' | 'price' | 'trigger' | 'room' | undefined {
  const [was, is] = [refused.terms, intent.terms]
  if (differs(was.sizeDeltaUsd, is.sizeDeltaUsd, sizeChangeBps)) return 'size'
  if (differs(was.collateralDelta, is.collateralDelta, sizeChangeBps)) return 'payment'
  if (differs(was.referencePrice, is.referencePrice, priceChangeBps)) return 'price'
  if (differs(was.triggerPrice ?? 0n, is.triggerPrice ?? 0n, priceChangeBps)) return 'trigger'
  if (differs(refused.sizing.capacityUsd ?? 0n, intent.sizing.capacityUsd ?? 0n, sizeChangeBps)) return 'room'
  return undefined
}

function differs(was: bigint, is: bigint, leastBps: number): boolean {
  return absOf(was - is) > bps(minOf(was, is), leastBps)
}
