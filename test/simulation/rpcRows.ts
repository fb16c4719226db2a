/** The modelled chain in the rows of JSON-RPC: blocks, transactions, receipts, and events as the protocol encodes them. */
import type { Settlement } from '../../src/domain/order/intent.ts'
import type { ChainLog, EventValue } from '../../src/paper/blocks/blockChain.ts'
import { logDataOf, topicsOf } from '../../src/paper/blocks/encodeEventData.ts'
import type { Address, Hex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { priceOfContractPrice, usd } from '../../src/protocol/units.ts'
import type { Branch, Message, ModelChain, ModelLog, OrderSpec, Tx } from './chainModel.ts'

/** A block of the model. */
export type ModelBlock = Branch['blocks'][number]

/** A log as the wire has it. */
export interface LogRow {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
  readonly blockNumber: Hex
  readonly blockHash: Hex
  readonly transactionHash: Hex
  readonly logIndex: Hex
  readonly removed: boolean
}

/** A transaction in its block. */
export interface Mined {
  readonly tx: Tx
  readonly block: ModelBlock
  readonly logs: readonly ModelLog[]
  readonly isUse: boolean
}

const { eventEmitter, gelatoRelayRouter, subaccountGelatoRelayRouter, exchangeRouter } = arbitrum.contracts
const orderHandler: Address = `0x${'0d'.repeat(20)}`
const relayContract: Hex = `0x${'9e'.repeat(20)}`
const strangerContract: Hex = `0x${'5c'.repeat(20)}`

/** A number as the wire has it. */
export function quantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`
}

/** An address as a topic. */
function addressTopic(address: string): Hex {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`
}

// --- what an order's execution says --------------------------------------------------------------------------------

/** The figures of an execution: none of the world's rules reads them, so they follow from the order's key alone. */
interface Figures {
  readonly contractPrice: bigint
  readonly feeAmount: bigint
  readonly collateralPrice: bigint
  readonly impactUsd: bigint
  readonly basePnlUsd: bigint
}

function figuresOf(orderKey: Hex): Figures {
  const chance = BigInt(orderKey.slice(0, 18))
  return {
    contractPrice: 1_800n * 10n ** 12n + (chance % 1_000_000n),
    feeAmount: 1_000n + (chance % 999n),
    collateralPrice: 10n ** 24n,
    impactUsd: usd(3) - usd(Number(chance % 7n)),
    basePnlUsd: usd(50) - usd(Number(chance % 101n)),
  }
}

type Kind = 'increase' | 'decrease' | 'swap'

function kindOf({ orderType }: OrderSpec): Kind {
  if (orderType === 2 || orderType === 3 || orderType === 8) return 'increase'
  return orderType === 0 || orderType === 1 ? 'swap' : 'decrease'
}

/** What a reader of the chain must make of an execution. */
export function settlementIn(
  log: ModelLog,
  spec: OrderSpec,
  marketToken: string,
  decimals: number,
): Settlement {
  const at = { transactionHash: log.transactionHash, timestampSeconds: log.block.timestampSeconds }
  const kind = kindOf(spec)
  if (kind === 'swap') return at
  const { contractPrice, feeAmount, collateralPrice, impactUsd, basePnlUsd } = figuresOf(log.orderKey)
  const feesUsd = feeAmount * collateralPrice
  const isOurs = marketToken.toLowerCase() === spec.marketToken.toLowerCase()
  return {
    ...at,
    ...(isOurs ? { executionPrice: priceOfContractPrice(contractPrice, decimals) } : {}),
    sizeDeltaUsd: log.movedUsd ?? spec.sizeDeltaUsd,
    feesUsd,
    priceImpactUsd: impactUsd,
    ...(kind === 'decrease' ? { basePnlUsd, pnlUsd: basePnlUsd - feesUsd } : {}),
  }
}

/** The position's events of an execution, in the order in which the contracts emit them. */
function positionEvents(log: ModelLog, spec: OrderSpec, account: string): readonly ChainLog[] {
  const { orderKey, movedUsd = spec.sizeDeltaUsd } = log
  const kind = kindOf(spec)
  if (kind === 'swap') return []
  const { contractPrice, feeAmount, collateralPrice, impactUsd, basePnlUsd } = figuresOf(orderKey)
  const isIncrease = kind === 'increase'
  const fees: ChainLog = {
    eventName: 'PositionFeesCollected',
    topics: [addressTopic(spec.marketToken)],
    items: {
      orderKey,
      market: spec.marketToken,
      trader: account,
      'collateralTokenPrice.min': collateralPrice,
      'collateralTokenPrice.max': collateralPrice,
      fundingFeeAmount: 0n,
      borrowingFeeAmount: 0n,
      positionFeeAmount: feeAmount,
      totalCostAmount: feeAmount,
      isIncrease,
    },
  }
  const position: ChainLog = {
    eventName: isIncrease ? 'PositionIncrease' : 'PositionDecrease',
    topics: [addressTopic(account)],
    items: {
      account,
      market: spec.marketToken,
      orderKey,
      executionPrice: contractPrice,
      sizeDeltaUsd: movedUsd,
      orderType: BigInt(spec.orderType),
      isLong: spec.direction === 'long',
      ...(isIncrease
        ? { pendingPriceImpactUsd: impactUsd }
        : { 'values.priceImpactDiffUsd': 0n, priceImpactUsd: impactUsd, basePnlUsd, totalImpactUsd: 0n }),
    },
  }
  return [fees, position]
}

