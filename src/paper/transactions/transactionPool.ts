/**
 * The mempool: transactions that accounts sent, until a block takes them. Each account's go in the order of their nonces; one
 * whose nonce comes later waits for those before it, one that offers too little waits for a cheaper block, and what waited
 * three hours is forgotten, as nodes forget it.
 */
import { type Address, hexKey, sameHex } from '../../protocol/address.ts'
import { blockNumberAt, type ChainTransaction, mineSigned } from '../blocks/blockChain.ts'
import { actorsOf } from '../blocks/keeperCall.ts'
import { BLOCK_GAS_LIMIT, baseFeeOf } from '../blocks/rpcGas.ts'
import { accountOf } from '../state/accounts.ts'
import { rememberHoldings } from '../state/pastHoldings.ts'
import { createPurse, holdingOf, nativeAddress } from '../state/purse.ts'
import type { PooledTransaction } from '../state/venueRecords.ts'
import { schedule, type VenueState } from '../state/venueState.ts'
import { runInTransaction } from './classicRun.ts'
import { intrinsicGasOf, refusedBecause, type SentTransaction } from './rawTransaction.ts'

/** Most transactions of one account that wait. */
export const MAX_PER_ACCOUNT = 64
/** Most transactions that wait altogether, and how many bytes of calldata they may have. */
export const MAX_POOLED = 4096
const MAX_POOLED_BYTES = 16_777_216
/** Longest wait, ms. */
const POOL_LIFETIME_MS = 3 * 3_600_000
/** Least offer of a replacement, percent of both fees of the transaction that it replaces. */
const REPLACEMENT_PERCENT = 110n

const tellers = new WeakMap<VenueState, (transaction: PooledTransaction) => void>()

/** Has every transaction told that is taken in, before its sender is answered: the state file's log. */
export function onSent(venueState: VenueState, tell: (transaction: PooledTransaction) => void): void {
  tellers.set(venueState, tell)
}

const recent = new WeakMap<
  VenueState,
  { readonly count: number; readonly last: readonly PooledTransaction[] }
>()

/** The transactions that were taken in after so many of this run, and how many that are now. */
export function sentAfter(
  venueState: VenueState,
  after: number,
): { readonly count: number; readonly sent: readonly PooledTransaction[] } {
  const { count, last } = recent.get(venueState) ?? { count: 0, last: [] }
  return { count, sent: after >= count ? [] : last.slice(Math.max(0, last.length - (count - after))) }
}

/** The venue's own sender at an address, whose nonces the chain counts. */
function actorAt(venueState: VenueState, address: Address): 'relayer' | 'keeper' | 'stranger' | undefined {
  const actors = actorsOf(venueState.chain)
  return (['relayer', 'keeper', 'stranger'] as const).find((one) => hexKey(actors[one]) === hexKey(address))
}

/** Nonce of the next transaction of an address, after all that were mined. */
export function nextNonceOf(venueState: VenueState, address: Address): number {
  const actor = actorAt(venueState, address)
  if (actor !== undefined) return venueState.blockChain.nonces[actor]
  return venueState.accounts.get(hexKey(address))?.nonce ?? 0
}

function countNonce(venueState: VenueState, address: Address): void {
  const actor = actorAt(venueState, address)
  if (actor !== undefined) venueState.blockChain.nonces[actor] += 1
  else {
    const account = accountOf(venueState, address)
    account.nonce = (account.nonce ?? 0) + 1
  }
}

/** Transactions that wait, by sender and nonce. */
function pooledBySender(venueState: VenueState): Map<Address, Map<number, PooledTransaction>> {
  const senders = new Map<Address, Map<number, PooledTransaction>>()
  for (const one of venueState.mempool.values()) {
    const byNonce = senders.get(one.signed.from) ?? new Map<number, PooledTransaction>()
    senders.set(one.signed.from, byNonce.set(one.nonce, one))
  }
  return senders
}

/** Transactions of an address that wait, by nonce. */
function pooledOf(venueState: VenueState, address: Address): ReadonlyMap<number, PooledTransaction> {
  const byNonce = new Map<number, PooledTransaction>()
  for (const one of venueState.mempool.values()) {
    if (sameHex(one.signed.from, address)) byNonce.set(one.nonce, one)
  }
  return byNonce
}

