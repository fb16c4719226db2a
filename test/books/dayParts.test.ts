/** The parts of a day's change of equity. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BookDay } from '../../src/books/books.ts'
import { dayPartNames, dayPartsOf } from '../../src/books/bookView.ts'
import { noFigures } from '../../src/books/figures.ts'
import { toCents } from '../../src/books/wholeCents.ts'
import { usd } from '../../src/protocol/units.ts'
import { side } from './history.ts'

const day = (figures: Partial<BookDay['figures']>): BookDay => ({
  ...side,
  ...{ dayMs: 0, strategy: 'trend', figures: { ...noFigures, ...figures } },
})

test('a day is what was closed, what is open, what it cost, and the rest of the change', () => {
  const days = [
    day({ pricePnlUsd: usd(20), impactUsd: -usd(1), positionFeesUsd: usd(2), fundingUsd: -usd('0.5') }),
    day({ swapUsd: -usd('0.25'), relayFeesUsd: usd(3), borrowingUsd: usd('0.1') }),
  ]
  expect(dayPartsOf(usd(15), days, -usd(4))).toEqual({
    ...{ closedUsd: usd('18.75'), openUsd: -usd(4), costsUsd: -usd('4.6'), restUsd: usd('4.85') },
  })
})

test('whatever the amounts, the parts as shown add up to the change as shown', () => {
  const anyUsd = fc.bigInt({ min: -(10n ** 34n), max: 10n ** 34n })
  fc.assert(
    fc.property(anyUsd, anyUsd, anyUsd, anyUsd, (changeUsd, openUsd, pricePnlUsd, relayFeesUsd) => {
      const parts = dayPartsOf(changeUsd, [day({ pricePnlUsd, relayFeesUsd })], openUsd)
      const sumUsd = dayPartNames.reduce((sum, name) => sum + parts[name], 0n)
      expect(sumUsd).toBe(toCents(changeUsd))
      for (const name of dayPartNames) expect(parts[name]).toBe(toCents(parts[name]))
    }),
    { seed: 20_270_119, numRuns: 300 },
  )
})
