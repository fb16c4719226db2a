/**
 * The venue: peers that keep order records of their own, one relay behind them, a keeper, and lists that an indexer fills.
 * Peers may forget, lie, lag or be down; the chain decides what is so.
 */

import { epochMs, type Timeline } from '../../src/backtest/lab/timeline.ts'
import type { HostAnswer } from '../../src/domain/machine/observation.ts'
import type { Hex } from '../../src/protocol/address.ts'
import type { Message, ModelChain, ModelLog, ModelOrder, Tx, TxResult } from './chainModel.ts'
import type { Faults } from './faults.ts'
import { isReached, triggerOf, triggersOn } from './orderTriggers.ts'
import type { Offer } from './payload.ts'
import type { PriceWalk } from './priceWalk.ts'
import type { Random } from './random.ts'
import type { Peer, PeerRecord, Task } from './venuePeers.ts'

/** A row of the account's lists. */
export interface ListRow {
  readonly order: ModelOrder
  readonly log: ModelLog
}

/** What the account's lists of one peer show. */
export interface Lists {
  readonly orders: readonly ModelOrder[]
  readonly trades: readonly ListRow[]
}

/** What the venue stands on. */
export interface VenueParts {
  readonly timeline: Timeline
  readonly chain: ModelChain
  readonly faults: Faults
  readonly random: Random
  readonly peers: readonly Peer[]
  readonly note: (text: string) => void
  /** What orders wait for; absent: the keeper ends them when it likes. */
  readonly prices?: PriceWalk
}

/** The venue. */
export interface VenueModel {
  /** A fixed story's choice for the first message that is handed in; then it is undefined again. */
  fateOfNext: 'drop' | 'revert' | 'edge' | 'foreign' | undefined
  /** A fixed story's choice for the first thing that the keeper does. */
  keeperDoes: 'OrderCancelled' | 'OrderFrozen' | undefined
  readonly peers: readonly Peer[]
  readonly tasks: Map<string, Task>
  /** Orders of the messages that hosts offered to sign, by digest; for the tier that speaks HTTP. */
  readonly offers: Map<Hex, Pick<Offer, 'creates' | 'userNonce'>>
  peer(host: string): Peer
  /** Keeps a prepared request. */
  keep(host: string, record: PeerRecord): void
  /** Hands a signed message to the relay. The same record hands in once. */
  handIn(host: string | undefined, requestId: string | undefined, message: Message): Task | 'unknown-request'
  /** What a peer says of a request. */
  statusAt(host: string, requestId: string): HostAnswer
  /** What the relay says of a task, on any host. */
  statusOfTask(host: string, taskId: string): HostAnswer
  listsAt(host: string): Lists
  /** Starts the heartbeat of blocks and the keeper. */
  start(): void
  /** Takes back blocks. */
  reorganise(depth: number): void
  /** Sends a transaction after a while. */
  send(delayMs: number, tx: Tx, done?: (result: TxResult) => void): void
  /** From now on the keeper ends every order quickly. */
  hurry(): void
}

const waitingTypes: ReadonlySet<number> = new Set([1, 3, 5, 6, 8])

