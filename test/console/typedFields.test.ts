/** Fields of the order ticket as they are typed: understood exactly and repeated, or at fault in words. */
import { expect, test } from 'vitest'
import { amountIn, type SizeFacts } from '../../src/control/console/page/ticket/sizeUnits.ts'
import {
  type Quote,
  type TicketFields,
  ticketBody,
  typedSizeOf,
} from '../../src/control/console/page/ticket/ticket.ts'
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
  understoodOf(name, { ...whole, ...more }, { markUsd: mark })

test('a whole ticket has no fault, and each field that is missing has its own', () => {
  expect(problems({})).toEqual({})
  const none = { direction: '', type: 'limit', amount: '', leverage: '' } as const
  expect(Object.keys(problems(none, ' '))).toEqual(['direction', 'price', 'amount', 'leverage', 'by'])
})

test.each(['0,9', '0,001', '1e3', '-5', '1.2.3', '12,34', '0', '+5', '1 000'])(
  '%s is no number in any field, and no other number is read from it',
  (wrong) => {
    const told = (name: 'price' | 'stopLoss' | 'takeProfit' | 'amount' | 'leverage', fix: string) =>
      `${words.problems.unread(words[name], wrong)}${fix}`
    const { number, place, share, times } = words.problems
    expect(problems({ type: 'stopEntry', price: wrong }).price).toBe(told('price', number))
    expect(problems({ stopLoss: wrong, takeProfit: wrong })).toEqual({
      stopLoss: told('stopLoss', place),
      takeProfit: told('takeProfit', place),
    })
    for (const unit of ['size', 'tokens', 'collateral', 'risk'] as const)
      expect(problems({ unit, amount: wrong }).amount).toBe(told('amount', number))
    expect(problems({ unit: 'equity', amount: wrong }).amount).toBe(told('amount', share))
    expect(problems({ leverage: wrong }).leverage).toBe(told('leverage', times))
    // Nothing follows from it: no size in another unit, no loss at the stop, and no amount when another unit is chosen.
    const facts: SizeFacts = { markUsd: mark, equityUsd: 10_000n * one }
    for (const unit of ['size', 'tokens', 'collateral', 'equity', 'risk'] as const) {
      const fields: TicketFields = { ...whole, unit, amount: wrong, stopLoss: '3%' }
      expect([unit, understoodOf('amount', fields, facts)]).toEqual([unit, ''])
      expect(understoodOf('stopLoss', fields, facts)).toBe('= about $1,940.00')
      expect(amountIn(unit === 'size' ? 'tokens' : 'size', fields, facts)).toBe('')
    }
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
  expect(echo('amount', { unit: 'tokens', amount: '0.0245' })).toBe('= 0.0245 tokens: $49.00')
  expect(echo('amount', { unit: 'equity', amount: '2.5%' })).toBe('= 2.5% of the equity')
  expect(echo('amount', { unit: 'risk', amount: '50' })).toBe('= $50.00 lost at the stop')
  expect(echo('leverage', { leverage: '2.5x' })).toBe('= 2.5x: $200.00 of collateral')
  expect(echo('stopLoss', { stopLoss: '3%' })).toBe('= about $1,940.00, $15.00 lost before costs')
  expect(echo('stopLoss', { direction: 'short', stopLoss: '3%' })).toContain('$2,060.00')
  expect(echo('takeProfit', { takeProfit: '2,120', unit: 'tokens', amount: '0.5' })).toBe(
    '= $2,120.00, 6.00% from the entry, $60.00 won before costs',
  )
  expect(echo('stopLoss', { stopLoss: '' })).toBe('')
})

