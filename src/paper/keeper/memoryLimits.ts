/**
 * Limits how much the venue remembers. Everything that grows with use has a limit here (transactions and logs: chainMemory.ts; books: ledger.ts).
 * Beyond a limit the oldest entries go first, a tenth at a time so that the work is rare.
 */
import type { Address } from '../../protocol/address.ts'
import { trimBlockChain } from '../blocks/chainMemory.ts'
import { startBalances } from '../state/accounts.ts'
import type { SubmitEntry } from '../state/submitRecord.ts'
import type { TradeRow } from '../state/venueRecords.ts'
import type { VenueState } from '../state/venueState.ts'

/** Rows of the trade history of people; the population's are kept apart, so that it never drives anybody else's out. */
export const MAX_TRADES = 20_000
export const MAX_POPULATION_TRADES = 2_000
/** Most outcomes of orders that are remembered. */
const MAX_OUTCOMES = 40_000
/** Used digests. A digest can be forgotten only long after its deadline, when the router refuses it anyway. */
const MAX_DIGESTS = 200_000
/** Addresses; only those go that never did anything: no position, no order, and the balances of a new one. */
const MAX_ACCOUNTS = 20_000
/** Entries of the venue's own record of submits. */
const MAX_SUBMIT_ENTRIES = 20_000

function keepAfter(limit: number): number {
  return limit - Math.floor(limit / 10)
}

/** Brings the venue back under its limits. Cheap when nothing is over. */
export function trimVenue(venueState: VenueState): void {
  const populationLimit = venueState.traders.size === 0 ? 0 : MAX_POPULATION_TRADES
  if (
    venueState.trades.length > mostTrades(venueState) + populationLimit ||
    venueState.populationTrades > MAX_POPULATION_TRADES
  ) {
    trimTrades(venueState)
  }
  // An operation that the relay never lands stays pending; a day after its deadline nobody waits for it.
  const longAgo = (): bigint => BigInt(Math.floor(venueState.clock.now() / 1000) - 86_400)
  // A prepared request that was submitted answers 404 once its operation is forgotten.
  trimMap(
    venueState.operations,
    venueState.settings.mostRequests,
    ({ status, relayParams }) => status !== 'pending' || relayParams.deadline < longAgo(),
  )
  const mostOutcomes = Math.min(MAX_OUTCOMES, venueState.settings.mostTrades)
  trimMap(venueState.outcomes, mostOutcomes, ({ status }) => status !== 'created')
  if (venueState.usedDigests.size > MAX_DIGESTS) {
    for (const digest of venueState.usedDigests) {
      if (venueState.usedDigests.size <= keepAfter(MAX_DIGESTS)) break
      venueState.usedDigests.delete(digest)
    }
  }
  if (venueState.accounts.size > MAX_ACCOUNTS) trimAccounts(venueState)
  trimBlockChain(venueState.blockChain, (account) => venueState.traders.has(account as Address))
}

/** Most rows of people's trades in this venue. */
function mostTrades({ settings }: VenueState): number {
  return Math.min(MAX_TRADES, settings.mostTrades)
}

function trimTrades(venueState: VenueState): void {
  const isPopulation = (row: TradeRow): boolean => venueState.traders.has(row.account)
  let population = 0
  for (const row of venueState.trades) if (isPopulation(row)) population += 1
  const people = venueState.trades.length - population
  const most = mostTrades(venueState)
  const excess = {
    population: population > MAX_POPULATION_TRADES ? population - keepAfter(MAX_POPULATION_TRADES) : 0,
    people: people > most ? people - keepAfter(most) : 0,
  }
  const kept = venueState.trades.filter((row) => {
    const kind = isPopulation(row) ? 'population' : 'people'
    if (excess[kind] === 0) return true
    excess[kind] -= 1
    return false
  })
  venueState.trades.length = 0
  for (const row of kept) venueState.trades.push(row)
  venueState.populationTrades = kept.filter(isPopulation).length
}

function trimMap<T>(map: Map<string, T>, limit: number, mayGo: (value: T) => boolean): void {
  if (map.size <= limit) return
  for (const [key, value] of map) {
    if (map.size <= keepAfter(limit)) return
    if (mayGo(value)) map.delete(key)
  }
}

function trimAccounts(venueState: VenueState): void {
  const busy = new Set([...venueState.orders.values()].map(({ account }) => account.toLowerCase()))
  for (const { account, status } of venueState.operations.values()) {
    if (status === 'pending') busy.add(account.toLowerCase())
  }
  for (const { signed } of venueState.mempool.values()) busy.add(signed.from.toLowerCase())
  const fresh = startBalances(venueState)
  for (const [key, account] of venueState.accounts) {
    const { balances, allowances, claimableFunding, claimableCollateral, nonce } = account
    if (venueState.accounts.size <= keepAfter(MAX_ACCOUNTS)) return
    const isFresh =
      nonce === undefined &&
      allowances.size === 0 &&
      claimableFunding.size === 0 &&
      claimableCollateral.size === 0 &&
      [...balances].every(([token, amount]) => amount === (fresh.get(token) ?? 0n))
    const hasPosition = (venueState.positionKeysByAccount.get(key)?.size ?? 0) > 0
    if (isFresh && !hasPosition && !busy.has(key)) venueState.accounts.delete(key)
  }
}

/** Brings the record of submits back under its limit, or under that of requests where it is lower. */
export function trimRecord(record: SubmitEntry[], { settings }: VenueState): void {
  const most = Math.min(MAX_SUBMIT_ENTRIES, settings.mostRequests)
  if (record.length > most) record.splice(0, record.length - keepAfter(most))
}