/** Makes the venue of a world. */
export function createVenueModel(parts: VenueParts): VenueModel {
  const { timeline, chain, faults, random, peers, note, prices } = parts
  const tasks = new Map<string, Task>()
  /** Orders that the keeper has a plan for. */
  const planned = new Set<Hex>()
  let isHurried = false
  let taskCount = 0

  function send(delayMs: number, tx: Tx, done?: (result: TxResult) => void): void {
    timeline.after(delayMs, () => {
      const [result] = chain.mine(timeline.nowMs, [tx])
      if (result === undefined) throw new Error('a transaction had no result')
      note(`block ${tx.action.kind} ${result.ok ? 'ok' : result.revert}`)
      done?.(result)
      plan()
    })
  }

  function batchTx(message: Message): Tx {
    return {
      hash: chain.freshHash(),
      action: { kind: 'batch', message, showsSignature: random.chance(0.85) },
    }
  }

  /** Sends a message's calldata; the relay tells what it saw. */
  function broadcast(task: Task, delayMs: number): void {
    const tx = batchTx(task.message)
    send(delayMs, tx, (result) => {
      if (result.ok) {
        task.txHash = tx.hash
        task.word = 'submitted'
        return
      }
      if (result.revert === 'InvalidUserDigest') return
      task.txHash = tx.hash
      task.word = 'reverted'
      maybeReplay(task)
    })
  }

  /** Tasks that go out together. */
  let bundle: Task[] = []

  function bundled(task: Task): void {
    bundle.push(task)
    if (bundle.length > 1) return
    timeline.after(4_000, () => {
      const tasks = bundle
      bundle = []
      const messages = tasks.map(({ message }) => message)
      const action = { kind: 'bundle', messages, showsSignature: random.chance(0.85) } as const
      const tx: Tx = { hash: chain.freshHash(), action }
      chain.mine(timeline.nowMs, [tx])
      note(`block bundle of ${tasks.length}`)
      for (const each of tasks) {
        const use = chain.canonical.uses.get(each.message.digest)
        each.word = use?.transactionHash === tx.hash ? 'submitted' : 'reverted'
        each.txHash = tx.hash
        if (each.word === 'reverted') maybeReplay(each)
      }
      plan()
    })
  }

  function untilDeadlineMs({ deadlineSeconds }: Message): number {
    return deadlineSeconds * 1000 - epochMs - (chain.timeAt(0) * 1000 - epochMs) - timeline.nowMs
  }

  /** The calldata is public: anybody may send it again before the deadline. */
  function maybeReplay(task: Task): void {
    if (!faults.comes('third-party-replay', 0.6)) return
    const leftMs = untilDeadlineMs(task.message)
    if (leftMs < 2_000) return
    broadcast(task, random.chance(0.3) ? leftMs : random.int(500, leftMs))
  }

  function relay(task: Task): void {
    const { message } = task
    const leftMs = untilDeadlineMs(message)
    const fate = model.fateOfNext
    model.fateOfNext = undefined
    if (fate !== undefined) {
      decided(task, fate, leftMs)
      return
    }
    if (faults.comes('relay-revert', 0.4)) message.revertsLeft = random.int(1, 2)
    if (faults.comes('foreign-use', 0.25)) {
      const action = {
        kind: 'foreign',
        digest: message.digest,
        deadlineSeconds: message.deadlineSeconds,
        userNonce: message.userNonce,
      } as const
      send(random.int(200, 6_000), { hash: chain.freshHash(), action })
    }
    if (faults.comes('relay-drop', 0.3)) {
      timeline.after(random.int(1_000, 10_000), () => {
        if (task.word !== 'submitted') task.word = random.chance(0.5) ? 'failed' : 'pending'
      })
      maybeReplay(task)
    } else if (faults.comes('relay-edge', 0.3) && leftMs > 5_000) {
      // To the very second of the deadline, which the contract still accepts.
      broadcast(task, leftMs + random.pick([-1000, 0, 0, 0, 500, 999, 1000]))
      if (random.chance(0.5)) task.word = random.pick(['failed', 'reverted'] as const)
    } else if (faults.comes('relay-late', 0.3) && leftMs > 5_000) {
      broadcast(task, random.int(3_000, leftMs + 5_000))
      if (random.chance(0.5)) task.word = random.pick(['failed', 'reverted', 'pending'] as const)
    } else if (faults.comes('relay-bundle', 0.5)) {
      bundled(task)
    } else {
      broadcast(task, random.int(300, 4_000))
    }
  }

  /** What a fixed story has in mind. */
  function decided(task: Task, fate: NonNullable<VenueModel['fateOfNext']>, leftMs: number): void {
    const { message } = task
    switch (fate) {
      case 'drop':
        task.word = 'failed'
        return
      case 'revert':
        message.revertsLeft = 1
        broadcast(task, 1_000)
        return
      case 'edge':
        broadcast(task, leftMs)
        return
      case 'foreign': {
        const { digest, deadlineSeconds, userNonce } = message
        send(500, {
          hash: chain.freshHash(),
          action: { kind: 'foreign', digest, deadlineSeconds, userNonce },
        })
        broadcast(task, 1_500)
      }
    }
  }

  /** Every open order gets a plan: the keeper looks at the store, so a reorganised order is planned again. */
  function plan(): void {
    for (const order of chain.canonical.orders.values()) {
      if (order.state === 'executed' || order.state === 'cancelled' || planned.has(order.orderKey)) continue
      const trigger = prices === undefined ? undefined : triggerOf(order, prices)
      if (trigger !== undefined && !isReached(order, trigger, prices?.priceOf(order.spec.marketToken) ?? 0n))
        continue
      planned.add(order.orderKey)
      keep(order)
    }
  }

  function keep(order: ModelOrder): void {
    const isWaiting = waitingTypes.has(order.spec.orderType)
    // What came to its price is executed like a market order: soon, or late by a slow keeper.
    const isPriced = prices !== undefined && triggerOf(order, prices) !== undefined
    const isLong = isWaiting && !isPriced
    const quickMs = random.int(500, isLong ? 20_000 : 6_000)
    const slowMs = random.int(5_000, isLong ? 240_000 : 60_000)
    const delayMs = isHurried ? quickMs : isLong || faults.comes('keeper-slow', 0.3) ? slowMs : quickMs
    const wanted = order.state === 'open' ? model.keeperDoes : undefined
    if (wanted !== undefined) model.keeperDoes = undefined
    const mayFreeze = isWaiting && order.state === 'open'
    const freezes = wanted === 'OrderFrozen' || (mayFreeze && faults.comes('keeper-freeze', 0.4))
    const cancels = wanted === 'OrderCancelled' || (!freezes && faults.comes('keeper-cancel', 0.35))
    const event = freezes ? 'OrderFrozen' : cancels ? 'OrderCancelled' : 'OrderExecuted'
    const reason = event === 'OrderExecuted' ? '' : 'OrderNotFulfillableAtAcceptablePrice'
    const seenPrice = prices?.priceOf(order.spec.marketToken)
    timeline.after(delayMs, () => {
      planned.delete(order.orderKey)
      // The keeper brings the price at which it saw the trigger reached; of what was changed since it must look again.
      const kept = chain.canonical.orders.get(order.orderKey)?.spec.kept
      if (isPriced && kept?.triggerPrice !== order.spec.kept?.triggerPrice) {
        plan()
        return
      }
      const price = isPriced ? seenPrice : prices?.priceOf(order.spec.marketToken)
      const action = {
        kind: 'keeper',
        orderKey: order.orderKey,
        event,
        reason,
        givesUp: isHurried,
        ...(price === undefined ? {} : { price }),
      } as const
      const [result] = chain.mine(timeline.nowMs, [{ hash: chain.freshHash(), action }])
      note(`keeper ${event} ${result?.ok === true ? 'ok' : 'idle'}`)
      plan()
    })
  }

  function requireOf(host: string): Peer {
    const peer = peers.find((each) => each.host === host)
    if (peer === undefined) throw new Error(`no peer is called ${host}`)
    return peer
  }

  function serverDateMs(peer: Peer): number {
    return Math.floor((epochMs + timeline.nowMs + peer.skewMs) / 1000) * 1000
  }

  /** The newest log of an order that the peer's indexer has seen. */
  function seen(peer: Peer, log: ModelLog): boolean {
    return log.block.timestampSeconds <= chain.timeAt(timeline.nowMs - peer.lagMs)
  }

  function statusOf(peer: Peer, task: Task | undefined): HostAnswer {
    const base = { kind: 'status', host: peer.host, orderKeys: [], serverDateMs: serverDateMs(peer) } as const
    if (task === undefined) return { ...base, status: 'prepared' }
    if (faults.comes('status-unknown', 0.1)) return { ...base, status: 'unrecognised' }
    if (faults.comes('status-lies', 0.15)) {
      const lie = random.pick(['relay_failed', 'relay_reverted', 'executed', 'cancelled', 'created'])
      return { ...base, status: lie }
    }
    const use = chain.canonical.uses.get(task.message.digest)
    const isSeen =
      use !== undefined && use.block.timestampSeconds <= chain.timeAt(timeline.nowMs - peer.lagMs)
    if (use === undefined || !isSeen || use.isForeign) {
      const hash = task.txHash === undefined ? {} : { txHash: task.txHash }
      // In the end a relay says that what it never sent has failed.
      const isOver = isHurried && use === undefined && untilDeadlineMs(task.message) < 0
      return { ...base, status: isOver ? 'relay_failed' : `relay_${task.word}`, ...hash }
    }
    const orders = use.orderKeys.flatMap((key) => chain.canonical.orders.get(key) ?? [])
    const main = orders[0]
    const hasEnded = main !== undefined && (main.state === 'executed' || main.state === 'cancelled')
    const isEndSeen = hasEnded && seen(peer, main.newest)
    return {
      ...base,
      status: isEndSeen ? main.state : 'created',
      orderKeys: random.chance(0.8) ? use.orderKeys : [],
      txHash: use.transactionHash,
      createdTxnHash: use.transactionHash,
      ...(isEndSeen ? { executionTxnHash: main.newest.transactionHash } : {}),
      ...(isEndSeen && main.newest.reason !== undefined ? { cancellationReason: main.newest.reason } : {}),
    }
  }

  const model: VenueModel = {
    fateOfNext: undefined,
    keeperDoes: undefined,
    peers,
    tasks,
    offers: new Map(),
    peer: requireOf,
    send,
    keep: (host, record) => void requireOf(host).records.set(record.requestId, record),
    handIn(host, requestId, message) {
      const record = requestId === undefined ? undefined : requireOf(host ?? '').records.get(requestId)
      if (requestId !== undefined && record === undefined) return 'unknown-request'
      if (record?.task !== undefined) return record.task
      taskCount += 1
      const task: Task = { taskId: `task-${taskCount}`, message, word: 'accepted', txHash: undefined }
      tasks.set(task.taskId, task)
      if (record !== undefined) record.task = task
      relay(task)
      return task
    },
    statusAt(host, requestId) {
      const peer = requireOf(host)
      const record = peer.records.get(requestId)
      if (record === undefined || faults.comes('not-found-then-found', 0.15)) {
        return { kind: 'not-found', host, reason: 'Transaction not found' }
      }
      return statusOf(peer, record.task)
    },
    statusOfTask(host, taskId) {
      const task = tasks.get(taskId)
      if (task === undefined) return { kind: 'not-found', host, reason: 'Task not found' }
      return statusOf(requireOf(host), task)
    },
    listsAt(host) {
      const peer = requireOf(host)
      const { orders, logs } = chain.canonical
      const trades = logs.flatMap((log): ListRow[] => {
        const order = orders.get(log.orderKey)
        return order === undefined || !seen(peer, log) ? [] : [{ order, log }]
      })
      const ended = new Set(
        trades
          .filter(({ log }) => log.event === 'OrderExecuted' || log.event === 'OrderCancelled')
          .map(({ log }) => log.orderKey),
      )
      const created = trades.filter(({ log }) => log.event === 'OrderCreated')
      return {
        orders: created.flatMap(({ order }) => (ended.has(order.orderKey) ? [] : [order])),
        trades: trades.toReversed(),
      }
    },
    start() {
      const beat = () => {
        chain.mine(timeline.nowMs, [])
        plan()
        timeline.after(random.int(2_000, 9_000), beat)
      }
      timeline.after(1_000, beat)
      prices?.onStep(plan)
    },
    reorganise(depth) {
      const gone = chain.reorganise(timeline.nowMs, depth, random.pick([0, 0.5, 1]))
      note(`reorg ${depth} drops ${gone.length}`)
      for (const tx of gone) {
        // The sequencer may take it up again, or never. A reverted keeper's plan is made anew from the store.
        if (tx.action.kind !== 'keeper' && random.chance(0.6)) send(random.int(200, 20_000), tx)
      }
      plan()
    },
    hurry() {
      isHurried = true
      prices?.sweep((marketToken) => triggersOn(chain, prices, marketToken, planned))
      planned.clear()
      plan()
    },
  }
  return model
}