// --- logs ----------------------------------------------------------------------------------------------------------

function itemsOf(log: ModelLog, account: string): Readonly<Record<string, EventValue>> {
  const { event, orderKey, spec, reason = '' } = log
  const base = { key: orderKey, account }
  switch (event) {
    case 'OrderCreated':
      return {
        ...base,
        receiver: account,
        market: spec?.marketToken ?? '',
        orderType: BigInt(spec?.orderType ?? 0),
        sizeDeltaUsd: spec?.sizeDeltaUsd ?? 0n,
        initialCollateralDeltaAmount: spec?.collateralAmount ?? 0n,
        isLong: spec?.direction === 'long',
        dataList: [],
      }
    case 'OrderExecuted':
      return { ...base, secondaryOrderType: 0n }
    case 'OrderCancelled':
    case 'OrderFrozen':
      return { ...base, reason, reasonBytes: '0x' }
    case 'OrderUpdated':
      return { ...base, sizeDeltaUsd: 1n, autoCancel: false }
  }
}

const rowsOfLog = new WeakMap<ModelLog, LogRow>()
const positionRowsOfLog = new WeakMap<ModelLog, readonly LogRow[]>()

function rowOf(log: ModelLog, index: number, event: ChainLog): LogRow {
  return {
    address: eventEmitter.toLowerCase() as Hex,
    topics: topicsOf(event),
    data: logDataOf(event, orderHandler),
    blockNumber: quantity(log.block.number),
    blockHash: log.block.hash,
    transactionHash: log.transactionHash,
    logIndex: quantity(index),
    removed: false,
  }
}

/** The event of an order as the wire has it. */
export function orderRow(log: ModelLog, account: string): LogRow {
  let row = rowsOfLog.get(log)
  if (row === undefined) {
    const topics = [log.orderKey, addressTopic(account)]
    row = rowOf(log, log.logIndex, { eventName: log.event, topics, items: itemsOf(log, account) })
    rowsOfLog.set(log, row)
  }
  return row
}

/** What the emitter says of the position beside an execution. */
function positionRows(log: ModelLog, spec: OrderSpec | undefined, account: string): readonly LogRow[] {
  if (log.event !== 'OrderExecuted' || spec === undefined) return []
  let rows = positionRowsOfLog.get(log)
  if (rows === undefined) {
    rows = positionEvents(log, spec, account).map((event, at) =>
      rowOf(log, 100_000 + log.logIndex * 2 + at, event),
    )
    positionRowsOfLog.set(log, rows)
  }
  return rows
}

/** What another contract says in the same words: anybody can deploy one and name any account. */
export function counterfeit(row: LogRow): LogRow {
  return { ...row, address: strangerContract, logIndex: quantity(BigInt(row.logIndex) + 500_000n) }
}

// --- blocks and transactions ---------------------------------------------------------------------------------------

/** One branch, found by number, transaction and block. */
export class BranchRows {
  readonly #branch: Branch
  readonly #mined = new Map<Hex, Mined>()
  readonly #logsOf = new Map<Hex, ModelLog[]>()
  readonly #usesOf = new Set<Hex>()
  #blocks = 0
  #logs = 0

  constructor(branch: Branch) {
    this.#branch = branch
  }

