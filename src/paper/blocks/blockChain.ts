/**
 * The chain under the venue: blocks by the clock, the transactions that changed something, their logs, and reorganisations.
 *
 * Blocks are not kept: number, time and hash follow from the clock, the seed and the reorganisations, so empty ones cost
 * nothing. A block holds what happened in its stretch of time and can be read once the stretch is over; then it changes
 * only by a reorganisation.
 */
import { type Address, type Hex, hexKey } from '../../protocol/address.ts'
import { type ChainName, chains } from '../../protocol/chains/index.ts'
import { hashText, mix } from '../math/random.ts'

/** A value of an event's item. */
export type EventValue = string | bigint | boolean | readonly string[]

/** A log of the event emitter, encoded when somebody asks for it. */
export interface ChainLog {
  readonly eventName: string
  /** Indexed words after the name's hash: none, one or two. */
  readonly topics: readonly Hex[]
  readonly items: Readonly<Record<string, EventValue>>
  /** A log of another contract than the event emitter, as it stands on the wire; topics and items above are empty then. */
  readonly plain?: { readonly address: Address; readonly topics: readonly Hex[]; readonly data: Hex }
}

/** A block that holds, or held, a transaction. */
export interface Inclusion {
  readonly number: number
  readonly generation: number
}

/** Sender of a transaction: the relay, the keeper, or a stranger to the venue. */
export type Sender = 'relayer' | 'keeper' | 'stranger'

/** Fields that only a transaction signed and sent by an account has. Amounts in wei. */
export interface SignedTransaction {
  readonly from: Address
  /** EIP-2718: legacy, with an access list (EIP-2930), with fees of EIP-1559. */
  readonly type: '0x0' | '0x1' | '0x2'
  readonly gasLimit: number
  /** The gas price of types 0 and 1 is both of these. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly value: bigint
  readonly accessList: readonly { readonly address: Address; readonly storageKeys: readonly Hex[] }[]
  readonly r: Hex
  readonly s: Hex
  /** With the chain id in it in a legacy transaction, else the parity. */
  readonly v: bigint
  readonly yParity: number
}

/** A transaction: a signed batch, the keeper's work on one order, or what an account sent itself. */
export interface ChainTransaction {
  readonly hash: Hex
  /** Sender; for a transaction that an account sent itself, `signed` names the account. */
  readonly sender: Sender | 'account'
  readonly signed?: SignedTransaction
  /** Gas that a signed transaction used, and its price per unit, wei. */
  paid?: { readonly gasUsed: number; readonly gasPrice: bigint }
  readonly to: Address
  readonly nonce: number
  input: Hex
  /** Digest that the transaction used up at the contract `to`. */
  digest?: Hex
  /** Revert bytes; a transaction that has them changed nothing. */
  revertData?: Hex
  logs: ChainLog[]
  /** Every block it was in, oldest first; the last is the block it is in, or will be in when it returns. */
  readonly inclusions: Inclusion[]
}

/** Blocks `first` to `last` were replaced. */
export interface Reorg {
  readonly first: number
  readonly last: number
}

/** A transaction that a reorganisation took out of a block. */
export interface LostTransaction {
  readonly transaction: ChainTransaction
  readonly inclusion: Inclusion
}

/** From a block on, gas costs so much of its usual price. */
export interface GasSpike {
  readonly first: number
  readonly percent: number
}

/** The chain's memory. */
export interface BlockChain {
  /** Number of the block whose stretch begins with the venue. */
  readonly firstNumber: number
  readonly firstMs: number
  readonly blockTimeMs: number
  /** 32 bits of the seed and the beginning; the root of all block hashes. */
  readonly stream: number
  /** Ascending by block. */
  readonly transactions: ChainTransaction[]
  readonly byHash: Map<string, ChainTransaction>
  readonly byDigest: Map<string, ChainTransaction>
  readonly reorgs: Reorg[]
  /** Transactions that the newest reorganisations removed, by the number of the reorganisation from 1. */
  readonly lost: Map<number, readonly LostTransaction[]>
  readonly nonces: Record<Sender, number>
  /** Gas price around which the base fee moves, wei. */
  readonly gasPriceWei: number
  /** When gas cost another part of its usual price, ascending by block: percent, from a block on. */
  readonly gasSpikes: GasSpike[]
  /** Moment of the work that is being done, Unix ms. */
  atMs: number
  /** Count of transactions at which the chain next checks whether to forget some (chainMemory.ts). */
  lookAtLength: number
}

