/**
 * Finds the transaction that consumed a digest. A transaction is the consumer only if the digest was unused at its parent block and used at its
 * own. Candidates come from hosts' hints and from the account's events. Without any, the block is found by halving the range of blocks.
 */
import { defined } from '../base/defined.ts'
import { closeness } from '../domain/machine/chainEvidence.ts'
import type { AttemptQuery } from '../domain/machine/chainReader.ts'
import type { Consumer } from '../domain/machine/chainView.ts'
import { type Address, type Hex, hexKey } from '../protocol/address.ts'
import { isOrderLog, type OrderEvent } from './logs/orderLogs.ts'
import { nativePriceIn, relayReturnedUsd } from './logs/relayReturns.ts'
import type { ReceiptRow, TransactionRow } from './node/blockRows.ts'
import { digestKey } from './node/digests.ts'
import type { ChainNode, Heads } from './node/node.ts'

/** Most transactions that one look searches for signatures. */
const MAX_CANDIDATES = 2_000
/** The longest time to a deadline at its signature, seconds (`signing.maxDeadlineSeconds`). */
const LONGEST_DEADLINE_SECONDS = 86_400

/** Known facts at the start of a search. */
export interface ConsumerSearch {
  readonly query: AttemptQuery
  readonly heads: Heads
  /** First block that can hold it. */
  readonly from: bigint
  /** The account's events since then. */
  readonly events: readonly OrderEvent[]
  /** Signatures of all attempts, without 0x. A transaction with the signature of another attempt belongs to that attempt. */
  readonly signatures: ReadonlySet<string>
  readonly emitter: Address
  readonly wrappedNative: Address
}

/** A consumer, and the events of its receipt. */
export interface Found {
  readonly consumer: Consumer
  /**
   * Events of the account's orders in its receipt. While they are missing among the account's events, a message of ours without a
   * visible signature looks like a stranger's.
   */
  readonly events: number
  /**
   * The account's events of its block that the choice was made by, where no signature shows it: more of them may show another
   * transaction of the block. Absent: its signature is in plain sight.
   */
  readonly chosenBy?: number
  /** Contract price at which its fee was swapped into the native token, by the oracle's prices in it; absent: it shows none. */
  readonly nativePrice?: bigint
}

/** A transaction that may have used a digest. */
interface Candidate {
  readonly search: ConsumerSearch
  readonly transactionHash: Hex
  readonly blockHash: Hex
  readonly carriesOurSignature: boolean
}

/** A candidate with its receipt read. */
interface Mined extends Candidate {
  readonly events: number
  readonly feeReturnedUsd: bigint | undefined
  readonly nativePrice: bigint | undefined
}

/**
 * Finds consumers whose calldata shows their attempt's signature, by `digestKey`: all searches of a look in a handful of requests. The digests
 * must be used at the latest block.
 *
 * @throws BaseError as the endpoint's questions do
 */
