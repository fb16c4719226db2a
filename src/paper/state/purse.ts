/**
 * Money in the hands of transactions that accounts send: what an address gets or gives, with the way back. The protocol's
 * contracts are addresses too: what is sent to them stays there until a call takes it up.
 */
import { type Address, hexKey, ZERO_ADDRESS } from '../../protocol/address.ts'
import { accountOf, addTo, startBalances } from './accounts.ts'
import { isContract } from './contracts.ts'
import type { VenueState } from './venueState.ts'

/** Moves money and can take it all back. */
export interface Purse {
  /** Adds an amount of a token (or of the native coin, by its address) to an address. */
  give(to: Address, token: Address, amount: bigint): void
  /** Takes an amount from an address; false, and nothing has happened, when it has less. */
  take(from: Address, token: Address, amount: bigint): boolean
  /** Puts everything back as it was when the purse was made. */
  undo(): void
}

function contractKey(contract: Address, token: Address): string {
  return `${hexKey(contract)}:${hexKey(token)}`
}

/** Returns the protocol contract's balance of a token, as far as transactions of accounts left it there. */
export function contractHolding(venueState: VenueState, contract: Address, token: Address): bigint {
  return venueState.contractHoldings.get(contractKey(contract, token)) ?? 0n
}

/** Returns the token balance of an address, a contract or not; reading an address does not create an account. */
export function holdingOf(venueState: VenueState, address: Address, token: Address): bigint {
  if (isContract(venueState, address)) return contractHolding(venueState, address, token)
  const balances = venueState.accounts.get(hexKey(address))?.balances ?? startBalances(venueState)
  return balances.get(hexKey(token)) ?? 0n
}

/** A purse; `before` is told of an account before its first change. */
export function createPurse(venueState: VenueState, before: (address: Address) => void): Purse {
  const undos: (() => void)[] = []
  const touched = new Set<string>()

  const remember = (address: Address): void => {
    const key = hexKey(address)
    if (touched.has(key)) return
    touched.add(key)
    before(address)
    const account = venueState.accounts.get(key)
    const balances = new Map(account?.balances)
    undos.push(() => {
      if (account === undefined) venueState.accounts.delete(key)
      else {
        account.balances.clear()
        for (const [token, amount] of balances) account.balances.set(token, amount)
      }
    })
  }

  const change = (address: Address, token: Address, delta: bigint): void => {
    if (!isContract(venueState, address)) {
      remember(address)
      addTo(accountOf(venueState, address).balances, token, delta)
      return
    }
    const key = contractKey(address, token)
    const held = venueState.contractHoldings.get(key)
    undos.push(() => {
      if (held === undefined) venueState.contractHoldings.delete(key)
      else venueState.contractHoldings.set(key, held)
    })
    const next = (held ?? 0n) + delta
    if (next === 0n) venueState.contractHoldings.delete(key)
    else venueState.contractHoldings.set(key, next)
  }

  return {
    give: (to, token, amount) => {
      if (amount > 0n) change(to, token, amount)
    },
    take: (from, token, amount) => {
      if (holdingOf(venueState, from, token) < amount) return false
      if (amount > 0n) change(from, token, -amount)
      return true
    },
    undo: () => {
      for (const undo of undos.reverse()) undo()
    },
  }
}

/** Native coin's address in the catalogue. */
export function nativeAddress(venueState: VenueState): Address {
  return venueState.catalog.catalog.tokens.find((token) => token.isNative)?.address ?? ZERO_ADDRESS
}