/** An empty chain that begins with the venue. `blockTimeMs` 0 = the chain's own pace, `gasPriceWei` 0 = its usual price. */
export function createBlockChain(options: {
  readonly chain: ChainName
  readonly seed: number
  readonly epochSeconds: number
  readonly blockTimeMs: number
  readonly gasPriceWei?: number
}): BlockChain {
  const { chain, seed, epochSeconds, blockTimeMs } = options
  const { blocks } = chains[chain]
  return {
    firstNumber: blocks.firstNumber,
    firstMs: epochSeconds * 1000,
    blockTimeMs: blockTimeMs > 0 ? blockTimeMs : blocks.timeMs,
    stream: hashText(`${chain}:${seed}:${epochSeconds}`),
    transactions: [],
    byHash: new Map(),
    byDigest: new Map(),
    reorgs: [],
    lost: new Map(),
    nonces: { relayer: 0, keeper: 0, stranger: 0 },
    gasPriceWei: options.gasPriceWei || blocks.gasPriceWei,
    gasSpikes: [],
    atMs: epochSeconds * 1000,
    lookAtLength: 0,
  }
}

/** Number of the block that a moment falls into; it can be read when its stretch is over. */
export function blockNumberAt(chain: BlockChain, atMs: number): number {
  return chain.firstNumber + Math.floor((atMs - chain.firstMs) / chain.blockTimeMs)
}

/** Newest block that can be read at a moment. */
export function headAt(chain: BlockChain, nowMs: number): number {
  return blockNumberAt(chain, nowMs) - 1
}

/** Timestamp of a block, Unix seconds: the beginning of its stretch, so that it agrees with the trades in it. */
export function blockSeconds(chain: BlockChain, number: number): number {
  return Math.max(0, Math.floor((chain.firstMs + (number - chain.firstNumber) * chain.blockTimeMs) / 1000))
}

/** Which version of a block number holds after the first `view` reorganisations (default: all): 0, or the last that replaced it. */
export function generationAt(chain: BlockChain, number: number, view = chain.reorgs.length): number {
  for (let i = view; i > 0; i -= 1) {
    const reorg = chain.reorgs[i - 1]
    if (reorg !== undefined && reorg.first <= number && number <= reorg.last) return i
  }
  return 0
}

/** Returns how many reorganisations had happened while a version of a block was last part of the chain. */
export function viewOf(chain: BlockChain, { number, generation }: Inclusion): number {
  for (let i = generation; i < chain.reorgs.length; i += 1) {
    const reorg = chain.reorgs[i]
    if (reorg !== undefined && reorg.first <= number && number <= reorg.last) return i
  }
  return chain.reorgs.length
}

function word(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0')
}

/** Hash of a version of a block. Its last 16 digits carry number and version, masked by the first, so it can be read back. */
export function blockHash(chain: BlockChain, { number, generation }: Inclusion): Hex {
  const base = mix(
    chain.stream ^ mix(number | 0) ^ mix(Math.floor(number / 4294967296) + Math.imul(generation, 0x9e3779b1)),
  )
  let digits = ''
  for (let i = 0; i < 6; i += 1) digits += word(mix(base ^ Math.imul(number + i * 7, i * 2 + 0x85ebca6b)))
  const maskHigh = mix(Number.parseInt(digits.slice(0, 8), 16) ^ chain.stream)
  const maskLow = mix(Number.parseInt(digits.slice(8, 16), 16) ^ chain.stream)
  const high = (generation << 16) | (Math.floor(number / 4294967296) & 0xffff)
  return `0x${digits}${word(high ^ maskHigh)}${word(number ^ maskLow)}`
}

