/**
 * How much the world remembers. Everything that grows with use has a limit here (transactions and logs: chainMemory.ts; books:
 * ledger.ts); over it, the oldest goes first, in blocks of a tenth so that the work is rare.
 */
import type { Address } from '../domain/address.ts'
import { startBalances } from './accounts.ts'
import { trimBlockChain } from './chainMemory.ts'
import type { SubmitEntry } from './record.ts'
import type { World } from './world.ts'
import type { TradeRow } from './worldRecords.ts'

/** Rows of the trade history of people; the population's are kept apart, so that it never drives anybody else's out. */
export const MAX_TRADES = 20_000
export const MAX_POPULATION_TRADES = 2_000
/** Submitted operations that have ended. What was prepared and submitted answers 404 once its operation is forgotten. */
export const MAX_OPERATIONS = 20_000
/** How orders ended. */
export const MAX_OUTCOMES = 40_000
/** Used digests. A digest can be forgotten only long after its deadline, when the router refuses it anyway. */
export const MAX_DIGESTS = 200_000
/** Addresses; only those go that never did anything: no position, no order, and the balances of a new one. */
export const MAX_ACCOUNTS = 20_000
/** Entries of the venue's own record of submits. */
export const MAX_SUBMIT_ENTRIES = 20_000

function keepAfter(limit: number): number {
  return limit - Math.floor(limit / 10)
}

/** Brings the world back under its limits. Cheap when nothing is over. */
export function trimWorld(world: World): void {
  const populationLimit = world.traders.size === 0 ? 0 : MAX_POPULATION_TRADES
  if (world.trades.length > MAX_TRADES + populationLimit || world.populationTrades > MAX_POPULATION_TRADES) {
    trimTrades(world)
  }
  // What a relay never lands stays pending; a day after its deadline nobody waits for it.
  const longAgo = BigInt(Math.floor(world.clock.now() / 1000) - 86_400)
  trimMap(
    world.operations,
    MAX_OPERATIONS,
    ({ status, relayParams }) => status !== 'pending' || relayParams.deadline < longAgo,
  )
  trimMap(world.outcomes, MAX_OUTCOMES, ({ status }) => status !== 'created')
  if (world.usedDigests.size > MAX_DIGESTS) {
    for (const digest of world.usedDigests) {
      if (world.usedDigests.size <= keepAfter(MAX_DIGESTS)) break
      world.usedDigests.delete(digest)
    }
  }
  if (world.accounts.size > MAX_ACCOUNTS) trimAccounts(world)
  trimBlockChain(world.blockChain, (account) => world.traders.has(account as Address))
}

function trimTrades(world: World): void {
  const isPopulation = (row: TradeRow): boolean => world.traders.has(row.account)
  let population = 0
  for (const row of world.trades) if (isPopulation(row)) population += 1
  const excess = {
    population: population > MAX_POPULATION_TRADES ? population - keepAfter(MAX_POPULATION_TRADES) : 0,
    people:
      world.trades.length - population > MAX_TRADES
        ? world.trades.length - population - keepAfter(MAX_TRADES)
        : 0,
  }
  const kept = world.trades.filter((row) => {
    const kind = isPopulation(row) ? 'population' : 'people'
    if (excess[kind] === 0) return true
    excess[kind] -= 1
    return false
  })
  world.trades.length = 0
  for (const row of kept) world.trades.push(row)
  world.populationTrades = kept.filter(isPopulation).length
}

function trimMap<T>(map: Map<string, T>, limit: number, mayGo: (value: T) => boolean): void {
  if (map.size <= limit) return
  for (const [key, value] of map) {
    if (map.size <= keepAfter(limit)) return
    if (mayGo(value)) map.delete(key)
  }
}

function trimAccounts(world: World): void {
  const busy = new Set([...world.orders.values()].map(({ account }) => account.toLowerCase()))
  for (const { account, status } of world.operations.values()) {
    if (status === 'pending') busy.add(account.toLowerCase())
  }
  for (const { signed } of world.mempool.values()) busy.add(signed.from.toLowerCase())
  const fresh = startBalances(world)
  for (const [key, account] of world.accounts) {
    const { balances, allowances, claimableFunding, claimableCollateral, nonce } = account
    if (world.accounts.size <= keepAfter(MAX_ACCOUNTS)) return
    const isFresh =
      nonce === undefined &&
      allowances.size === 0 &&
      claimableFunding.size === 0 &&
      claimableCollateral.size === 0 &&
      [...balances].every(([token, amount]) => amount === (fresh.get(token) ?? 0n))
    const hasPosition = (world.positionKeysByAccount.get(key)?.size ?? 0) > 0
    if (isFresh && !hasPosition && !busy.has(key)) world.accounts.delete(key)
  }
}

/** Brings the record of submits back under its limit. */
export function trimRecord(record: SubmitEntry[]): void {
  if (record.length > MAX_SUBMIT_ENTRIES) record.splice(0, record.length - keepAfter(MAX_SUBMIT_ENTRIES))
}
