/** Accounts of the venue: what an address has, and the positions that are open in its name. */
import { type Address, hexKey } from '../../protocol/address.ts'
import { parseUnits } from '../../protocol/units.ts'
import type { PositionState } from '../math/positionState.ts'
import type { Account, PositionRecord } from './venueRecords.ts'
import type { VenueState } from './venueState.ts'

/** Balances of an address seen for the first time, by token key. */
export function startBalances(venueState: VenueState): Map<string, bigint> {
  const balances = new Map<string, bigint>()
  for (const [symbol, text] of Object.entries(venueState.settings.startBalances)) {
    const token = venueState.catalog.tokenBySymbol.get(symbol)
    if (token !== undefined) balances.set(hexKey(token.address), parseUnits(text, token.decimals))
  }
  return balances
}

/** The account of an address, made with its paper balance when it is seen for the first time. */
export function accountOf(venueState: VenueState, address: Address): Account {
  const key = hexKey(address)
  const known = venueState.accounts.get(key)
  if (known !== undefined) return known
  const balances = startBalances(venueState)
  const account: Account = {
    address,
    balances,
    allowances: new Map(),
    claimableFunding: new Map(),
    claimableCollateral: new Map(),
  }
  venueState.accounts.set(key, account)
  return account
}

/** Adds to a balance map; the delta may be negative, the result never is (a mistake of ours: RangeError). */
export function addTo(balances: Map<string, bigint>, token: Address, delta: bigint): void {
  const key = hexKey(token)
  const next = (balances.get(key) ?? 0n) + delta
  if (next < 0n) throw new RangeError(`balance of ${token} would be ${next}`)
  balances.set(key, next)
}

/** Key of what an account may claim in a token of a market; both parts are lower-case addresses. */
export function claimableKeyOf(marketToken: Address, token: Address): string {
  return `${hexKey(marketToken)}:${hexKey(token)}`
}

/** Positions of an account, in the order they were opened. */
export function positionsOfAccount(venueState: VenueState, address: Address): PositionRecord[] {
  const rows: PositionRecord[] = []
  for (const key of venueState.positionKeysByAccount.get(hexKey(address)) ?? []) {
    const record = venueState.positions.get(key)
    if (record !== undefined) rows.push(record)
  }
  return rows
}

/** Puts or removes a position. */
export function storePosition(
  venueState: VenueState,
  record: PositionRecord,
  state: PositionState | undefined,
): void {
  const accountKey = hexKey(record.account)
  let keys = venueState.positionKeysByAccount.get(accountKey)
  if (keys === undefined) {
    keys = new Set()
    venueState.positionKeysByAccount.set(accountKey, keys)
  }
  if (state === undefined) {
    venueState.positions.delete(record.contractKey)
    keys.delete(record.contractKey)
    return
  }
  record.state = state
  venueState.positions.set(record.contractKey, record)
  keys.add(record.contractKey)
}
