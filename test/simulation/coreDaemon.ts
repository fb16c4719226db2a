/**
 * Tier 1: the real `step`, fold, evidence and exposure under the thinnest shell there can be, synchronous and without HTTP.
 * What the real shell does with promises is done here with the timeline; what it commits, sends and asks is the same.
 */

import { epochMs } from '../../src/backtest/lab/timeline.ts'
import { BaseError } from '../../src/base/errors.ts'
import type { Effect } from '../../src/domain/machine/conclude.ts'
import { expectedOf } from '../../src/domain/machine/expected.ts'
import { applyRecord } from '../../src/domain/machine/fold.ts'
import type { AccountView, HostAnswer, Observation } from '../../src/domain/machine/observation.ts'
import { type MachineEvent, step } from '../../src/domain/machine/step.ts'
import {
  type ArmedFacts,
  type Intent,
  type IntentState,
  isOpen,
  lastAttempt,
} from '../../src/domain/order/intent.ts'
import { DuplicateDecisionError } from '../../src/journal/journal.ts'
import type { Hex } from '../../src/protocol/address.ts'
import type { Trade } from '../../src/protocol/position.ts'
import { router, tradeOf, usdc } from '../support/intents.ts'
import type { Message } from './chainModel.ts'
import type { Daemon, DaemonParts, Tier } from './daemon.ts'
import { viewOf } from './endpoints.ts'
import { specsOf } from './intentsOf.ts'
import type { NetOutcome } from './network.ts'
import { mayBeResolved } from './operator.ts'
import type { Lists } from './venueModel.ts'
import type { Peer } from './venuePeers.ts'

/** The tier that drives `step` and the fold alone. */
export const coreTier: Tier = { name: 'core', create: (parts) => new CoreDaemon(parts) }

interface Live {
  state: IntentState | undefined
  message: Message | undefined
  waitMs: number
  isFollowed: boolean
}

const askedTimeoutMs = 10_000
const sentTimeoutMs = 20_000
const prepareRetryMs = 1_000
const pollMs = 500
const landedStatuses: ReadonlySet<string> = new Set(['created', 'executed', 'cancelled'])

class CoreDaemon implements Daemon {
  readonly #parts: DaemonParts
  readonly #lives = new Map<string, Live>()
  #turn = 0
  #isStopping = false
  #timers = 0

  constructor(parts: DaemonParts) {
    this.#parts = parts
  }

  get timers(): number {
    return this.#timers
  }