/** The nonce after a run of transactions without a gap. */
function afterRun(next: number, waiting: ReadonlyMap<number, PooledTransaction>): number {
  let nonce = next
  while (waiting.has(nonce)) nonce += 1
  return nonce
}

/** Nonce of the next transaction of an address, after those that wait without a gap before them. */
export function pendingNonceOf(venueState: VenueState, address: Address): number {
  return afterRun(nextNonceOf(venueState, address), pooledOf(venueState, address))
}

/** The most that a transaction can cost, wei. */
function costOf({ signed }: SentTransaction): bigint {
  return BigInt(signed.gasLimit) * signed.maxFeePerGas + signed.value
}

function nativeOf(venueState: VenueState, address: Address): bigint {
  return holdingOf(venueState, address, nativeAddress(venueState))
}

function isReplacement(old: PooledTransaction, next: SentTransaction): boolean {
  const enough = (before: bigint, after: bigint): boolean =>
    after > before && after * 100n >= before * REPLACEMENT_PERCENT
  return (
    enough(old.signed.maxFeePerGas, next.signed.maxFeePerGas) &&
    enough(old.signed.maxPriorityFeePerGas, next.signed.maxPriorityFeePerGas)
  )
}

/** Makes room for one more: what waits behind a gap goes first. Throws RpcError when all of it could be mined. */
function makeRoom(venueState: VenueState, input: string): void {
  const { mempool } = venueState
  let bytes = input.length / 2
  for (const one of mempool.values()) bytes += one.input.length / 2
  const isFull = (): boolean => mempool.size >= MAX_POOLED || bytes > MAX_POOLED_BYTES
  if (!isFull()) return
  for (const [sender, waiting] of pooledBySender(venueState)) {
    const run = afterRun(nextNonceOf(venueState, sender), waiting)
    for (const one of waiting.values()) {
      if (one.nonce < run || !isFull()) continue
      mempool.delete(one.hash)
      bytes -= one.input.length / 2
    }
  }
  if (isFull()) throw refusedBecause('txpool is full')
}

/**
 * Takes a transaction into the mempool at the clock's time; it is in the next block when its turn has come.
 *
 * @throws RpcError -32000 with the nodes' texts: already known, nonce too low, insufficient funds, replacement transaction
 * underpriced, account limit exceeded, txpool is full
 */
export function admit(venueState: VenueState, sent: SentTransaction): void {
  const nowMs = venueState.clock.now()
  const { from } = sent.signed
  forgetOld(venueState, nowMs)
  if (venueState.mempool.has(sent.hash)) throw refusedBecause('already known')
  const next = nextNonceOf(venueState, from)
  if (sent.nonce < next) {
    throw refusedBecause(`nonce too low: next nonce ${next}, tx nonce ${sent.nonce}`)
  }
  const waiting = pooledOf(venueState, from)
  const own = costOf(sent)
  const old = waiting.get(sent.nonce)
  let queued = 0n
  for (const one of waiting.values()) if (one !== old) queued += costOf(one)
  const balance = nativeOf(venueState, from)
  if (balance < queued + own) {
    const others = queued === 0n ? '' : `queued cost ${queued}, `
    throw refusedBecause(
      `insufficient funds for gas * price + value: balance ${balance}, ${others}tx cost ${own}, overshot ${queued + own - balance}`,
    )
  }
  if (old === undefined) {
    if (waiting.size >= MAX_PER_ACCOUNT) throw refusedBecause('account limit exceeded')
    makeRoom(venueState, sent.input)
  } else if (!isReplacement(old, sent)) throw refusedBecause('replacement transaction underpriced')
  const pooled: PooledTransaction = { ...sent, seenAtMs: nowMs }
  venueState.counters.sent += 1
  putInPool(venueState, pooled)
  tellers.get(venueState)?.(pooled)
  const before = recent.get(venueState) ?? { count: 0, last: [] }
  recent.set(venueState, { count: before.count + 1, last: [...before.last, pooled].slice(-MAX_POOLED) })
}

/** Puts a transaction among those that wait, in the place of one of the same account and nonce. */
export function putInPool(venueState: VenueState, pooled: PooledTransaction): void {
  if (venueState.blockChain.byHash.has(hexKey(pooled.hash))) return
  const old = pooledOf(venueState, pooled.signed.from).get(pooled.nonce)
  if (old !== undefined) venueState.mempool.delete(old.hash)
  venueState.mempool.set(pooled.hash, pooled)
  scheduleBlock(venueState, pooled.seenAtMs)
}

