/** The page's address: what it names, and that it is read as it was written. */
import { expect, test } from 'vitest'
import { addressOf, pageIds, placeOf } from '../../src/control/console/page/pagePlace.ts'

test('an address is read as it was written, whatever the name of the market and the filters', () => {
  for (const page of pageIds)
    for (const item of [undefined, 'BTC/USD [BTC-USDC]', 'a?b#c%/d', 'ö'])
      for (const query of [{}, { from: '2026-11-01', strategy: 'a&b=c' }]) {
        const place = { page, ...(item === undefined ? {} : { item }), query }
        expect(placeOf(addressOf(place))).toEqual(place)
      }
})

test('an address that names no page is the first one, and what is no code of a text stands for itself', () => {
  for (const hash of ['', '#', '#/', '#positions', '#/nowhere', '#/nowhere?x=1'])
    expect(placeOf(hash).page).toBe('trade')
  expect(placeOf('#/trade/%E0%A4').item).toBe('%E0%A4')
})
