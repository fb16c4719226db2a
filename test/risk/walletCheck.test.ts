/** What an order pays in against what the wallet holds. */
import { expect, test } from 'vitest'
import type { Decision } from '../../src/domain/order/decision.ts'
import { checkBalance } from '../../src/risk/checks/walletCheck.ts'
import { intentOf } from '../support/intents.ts'

const { decision, terms } = intentOf()
const { address, symbol, decimals } = terms.collateralToken
const paid = terms.collateralDelta
const wallet = (balance: bigint): Parameters<typeof checkBalance>[2] =>
  [{ address: address.toUpperCase().replace('0X', '0x'), symbol, decimals, balance }] as never

test('an order that pays in more than the wallet holds is refused, by one unit too', () => {
  expect(checkBalance(decision, terms, wallet(paid - 1n))).toMatchObject({ code: 'NO_BALANCE' })
  expect(checkBalance(decision, terms, [])).toMatchObject({ code: 'NO_BALANCE' })
})

test('what the wallet holds to the unit goes through, and so does a wallet that was not read', () => {
  expect(checkBalance(decision, terms, wallet(paid))).toBeUndefined()
  expect(checkBalance(decision, terms, undefined)).toBeUndefined()
})

test('what takes risk away is never held against the wallet', () => {
  const close = { kind: 'close' } as unknown as Decision
  expect(checkBalance(close, terms, [])).toBeUndefined()
})
