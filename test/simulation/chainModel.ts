/**
 * The chain as docs/orders.md, "Assumptions", says it is: blocks with times that never decrease, `digests` that roll back with a
 * revert, orders that a keeper ends later, events, finality, and reorganisations above the final block. What stands here is
 * the truth of a world; nobody in the daemon sees it but through an endpoint or a host.
 */

import { epochMs } from '../../src/backtest/lab/timeline.ts'
import type { OrderEventName } from '../../src/domain/machine/chainView.ts'
import type { ExpectedChange } from '../../src/domain/machine/expected.ts'
import type { BlockRef, ChildRole } from '../../src/domain/order/intent.ts'
import type { Hex } from '../../src/protocol/address.ts'
import type { Random } from './random.ts'

/** An order that a message creates. */
export interface OrderSpec {
  readonly role: ChildRole
  readonly orderType: number
  readonly marketToken: Hex
  readonly direction: 'long' | 'short'
  readonly sizeDeltaUsd: bigint
  /** What a swap pays, or a change of collateral moves, base units. */
  readonly collateralAmount?: bigint
  /** Whether its execution adds exposure. */
  readonly adds: boolean
  /** A liquidation or a deleveraging. */
  readonly isProtocols?: true
  /** What else the order store keeps of a resting order. */
  readonly kept?: KeptFields
}

/** Fields of a resting order that a message sets and an update rewrites. */
export interface KeptFields {
  /** What an update makes of the size, USD; absent: it stays. */
  readonly sizeDeltaUsd?: bigint
  readonly triggerPrice: bigint
  readonly acceptablePrice: bigint
  readonly minOutputAmount: bigint
  readonly autoCancel: boolean
}

/** One signed message, as calldata that anybody may send. */
export interface Message {
  readonly digest: Hex
  readonly signature: Hex
  readonly deadlineSeconds: number
  readonly userNonce: bigint
  readonly intentId: string
  readonly creates: readonly OrderSpec[]
  readonly changes: readonly ExpectedChange[]
  /** What its updates write, by order key. */
  readonly updates?: ReadonlyMap<Hex, KeptFields>
  /** How often its execution reverts for a passing reason before it can succeed. */
  revertsLeft: number
}

/** What a transaction does. */
export type TxAction =
  | { readonly kind: 'batch'; readonly message: Message; readonly showsSignature: boolean }
  /** A relay put several of the account's messages into one transaction; each succeeds or fails alone. */
  | { readonly kind: 'bundle'; readonly messages: readonly Message[]; readonly showsSignature: boolean }
  /** Somebody signed the same parameters with another key, and used the digest up. */
  | ({ readonly kind: 'foreign' } & Pick<Message, 'digest' | 'deadlineSeconds' | 'userNonce'>)
  | {
      readonly kind: 'keeper'
      readonly orderKey: Hex
      readonly event: 'OrderExecuted' | 'OrderCancelled' | 'OrderFrozen'
      readonly reason: string
      /** An order that can never be executed is cancelled, so that the world ends; the protocol would let it rest. */
      readonly givesUp?: boolean
      /** At which it is executed, USD per whole index token; absent where nobody tells prices. */
      readonly price?: bigint
    }
  /** The protocol takes a part of a position, or all of it: an order that is made and executed in one transaction. */
  | {
      readonly kind: 'protocol'
      readonly cause: 'liquidation' | 'adl'
      readonly marketToken: Hex
      readonly direction: 'long' | 'short'
      /** Of an ADL; a liquidation takes all. */
      readonly sizeDeltaUsd: bigint
    }
  /** The owner's own trade, by no message of ours. */
  | { readonly kind: 'manual'; readonly spec: OrderSpec }

/** A transaction that waits for a block, or stands in one. */
export interface Tx {
  readonly hash: Hex
  readonly action: TxAction
  /** Keys that its orders had in an earlier block, if it was in one. */
  keys?: readonly Hex[]
}

/** An event in a block. */
export interface ModelLog {
  readonly event: OrderEventName
  readonly orderKey: Hex
  readonly transactionHash: Hex
  readonly block: BlockRef
  readonly logIndex: number
  readonly spec?: OrderSpec
  readonly reason?: string
  /** Of an execution: what it moved its position by, USD; a reduction takes no more than there is. */
  readonly movedUsd?: bigint
  /** Of an execution: its price, USD per whole index token; absent where nobody tells prices. */
  readonly price?: bigint
  /** Of an update: what it wrote. */
  readonly kept?: KeptFields
}

