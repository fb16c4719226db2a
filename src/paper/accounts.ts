/** Accounts of the world: what an address has, and the positions that are open in its name. */
import { type Address, hexKey } from '../domain/address.ts'
import { parseUnits } from '../domain/units.ts'
import type { PositionState } from './model/positionState.ts'
import type { World } from './world.ts'
import type { Account, PositionRecord } from './worldRecords.ts'

/** Balances of an address seen for the first time, by token key. */
export function startBalances(world: World): Map<string, bigint> {
  const balances = new Map<string, bigint>()
  for (const [symbol, text] of Object.entries(world.settings.startBalances)) {
    const token = world.catalog.tokenBySymbol.get(symbol)
    if (token !== undefined) balances.set(hexKey(token.address), parseUnits(text, token.decimals))
  }
  return balances
}

/** The account of an address, made with its paper balance when it is seen for the first time. */
export function accountOf(world: World, address: Address): Account {
  const key = hexKey(address)
  const known = world.accounts.get(key)
  if (known !== undefined) return known
  const balances = startBalances(world)
  const account: Account = {
    address,
    balances,
    allowances: new Map(),
    claimableFunding: new Map(),
    claimableCollateral: new Map(),
  }
  world.accounts.set(key, account)
  return account
}

/** Adds to a balance map; the delta may be negative, the result never is (a mistake of ours: RangeError). */
export function addTo(balances: Map<string, bigint>, token: Address, delta: bigint): void {
  const key = hexKey(token)
  const next = (balances.get(key) ?? 0n) + delta
  if (next < 0n) throw new RangeError(`balance of ${token} would be ${next}`)
  balances.set(key, next)
}

/** Positions of an account, in the order they were opened. */
export function positionsOfAccount(world: World, address: Address): PositionRecord[] {
  const rows: PositionRecord[] = []
  for (const key of world.positionKeysByAccount.get(hexKey(address)) ?? []) {
    const record = world.positions.get(key)
    if (record !== undefined) rows.push(record)
  }
  return rows
}

/** Puts or removes a position. */
export function storePosition(world: World, record: PositionRecord, state: PositionState | undefined): void {
  const accountKey = hexKey(record.account)
  let keys = world.positionKeysByAccount.get(accountKey)
  if (keys === undefined) {
    keys = new Set()
    world.positionKeysByAccount.set(accountKey, keys)
  }
  if (state === undefined) {
    world.positions.delete(record.contractKey)
    keys.delete(record.contractKey)
    return
  }
  record.state = state
  world.positions.set(record.contractKey, record)
  keys.add(record.contractKey)
}
