/** Books that do not add up to the journal: told once for each sum, and that they do again once for each side. */
import { expect, test } from 'vitest'
import { createBooksCheck } from '../../src/account/watch/booksCheck.ts'
import type { Event } from '../../src/domain/event.ts'
import { usd } from '../../src/protocol/units.ts'
import { ethMarket, usdc } from '../support/intents.ts'
import { noticeOf } from '../support/noticeOf.ts'

test('a side that differs, by either of its collaterals, is told with each new sum, and that it adds up again when all of it does', () => {
  const told: Event[] = []
  let books: readonly object[] = []
  const journal = {
    books: () => ({ all: () => books, tokens: () => [] }),
    closedFills: () => [],
    openIntents: () => [],
    account: () => ({ discrepancies: new Map() }),
  } as unknown as Parameters<typeof createBooksCheck>[0]
  const look = createBooksCheck(journal, (event) => void told.push(event))
  const types = () => told.splice(0).map((event) => noticeOf(event))
  const side = { strategy: 'eth-trend', marketToken: ethMarket, direction: 'long' }
  const inDollars = { ...side, collateralToken: usdc, sizeUsd: usd(5), sizeInTokens: 0n }
  const inEther = { ...side, collateralToken: ethMarket, sizeUsd: usd(7), sizeInTokens: 0n }
  const begun = { kind: 'books-differ', level: 'error', cause: `books:${ethMarket}:long` }
  look()
  expect(types()).toEqual([])
  books = [inDollars, inEther]
  look()
  look()
  expect(types()).toMatchObject([begun, begun])
  books = [inDollars]
  look()
  expect(types()).toEqual([])
  books = [{ ...inDollars, sizeUsd: usd(6) }]
  look()
  expect(types()).toMatchObject([begun])
  books = []
  look()
  look()
  expect(types()).toMatchObject([{ ...begun, level: 'info', isEnd: true }])
})