/** How a digest was used. */
export interface Use {
  readonly block: BlockRef
  readonly transactionHash: Hex
  readonly isForeign: boolean
  readonly showsSignature: boolean
  readonly orderKeys: readonly Hex[]
}

/** An order of our account as the chain holds it. */
export interface ModelOrder {
  readonly orderKey: Hex
  readonly spec: OrderSpec
  /** Undefined for a trade by hand. */
  readonly intentId: string | undefined
  readonly created: ModelLog
  readonly state: 'open' | 'frozen' | 'executed' | 'cancelled'
  readonly newest: ModelLog
}

interface Block extends BlockRef {
  readonly minedMs: number
  readonly txs: readonly Tx[]
}

/** Why a message had no effect. */
export type Revert = 'DeadlinePassed' | 'InvalidUserDigest' | 'EmptyOrder' | 'EmptyPosition' | 'Passing'

/** What became of a transaction in a block. */
export type TxResult = { readonly ok: true } | { readonly ok: false; readonly revert: Revert }

/** One line of blocks with the state that follows from them. */
export class Branch {
  readonly blocks: Block[] = []
  readonly logs: ModelLog[] = []
  readonly uses = new Map<Hex, Use>()
  readonly orders = new Map<Hex, ModelOrder>()
  /** A reduction of what is not there is cancelled. */
  readonly keepsPositions: boolean

  constructor(keepsPositions: boolean) {
    this.keepsPositions = keepsPositions
  }

  get tip(): Block {
    return this.blocks.at(-1) as Block
  }

  /** Adds a block and executes its transactions. */
  add(block: Block, keyOf: (tx: Tx, index: number) => Hex): TxResult[] {
    this.blocks.push(block)
    let logIndex = 0
    const emit = (log: Omit<ModelLog, 'block' | 'logIndex'>): ModelLog => {
      const whole = { ...log, block, logIndex }
      logIndex += 1
      this.logs.push(whole)
      return whole
    }
    return block.txs.map((tx) => this.#execute(tx, block, keyOf, emit))
  }

  #execute(
    tx: Tx,
    block: Block,
    keyOf: (tx: Tx, index: number) => Hex,
    emit: (log: Omit<ModelLog, 'block' | 'logIndex'>) => ModelLog,
  ): TxResult {
    const { action } = tx
    switch (action.kind) {
      case 'batch':
        return this.#batch(tx, action, block, keyOf, emit)
      case 'bundle': {
        const { messages, showsSignature } = action
        let offset = 0
        const results = messages.map((message): TxResult => {
          const from = offset
          offset += message.creates.length
          const part = { kind: 'batch', message, showsSignature } as const
          return this.#batch(tx, part, block, (whole, index) => keyOf(whole, from + index), emit)
        })
        return results.find(({ ok }) => ok) ?? { ok: false, revert: 'Passing' }
      }
      case 'foreign': {
        if (block.timestampSeconds > action.deadlineSeconds) return { ok: false, revert: 'DeadlinePassed' }
        if (this.uses.has(action.digest)) return { ok: false, revert: 'InvalidUserDigest' }
        const use = { block, transactionHash: tx.hash, isForeign: true, showsSignature: false, orderKeys: [] }
        this.uses.set(action.digest, use)
        return { ok: true }
      }
      case 'manual': {
        this.#create(tx, [action.spec], undefined, keyOf, emit)
        return { ok: true }
      }
      case 'protocol':
        return this.#takeOff(tx, action, keyOf, emit)
      case 'keeper': {
        const order = this.orders.get(action.orderKey)
        if (order === undefined || order.state === 'executed' || order.state === 'cancelled')
          return { ok: false, revert: 'EmptyOrder' }
        if (action.event === 'OrderFrozen' && order.state === 'frozen')
          return { ok: false, revert: 'Passing' }
        const movedUsd = this.#moveOf(order.spec)
        const isVain =
          (this.keepsPositions || this.#wasTaken(order.spec)) &&
          movedUsd < order.spec.sizeDeltaUsd &&
          movedUsd === 0n &&
          decreaseTypes.has(order.spec.orderType)
        // An order that waits is left as it is; a market order is cancelled.
        if (
          isVain &&
          action.event === 'OrderExecuted' &&
          order.spec.orderType !== 4 &&
          action.givesUp !== true
        )
          return { ok: false, revert: 'EmptyPosition' }
        const event = isVain && action.event === 'OrderExecuted' ? 'OrderCancelled' : action.event
        const reason = event === action.event ? action.reason : 'EmptyPosition'
        const newest = emit({
          event,
          orderKey: action.orderKey,
          transactionHash: tx.hash,
          ...(reason === '' ? {} : { reason }),
          ...(event === 'OrderExecuted' ? { movedUsd } : {}),
          ...(event === 'OrderExecuted' && action.price !== undefined ? { price: action.price } : {}),
        })
        this.orders.set(action.orderKey, { ...order, state: stateAfter[event], newest })
        return { ok: true }
      }
    }
  }

  /** A liquidation or a deleveraging; exits of a position that is gone are cancelled with it. */
  #takeOff(
    tx: Tx,
    { cause, marketToken, direction, sizeDeltaUsd }: Extract<TxAction, { kind: 'protocol' }>,
    keyOf: (tx: Tx, index: number) => Hex,
    emit: (log: Omit<ModelLog, 'block' | 'logIndex'>) => ModelLog,
  ): TxResult {
    const heldUsd = this.heldUsd(marketToken, direction)
    if (heldUsd <= 0n) return { ok: false, revert: 'EmptyPosition' }
    const isWhole = cause === 'liquidation' || sizeDeltaUsd >= heldUsd
    const movedUsd = isWhole ? heldUsd : sizeDeltaUsd
    const orderType = cause === 'liquidation' ? 7 : 4
    const spec: OrderSpec = {
      role: 'main',
      orderType,
      marketToken,
      direction,
      sizeDeltaUsd: movedUsd,
      adds: false,
      isProtocols: true,
    }
    for (const orderKey of this.#create(tx, [spec], undefined, keyOf, emit)) {
      const newest = emit({ event: 'OrderExecuted', orderKey, transactionHash: tx.hash, movedUsd })
      this.orders.set(orderKey, { ...(this.orders.get(orderKey) as ModelOrder), state: 'executed', newest })
    }
    if (!isWhole) return { ok: true }
    for (const [orderKey, order] of this.orders) {
      const isExit = order.spec.role === 'take-profit' || order.spec.role === 'stop-loss'
      const isOpen = order.state === 'open' || order.state === 'frozen'
      if (!isExit || !isOpen || sideOf(order.spec) !== sideOf(spec)) continue
      const end = {
        event: 'OrderCancelled',
        orderKey,
        transactionHash: tx.hash,
        reason: 'AUTO_CANCEL',
      } as const
      this.orders.set(orderKey, { ...order, state: 'cancelled', newest: emit(end) })
    }
    return { ok: true }
  }

