/**
 * Which transaction used a digest up. It is the consumer only if the digest was unused at its parent block and used at its
 * own; candidates come from hosts' hints and from the account's events, and when there are none the block is found by
 * halving the range in which the digest was used.
 */
import { type Hex, hexKey } from '../domain/address.ts'
import type { AttemptQuery } from '../domain/chainReader.ts'
import type { Consumer } from '../domain/machine/chainView.ts'
import type { ChainNode, Heads } from './node.ts'
import { addressTopic, type OrderEvent } from './orderLogs.ts'
import type { TransactionRow } from './rows.ts'

/** Most transactions of the account that are looked into for one digest. */
const MAX_CANDIDATES = 64
/** Deadlines are at most this far ahead when they are signed, seconds (`signing.maxDeadlineSeconds`). */
const LONGEST_DEADLINE_SECONDS = 86_400

/** What a search knows beforehand. */
export interface ConsumerSearch {
  readonly query: AttemptQuery
  readonly heads: Heads
  /** First block that can hold it. */
  readonly from: bigint
  /** The account's events since then. */
  readonly events: readonly OrderEvent[]
  /** Signatures of other attempts, without 0x: a transaction that carries one of them is theirs. */
  readonly otherSignatures: ReadonlySet<string>
}

/**
 * The transaction that used the digest, or undefined when it was not found. Only to be asked while the digest is used at
 * the latest block.
 *
 * @throws BaseError as the endpoint's questions do
 */
export async function findConsumer(
  node: ChainNode,
  search: ConsumerSearch,
  signal: AbortSignal,
): Promise<Consumer | undefined> {
  const { query, events } = search
  const changing = events.filter(({ event }) => event !== 'OrderExecuted' && event !== 'OrderFrozen')
  const named = [
    ...query.transactionHashes.map(hexKey),
    ...changing.map((one) => one.transactionHash).reverse(),
  ]
  const hashes = [...new Set(named)].slice(0, MAX_CANDIDATES) as Hex[]
  const found = await node.transactions(hashes, signal)
  for (const transaction of found) {
    if (transaction === undefined || !carries(transaction, query.signature)) continue
    const consumer = await verified(node, search, transaction, true, signal)
    if (consumer !== undefined) return consumer
  }
  return inBlockOfUse(node, search, signal)
}

function carries({ input }: TransactionRow, signature: Hex): boolean {
  return input.includes(signatureDigits(signature))
}

/** The consumer that a transaction is, if it succeeded and the digest was unused before its block and used in it. */
async function verified(
  node: ChainNode,
  { query }: ConsumerSearch,
  transaction: TransactionRow,
  carriesOurSignature: boolean,
  signal: AbortSignal,
): Promise<Consumer | undefined> {
  const { hash: transactionHash, blockHash } = transaction
  if (blockHash === undefined) return undefined
  try {
    const [receipt] = await node.receipts([{ transactionHash, blockHash }], signal)
    // A revert rolls the mark back. A call that failed inside a transaction leaves none of our events in it.
    if (receipt?.hasSucceeded !== true) return undefined
    const isOurs = receipt.logs.some(({ topics }) => topics[3] === addressTopic(query.account))
    if (carriesOurSignature && !isOurs) return undefined
    const [known] = await node.blocks([blockHash], signal)
    if (known === undefined) return undefined
    const row = await node.blockByNumber(known.number, signal)
    if (row.hash !== blockHash) {
      node.forget()
      return undefined
    }
    const [before, after] = await node.digestAt(query, [row.parentHash, row.hash], signal)
    if (before !== false || after !== true) return undefined
    const { number, hash, timestampSeconds } = row
    return { transactionHash, block: { number, hash, timestampSeconds }, carriesOurSignature }
  } catch (error) {
    // What is remembered of the transaction may be from before a reorganisation.
    node.forget()
    throw error
  }
}

/** Finds the block in which the digest was used, and the transaction in it. */
async function inBlockOfUse(
  node: ChainNode,
  search: ConsumerSearch,
  signal: AbortSignal,
): Promise<Consumer | undefined> {
  const { query, events, otherSignatures } = search
  const number = await blockOfUse(node, search, signal)
  if (number === undefined) return undefined
  const block = await node.fullBlock(number, signal)
  const mined = block.transactions.map((one) => ({ ...one, blockHash: block.hash }))
  const ours = new Set(
    events.filter((one) => one.blockHash === block.hash).map(({ transactionHash }) => transactionHash),
  )
  const router = hexKey(query.router)
  const isTheirs = ({ input }: TransactionRow): boolean =>
    [...otherSignatures].some((signature) => input.includes(signature))
  const isCall = ({ to, input }: TransactionRow): boolean => to === router || input.includes(router.slice(2))
  // A keeper's work on our orders can be in the same block; it calls no router.
  const calls = mined.filter(isCall)
  // In the order of what they would prove: our message, an event of ours, and a stranger's use. Which of several strangers
  // it was does not matter: the block then holds nothing of ours.
  const candidates = [
    ...mined.filter((one) => carries(one, query.signature)).map((one) => [one, true] as const),
    ...calls.filter((one) => ours.has(one.hash) && !isTheirs(one)).map((one) => [one, false] as const),
    ...calls.filter((one) => !ours.has(one.hash)).map((one) => [one, false] as const),
  ]
  for (const [transaction, carriesOurSignature] of candidates) {
    const isCarrier = carries(transaction, query.signature)
    // It was tried as a carrier, and was none that succeeded.
    if (isCarrier && !carriesOurSignature) continue
    const consumer = await verified(node, search, transaction, carriesOurSignature, signal)
    if (consumer !== undefined) return consumer
  }
  return undefined
}

/** The first block at which the digest is used, by halving; undefined when nothing shows it unused before. */
async function blockOfUse(
  node: ChainNode,
  { query, heads, from }: ConsumerSearch,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  let unused = from > 0n ? from - 1n : 0n
  let used = heads.latest.number
  if (unused >= used) return undefined
  if (await node.digestAtNumber(query, unused, signal)) {
    // Somebody used it up before we armed: it was never ours to use.
    used = unused
    unused = await blockBeforeSigning(node, query.deadlineSeconds, heads, signal)
    if (unused >= used || (await node.digestAtNumber(query, unused, signal))) return undefined
  }
  while (used - unused > 1n) {
    const middle = (unused + used) / 2n
    if (await node.digestAtNumber(query, middle, signal)) used = middle
    else unused = middle
  }
  return used
}

/**
 * A block from before the attempt can have been signed, for attempts that were armed while no endpoint answered: the newest
 * whose time is a whole longest deadline before the signed one.
 *
 * @throws BaseError as the endpoint's questions do
 */
export async function blockBeforeSigning(
  node: ChainNode,
  deadlineSeconds: number,
  heads: Heads,
  signal: AbortSignal,
): Promise<bigint> {
  const target = deadlineSeconds - LONGEST_DEADLINE_SECONDS
  let late = heads.latest.number
  let step = 1n
  let early = late
  for (;;) {
    early = late > step ? late - step : 0n
    if (early === 0n) break
    const block = await node.blockByNumber(early, signal)
    if (block.timestampSeconds <= target) break
    late = early
    step *= 4n
  }
  while (late - early > 1n) {
    const middle = (early + late) / 2n
    const block = await node.blockByNumber(middle, signal)
    if (block.timestampSeconds <= target) early = middle
    else late = middle
  }
  return early
}

/** A signature as it stands in calldata. */
export function signatureDigits(signature: Hex): string {
  return hexKey(signature).slice(2)
}