/** The block of a hash, on the chain or replaced; undefined for a hash that no block up to `head` has or had. */
export function blockOfHash(chain: BlockChain, hash: string, head: number): Inclusion | undefined {
  const digits = hash.slice(2).toLowerCase()
  const maskHigh = mix(Number.parseInt(digits.slice(0, 8), 16) ^ chain.stream)
  const maskLow = mix(Number.parseInt(digits.slice(8, 16), 16) ^ chain.stream)
  const high = (Number.parseInt(digits.slice(48, 56), 16) ^ maskHigh) >>> 0
  const low = (Number.parseInt(digits.slice(56, 64), 16) ^ maskLow) >>> 0
  const block: Inclusion = { number: (high & 0xffff) * 4294967296 + low, generation: high >>> 16 }
  if (block.number > head || blockHash(chain, block) !== `0x${digits}`) return undefined
  // A version that this number never had: replaced numbers only have the versions that replaced them, and 0.
  const known =
    block.generation === 0 || generationAt(chain, block.number, block.generation) === block.generation
  return known && block.generation <= chain.reorgs.length ? block : undefined
}

/** The block a transaction is in or returns in. */
export function blockOf(transaction: ChainTransaction): Inclusion {
  const last = transaction.inclusions.at(-1)
  if (last === undefined) throw new RangeError(`transaction ${transaction.hash} is in no block`)
  return last
}

/** Mines a transaction now: into the block of `chain.atMs`, and never before one that is on its way back. */
export function mine(
  chain: BlockChain,
  options: Pick<ChainTransaction, 'hash' | 'to' | 'input'> & { readonly sender: Sender },
): ChainTransaction {
  const { sender } = options
  const transaction = append(chain, { ...options, nonce: chain.nonces[sender] })
  chain.nonces[sender] += 1
  return transaction
}

/** Mines a transaction that an account sent, as `mine` does; its nonce is the account's matter. */
export function mineSigned(
  chain: BlockChain,
  options: Pick<ChainTransaction, 'hash' | 'to' | 'input' | 'nonce'> & { readonly signed: SignedTransaction },
): ChainTransaction {
  return append(chain, { ...options, sender: 'account' })
}

function append(chain: BlockChain, given: Omit<ChainTransaction, 'logs' | 'inclusions'>): ChainTransaction {
  const newest = chain.transactions.at(-1)
  const number = Math.max(blockNumberAt(chain, chain.atMs), newest === undefined ? 0 : blockOf(newest).number)
  const transaction: ChainTransaction = {
    ...given,
    logs: [],
    inclusions: [{ number, generation: generationAt(chain, number) }],
  }
  chain.transactions.push(transaction)
  chain.byHash.set(hexKey(transaction.hash), transaction)
  return transaction
}

/** Forgets where a transaction is found by hash and digest. */
export function forget(chain: BlockChain, transaction: ChainTransaction): void {
  chain.byHash.delete(hexKey(transaction.hash))
  if (transaction.digest !== undefined) chain.byDigest.delete(hexKey(transaction.digest))
}

/** Notes that a transaction used a digest up. */
export function useDigest(chain: BlockChain, transaction: ChainTransaction, digest: Hex): void {
  transaction.digest = digest
  chain.byDigest.set(hexKey(digest), transaction)
}

/** First position of a block number, or of a later one, in the list of transactions. */
export function positionOf(chain: BlockChain, number: number): number {
  let low = 0
  let high = chain.transactions.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const transaction = chain.transactions[middle]
    if (transaction !== undefined && blockOf(transaction).number < number) low = middle + 1
    else high = middle
  }
  return low
}

/** Transactions of the blocks `first` to `last` of the chain as it is, in order. */
export function transactionsBetween(
  chain: BlockChain,
  first: number,
  last: number,
): readonly ChainTransaction[] {
  return chain.transactions.slice(positionOf(chain, first), positionOf(chain, last + 1))
}

/** Tells whether a transaction was included at a version of a block. */
export function isIncludedAt(chain: BlockChain, transaction: ChainTransaction, block: Inclusion): boolean {
  const view = viewOf(chain, block)
  return transaction.inclusions.some(
    ({ number, generation }) => number <= block.number && generationAt(chain, number, view) === generation,
  )
}