  /** Whether the protocol took something of this side. */
  #wasTaken(spec: OrderSpec): boolean {
    return [...this.orders.values()].some(
      (order) => order.spec.isProtocols === true && sideOf(order.spec) === sideOf(spec),
    )
  }

  /** What an order moves its position by when it is executed now, USD. */
  #moveOf(spec: OrderSpec): bigint {
    if (increaseTypes.has(spec.orderType)) return spec.sizeDeltaUsd
    if (!decreaseTypes.has(spec.orderType)) return 0n
    const heldUsd = this.heldUsd(spec.marketToken, spec.direction)
    return spec.sizeDeltaUsd < heldUsd ? spec.sizeDeltaUsd : heldUsd
  }

  /** Size of the position on one side after the logs that `isSeen` takes, USD. */
  heldUsd(marketToken: Hex, direction: string, isSeen: (log: ModelLog) => boolean = () => true): bigint {
    let heldUsd = 0n
    for (const log of this.logs) {
      const spec = log.movedUsd === undefined ? undefined : this.orders.get(log.orderKey)?.spec
      if (spec?.marketToken !== marketToken || spec.direction !== direction || !isSeen(log)) continue
      heldUsd += increaseTypes.has(spec.orderType) ? (log.movedUsd ?? 0n) : -(log.movedUsd ?? 0n)
    }
    return heldUsd
  }

  #batch(
    tx: Tx,
    { message, showsSignature }: Extract<TxAction, { kind: 'batch' }>,
    block: Block,
    keyOf: (tx: Tx, index: number) => Hex,
    emit: (log: Omit<ModelLog, 'block' | 'logIndex'>) => ModelLog,
  ): TxResult {
    if (block.timestampSeconds > message.deadlineSeconds) return { ok: false, revert: 'DeadlinePassed' }
    if (this.uses.has(message.digest)) return { ok: false, revert: 'InvalidUserDigest' }
    if (message.revertsLeft > 0) {
      message.revertsLeft -= 1
      return { ok: false, revert: 'Passing' }
    }
    const isHere = ({ orderKey }: ExpectedChange) => {
      const state = this.orders.get(orderKey)?.state
      return state === 'open' || state === 'frozen'
    }
    if (!message.changes.every(isHere)) return { ok: false, revert: 'EmptyOrder' }
    const orderKeys = this.#create(tx, message.creates, message.intentId, keyOf, emit)
    for (const { orderKey, event } of message.changes) {
      const update = message.updates?.get(orderKey)
      const kept = event === 'OrderUpdated' ? update : undefined
      const newest = emit({
        event,
        orderKey,
        transactionHash: tx.hash,
        ...(kept === undefined ? {} : { kept }),
      })
      const order = this.orders.get(orderKey) as ModelOrder
      this.orders.set(orderKey, {
        ...order,
        spec: updated(order.spec, kept, this.keepsPositions),
        state: event === 'OrderCancelled' ? 'cancelled' : 'open',
        newest,
      })
    }
    this.uses.set(message.digest, {
      block,
      transactionHash: tx.hash,
      isForeign: false,
      showsSignature,
      orderKeys,
    })
    return { ok: true }
  }

  #create(
    tx: Tx,
    specs: readonly OrderSpec[],
    intentId: string | undefined,
    keyOf: (tx: Tx, index: number) => Hex,
    emit: (log: Omit<ModelLog, 'block' | 'logIndex'>) => ModelLog,
  ): readonly Hex[] {
    return specs.map((spec, index) => {
      const orderKey = keyOf(tx, index)
      const created = emit({ event: 'OrderCreated', orderKey, transactionHash: tx.hash, spec })
      this.orders.set(orderKey, { orderKey, spec, intentId, created, state: 'open', newest: created })
      return orderKey
    })
  }

  /** The newest block with at most this number; the first one when there is none. */
  blockAt(number: bigint): Block {
    for (let at = this.blocks.length - 1; at > 0; at -= 1) {
      const block = this.blocks[at] as Block
      if (block.number <= number) return block
    }
    return this.blocks[0] as Block
  }

  /** Whether the branch holds this very block. */
  holds(block: BlockRef): boolean {
    return this.blockAt(block.number).hash === block.hash
  }
}

