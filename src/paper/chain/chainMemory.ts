/** What the chain remembers: how many transactions, and which of them a state file keeps. */
import { hexKey } from '../../protocol/address.ts'
import { type BlockChain, blockOf, type ChainTransaction, forget, type Reorg } from './blockChain.ts'

/** Transactions of people that are kept; older ones are forgotten with their logs, as a pruned node forgets. */
export const MAX_TRANSACTIONS = 5000
/** Transactions of the population that are kept beside them, so that it never drives anybody else's out. */
export const MAX_POPULATION_TRANSACTIONS = 3000
/** Newest blocks with transactions of people, and newest transactions of all, that a state file keeps. */
const SAVED_TRANSACTIONS = 1000
const SAVED_NEWEST = 200

type IsPopulation = (account: string) => boolean

function isOfPopulation(transaction: ChainTransaction, isPopulation: IsPopulation): boolean {
  const account = transaction.logs[0]?.items.account ?? transaction.logs[0]?.items.trader
  return typeof account === 'string' && isPopulation(account)
}

/** Numbers of the blocks that hold a transaction of people. */
function blocksOfPeople(chain: BlockChain, isPopulation: IsPopulation): Set<number> {
  const numbers = new Set<number>()
  for (const transaction of chain.transactions) {
    if (!isOfPopulation(transaction, isPopulation)) numbers.add(blockOf(transaction).number)
  }
  return numbers
}

/**
 * Brings the chain back under its limits, a tenth below, so that the work is rare. Whole blocks go, so that what is left
 * keeps its place in its block: first the oldest that hold the population's transactions only, then the oldest of all.
 */
export function trimBlockChain(chain: BlockChain, isPopulation: IsPopulation): void {
  const limit = MAX_TRANSACTIONS + MAX_POPULATION_TRANSACTIONS
  if (chain.transactions.length <= limit) return
  const people = blocksOfPeople(chain, isPopulation)
  const isPeople = (one: ChainTransaction): boolean => people.has(blockOf(one).number)
  const ofPeople = chain.transactions.filter(isPeople).length
  let surplusPeople = Math.max(0, ofPeople - MAX_TRANSACTIONS)
  let surplus = chain.transactions.length - Math.floor(limit * 0.9) - surplusPeople
  const gone = new Set<number>()
  for (const transaction of chain.transactions) {
    const { number } = blockOf(transaction)
    const ofPeopleToo = isPeople(transaction)
    if (!gone.has(number) && (ofPeopleToo ? surplusPeople : surplus) <= 0) continue
    gone.add(number)
    if (ofPeopleToo) surplusPeople -= 1
    else surplus -= 1
  }
  for (const transaction of chain.transactions)
    if (gone.has(blockOf(transaction).number)) forget(chain, transaction)
  const kept = chain.transactions.filter((one) => !gone.has(blockOf(one).number))
  chain.transactions.splice(0, chain.transactions.length, ...kept)
}

/** What a state file keeps of the chain. */
export interface SavedBlockChain {
  readonly transactions: readonly ChainTransaction[]
  readonly reorgs: readonly Reorg[]
  readonly nonces: BlockChain['nonces']
  /** Absent in files of before. */
  readonly gasSpikes?: BlockChain['gasSpikes']
}

/** The part of the chain that a state file keeps. */
export function savedBlockChain(chain: BlockChain, isPopulation: IsPopulation): SavedBlockChain {
  const { transactions, reorgs, nonces, gasSpikes } = chain
  const people = blocksOfPeople(chain, isPopulation)
  const numbers = new Set([...people].slice(-SAVED_TRANSACTIONS))
  const newest = transactions.length - SAVED_NEWEST
  return {
    transactions: transactions.filter((one, i) => i >= newest || numbers.has(blockOf(one).number)),
    reorgs,
    nonces,
    gasSpikes,
  }
}

/** Puts saved transactions and reorganisations back. */
export function restoreBlockChain(chain: BlockChain, saved: SavedBlockChain): void {
  chain.transactions.push(...saved.transactions)
  chain.reorgs.push(...saved.reorgs)
  Object.assign(chain.nonces, saved.nonces)
  chain.gasSpikes.push(...(saved.gasSpikes ?? []))
  for (const transaction of saved.transactions) {
    chain.byHash.set(hexKey(transaction.hash), transaction)
    if (transaction.digest !== undefined) chain.byDigest.set(hexKey(transaction.digest), transaction)
  }
}
