/**
 * The invariants I1 to I13 of test/simulation/PROOFS.md, held against the truth of the model and never against what the daemon
 * believes. The first violation ends the world.
 */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import { reservedOf } from '../../src/domain/machine/intentExposure.ts'
import {
  type ArmedFacts,
  type Attempt,
  hasEnded,
  type Intent,
  type IntentState,
  isProvisional,
  type Outcome,
} from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import type { Hex } from '../../src/protocol/address.ts'
import type { ModelChain, ModelOrder, Use } from './chainModel.ts'

/** What was broken. */
export interface Violation {
  readonly invariant: string
  readonly text: string
  readonly atMs: number
}

/** Thrown when an invariant is broken: the world ends there. */
export class InvariantBroken extends Error {
  readonly violation: Violation

  constructor(violation: Violation) {
    super(`${violation.invariant}: ${violation.text}`)
    this.name = 'InvariantBroken'
    this.violation = violation
  }
}

interface Signed {
  readonly intentId: string
  readonly digest: Hex
  readonly deadlineSeconds: number
  readonly host: string
  readonly requestId: string | undefined
  /** Epoch of the journal's writer at which it was armed. */
  epoch?: number
  isDurable: boolean
  posts: number
}

/** What is so. */
export interface Truth {
  readonly intents: ReadonlyMap<string, Intent>
  /** These, and those that are being written, the newest last: what a host may be asked to prepare. */
  readonly askable: ReadonlyMap<string, Intent>
  /** An intent is handed to a journal. */
  writing(intent: Intent): void
  /** A signature was made for an intent; it has not left. */
  signed(intentId: string, facts: Omit<Signed, 'intentId' | 'epoch' | 'isDurable' | 'posts'>): void
  /** A process found this on the disk: what a crash left of its predecessor's last words. */
  survived(state: IntentState): void
  /** A record is durable. */
  durable(record: JournalRecord, state: IntentState): void
  /** A process has the journal now, at this epoch. */
  opened(epoch: number): void
  /** Runs what makes bytes leave a process that opened the journal at this epoch. */
  sentBy(epoch: number, leave: () => void): void
  /** The bytes of a submit leave the process. */
  posted(digest: Hex, host: string, requestId: string | undefined): void
  /** A status of an order chain is asked. */
  asked(host: string, requestId: string): void
  /** The signed deadline of a digest that is armed, Unix seconds. */
  deadlineOf(digest: Hex): number | undefined
  /** Position at the final block plus all that may still come, USD. */
  worstCaseUsd(): bigint
  /** What an intent that was sent may still add, whatever is believed, USD. */
  riskOf(intent: Intent): bigint
  /** Position at the final block, USD. */
  finalPositionUsd(): bigint
  /** Whether it is decided, by the truth, how the intent ended. */
  fateOf(intentId: string): Fate
  /** Everything that must hold when all is over. */
  finish(states: Iterable<IntentState>): void
  fail(invariant: string, text: string): never
}

/** How an intent ended in truth. */
export type Fate = 'open' | 'never-left' | 'dead' | 'void' | 'executed' | 'partial' | 'cancelled'

/** An hour, and what clocks may differ by; in the relay lane five minutes, and the same. */
const longestDeadlineSeconds = { 'order-chain': 4_000, relay: 400 } as const

/** Makes the truth of a world; `limitUsd` is what exposure may never exceed. `broken` is told of a violation
 * first; `isOnDisk` says whether the armed record of a digest, and the guard's line of it, would survive the power. */