/** An order with what an update wrote; where positions are kept its size too. */
function updated(spec: OrderSpec, kept: KeptFields | undefined, keepsPositions: boolean): OrderSpec {
  if (kept === undefined) return spec
  const sizeDeltaUsd = keepsPositions ? (kept.sizeDeltaUsd ?? spec.sizeDeltaUsd) : spec.sizeDeltaUsd
  return { ...spec, sizeDeltaUsd, kept }
}

function sideOf({ marketToken, direction }: OrderSpec): string {
  return `${marketToken} ${direction}`
}

const increaseTypes: ReadonlySet<number> = new Set([2, 3, 8])
const decreaseTypes: ReadonlySet<number> = new Set([4, 5, 6])

const stateAfter = { OrderExecuted: 'executed', OrderCancelled: 'cancelled', OrderFrozen: 'frozen' } as const

/** The chain, its waiting transactions and its past branches. */
export class ModelChain {
  canonical: Branch
  /** Branches that a reorganisation left behind; endpoints may still stand on one. */
  readonly left: Branch[] = []
  readonly #random: Random
  readonly #finalityMs: number
  readonly #skewMs: number
  readonly #keepsPositions: boolean
  #finalNumber = 0n
  #salt = 0

  constructor(
    random: Random,
    options: { readonly finalityMs: number; readonly skewMs: number; readonly keepsPositions?: boolean },
  ) {
    this.#keepsPositions = options.keepsPositions === true
    this.canonical = new Branch(this.#keepsPositions)
    this.#random = random
    this.#finalityMs = options.finalityMs
    this.#skewMs = options.skewMs
    this.#append(this.canonical, 0, this.timeAt(0), [])
  }

  /** Block time at this moment, Unix seconds. */
  timeAt(nowMs: number): number {
    return Math.floor((epochMs + nowMs + this.#skewMs) / 1000)
  }

  /** The newest block that can no longer be reorganised. Moves on as time passes, never back. */
  finalAt(nowMs: number): BlockRef {
    const { blocks } = this.canonical
    for (let at = blocks.length - 1; at > 0; at -= 1) {
      const block = blocks[at] as Block
      if (block.minedMs > nowMs - this.#finalityMs) continue
      if (block.number > this.#finalNumber) this.#finalNumber = block.number
      break
    }
    return this.canonical.blockAt(this.#finalNumber)
  }

  /** The earliest time that a block to come can have, one that a reorganisation brings included, Unix seconds. */
  earliestNextAt(nowMs: number): number {
    return this.#finalityMs === 0 ? this.timeAt(nowMs) : this.finalAt(nowMs).timestampSeconds
  }

  /** A hash that no other thing of this world has. */
  freshHash(): Hex {
    this.#salt += 1
    return `0x${this.#salt.toString(16).padStart(16, '0')}${this.#random.hex(24).slice(2)}`
  }

  /** Mines a block with these transactions on the canonical branch. */
  mine(nowMs: number, txs: readonly Tx[]): TxResult[] {
    return this.#append(this.canonical, nowMs, this.timeAt(nowMs), txs)
  }

  #append(branch: Branch, nowMs: number, timestampSeconds: number, txs: readonly Tx[]): TxResult[] {
    const parent = branch.blocks.at(-1)
    const block: Block = {
      number: (parent?.number ?? 99n) + 1n,
      hash: this.freshHash(),
      timestampSeconds: Math.max(timestampSeconds, parent?.timestampSeconds ?? 0),
      minedMs: nowMs,
      txs,
    }
    return branch.add(block, (tx, index) => this.#keyOf(tx, index))
  }

  #keyOf(tx: Tx, index: number): Hex {
    const known = tx.keys?.[index]
    // After a reorganisation the store's counter may stand elsewhere: the same order can get another key.
    const key = known !== undefined && this.#random.chance(0.7) ? known : this.freshHash()
    const keys = [...(tx.keys ?? [])]
    keys[index] = key
    tx.keys = keys
    return key
  }

  /**
   * Takes back up to `depth` blocks above the final one and mines others in their place. Gives the transactions that the new
   * blocks do not hold; what becomes of them is the world's choice.
   */
  reorganise(nowMs: number, depth: number, keepChance: number): readonly Tx[] {
    const final = this.finalAt(nowMs)
    const old = this.canonical
    const cut = old.blocks.findIndex(({ number }) => number > final.number)
    if (cut < 0) return []
    const from = Math.max(cut, old.blocks.length - depth)
    const dropped = old.blocks.slice(from).flatMap(({ txs }) => txs)
    const branch = new Branch(this.#keepsPositions)
    for (const block of old.blocks.slice(0, from)) replay(branch, block, old)
    const kept: Tx[] = []
    const gone: Tx[] = []
    for (const tx of dropped) (this.#random.chance(keepChance) ? kept : gone).push(tx)
    if (this.#random.chance(0.3)) kept.reverse()
    const earliest = branch.tip.timestampSeconds
    const latest = Math.max(earliest, this.timeAt(nowMs))
    const count = old.blocks.length - from + 1
    const times = Array.from({ length: count }, () => this.#random.int(earliest, latest)).sort(
      (a, b) => a - b,
    )
    times.forEach((time, index) => {
      const share = kept.splice(0, index === count - 1 ? kept.length : this.#random.int(0, kept.length))
      this.#append(branch, nowMs, time, share)
    })
    this.left.push(old)
    this.canonical = branch
    return gone
  }
}

/** Puts a block of another branch on this one, with the very same effects. */
function replay(branch: Branch, block: Block, old: Branch): void {
  branch.blocks.push(block)
  for (const log of old.logs) {
    if (log.block.hash !== block.hash) continue
    branch.logs.push(log)
    const known = branch.orders.get(log.orderKey)
    if (log.event === 'OrderCreated' && log.spec !== undefined) {
      const before = old.orders.get(log.orderKey) as ModelOrder
      branch.orders.set(log.orderKey, { ...before, spec: log.spec, created: log, newest: log, state: 'open' })
    } else if (known !== undefined) {
      const state = log.event === 'OrderUpdated' ? 'open' : stateAfter[log.event as keyof typeof stateAfter]
      const spec = updated(known.spec, log.kept, branch.keepsPositions)
      branch.orders.set(log.orderKey, { ...known, spec, newest: log, state })
    }
  }
  for (const [digest, use] of old.uses) if (use.block.hash === block.hash) branch.uses.set(digest, use)
}
