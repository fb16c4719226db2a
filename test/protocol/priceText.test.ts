/** Prices as people see them: six digits of each market's own size, and triggers to the last digit. */
import { expect, test } from 'vitest'
import { exactPlacesOf, formatExactPrice, formatPrice, placesOf } from '../../src/protocol/priceText.ts'
import { usd } from '../../src/protocol/units.ts'

test('a price shows six significant digits whatever its size and two places at least, zeros too', () => {
  const shown = [
    '98765.4321',
    '1739.51',
    '123.456789',
    '7.6712345',
    '7.67',
    '2000.5',
    '150',
    '0.8734561',
    '0.000012345678',
    '0',
  ]
  expect(shown.map((price) => formatPrice(usd(price)))).toEqual([
    ...['$98,765.43', '$1,739.51', '$123.457', '$7.67123', '$7.67000', '$2,000.50', '$150.000'],
    ...['$0.873456', '$0.0000123457', '$0.00'],
  ])
  expect(formatPrice(-usd('7.6712345'))).toBe('-$7.67123')
  // Rounding may give a digit more before the point.
  expect(formatPrice(usd('9.9999999'))).toBe('$10.00000')
})

test('prices of one market in one table have the places of the largest, zeros too', () => {
  const prices = [usd('10.05'), usd('7.6712345'), usd('0.9')]
  const places = placesOf(prices)
  expect(prices.map((price) => formatPrice(price, places))).toEqual(['$10.0500', '$7.6712', '$0.9000'])
  expect([placesOf([]), placesOf([0n]), placesOf([usd(98_765)])]).toEqual([2, 2, 2])
})

test('a trigger is shown to the last digit that its order holds', () => {
  const shown = ['7.671234567891', '1650', '0.00001234', '98765.4']
  expect(shown.map((price) => formatExactPrice(usd(price)))).toEqual([
    ...['$7.671234567891', '$1,650.00', '$0.0000123400', '$98,765.40'],
  ])
})

test('triggers of one market in one table have the places of the one with the most digits, zeros too', () => {
  const triggers = [usd('7.6712345'), usd('12')]
  const places = exactPlacesOf(triggers)
  expect(triggers.map((price) => formatPrice(price, places))).toEqual(['$7.6712345', '$12.0000000'])
  expect([exactPlacesOf([]), exactPlacesOf([usd('80.234084756731514769487')])]).toEqual([2, 4])
})

test('a trigger that was reckoned and not written is shown like a price', () => {
  expect(formatExactPrice(usd('80.234084756731514769487'))).toBe('$80.2341')
  expect(formatExactPrice(usd('2800.12345'))).toBe('$2,800.12345')
  expect(formatExactPrice(usd('0.0000123456789'))).toBe('$0.0000123456789')
})
