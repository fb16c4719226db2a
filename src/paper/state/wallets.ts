/** Wallets: what the router may take from them, and how an operator changes them at the control address. */

import { isObject } from '../../base/isObject.ts'
import { type Address, hexKey, sameHex } from '../../protocol/address.ts'
import { MAX_UINT256, parseUnits } from '../../protocol/units.ts'
import { type Json, parseAddress } from '../http/http.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { accountOf, addTo } from './accounts.ts'
import { findToken } from './lookup.ts'
import { rememberHoldings } from './pastHoldings.ts'
import { nextTransactionHash, type VenueState } from './venueState.ts'

/** Key of an allowance among an account's: the token for the router's, token and spender for anybody else's. */
export function allowanceKey(venueState: VenueState, token: Address, spender: string): string {
  const isRouter = sameHex(spender, venueState.chain.contracts.router)
  return isRouter ? hexKey(token) : `${hexKey(token)}:${hexKey(spender)}`
}

/** Returns a spender's allowance of a token, smallest units (default spender: the router); the router's largest uint256 never runs down. */
export function allowanceOf(
  venueState: VenueState,
  address: Address,
  token: Address,
  spender: Address = venueState.chain.contracts.router,
): bigint {
  return allowanceIn(venueState, venueState.accounts.get(hexKey(address))?.allowances, token, spender)
}

/** Returns a spender's allowance (default: the router) from the given allowances of a wallet. */
export function allowanceIn(
  venueState: VenueState,
  allowances: ReadonlyMap<string, bigint> | undefined,
  token: Address,
  spender: Address = venueState.chain.contracts.router,
): bigint {
  const start =
    venueState.settings.startAllowance && sameHex(spender, venueState.chain.contracts.router)
      ? MAX_UINT256
      : 0n
  return allowances?.get(allowanceKey(venueState, token, spender)) ?? start
}

/**
 * Takes tokens from a wallet as the router does, through its allowance.
 *
 * @throws ProtocolRevert with the token's own `Error(string)` when allowance or balance is too small
 */
export function pullTokens(venueState: VenueState, address: Address, token: Address, amount: bigint): void {
  if (amount === 0n) return
  const account = accountOf(venueState, address)
  const allowance = allowanceOf(venueState, address, token)
  if (allowance < amount) throw new ProtocolRevert('Error', ['ERC20: transfer amount exceeds allowance'])
  if ((account.balances.get(hexKey(token)) ?? 0n) < amount) {
    throw new ProtocolRevert('Error', ['ERC20: transfer amount exceeds balance'])
  }
  if (allowance !== MAX_UINT256) account.allowances.set(hexKey(token), allowance - amount)
  addTo(account.balances, token, -amount)
}

const amountForm = /^\d{1,30}(\.\d{1,18})?$/

/**
 * `POST /__control/accounts`: sets balances and allowances of an address, whole tokens as decimal text by symbol or
 * address; an allowance may be `unlimited`. Returns what is wrong with the change, or the account as it is now.
 */
export function changeAccount(venueState: VenueState, change: unknown): string | Json {
  if (!isObject(change)) return 'the body must be a JSON object'
  const address = parseAddress(change.address)
  if (address === undefined) return 'address is not an address'
  const changes: {
    readonly part: 'balances' | 'allowances'
    readonly token: string
    readonly amount: bigint
  }[] = []
  for (const part of ['balances', 'allowances'] as const) {
    const given = change[part]
    if (given === undefined) continue
    if (!isObject(given)) return `${part} must be an object of amounts by token`
    for (const [name, text] of Object.entries(given)) {
      const token = findToken(venueState, name)
      if (token === undefined) return `${part} names no token: ${name}`
      const isUnlimited = part === 'allowances' && text === 'unlimited'
      if (!isUnlimited && (typeof text !== 'string' || !amountForm.test(text))) {
        return `${part}.${name} must be an amount of whole tokens as decimal text`
      }
      const decimals = String(text).split('.')[1]?.length ?? 0
      if (decimals > token.decimals) return `${part}.${name} has more than ${token.decimals} decimals`
      changes.push({
        part,
        token: hexKey(token.address),
        amount: isUnlimited ? MAX_UINT256 : parseUnits(String(text), token.decimals),
      })
    }
  }
  const account = accountOf(venueState, address)
  rememberHoldings(venueState, address, venueState.clock.now())
  for (const { part, token, amount } of changes) account[part].set(token, amount)
  nextTransactionHash(venueState)
  const shown = (part: 'balances' | 'allowances'): Json =>
    Object.fromEntries([...account[part]].map(([token, amount]) => [token, amount.toString()]))
  return { address, balances: shown('balances'), allowances: shown('allowances') }
}
