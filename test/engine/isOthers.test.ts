/** Sides of which nothing is a strategy's own any more: its exits there have lost their purpose. */
import { expect, test } from 'vitest'
import { isOthers } from '../../src/engine/judging/ownPart.ts'
import { type Usd, usd } from '../../src/protocol/units.ts'
import { position, snapshot } from '../risk/world.ts'

const side = position()

/** Books of the side: the strategy's own part, and others'. */
function isOthersOf(ownUsd: Usd, othersUsd: Usd, listedUsd: Usd): boolean {
  const books = {
    heldBy: (strategy: string) => (strategy === 'one' ? ownUsd : othersUsd),
    all: () => [
      { ...side, strategy: 'one', sizeUsd: ownUsd },
      { ...side, strategy: 'two', sizeUsd: othersUsd },
    ],
  }
  const listed = listedUsd === 0n ? [] : [position({ sizeInUsd: listedUsd })]
  const journal = { books: () => books } as unknown as Parameters<typeof isOthers>[0]['journal']
  return isOthers({ journal }, 'one', side, snapshot({ positions: listed }))
}

test('all of a side is others’ where the books say so and the list shows no more, though it shows less or nothing', () => {
  for (const listedUsd of [usd(200), usd(150), 0n]) expect(isOthersOf(0n, usd(200), listedUsd)).toBe(true)
})

test('it is not where the strategy holds a part, where the list shows more than the books, and where nobody holds anything', () => {
  expect(isOthersOf(usd(1), usd(200), usd(200))).toBe(false)
  expect(isOthersOf(0n, usd(200), usd(201))).toBe(false)
  expect(isOthersOf(0n, 0n, 0n)).toBe(false)
})
