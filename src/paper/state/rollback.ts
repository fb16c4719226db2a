/** Restores everything that a reverted batch could touch, down to counters and the order of lists. */
import { type Address, type Hex, hexKey } from '../../protocol/address.ts'
import type { VenueState } from './venueState.ts'

/**
 * Remembers the venue as a batch of an account finds it; `named` are the orders it updates or cancels. Returns the way
 * back.
 */
export function rememberFor(venueState: VenueState, address: Address, named: readonly Hex[]): () => void {
  const accountKey = hexKey(address)
  const account = venueState.accounts.get(accountKey)
  const balances = new Map(account?.balances)
  const allowances = new Map(account?.allowances)
  const claimable = new Map(account?.claimableFunding)
  const { size } = venueState.orders
  // Only what is named can go, and leave a gap in the list. Keys and orders apart: a list of pairs would be a record an order.
  const orderKeys = named.length === 0 ? [] : [...venueState.orders.keys()]
  const orders = named.length === 0 ? [] : [...venueState.orders.values()]
  const records = named.flatMap((key) => {
    const order = venueState.orders.get(hexKey(key))
    return order === undefined ? [] : [{ order, before: { ...order } }]
  })
  const outcomes = named.map((key) => [hexKey(key), venueState.outcomes.get(hexKey(key))] as const)
  const known = venueState.outcomes.size
  const { order, trade } = venueState.counters
  const { populationTrades } = venueState
  const trades = venueState.trades.length
  const due = venueState.due.slice()
  return () => {
    if (account === undefined) venueState.accounts.delete(accountKey)
    else {
      refill(account.balances, [...balances])
      refill(account.allowances, [...allowances])
      refill(account.claimableFunding, [...claimable])
    }
    for (const { order: record, before } of records) Object.assign(record, before)
    if (named.length === 0)
      for (const key of [...venueState.orders.keys()].slice(size)) venueState.orders.delete(key)
    else {
      venueState.orders.clear()
      for (const [at, one] of orders.entries()) venueState.orders.set(orderKeys[at] ?? '', one)
    }
    for (const [key, outcome] of outcomes) if (outcome !== undefined) venueState.outcomes.set(key, outcome)
    // Outcomes are never taken away by a batch: those it added are the newest.
    for (const key of [...venueState.outcomes.keys()].slice(known)) venueState.outcomes.delete(key)
    Object.assign(venueState.counters, { order, trade })
    venueState.populationTrades = populationTrades
    venueState.trades.length = trades
    venueState.due.splice(0, venueState.due.length, ...due)
  }
}

function refill<K, V>(map: Map<K, V>, entries: readonly (readonly [K, V])[]): void {
  map.clear()
  for (const [key, value] of entries) map.set(key, value)
}
