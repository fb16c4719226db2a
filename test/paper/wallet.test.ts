/** Balances and allowances that matter, over real sockets. */
import { decodeErrorResult } from 'viem'
import { afterEach, expect, test } from 'vitest'
import { customErrors } from '../../src/paper/blocks/customErrors.ts'
import { type Any, startVenue, stranger, trader, usdc } from './support.ts'

let paper: Awaited<ReturnType<typeof startVenue>>
afterEach(() => paper.close())

const router = 'router'

async function allowance(symbol: string): Promise<string> {
  const rows = (await paper.get(`/allowances?address=${trader.address}&spender=${router}`)).body as Any[]
  return rows.find((row) => row.symbol === symbol).allowance
}

async function change(body: unknown) {
  return paper.call('POST', `${paper.control}/accounts`, body)
}

test('I.2 a new address has balance and allowance', async () => {
  paper = await startVenue()
  expect(await paper.balanceOf('USDC')).toBeGreaterThan(0n)
  expect(BigInt(await allowance('USDC'))).toBe(2n ** 256n - 1n)
  expect(await paper.trade({})).toMatchObject({ status: 'executed' })
})

test('without an allowance prepare still quotes, and the operation reverts with the error of the token', async () => {
  paper = await startVenue({ settings: { keeperJitterMs: 0, startAllowance: false } })
  const before = await paper.balanceOf('USDC')
  expect(await allowance('USDC')).toBe('0')
  const status = await paper.trade({})
  expect(status).toMatchObject({
    status: 'relay_reverted',
    error: { code: 'Error', message: 'Error(ERC20: transfer amount exceeds allowance)' },
  })
  expect(await paper.balanceOf('USDC')).toBe(before)
  const relayed = (await paper.post('/relay/status', { taskId: status.taskId })).body
  expect(relayed).toMatchObject({ status: 'reverted' })
  expect(decodeErrorResult({ abi: customErrors, data: relayed.revertData })).toMatchObject({
    errorName: 'Error',
    args: ['ERC20: transfer amount exceeds allowance'],
  })
})

test('an allowance given at the control address runs down with what is taken', async () => {
  paper = await startVenue({ settings: { keeperJitterMs: 0, startAllowance: false } })
  const changed = await change({ address: trader.address, allowances: { USDC: '250.5' } })
  expect(changed.body.allowances).toEqual({ [usdc.toLowerCase()]: '250500000' })
  expect(await paper.trade({})).toMatchObject({ status: 'executed' })
  const left = BigInt(await allowance('USDC'))
  expect(left).toBeLessThan(50_500_000n)
  expect(left).toBeGreaterThan(49_000_000n)
  expect(await paper.trade({})).toMatchObject({ status: 'relay_reverted' })
  expect(BigInt(await allowance('USDC'))).toBe(left)
})

test('without a balance the operation reverts with the error of the token and changes nothing', async () => {
  paper = await startVenue()
  await change({ address: trader.address, balances: { USDC: '150' } })
  expect(await paper.trade({})).toMatchObject({
    status: 'relay_reverted',
    error: { message: 'Error(ERC20: transfer amount exceeds balance)' },
  })
  expect(await paper.balanceOf('USDC')).toBe(150_000_000n)
})

test('the control address says what is wrong with a change', async () => {
  paper = await startVenue()
  for (const [body, message] of [
    [{}, 'address is not an address'],
    [{ address: trader.address, balances: { NONE: '1' } }, 'balances names no token: NONE'],
    [
      { address: trader.address, balances: { USDC: '-1' } },
      'balances.USDC must be an amount of whole tokens as decimal text',
    ],
    [{ address: trader.address, balances: { USDC: '0.0000001' } }, 'balances.USDC has more than 6 decimals'],
  ] as const) {
    expect(await change(body)).toMatchObject({ status: 400, body: { message } })
  }
})

test('asking for balances makes no account', async () => {
  paper = await startVenue()
  const before = paper.venue.venueState.accounts.size
  await paper.get(`/balances/wallet?address=${stranger.address}`)
  expect(paper.venue.venueState.accounts.size).toBe(before)
})