  /** Takes in what the branch has become since it was asked last. */
  #catchUp(): void {
    const { blocks, logs, uses } = this.#branch
    if (this.#blocks === blocks.length) return
    for (; this.#logs < logs.length; this.#logs += 1) {
      const log = logs[this.#logs] as ModelLog
      const known = this.#logsOf.get(log.transactionHash)
      if (known === undefined) this.#logsOf.set(log.transactionHash, [log])
      else known.push(log)
    }
    for (const { transactionHash } of uses.values()) this.#usesOf.add(transactionHash)
    for (; this.#blocks < blocks.length; this.#blocks += 1) {
      const block = blocks[this.#blocks] as ModelBlock
      for (const tx of block.txs) {
        const logs = this.#logsOf.get(tx.hash) ?? []
        this.#mined.set(tx.hash, { tx, block, logs, isUse: this.#usesOf.has(tx.hash) })
      }
    }
  }

  /** The block of a number that the branch has. */
  block(number: bigint): ModelBlock | undefined {
    const [first] = this.#branch.blocks
    return first === undefined ? undefined : this.#branch.blocks[Number(number - first.number)]
  }

  /** A transaction of the branch. */
  mined(hash: Hex): Mined | undefined {
    this.#catchUp()
    return this.#mined.get(hash)
  }

  /** Order events of the blocks `from` to `to`. */
  logs(from: bigint, to: bigint): readonly ModelLog[] {
    return this.#branch.logs.filter(({ block }) => block.number >= from && block.number <= to)
  }
}

const rowsOfBranch = new WeakMap<Branch, BranchRows>()

/** The rows of a branch; the same for everybody who asks. */
export function rowsOf(branch: Branch): BranchRows {
  let rows = rowsOfBranch.get(branch)
  if (rows === undefined) {
    rows = new BranchRows(branch)
    rowsOfBranch.set(branch, rows)
  }
  return rows
}

/** Seconds between the blocks from before the world began. */
const ANCIENT_SECONDS = 1_000

/** Number, hash, parent and time of a block, from before the world as well; undefined when the branch has none. */
export function headerOf(
  branch: Branch,
  number: bigint,
):
  | { readonly number: bigint; readonly hash: Hex; readonly parentHash: Hex; readonly seconds: number }
  | undefined {
  const [first] = branch.blocks
  if (first === undefined || number < 0n) return undefined
  const ancientHash = (of: bigint): Hex => `0xa0${of.toString(16).padStart(62, '0')}`
  if (number < first.number) {
    const seconds = first.timestampSeconds - Number(first.number - number) * ANCIENT_SECONDS
    return { number, hash: ancientHash(number), parentHash: ancientHash(number - 1n), seconds }
  }
  const block = rowsOf(branch).block(number)
  if (block === undefined) return undefined
  const parent = rowsOf(branch).block(number - 1n)
  return {
    number,
    hash: block.hash,
    parentHash: parent?.hash ?? ancientHash(number - 1n),
    seconds: block.timestampSeconds,
  }
}

/** Nonce and deadline, as they stand beside each other in `RelayParams`. */
function termsOf({ userNonce, deadlineSeconds }: Pick<Message, 'userNonce' | 'deadlineSeconds'>): string {
  return [userNonce, BigInt(deadlineSeconds)].map((one) => one.toString(16).padStart(64, '0')).join('')
}

/** Calldata of a transaction: what it holds of ours stands somewhere in it. */
function inputOf({ action, hash }: Tx): Hex {
  const routers = `${gelatoRelayRouter.slice(2)}${subaccountGelatoRelayRouter.slice(2)}`.toLowerCase()
  switch (action.kind) {
    case 'batch':
    case 'bundle': {
      const messages = action.kind === 'batch' ? [action.message] : action.messages
      // Whoever hides a signature wraps the whole calldata.
      const shown = action.showsSignature
        ? messages.map((message) => `${termsOf(message)}${message.signature.slice(2).toLowerCase()}`)
        : []
      return `0xf2ae372f${routers}${hash.slice(2)}${shown.join('00'.repeat(32))}`
    }
    case 'foreign':
      return `0xf2ae372f${routers}${termsOf(action)}${'77'.repeat(65)}`
    default:
      return `0xac9650d8${hash.slice(2)}`
  }
}

/** A transaction as the wire has it. */
export function transactionRow({ tx, block }: Mined): unknown {
  const { kind } = tx.action
  const isRelayed = kind === 'batch' || kind === 'bundle' || kind === 'foreign'
  const to = isRelayed ? relayContract : exchangeRouter.toLowerCase()
  return { hash: tx.hash, to, input: inputOf(tx), blockHash: block.hash, blockNumber: quantity(block.number) }
}

/** Its receipt: what a reverted transaction did is not there. */
export function receiptRow(branch: Branch, { tx, block, logs, isUse }: Mined, account: string): unknown {
  const rows = logs.flatMap((log) => {
    const row = orderRow(log, account)
    return [...positionRows(log, branch.orders.get(log.orderKey)?.spec, account), row, counterfeit(row)]
  })
  return {
    transactionHash: tx.hash,
    blockHash: block.hash,
    blockNumber: quantity(block.number),
    status: logs.length > 0 || isUse ? '0x1' : '0x0',
    logs: rows,
  }
}

/** The branch of a chain that holds a block, its own first. */
export function branchWith(
  chain: ModelChain,
  branch: Branch,
  hash: Hex,
): { branch: Branch; block: ModelBlock } | undefined {
  for (const one of [branch, chain.canonical, ...chain.left]) {
    const block = one.blocks.findLast((each) => each.hash === hash)
    if (block !== undefined) return { branch: one, block }
  }
  return undefined
}