export function createTruth(
  timeline: Timeline,
  chain: ModelChain,
  limitUsd: bigint,
  hooks: {
    readonly broken: (violation: Violation) => void
    readonly isOnDisk: (digest: Hex) => boolean
    /** The process that has an epoch; absent: each epoch is another process's. */
    readonly writerOf?: ((epoch: number) => number | undefined) | undefined
  },
): Truth {
  const intents = new Map<string, Intent>()
  const askable = new Map<string, Intent>()
  const byDigest = new Map<Hex, Signed>()
  const states = new Map<string, IntentState>()
  const writerOf = (epoch: number | undefined): number | undefined =>
    hooks.writerOf === undefined || epoch === undefined ? epoch : hooks.writerOf(epoch)
  let sender: number | undefined
  let owner = 0

  function fail(invariant: string, text: string): never {
    const violation = { invariant, text, atMs: timeline.nowMs }
    // Thrown inside a request, it could be taken for a fault of the network.
    hooks.broken(violation)
    throw new InvariantBroken(violation)
  }

  const ofIntent = (intentId: string) => [...byDigest.values()].filter((each) => each.intentId === intentId)

  function useOf(digest: Hex): Use | undefined {
    return chain.canonical.uses.get(digest)
  }

  function isFinal(number: bigint): boolean {
    return number <= chain.finalAt(timeline.nowMs).number
  }

  function isEnded(order: ModelOrder): boolean {
    return order.state === 'executed' || order.state === 'cancelled'
  }

  /** Closed by an operator's word: what becomes of it on the chain is his, as what he trades by hand. */
  function isOperators(intentId: string | undefined): boolean {
    return intentId !== undefined && states.get(intentId)?.closing?.evidence.level === 'operator'
  }

  function ordersOf(use: Use): ModelOrder[] {
    return keysOf(use).flatMap((key) => chain.canonical.orders.get(key) ?? [])
  }

  /** Uses whose orders the journal has under each other's name: see `isTwin`. */
  const named = new Map<Use, readonly Hex[]>()
  /** Uses whose orders the journal knows for good: nobody else may have them. */
  const landed = new Set<Use>()

  function keysOf(use: Use): readonly Hex[] {
    return named.get(use) ?? use.orderKeys
  }

  /**
   * Whether the journal gave a message the orders of its twin. Two messages of one account, signed to the same orders in every
   * field, that a relay put into one transaction, make orders that no event tells apart: which is whose is a matter of names.
   * Each order is then followed by its own key, and its end is judged by that: nothing is counted twice, and nothing is lost, as
   * the twin must have the other's.
   */
  function isTwin(use: Use, orderKeys: readonly Hex[]): boolean {
    const shapes = (keys: readonly Hex[]) =>
      JSON.stringify(
        keys.map((key) => chain.canonical.orders.get(key)?.spec),
        (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value),
      )
    const twin = [...chain.canonical.uses.values()].find(
      (other) =>
        other !== use &&
        !landed.has(other) &&
        other.transactionHash === use.transactionHash &&
        keysOf(other).join() === orderKeys.join() &&
        shapes(keysOf(other)) === shapes(keysOf(use)),
    )
    if (twin === undefined) return false
    const own = keysOf(use)
    named.set(use, keysOf(twin))
    named.set(twin, own)
    return true
  }

  /** Whether the digest can still be used by a block that is to come, or by one that a reorganisation brings. */
  function mayLand(signed: Signed): boolean {
    if (signed.posts === 0) return false
    const use = useOf(signed.digest)
    if (use !== undefined && isFinal(use.block.number)) return false
    return use !== undefined || chain.earliestNextAt(timeline.nowMs) <= signed.deadlineSeconds
  }

  /** What an intent may still add, whatever is believed, USD. */
  function riskOf(intent: Intent): bigint {
    let risk = 0n
    for (const signed of ofIntent(intent.intentId)) {
      const use = useOf(signed.digest)
      if (use !== undefined && !use.isForeign && isFinal(use.block.number)) {
        for (const order of ordersOf(use)) {
          const isOver = isEnded(order) && isFinal(order.newest.block.number)
          if (order.spec.adds && !isOver) risk += order.spec.sizeDeltaUsd
        }
      } else if (mayLand(signed)) {
        risk += intent.reservationUsd
      }
    }
    return risk
  }

  function checkReservation(state: IntentState): void {
    if (state.closing?.evidence.level === 'operator') return
    const risk = riskOf(state.intent)
    const held = reservedOf(state)
    // Rounding leaves less than a part unspent.
    if (held < risk) fail('I11', `${state.intent.intentId} holds ${held} and may still add ${risk}`)
  }

  /** A cancel did what it was for when its orders are cancelled, whoever did it; a host's list shows no more than that. */
  function isCancelDone({ kind, terms }: Intent, level: string): boolean {
    const keys = terms.cancelOrderKeys ?? []
    return (
      level === 'api' &&
      kind === 'cancel' &&
      keys.every((key) => chain.canonical.orders.get(key)?.state === 'cancelled')
    )
  }

  function checkEvidence(record: JournalRecord, state: IntentState): void {
    const { intentId } = state.intent
    const attempt = state.attempts.at(-1)
    const digest = attempt?.armed?.digest
    const use = digest === undefined ? undefined : useOf(digest)
    const signed = digest === undefined ? undefined : byDigest.get(digest)
    switch (record.kind) {
      case 'attempt.dead': {
        if (use !== undefined) fail('I8', `${intentId} is called dead and its digest is used`)
        if (signed !== undefined && mayLand(signed))
          fail('I8', `${intentId} is called dead and may still land`)
        if (signed !== undefined && chain.timeAt(timeline.nowMs) <= signed.deadlineSeconds)
          fail('I8', `${intentId} is called dead before its deadline`)
        return
      }
      case 'attempt.void':
        if (use?.isForeign !== true || !isFinal(use.block.number))
          fail('I8', `${intentId} is called void, and no stranger's use is final`)
        return
      case 'landed': {
        if (isProvisional(record.evidence) || isCancelDone(state.intent, record.evidence.level)) return
        if (use === undefined || use.isForeign || !isFinal(use.block.number))
          fail('I8', `${intentId} is called landed for good, and is not`)
        if (keysOf(use).join() !== record.orderKeys.join() && !isTwin(use, record.orderKeys))
          fail('I8', `${intentId} landed with other orders than the journal says`)
        landed.add(use)
        return
      }
      case 'child.executed':
      case 'child.cancelled': {
        if (isProvisional(record.evidence)) return
        const order = chain.canonical.orders.get(record.orderKey)
        const wanted = record.kind === 'child.executed' ? 'executed' : 'cancelled'
        if (order?.state !== wanted || !isFinal(order.newest.block.number))
          fail(
            'I8',
            `${intentId}: order ${record.child} is called ${wanted} for good, and is ${order?.state}`,
          )
        return
      }
      case 'intent.closed': {
        const { level } = record.closing.evidence
        if (level === 'operator' || isCancelDone(state.intent, level)) return
        const fate = fateOf(intentId)
        const wanted = fateOfOutcome[record.closing.outcome]
        if (!wanted.includes(fate))
          fail('I8', `${intentId} closed as ${record.closing.outcome}, and is ${fate}`)
      }
    }
  }

  function fateOf(intentId: string): Fate {
    const digests = ofIntent(intentId)
    const landed = digests.flatMap(({ digest }) => {
      const use = useOf(digest)
      return use === undefined || use.isForeign ? [] : [use]
    })
    const [use] = landed
    if (use !== undefined) {
      if (!isFinal(use.block.number)) return 'open'
      const all = ordersOf(use)
      if (!all.every((order) => isEnded(order) && isFinal(order.newest.block.number))) return 'open'
      const own = all.filter(({ spec }) => spec.role === 'main' || spec.role === 'part')
      const executed = own.filter(({ state }) => state === 'executed').length
      if (own.length === executed) return 'executed'
      return executed === 0 ? 'cancelled' : 'partial'
    }
    if (digests.some(mayLand)) return 'open'
    if (digests.some(({ digest }) => useOf(digest)?.isForeign === true)) return 'void'
    return digests.some(({ posts }) => posts > 0) ? 'dead' : 'never-left'
  }

  /** I7: what is over stays as it is. */
  function checkAbsorbed(before: IntentState | undefined, after: IntentState): void {
    if (before === undefined) return
    const { intentId } = after.intent
    if (before.closing !== undefined) fail('I7', `${intentId} was closed and goes on`)
    before.attempts.forEach((was, index) => {
      const now = after.attempts[index]
      if (now === undefined) fail('I7', `${intentId} lost attempt ${was.n}`)
      if (isOver(was) && now.phase !== was.phase) fail('I7', `${intentId} was ${was.phase}, is ${now.phase}`)
      for (const child of isOver(was) ? was.children : []) {
        const next = now.children[child.index]
        if (next?.orderKey !== child.orderKey) fail('I7', `${intentId} changed the order ${child.index}`)
        if (hasEnded(child) && !isProvisional(child.evidence) && next.phase !== child.phase)
          fail('I7', `${intentId}: order ${child.index} was ${child.phase}, is ${next.phase}`)
      }
    })
  }

  function isOver({ phase, evidence }: Attempt): boolean {
    return (
      phase === 'DEAD' ||
      phase === 'VOID_CONSUMED' ||
      phase === 'NOT_SENT' ||
      (phase === 'LANDED' && !isProvisional(evidence))
    )
  }

  /** I1 and I3. */
  function checkOneLive(intentId: string): void {
    const digests = ofIntent(intentId)
    const landed = digests.filter(({ digest }) => useOf(digest)?.isForeign === false)
    if (landed.length > 1) fail('I1', `${intentId} landed ${landed.length} times`)
    const live = digests.filter((each) => mayLand(each) || useOf(each.digest)?.isForeign === false)
    if (live.length > 1) fail('I3', `${intentId} has ${live.length} live digests`)
  }

  function arm(
    intentId: string,
    { digest, deadlineSeconds, host, requestId, leaseEpoch: epoch }: ArmedFacts,
    isNew: boolean,
  ): void {
    const known = byDigest.get(digest)
    const longest = longestDeadlineSeconds[requestId === undefined ? 'relay' : 'order-chain']
    if (isNew && deadlineSeconds > chain.timeAt(timeline.nowMs) + longest)
      fail('I9', `${intentId} is signed for ${deadlineSeconds}`)
    if (known === undefined) {
      byDigest.set(digest, {
        intentId,
        digest,
        deadlineSeconds,
        host,
        requestId,
        epoch,
        isDurable: true,
        posts: 0,
      })
    } else if (known.intentId !== intentId) {
      fail('I3', `${intentId} arms the digest of ${known.intentId}`)
    } else {
      known.isDurable = true
      known.epoch = epoch
    }
  }

  function worstCaseUsd(): bigint {
    let sum = finalPositionUsd()
    for (const intent of intents.values()) {
      if (intent.reservationUsd > 0n && !isOperators(intent.intentId)) sum += riskOf(intent)
    }
    return sum
  }

  function finalPositionUsd(): bigint {
    const sides = new Map<string, bigint>()
    // Orders take effect when they execute: a stop that was created before an entry may have closed it.
    const byExecution = [...chain.canonical.orders.values()].sort(
      (one, other) =>
        Number(one.newest.block.number - other.newest.block.number) ||
        one.newest.logIndex - other.newest.logIndex,
    )
    for (const { spec, intentId, state, newest } of byExecution) {
      if (state !== 'executed' || intentId === undefined || !isFinal(newest.block.number)) continue
      if (isOperators(intentId)) continue
      const side = `${spec.marketToken} ${spec.direction}`
      const isDecrease = spec.orderType >= 4 && spec.orderType <= 6
      const before = sides.get(side) ?? 0n
      const size = spec.adds ? spec.sizeDeltaUsd : isDecrease ? -spec.sizeDeltaUsd : 0n
      const after = before + size
      sides.set(side, after < 0n ? 0n : after)
    }
    let sum = 0n
    for (const size of sides.values()) sum += size
    return sum
  }

  return {
    intents,
    askable,
    fail,
    writing(intent) {
      askable.set(intent.intentId, intent)
    },
    fateOf,
    deadlineOf: (digest) => byDigest.get(digest)?.deadlineSeconds,
    worstCaseUsd,
    riskOf,
    finalPositionUsd,
    signed(intentId, facts) {
      const known = byDigest.get(facts.digest)
      if (known !== undefined && known.intentId !== intentId) return
      if (known === undefined) byDigest.set(facts.digest, { ...facts, intentId, isDurable: false, posts: 0 })
    },
    survived(state) {
      const { intentId } = state.intent
      intents.set(intentId, state.intent)
      askable.set(intentId, state.intent)
      states.set(intentId, state)
      for (const { armed } of state.attempts) if (armed !== undefined) arm(intentId, armed, false)
    },
    durable(record, state) {
      const { intentId } = state.intent
      if (record.kind === 'intent.accepted') {
        intents.set(intentId, record.intent)
        askable.delete(intentId)
        askable.set(intentId, record.intent)
      }
      if (record.kind === 'attempt.armed') arm(intentId, record.armed, true)
      checkAbsorbed(states.get(intentId), state)
      states.set(intentId, state)
      checkEvidence(record, state)
      checkReservation(state)
      if (record.kind === 'intent.accepted' && worstCaseUsd() > limitUsd)
        fail('I4', `the worst case is ${worstCaseUsd()} of ${limitUsd}`)
    },
    opened(epoch) {
      owner = epoch
    },
    sentBy(epoch, leave) {
      sender = epoch
      leave()
      sender = undefined
    },
    posted(digest, host, requestId) {
      const signed = byDigest.get(digest)
      if (signed === undefined) fail('I6', `a digest left that no intent signed`)
      if (!signed.isDurable || !hooks.isOnDisk(digest))
        fail(
          'I6',
          `${signed.intentId}: the signature left before its record and the guard's line were durable`,
        )
      signed.posts += 1
      if (signed.posts > 1) fail('I2', `${signed.intentId}: the digest was sent ${signed.posts} times`)
      if (writerOf(signed.epoch) !== writerOf(sender))
        fail('I10', `${signed.intentId} was armed at epoch ${signed.epoch} and sent at ${sender}`)
      if (signed.host !== host || signed.requestId !== requestId)
        fail('I13', `${signed.intentId} was prepared at ${signed.host} and submitted at ${host}`)
      checkOneLive(signed.intentId)
      const state = states.get(signed.intentId)
      if (state?.closing !== undefined && writerOf(sender) === writerOf(owner))
        fail('I7', `${signed.intentId} is closed and sent`)
      if (state !== undefined) checkReservation(state)
      if (worstCaseUsd() > limitUsd) fail('I4', `the worst case is ${worstCaseUsd()} of ${limitUsd}`)
    },
    asked(host, requestId) {
      for (const signed of byDigest.values()) {
        if (signed.requestId === requestId && signed.host !== host)
          fail('I13', `${signed.intentId} was prepared at ${signed.host} and asked for at ${host}`)
      }
    },
    finish(all) {
      for (const intentId of intents.keys()) checkOneLive(intentId)
      for (const order of chain.canonical.orders.values()) {
        if (order.intentId === undefined) continue
        if (!intents.has(order.intentId)) fail('I6', `order ${order.orderKey} has no intent`)
      }
      for (const [digest, use] of chain.canonical.uses) {
        if (!use.isForeign && byDigest.get(digest)?.isDurable !== true)
          fail('I6', `a digest landed that the journal does not hold`)
      }
      for (const state of all) {
        const { closing, intent } = state
        if (closing === undefined || closing.evidence.level === 'operator') continue
        if (isCancelDone(intent, closing.evidence.level)) continue
        const fate = fateOf(intent.intentId)
        if (!fateOfOutcome[closing.outcome].includes(fate))
          fail('I8', `${intent.intentId} is closed as ${closing.outcome}, and is ${fate} in the end`)
      }
    },
  }
}

const fateOfOutcome: Readonly<Record<Outcome, readonly Fate[]>> = {
  EXECUTED: ['executed'],
  PARTIAL: ['partial'],
  CANCELLED: ['cancelled'],
  // Armed and never sent, because the process ended in between, is proven dead as well.
  DEAD: ['dead', 'never-left'],
  VOID_CONSUMED: ['void'],
  REFUSED_LOCAL: ['never-left'],
  EXPIRED: ['never-left'],
}