  start(): void {
    for (const state of this.#parts.journal.openIntents()) {
      this.#lives.set(state.intent.intentId, {
        state,
        message: undefined,
        waitMs: pollMs,
        isFollowed: false,
      })
    }
    for (const [intentId, tracked] of [...this.#lives]) {
      this.#take(intentId, tracked, { type: 'recovered', nowMs: this.#wallMs() })
      if (!this.#isUp()) return
      if (this.#lives.has(intentId)) this.#look(intentId, tracked)
    }
  }

  accept(intent: Intent, done: (isAccepted: boolean) => void): void {
    if (this.#lives.has(intent.intentId)) {
      done(false)
      return
    }
    const tracked: Live = { state: undefined, message: undefined, waitMs: pollMs, isFollowed: false }
    this.#lives.set(intent.intentId, tracked)
    const isTaken = this.#take(intent.intentId, tracked, { type: 'accept', nowMs: this.#wallMs(), intent })
    if (this.#isUp()) done(isTaken)
  }

  states(): readonly IntentState[] {
    return [...this.#lives.values()].flatMap(({ state }) => (state === undefined ? [] : [state]))
  }

  stop(done: () => void): void {
    this.#isStopping = true
    done()
  }

  resolve(intentId: string, as: 'dead' | 'executed' | 'cancelled'): void {
    const tracked = this.#lives.get(intentId)
    if (tracked !== undefined)
      this.#take(intentId, tracked, { type: 'resolved', nowMs: this.#wallMs(), as, by: 'operator' })
  }

  command(intentId: string, as: 'dead' | 'executed' | 'cancelled'): void {
    const state = this.#lives.get(intentId)?.state
    if (state !== undefined && mayBeResolved(state)) this.resolve(intentId, as)
  }

  #isUp(): boolean {
    return this.#parts.process.isAlive && !this.#isStopping
  }

  #wallMs(): number {
    return epochMs + this.#parts.timeline.nowMs + this.#parts.wallOffsetMs()
  }

  /** A timer of this process. */
  #after(ms: number, run: () => void): void {
    this.#timers += 1
    this.#parts.timeline.after(ms, () => {
      this.#timers -= 1
      if (this.#isUp()) run()
    })
  }

  #take(intentId: string, tracked: Live, event: MachineEvent): boolean {
    const { journal, rules } = this.#parts
    for (;;) {
      if (!this.#parts.process.isAlive) return false
      const { record, effects, again } = step(tracked.state, event, rules)
      if (record !== undefined) {
        const isAnothers =
          record.kind === 'landed' && record.orderKeys.some((key) => journal.explains(key, intentId))
        if (isAnothers) return true
        let stored: ReturnType<typeof journal.commit>
        try {
          stored = journal.commit(record)
        } catch (error) {
          if (error instanceof DuplicateDecisionError) {
            this.#lives.delete(intentId)
            return false
          }
          if (!(error instanceof BaseError)) throw error
          this.#parts.fatal(error)
          return false
        }
        if (stored === undefined) return false
        tracked.state = applyRecord(tracked.state, stored.record)
        if (!isOpen(tracked.state)) this.#lives.delete(intentId)
      }
      for (const effect of effects) {
        this.#run(intentId, tracked, effect)
        if (!this.#parts.process.isAlive) return true
      }
      if (!again) return true
    }
  }

  #run(intentId: string, tracked: Live, effect: Effect): void {
    if (this.#isStopping) {
      if (effect.type !== 'submit') return
      const send = { result: 'not-sent', message: 'stopping' } as const
      this.#take(intentId, tracked, { type: 'sent', nowMs: this.#wallMs(), send })
      return
    }
    switch (effect.type) {
      case 'begin': {
        const { peers } = this.#parts.venue
        const host = peers[this.#turn++ % peers.length]?.host ?? ''
        this.#take(intentId, tracked, { type: 'begin', nowMs: this.#wallMs(), host })
        return
      }
      case 'prepare':
        if (effect.again) this.#after(prepareRetryMs, () => this.#prepare(intentId, tracked, true))
        else this.#prepare(intentId, tracked, false)
        return
      case 'submit':
        this.#submit(intentId, tracked)
        return
      case 'follow':
        this.#follow(intentId, tracked)
        return
    }
  }

  #prepare(intentId: string, tracked: Live, again: boolean): void {
    const { venue, faults, random, boundary } = this.#parts
    const { state } = tracked
    if (state === undefined || !this.#lives.has(intentId) || boundary('prepare')) return
    const { intent } = state
    const asked = again ? venue.peers[this.#turn++ % venue.peers.length] : undefined
    const peer = asked ?? venue.peer(lastAttempt(state)?.host ?? '')
    const give = (event: MachineEvent) => {
      if (this.#isUp() && this.#lives.has(intentId) && !boundary('prepared'))
        this.#take(intentId, tracked, event)
    }
    const nowMs = () => this.#wallMs()
    const unreachable = (reason: string) => give({ type: 'prepare.unreachable', nowMs: nowMs(), reason })
    this.#ask<ArmedFacts | 'refused' | 'hostile'>(peer, sentTimeoutMs, {
      what: ['prepare', intent.intentId],
      left: () => {},
      handle: () => {
        if (faults.comes('prepare-refused', 0.1)) return 'refused'
        if (faults.comes('prepare-hostile', 0.1)) return 'hostile'
        return this.#prepared(peer, intent)
      },
      done: (outcome) => {
        if (outcome.kind !== 'answer') return unreachable(outcome.kind)
        if (outcome.value === 'refused')
          return give({ type: 'refused', nowMs: nowMs(), code: 'PREPARE_REFUSED', reason: 'refused' })
        if (outcome.value === 'hostile')
          return give({ type: 'refused', nowMs: nowMs(), code: 'TYPED_DATA_MISMATCH', reason: 'hostile' })
        const creates = specsOf(intent, random)
        const armed: ArmedFacts = {
          ...outcome.value,
          creates: creates.map(({ sizeDeltaUsd, collateralAmount = 0n }) => ({
            sizeDeltaUsd,
            collateralAmount,
          })),
        }
        tracked.message = {
          digest: armed.digest,
          signature: armed.signature,
          deadlineSeconds: armed.deadlineSeconds,
          userNonce: armed.userNonce,
          intentId,
          creates,
          changes: expectedOf(intent).changes,
          revertsLeft: 0,
        }
        const { timeline, transcript, truth } = this.#parts
        transcript?.signature(timeline.nowMs, armed.digest, armed.signature)
        truth.signed(intentId, {
          digest: armed.digest,
          deadlineSeconds: armed.deadlineSeconds,
          host: armed.host,
          requestId: armed.requestId,
        })
        give({ type: 'signed', nowMs: nowMs(), armed })
      },
    })
  }

  #prepared(peer: Peer, intent: Intent): ArmedFacts {
    const { random, timeline, deadlineSeconds, journal, chain, venue } = this.#parts
    const isRelay = intent.lane === 'relay'
    const requestId = `req-${random.hex(6)}`
    const hostSeconds = Math.floor((epochMs + timeline.nowMs + peer.skewMs) / 1000)
    const deadline = hostSeconds + deadlineSeconds()
    if (!isRelay)
      venue.keep(peer.host, {
        requestId,
        intentId: intent.intentId,
        deadlineSeconds: deadline,
        task: undefined,
      })
    const fromBlock = chain.canonical.tip.number
    return {
      host: peer.host,
      ...(isRelay ? {} : { requestId }),
      router,
      digest: random.hex(32),
      deadlineSeconds: deadline,
      userNonce: BigInt(hostSeconds),
      signature: random.hex(65),
      acceptableContractPrice: 1_818n * 10n ** 12n,
      executionFee: 10n ** 14n,
      relayFeeToken: usdc,
      relayFeeAmount: 250_000n,
      creates: [],
      validationWarnings: [],
      comparedFields: 0,
      leaseEpoch: journal.lease.epoch,
      // A few blocks back: the endpoint that was asked may have been ahead of the branch that stays.
      armBlockNumber: fromBlock > 110n ? fromBlock - 10n : 100n,
    }
  }

  #submit(intentId: string, tracked: Live): void {
    const { venue, boundary, truth } = this.#parts
    const { message, state } = tracked
    const armed = state === undefined ? undefined : lastAttempt(state)?.armed
    if (message === undefined || armed === undefined) throw new TypeError('submit: nothing is armed')
    tracked.message = undefined
    if (boundary('submit')) return
    const { host, requestId } = armed
    const sent = (result: 'accepted' | 'refused' | 'unanswered' | 'not-sent', more: object = {}) => {
      if (!this.#isUp() || !this.#lives.has(intentId) || boundary('submitted')) return
      this.#take(intentId, tracked, { type: 'sent', nowMs: this.#wallMs(), send: { result, ...more } })
    }
    this.#ask(venue.peer(host), sentTimeoutMs, {
      what: ['submit', armed.digest],
      left: () => truth.posted(armed.digest, host, requestId),
      handle: () => venue.handIn(requestId === undefined ? undefined : host, requestId, message),
      done: (outcome) => {
        if (outcome.kind === 'not-sent') return sent('not-sent')
        if (outcome.kind !== 'answer') return sent('unanswered', { message: outcome.kind })
        if (outcome.value === 'unknown-request') return sent('refused', { httpStatus: 404 })
        const { taskId, word } = outcome.value
        const isBad = word === 'failed' || word === 'reverted'
        sent(isBad ? 'refused' : 'accepted', { taskId, status: `relay_${word}` })
      },
    })
    boundary('submit left')
  }

  /** One request with the client's own limit on its time. */
  #ask<A>(
    peer: Peer,
    timeoutMs: number,
    request: {
      /** What it asks for, and of what. */
      what: readonly [string, string]
      left: () => void
      handle: () => A
      done: (outcome: NetOutcome<A>) => void
    },
  ): void {
    const { timeline, transcript } = this.#parts
    const [asks, about] = request.what
    transcript?.request(timeline.nowMs, asks, peer.host, JSON.stringify(about))
    let isDone = false
    const finish = (outcome: NetOutcome<A>) => {
      if (isDone) return
      isDone = true
      if (this.#isUp()) request.done(outcome)
    }
    this.#parts.network.request({ peer, left: request.left, handle: request.handle, done: finish })
    this.#after(timeoutMs, () => finish({ kind: 'never' }))
  }

  #follow(intentId: string, tracked: Live): void {
    if (tracked.isFollowed) return
    tracked.isFollowed = true
    this.#again(intentId, tracked)
  }

  #again(intentId: string, tracked: Live): void {
    this.#after(tracked.waitMs, () => {
      if (!this.#lives.has(intentId)) return
      tracked.waitMs = Math.min(tracked.waitMs * 1.25, this.#parts.pollMaxMs)
      this.#look(intentId, tracked, () => this.#again(intentId, tracked))
    })
  }

  /** One look: the host's word, the chain, the lists; each at its own time, judged together. */
  #look(intentId: string, tracked: Live, then: () => void = () => {}): void {
    const { state } = tracked
    const armed = state === undefined ? undefined : lastAttempt(state)?.armed
    if (state === undefined || armed === undefined || this.#parts.boundary('look')) return
    this.#askHost(state, (answer) => {
      const { random, rules } = this.#parts
      this.#after(random.int(1, 150), () => {
        const chain = rules.source === 'chain' ? { chain: this.#viewOf(state) } : {}
        const account = rules.source === 'api' ? this.#listsFor(state, answer) : undefined
        const rows = account === undefined ? [] : [...account.orders, ...account.trades]
        const explained = new Set<string>()
        const created = (chain.chain?.endpoints ?? []).flatMap(({ logs }) => logs)
        for (const { orderKey } of [...rows, ...created])
          if (this.#parts.journal.explains(orderKey, intentId)) explained.add(orderKey.toLowerCase())
        const observation: Observation = {
          atMs: this.#wallMs(),
          answer,
          explained,
          ...chain,
          ...(account === undefined ? {} : { account }),
        }
        this.#after(random.int(0, 100), () => {
          if (!this.#lives.has(intentId) || this.#parts.boundary('looked')) return
          this.#take(intentId, tracked, { type: 'observed', nowMs: this.#wallMs(), observation })
          if (this.#isUp() && this.#lives.has(intentId)) then()
        })
      })
    })
  }

  #askHost(state: IntentState, done: (answer: HostAnswer) => void): void {
    const { venue, truth } = this.#parts
    const attempt = lastAttempt(state)
    const armed = attempt?.armed
    const host = armed?.host ?? ''
    const silent = (reason: string): HostAnswer => ({ kind: 'silent', host, reason })
    const taskId = attempt?.send?.taskId
    if (armed?.requestId === undefined && taskId === undefined) {
      done(silent('no task'))
      return
    }
    this.#ask<HostAnswer>(venue.peer(host), askedTimeoutMs, {
      what: ['status', armed?.requestId ?? taskId ?? ''],
      left: () => {
        if (armed?.requestId !== undefined) truth.asked(host, armed.requestId)
      },
      handle: () =>
        armed?.requestId !== undefined
          ? venue.statusAt(host, armed.requestId)
          : venue.statusOfTask(host, taskId ?? ''),
      done: (outcome) => done(outcome.kind === 'answer' ? outcome.value : silent(outcome.kind)),
    })
  }

  #viewOf(state: IntentState) {
    const { chain, endpoints, timeline } = this.#parts
    const attempt = lastAttempt(state)
    const armed = attempt?.armed
    if (armed === undefined) throw new TypeError('viewOf: nothing is armed')
    const children = attempt?.children.map(({ orderKey }) => orderKey) ?? []
    const changes = expectedOf(state.intent).changes.map(({ orderKey }) => orderKey)
    return viewOf(
      chain,
      endpoints,
      {
        account: state.intent.account,
        router: armed.router,
        digest: armed.digest,
        signature: armed.signature,
        ...(armed.armBlockNumber === undefined ? {} : { fromBlock: armed.armBlockNumber }),
        deadlineSeconds: armed.deadlineSeconds,
        marketToken: state.intent.terms.marketToken,
        indexTokenDecimals: state.intent.terms.indexToken.decimals,
        orderKeys: [...children, ...changes],
        transactionHashes: [],
      },
      timeline.nowMs,
    )
  }

  #listsFor(state: IntentState, answer: HostAnswer): AccountView | undefined {
    const { venue, rules, faults } = this.#parts
    if (answer.kind !== 'status') return undefined
    const deadlineMs = (lastAttempt(state)?.armed?.deadlineSeconds ?? 0) * 1000
    const isOver = (answer.serverDateMs ?? 0) > deadlineMs + rules.deadlineMarginMs
    const everyPeer = rules.trustVenue && isOver && !landedStatuses.has(answer.status)
    if (!everyPeer && !landedStatuses.has(answer.status)) return undefined
    const asked = everyPeer ? venue.peers : venue.peers.slice(0, 1)
    const answered = asked.filter((peer) => !peer.isDown && !faults.comes('request-lost', 0.1))
    if (answered.length === 0) return undefined
    const views = answered.map((peer) => listsOf(venue.listsAt(peer.host), state.intent.account))
    return {
      complete: everyPeer && answered.length === venue.peers.length,
      orders: views.flatMap(({ orders }) => orders),
      positions: [],
      trades: views.flatMap(({ trades }) => trades),
    }
  }
}