test('a size follows in the units in which it was not typed, and is the same when another unit is chosen', () => {
  const facts: SizeFacts = { markUsd: mark, equityUsd: 10_000n * one }
  const told = (more: Partial<TicketFields>) => understoodOf('amount', { ...whole, ...more }, facts)
  const follows = '0.25 tokens, 5% of the equity, $15.00 to the stop, before costs'
  expect(told({ stopLoss: '3%' })).toBe(`= $500.00: ${follows}`)
  expect(told({ stopLoss: '1,940', unit: 'tokens', amount: '0.25' })).toBe(
    `= 0.25 tokens: $500.00, ${follows.slice(13)}`,
  )
  expect(told({ unit: 'equity', amount: '5' })).toBe('= 5% of the equity: $500.00, 0.25 tokens')
  // A small share is not 0: it has two digits of what it is, and no field takes it.
  expect(told({ amount: '0.5' })).toContain('0.0050% of the equity')
  expect(amountIn('equity', { ...whole, amount: '0.5' }, facts)).toBe('')
  // By the entry that waits, not by the mark.
  expect(told({ type: 'limit', price: '1,000' })).toContain('0.5 tokens')
  const chosen = (unit: TicketFields['unit'], more: Partial<TicketFields> = {}) =>
    amountIn(unit, { ...whole, ...more }, facts)
  expect([chosen('size'), chosen('tokens'), chosen('equity')]).toEqual(['500', '0.25', '5'])
  expect(chosen('size', { unit: 'tokens', amount: '0.25' })).toBe('500.00')
  // A size by risk follows from costs, which the preview alone has.
  expect([chosen('risk'), chosen('size', { unit: 'risk', amount: '50' })]).toEqual(['', ''])
})

test('leverage, collateral and size follow each other: the one that was typed stays, and is sent as a size in dollars', () => {
  const byCollateral: TicketFields = { ...whole, unit: 'collateral', amount: '250.55', stopLoss: '3%' }
  const facts: SizeFacts = { markUsd: mark, equityUsd: 10_000n * one }
  const told = (name: 'amount' | 'leverage' | 'stopLoss', fields: TicketFields) =>
    understoodOf(name, fields, facts)
  const size = (fields: TicketFields) => ticketBody({ id: 'own', fields }, 'ETH/USD', 'ann').size
  // A typed size takes less collateral by more leverage.
  expect([2, 4].map((times) => told('leverage', { ...whole, leverage: `${times}` }))).toEqual([
    '= 2x: $250.00 of collateral',
    '= 4x: $125.00 of collateral',
  ])
  expect(size({ ...whole, leverage: '4' })).toBe('500')
  // A typed collateral makes a larger size by it.
  const more: TicketFields = { ...byCollateral, leverage: '4x' }
  expect([byCollateral, more].map((fields) => told('amount', fields))).toEqual([
    '= $250.55 of collateral: $501.10, 0.25055 tokens, 5.01% of the equity, $15.03 to the stop, before costs',
    '= $250.55 of collateral: $1,002.20, 0.5011 tokens, 10.02% of the equity, $30.07 to the stop, before costs',
  ])
  expect([told('leverage', more), told('stopLoss', more)]).toEqual([
    '= 4x',
    '= about $1,940.00, $30.07 lost before costs',
  ])
  expect([size(byCollateral), size(more)]).toEqual(['501.1', '1002.2'])
  expect(amountIn('collateral', whole, facts)).toBe('250.00')
  expect(amountIn('size', more, facts)).toBe('1,002.20')
})

test('a size above the share of the equity that a setting says is typed in whole dollars before it is sent', () => {
  const quote = (dollars: number) => ({ sizeUsd: `${dollars}${'0'.repeat(30)}` }) as Quote
  const typed = (dollars: number, aboveBps: number) => typedSizeOf(quote(dollars), 10_000n * one, aboveBps)
  expect([typed(2_500, 2_500), typed(2_501, 2_500)]).toEqual([undefined, '2501'])
  expect([typed(1, 0), typed(2_501, 5_000), typed(5_001, 5_000)]).toEqual(['1', undefined, '5001'])
  expect(typedSizeOf(quote(2_501), undefined, 2_500)).toBeUndefined()
})