/** Has the block after a moment look into the mempool. */
function scheduleBlock(venueState: VenueState, atMs: number): void {
  if (venueState.due.some(({ kind }) => kind === 'mine')) return
  const { firstMs, firstNumber, blockTimeMs } = venueState.blockChain
  const next = blockNumberAt(venueState.blockChain, atMs) + 1
  schedule(venueState, { atMs: firstMs + (next - firstNumber) * blockTimeMs, kind: 'mine' })
}

function forgetOld(venueState: VenueState, nowMs: number): void {
  for (const [hash, { seenAtMs }] of venueState.mempool) {
    if (nowMs - seenAtMs > POOL_LIFETIME_MS) venueState.mempool.delete(hash)
  }
}

/** Returns a transaction's tip beyond the base fee, wei per unit of gas; below zero: it does not pay even the base fee. */
function tipAt({ signed }: PooledTransaction, baseFee: bigint): bigint {
  const above = signed.maxFeePerGas - baseFee
  return above < signed.maxPriorityFeePerGas ? above : signed.maxPriorityFeePerGas
}

/** A block begins: it takes what it can, and the next block is told when something is left that it could not take. */
export function minePool(venueState: VenueState, atMs: number): void {
  const baseFee = baseFeeOf(venueState.blockChain, blockNumberAt(venueState.blockChain, atMs))
  let room = BLOCK_GAS_LIMIT
  forgetOld(venueState, atMs)
  const senders = pooledBySender(venueState)
  // The one of each account whose turn has come.
  const heads = new Map<Address, PooledTransaction>()
  const turnTo = (sender: Address, nonce: number): void => {
    const next = senders.get(sender)?.get(nonce)
    if (next === undefined) heads.delete(sender)
    else heads.set(sender, next)
  }
  for (const sender of senders.keys()) turnTo(sender, nextNonceOf(venueState, sender))
  for (;;) {
    const best = bestOf(heads.values(), baseFee, room)
    if (best === undefined) break
    const { from } = best.signed
    venueState.mempool.delete(best.hash)
    // Somebody took the money since it was sent: no block can hold it.
    if (nativeOf(venueState, from) < costOf(best)) {
      heads.delete(from)
      continue
    }
    room -= runPooled(venueState, best, tipAt(best, baseFee) + baseFee, atMs)
    turnTo(from, best.nonce + 1)
  }
  if (heads.size > 0) scheduleBlock(venueState, atMs)
}

/** Returns the transaction with the best tip among those that pay the base fee and fit; of equal ones the first to come. */
function bestOf(
  heads: Iterable<PooledTransaction>,
  baseFee: bigint,
  room: number,
): PooledTransaction | undefined {
  let best: PooledTransaction | undefined
  for (const one of heads) {
    const tip = tipAt(one, baseFee)
    if (tip < 0n || one.signed.gasLimit > room) continue
    const lead = best === undefined ? 1n : tip - tipAt(best, baseFee)
    if (best === undefined || lead > 0n || (lead === 0n && one.seenAtMs < best.seenAtMs)) best = one
  }
  return best
}

/** Mines and runs one transaction at a gas price; the gas that it used. */
function runPooled(
  venueState: VenueState,
  pooled: PooledTransaction,
  gasPrice: bigint,
  atMs: number,
): number {
  const { hash, to, nonce, input, signed } = pooled
  const { from, value, gasLimit } = signed
  const native = nativeAddress(venueState)
  const transaction: ChainTransaction = mineSigned(venueState.blockChain, { hash, to, nonce, input, signed })
  rememberHoldings(venueState, from, atMs)
  accountOf(venueState, from)
  countNonce(venueState, from)
  const purse = createPurse(venueState, () => undefined)
  purse.take(from, native, BigInt(gasLimit) * gasPrice)
  const gas = { limit: gasLimit, used: intrinsicGasOf(input, signed.accessList) }
  const { gasUsed, failure } = runInTransaction(
    venueState,
    { from, to, data: input, value },
    { transaction, gas, nowMs: atMs },
  )
  purse.give(from, native, BigInt(gasLimit - gasUsed) * gasPrice)
  transaction.paid = { gasUsed, gasPrice }
  if (failure !== undefined) transaction.revertData = failure.data
  return gasUsed
}
