/** Bounds how many transactions the chain remembers, and selects those that a state file retains. */
import { hexKey } from '../../protocol/address.ts'
import { type BlockChain, blockOf, type ChainTransaction, forget, type Reorg } from './blockChain.ts'

/** Transactions of people that are kept; older ones are forgotten with their logs, as a pruned node forgets. */
export const MAX_TRANSACTIONS = 5000
/**
 * Transactions of the population that are kept beside them, with those that share their blocks: some hours of its trade, 2 kB each. It never
 * drives anybody else's out, and takes no room that people do not use.
 */
export const MAX_POPULATION_TRANSACTIONS = 3000
/** From how many transactions on the limits are looked at, and after how many more again; so many may be above a limit. */
const FIRST_LOOK = 3000
export const LOOK_EVERY = 100
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
 * Brings the chain back under its limits, a tenth below, and looks no sooner than after `LOOK_EVERY` transactions more, or as many as there
 * is room for, so that the work is rare. Each kind has a limit of its own. Whole blocks go, the oldest first, so that what is left keeps its place in its block: one that holds
 * a transaction of people goes as one of theirs.
 */
export function trimBlockChain(chain: BlockChain, isPopulation: IsPopulation): void {
  if (chain.transactions.length < chain.lookAtLength) return
  const people = blocksOfPeople(chain, isPopulation)
  const isPeople = (one: ChainTransaction): boolean => people.has(blockOf(one).number)
  const ofPeople = chain.transactions.filter(isPeople).length
  const ofPopulation = chain.transactions.length - ofPeople
  let surplusPeople = surplusOf(ofPeople, MAX_TRANSACTIONS)
  let surplus = surplusOf(ofPopulation, MAX_POPULATION_TRANSACTIONS)
  const gone = new Set<number>()
  for (const transaction of chain.transactions) {
    const { number } = blockOf(transaction)
    const ofPeopleToo = isPeople(transaction)
    if (!gone.has(number) && (ofPeopleToo ? surplusPeople : surplus) <= 0) continue
    gone.add(number)
    if (ofPeopleToo) surplusPeople -= 1
    else surplus -= 1
  }
  if (gone.size > 0) {
    for (const transaction of chain.transactions)
      if (gone.has(blockOf(transaction).number)) forget(chain, transaction)
    const kept = chain.transactions.filter((one) => !gone.has(blockOf(one).number))
    chain.transactions.splice(0, chain.transactions.length, ...kept)
  }
  const room =
    gone.size > 0 ? 0 : Math.min(MAX_TRANSACTIONS - ofPeople, MAX_POPULATION_TRANSACTIONS - ofPopulation)
  chain.lookAtLength = Math.max(FIRST_LOOK, chain.transactions.length + Math.max(LOOK_EVERY, room))
}

/** Returns how many of `count` must go: none up to the limit, else so many that a tenth of it is free. */
function surplusOf(count: number, limit: number): number {
  return count > limit ? count - Math.floor(limit * 0.9) : 0
}

/** Part of the chain that a state file retains. */
export interface SavedBlockChain {
  readonly transactions: readonly ChainTransaction[]
  readonly reorgs: readonly Reorg[]
  readonly nonces: BlockChain['nonces']
  /** Absent in files of before. */
  readonly gasSpikes?: BlockChain['gasSpikes']
}

/**
 * The part of the chain that a state file keeps, with lists of its own: reorganisations move transactions. `most`: limit of the operator, below which
 * the usual ones count.
 */
export function savedBlockChain(
  chain: BlockChain,
  isPopulation: IsPopulation,
  most: number,
): SavedBlockChain {
  const { transactions, reorgs, nonces, gasSpikes } = chain
  const people = blocksOfPeople(chain, isPopulation)
  const numbers = new Set([...people].slice(-Math.min(SAVED_TRANSACTIONS, most)))
  const newest = transactions.length - Math.min(SAVED_NEWEST, most)
  return {
    transactions: transactions
      .filter((one, i) => i >= newest || numbers.has(blockOf(one).number))
      .map((one) => ({ ...one, logs: [...one.logs], inclusions: [...one.inclusions] })),
    reorgs: [...reorgs],
    nonces: { ...nonces },
    gasSpikes: [...gasSpikes],
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
