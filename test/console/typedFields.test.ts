/** Fields of the order ticket as they are typed: understood exactly and repeated, or at fault in words. */
import { expect, test } from 'vitest'
import type { TicketFields } from '../../src/control/console/page/ticket/ticket.ts'
import { ticketTexts as words } from '../../src/control/console/page/ticket/ticketTexts.ts'
import { problemsOf, understoodOf } from '../../src/control/console/page/ticket/typedFields.ts'

const one = 10n ** 30n
const mark = 2_000n * one
const whole: TicketFields = {
  ...{ market: '', direction: 'long', type: 'market', price: '', stopLoss: '', takeProfit: '' },
  ...{ unit: 'size', amount: '500', leverage: '2', collateral: 'short' },
}
const problems = (more: Partial<TicketFields>, by = 'ann') =>
  problemsOf({ fields: { ...whole, ...more }, market: 'ETH/USD [WETH-USDC]', by }, mark)
const echo = (name: Parameters<typeof understoodOf>[0], more: Partial<TicketFields>) =>
  understoodOf(name, { ...whole, ...more }, mark)

test('a whole ticket has no fault, and each field that is missing has its own', () => {
  expect(problems({})).toEqual({})
  const none = { direction: '', type: 'limit', amount: '', leverage: '' } as const
  expect(Object.keys(problems(none, ' '))).toEqual(['direction', 'price', 'amount', 'leverage', 'by'])
})

test.each(['0,9', '0,001', '1e3', '-5', '1.2.3', '12,34', '0', '+5', '1 000'])(
  '%s is no number in any field',
  (wrong) => {
    expect(problems({ type: 'stopEntry', price: wrong }).price).toBe(words.problems.number)
    expect(problems({ stopLoss: wrong, takeProfit: wrong })).toEqual({
      stopLoss: words.problems.place,
      takeProfit: words.problems.place,
    })
    for (const unit of ['size', 'tokens', 'risk'] as const)
      expect(problems({ unit, amount: wrong }).amount).toBe(words.problems.number)
    expect(problems({ unit: 'equity', amount: wrong }).amount).toBe(words.problems.share)
    expect(problems({ leverage: wrong }).leverage).toBe(words.problems.times)
  },
)

test('a leverage below 1, a distance of 100 % and a share above ten times the equity are at fault', () => {
  expect(
    Object.keys(problems({ leverage: '0.9', stopLoss: '100%', unit: 'equity', amount: '1001%' })),
  ).toEqual(['stopLoss', 'amount', 'leverage'])
  expect(problems({ leverage: '1', stopLoss: '99.99%', unit: 'equity', amount: '1000%' })).toEqual({})
})

test('an exit on the wrong side of the entry is at fault, of an entry that waits by its own price', () => {
  expect(Object.keys(problems({ stopLoss: '2001', takeProfit: '1999' }))).toEqual(['stopLoss', 'takeProfit'])
  expect(problems({ direction: 'short', stopLoss: '2001', takeProfit: '1999' })).toEqual({})
  expect(Object.keys(problems({ type: 'limit', price: '1900', stopLoss: '1950' }))).toEqual(['stopLoss'])
})

test('each field repeats what was understood, exactly, with what follows from it', () => {
  expect(echo('price', { type: 'limit', price: '61,493.10' })).toBe('= $61,493.10')
  expect(echo('price', { type: 'limit', price: '0.0000123456789' })).toBe('= $0.0000123456789')
  expect(echo('amount', { unit: 'tokens', amount: '0.0245' })).toBe('= 0.0245 tokens')
  expect(echo('amount', { unit: 'equity', amount: '2.5%' })).toBe('= 2.5% of the equity')
  expect(echo('amount', { unit: 'risk', amount: '50' })).toBe('= $50.00 lost at the stop')
  expect(echo('leverage', { leverage: '2.5x' })).toBe('= 2.5x')
  expect(echo('stopLoss', { stopLoss: '3%' })).toBe('= about $1,940.00, $15.00 of this size')
  expect(echo('stopLoss', { direction: 'short', stopLoss: '3%' })).toContain('$2,060.00')
  expect(echo('takeProfit', { takeProfit: '2,120', unit: 'tokens', amount: '0.5' })).toBe(
    '= $2,120.00, 6.00% from the entry, $60.00 of this size',
  )
  expect(echo('stopLoss', { stopLoss: '' })).toBe('')
})