export async function findBySignature(
  node: ChainNode,
  searches: readonly ConsumerSearch[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Found>> {
  const hashes = new Set<Hex>()
  for (const { query, events } of searches) {
    for (const hash of query.transactionHashes) hashes.add(hexKey(hash) as Hex)
    for (const event of events) if (isChange(event)) hashes.add(event.transactionHash)
  }
  const newest = [...hashes].slice(-MAX_CANDIDATES)
  const transactions = await node.transactions(newest, signal)
  const candidates = searches.flatMap((search) =>
    transactions.flatMap((one): readonly Candidate[] =>
      one?.blockHash === undefined || !carries(one, search.query.signature)
        ? []
        : [{ search, transactionHash: one.hash, blockHash: one.blockHash, carriesOurSignature: true }],
    ),
  )
  return verified(node, candidates, signal)
}

/** Tells whether an event belongs to a message's action; the others belong to a keeper's work. */
function isChange({ event }: OrderEvent): boolean {
  return event !== 'OrderExecuted' && event !== 'OrderFrozen'
}

function carries({ input }: TransactionRow, signature: Hex): boolean {
  return input.includes(signatureDigits(signature))
}

/**
 * Returns the candidates that are consumers, by `digestKey`: they succeeded, and the digest was unused before their block and used in it. Of
 * several for one digest the first counts; none counts after one of its block that the endpoint did not show whole.
 */
async function verified(
  node: ChainNode,
  candidates: readonly Candidate[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Found>> {
  const consumers = new Map<string, Found>()
  /** Blocks of a digest in which a candidate could not be read: the state at a block does not say which of its transactions used it. */
  const unread = new Set<string>()
  try {
    const receipts = await node.receipts(candidates, signal)
    const mined = candidates.flatMap((candidate, index): readonly Mined[] => {
      const receipt = receipts[index]
      const place = placeOf(candidate)
      if (receipt === undefined) unread.add(place)
      if (unread.has(place)) return []
      // A revert rolls the mark back. A call that failed inside a transaction leaves none of our events in it.
      if (receipt?.hasSucceeded !== true) return []
      const events = eventsIn(receipt, candidate.search)
      if (candidate.carriesOurSignature && events === 0) return []
      const { query, emitter, wrappedNative } = candidate.search
      const feeReturnedUsd = relayReturnedUsd(receipt.logs, { ...query, emitter, wrappedNative })
      const nativePrice = nativePriceIn(receipt.logs, { emitter, wrappedNative })
      return [{ ...candidate, events, feeReturnedUsd, nativePrice }]
    })
    const blocks = await node.blocks(
      mined.map(({ blockHash }) => blockHash),
      signal,
    )
    const uses = mined.flatMap((candidate, index) => {
      const block = blocks[index]
      return block === undefined ? [] : [{ candidate, block }]
    })
    const readings = await node.usesAt(
      uses.map(({ candidate, block }) => ({
        digest: candidate.search.query,
        before: block.parentHash,
        at: block.hash,
      })),
      signal,
    )
    for (const [index, { candidate, block: found }] of uses.entries()) {
      const reading = readings[index]
      // Its block was replaced, or is too old for the endpoint: what is remembered of the transaction may be, too.
      if (reading === undefined) {
        node.forget()
        unread.add(placeOf(candidate))
      }
      const key = digestKey(candidate.search.query)
      if (unread.has(placeOf(candidate)) || consumers.has(key)) continue
      if (reading?.before !== false || reading.at !== true) continue
      const { number, hash, timestampSeconds } = found
      const { transactionHash, carriesOurSignature, feeReturnedUsd, nativePrice } = candidate
      const block = { number, hash, timestampSeconds }
      consumers.set(key, {
        consumer: {
          transactionHash,
          block,
          carriesOurSignature,
          ...defined({ feeReturnedUsd }),
        },
        events: number < candidate.search.from ? 0 : candidate.events,
        ...defined({ nativePrice }),
      })
    }
    return consumers
  } catch (error) {
    node.forget()
    throw error
  }
}

/** A digest in a block. */
function placeOf({ search, blockHash }: Candidate): string {
  return `${digestKey(search.query)}:${blockHash}`
}

/** Tells whether an input holds the nonce and the deadline next to each other, as `RelayParams` do. */
function holdsTerms({ input }: TransactionRow, { userNonce, deadlineSeconds }: AttemptQuery): boolean {
  if (userNonce === undefined) return false
  return input.includes(termsDigits(userNonce, deadlineSeconds))
}

/** Returns nonce and deadline as the calldata of their digest's consumer has them. */
export function termsDigits(userNonce: bigint, deadlineSeconds: number): string {
  return userNonce.toString(16).padStart(64, '0') + deadlineSeconds.toString(16).padStart(64, '0')
}

/** Rates how well a transaction's events fit the attempt's actions: several of ours may be in one block, none with a signature. */
function closenessOf({ query: { expected }, events }: ConsumerSearch, transactionHash: Hex): number {
  if (expected === undefined) return 0
  return closeness(
    expected,
    events.filter((one) => one.transactionHash === transactionHash),
  )
}

/** Counts the events of the account's orders in a receipt. */
function eventsIn({ logs }: ReceiptRow, { emitter, query }: ConsumerSearch): number {
  return logs.filter((log) => isOrderLog(log, emitter, query.account)).length
}

/**
 * Finds a consumer without a visible signature: the block in which the digest was used, and the transaction in it. Undefined when there is no
 * such transaction.
 *
 * @throws BaseError as the endpoint's questions do; RPC_REFUSED when it keeps no state of blocks that old
 */
export async function findByUse(
  node: ChainNode,
  search: ConsumerSearch,
  signal: AbortSignal,
): Promise<Found | undefined> {
  const { query, events, signatures } = search
  const number = await blockOfUse(node, search, signal)
  if (number === undefined) return undefined
  const block = await node.fullBlock(number, signal)
  const mined = block.transactions.map((one) => ({ ...one, blockHash: block.hash }))
  const ours = new Set(
    events.filter((one) => one.blockHash === block.hash && isChange(one)).map((one) => one.transactionHash),
  )
  const router = hexKey(query.router)
  const isTheirs = ({ input }: TransactionRow): boolean =>
    [...signatures].some((one) => one !== signatureDigits(query.signature) && input.includes(one))
  const isCall = ({ to, input }: TransactionRow): boolean => to === router || input.includes(router.slice(2))
  // A keeper's work on our orders can be in the same block; it calls no router.
  const calls = mined.filter(isCall)
  const ofOurs = calls
    .filter((one) => ours.has(one.hash) && !isTheirs(one))
    .sort((one, other) => closenessOf(search, other.hash) - closenessOf(search, one.hash))
  const fitting = ofOurs.filter(({ hash }) => closenessOf(search, hash) > 0)
  const telling = calls.filter((one) => holdsTerms(one, query) && !isTheirs(one))
  // Two messages of one second may share nonce and deadline: where one of several is ours, they do not say which is meant.
  const speaking = telling.length === 1 || !telling.some(({ hash }) => ours.has(hash)) ? telling : []
  // In the order of what they would prove: our message; events that it makes; the terms that the digest holds; another event
  // of ours; and a stranger's use. Which of several third parties it was does not matter: the block then holds nothing of ours.
  const candidates = [
    ...mined.filter((one) => carries(one, query.signature)).map((one) => [one, true] as const),
    ...new Map(
      [...fitting, ...speaking, ...ofOurs, ...calls.filter((one) => !ours.has(one.hash))].map(
        (one) => [one, false] as const,
      ),
    ),
  ]
  const found = await verified(
    node,
    candidates.flatMap(([{ hash, blockHash, ...rest }, carriesOurSignature]): readonly Candidate[] =>
      // It is tried as a carrier only: one that failed is none of the others.
      carriesOurSignature !== carries({ hash, ...rest }, query.signature)
        ? []
        : [{ search, transactionHash: hash, blockHash, carriesOurSignature }],
    ),
    signal,
  )
  const chosen = found.get(digestKey(query))
  if (chosen === undefined || chosen.consumer.carriesOurSignature) return chosen
  return { ...chosen, chosenBy: events.filter(({ blockHash }) => blockHash === block.hash).length }
}

/** Finds the first block at which the digest is used, by halving; undefined when no earlier block shows it unused. */
async function blockOfUse(
  node: ChainNode,
  { query, heads, from }: ConsumerSearch,
  signal: AbortSignal,
): Promise<bigint | undefined> {
  let unused = from > 0n ? from - 1n : 0n
  let used = heads.latest.number
  if (unused >= used) return undefined
  if (await node.digestAtNumber(query, unused, signal)) {
    // Another transaction consumed it before we armed: it was never ours to use.
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
 * Returns a block from before the attempt's signature, for attempts that were armed while no endpoint answered: the newest one that is older than
 * the signed deadline by the longest time to a deadline.
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

/** Returns a signature as calldata has it. */
export function signatureDigits(signature: Hex): string {
  return hexKey(signature).slice(2)
}