function listsOf(lists: Lists, account: Hex): Pick<AccountView, 'orders' | 'trades'> {
  return {
    orders: lists.orders.map(({ orderKey, spec, newest, state }) => ({
      orderKey,
      account,
      receiver: account,
      marketToken: spec.marketToken,
      initialCollateralToken: usdc,
      orderType: spec.orderType,
      direction: spec.direction,
      sizeDeltaUsd: spec.sizeDeltaUsd,
      initialCollateralDeltaAmount: 0n,
      triggerContractPrice: 0n,
      acceptableContractPrice: 0n,
      isFrozen: state === 'frozen',
      updatedAtSeconds: newest.block.timestampSeconds,
      validFromSeconds: 0,
    })),
    trades: lists.trades.map(({ order, log }): Trade => {
      const { spec } = order
      return tradeOf({
        id: `${log.transactionHash}:${log.logIndex}`,
        account,
        orderKey: log.orderKey,
        transactionHash: log.transactionHash,
        eventName: log.event,
        orderType: spec.orderType,
        timestampSeconds: log.block.timestampSeconds,
        marketToken: spec.marketToken,
        direction: spec.direction,
        sizeDeltaUsd: spec.sizeDeltaUsd,
        ...(log.reason === undefined ? {} : { reason: log.reason }),
      })
    }),
  }
}
