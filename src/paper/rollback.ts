/** What a reverted batch must put back: everything it could touch, down to counters and the order of lists. */
import { type Address, type Hex, hexKey } from '../domain/address.ts'
import type { World } from './world.ts'

/** Remembers the world as a batch of an account finds it; `named` are the orders it updates or cancels. Returns the way back. */
export function rememberFor(world: World, address: Address, named: readonly Hex[]): () => void {
  const accountKey = hexKey(address)
  const account = world.accounts.get(accountKey)
  const balances = new Map(account?.balances)
  const allowances = new Map(account?.allowances)
  const orders = [...world.orders]
  const records = named.flatMap((key) => {
    const order = world.orders.get(hexKey(key))
    return order === undefined ? [] : [{ order, before: { ...order } }]
  })
  const outcomes = named.map((key) => [hexKey(key), world.outcomes.get(hexKey(key))] as const)
  const known = world.outcomes.size
  const { order, trade } = world.counters
  const { populationTrades } = world
  const trades = world.trades.length
  const due = [...world.due]
  return () => {
    if (account === undefined) world.accounts.delete(accountKey)
    else {
      refill(account.balances, [...balances])
      refill(account.allowances, [...allowances])
    }
    for (const { order: record, before } of records) Object.assign(record, before)
    refill(world.orders, orders)
    for (const [key, outcome] of outcomes) if (outcome !== undefined) world.outcomes.set(key, outcome)
    // Outcomes are never taken away by a batch: those it added are the newest.
    for (const key of [...world.outcomes.keys()].slice(known)) world.outcomes.delete(key)
    Object.assign(world.counters, { order, trade })
    world.populationTrades = populationTrades
    world.trades.length = trades
    world.due.splice(0, world.due.length, ...due)
  }
}

function refill<K, V>(map: Map<K, V>, entries: readonly (readonly [K, V])[]): void {
  map.clear()
  for (const [key, value] of entries) map.set(key, value)
}
