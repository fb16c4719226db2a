import { expect, test } from 'vitest'
import { wrongSums } from '../../src/books/bookSums.ts'
import { type Book, Books } from '../../src/books/books.ts'
import { resultOf } from '../../src/books/figures.ts'
import { UNATTRIBUTED } from '../../src/books/sideParts.ts'
import type { Settlement } from '../../src/domain/order/intent.ts'
import type { AnyRecord } from '../../src/domain/records.ts'
import { createLedger } from '../../src/journal/journalLedger.ts'
import { sharesOf, usd } from '../../src/protocol/units.ts'
import { closed, executed, execution, type Fill, raised, reopened, settled, side } from './history.ts'

const eth = 10n ** 18n

function booksOf(...records: readonly (AnyRecord | readonly AnyRecord[])[]): ReadonlyMap<string, Book> {
  const ledger = createLedger()
  for (const record of records.flat()) ledger.fold(record)
  return new Map(
    ledger
      .books()
      .all()
      .map((book) => [book.strategy, book]),
  )
}

function sizes(books: ReadonlyMap<string, Book>): Readonly<Record<string, number>> {
  return Object.fromEntries([...books].map(([name, { sizeUsd }]) => [name, Number(sizeUsd / 10n ** 30n)]))
}

/** Opens so many ETH at a price. */
function opens(n: number, strategy: string, tokens: number, price: number, more: Partial<Fill> = {}): Fill {
  const settlement = {
    sizeDeltaUsd: usd(tokens * price),
    sizeDeltaInTokens: BigInt(tokens) * eth,
    executionPrice: usd(price),
    ...more.settlement,
  }
  return { n, strategy, kind: 'increase', ...more, settlement }
}

test('what an instance opens and reduces is its own book, and another’s stays as it is', () => {
  const books = booksOf(
    executed(opens(1, 'trend', 1, 2_000)),
    executed(opens(2, 'grid', 1, 2_000)),
    executed({
      n: 3,
      strategy: 'trend',
      kind: 'decrease',
      settlement: {
        sizeDeltaUsd: usd(500),
        sizeDeltaInTokens: eth / 4n,
        pnlUsd: usd(50),
        basePnlUsd: usd(50),
      },
    }),
  )
  expect(sizes(books)).toEqual({ trend: 1_500, grid: 2_000 })
  expect(books.get('trend')).toMatchObject({ sizeInTokens: (3n * eth) / 4n, costUsd: usd(1_500) })
  expect(books.get('trend')?.figures).toMatchObject({ pricePnlUsd: usd(50), fills: 2, trades: 1, wins: 1 })
  expect(books.get('grid')?.figures).toMatchObject({ pricePnlUsd: 0n, fills: 1, trades: 0 })
})

test('each book realizes its own price: who bought low earns it, though the venue counts one entry for both', () => {
  // 1 ETH at 2,000 and 1 ETH at 4,000: to the venue 2 ETH for 6,000. At 4,000 it gives 666.67 for a third of that.
  const third = usd(2_000) / 3n
  const books = booksOf(
    executed(opens(1, 'trend', 1, 2_000)),
    executed(opens(2, 'grid', 1, 4_000)),
    executed({
      n: 3,
      strategy: 'trend',
      kind: 'decrease',
      settlement: {
        sizeDeltaUsd: usd(2_000),
        sizeDeltaInTokens: (2n * eth) / 3n,
        pnlUsd: third,
        basePnlUsd: third,
      },
    }),
  )
  const [trend, grid] = [books.get('trend'), books.get('grid')]
  expect(sizes(books)).toEqual({ trend: 0, grid: 4_000 })
  expect(Number(trend?.figures.pricePnlUsd) / 1e30).toBeCloseTo(2_000, 6)
  // What grid holds cost what it is worth now: it bought at 4,000, and has earned nothing yet.
  expect(Number(grid?.sizeInTokens) / 1e18).toBeCloseTo(4 / 3, 9)
  expect(Number(grid?.costUsd) / Number(grid?.sizeInTokens)).toBeCloseTo(4e15, -3)
  // Together the books say what the venue says: what was realized, and what is left in the position.
  const left = Number(grid?.costUsd) - Number(grid?.sizeUsd)
  expect(Number(trend?.figures.pricePnlUsd) - left).toBeCloseTo(Number(third), -20)
})

test('a keeper’s reduction takes what is nobody’s first, then all books by size, to the last unit', () => {
  const books = booksOf(
    executed(opens(1, 'trend', 1, 2_000)),
    executed(opens(2, 'grid', 2, 2_000)),
    raised('trade:1', 'manual-increase', usd(100)),
    executed({
      n: 3,
      strategy: 'guard',
      kind: 'decrease',
      settlement: { sizeDeltaUsd: usd(1_600), pnlUsd: usd(-16), feesUsd: usd('1.6') },
    }),
  )
  expect(sizes(books)).toEqual({ trend: 1_500, grid: 3_000, guard: 0, [UNATTRIBUTED]: 0 })
  expect(books.get('guard')?.figures).toMatchObject({
    fills: 1,
    trades: 0,
    pricePnlUsd: 0n,
    positionFeesUsd: 0n,
  })
  const pnl = ['trend', 'grid', UNATTRIBUTED].map((name) => books.get(name)?.figures.pricePnlUsd ?? 0n)
  expect(pnl.reduce((sum, each) => sum + each, 0n)).toBe(usd(-16) + usd('1.6'))
  const fees = [...books.values()].reduce((sum, { figures }) => sum + figures.positionFeesUsd, 0n)
  expect(fees).toBe(usd('1.6'))
})

test('an operator’s own open is a book of that name, and its close takes its own first', () => {
  const books = booksOf(
    executed(opens(1, 'trend', 1, 2_000)),
    executed(opens(2, '@operator', 1, 2_000)),
    executed({ n: 3, strategy: '@operator', kind: 'decrease', settlement: { sizeDeltaUsd: usd(2_500) } }),
  )
  expect(sizes(books)).toEqual({ trend: 1_500, '@operator': 0 })
})

test('a liquidation ends every book, and its loss is shared by size', () => {
  const books = booksOf(
    executed(opens(1, 'trend', 1, 2_000)),
    executed(opens(2, 'grid', 3, 2_000)),
    raised('trade:1', 'liquidation', usd(-8_000), { pnlUsd: usd(-400) }),
  )
  expect(sizes(books)).toEqual({ trend: 0, grid: 0 })
  expect(books.get('trend')?.figures).toMatchObject({ pricePnlUsd: usd(-100), trades: 1, wins: 0 })
  expect(books.get('grid')?.figures.pricePnlUsd).toBe(usd(-300))
})

test('funding that a liquidation puts aside is shared by size and time, with what is nobody’s, and is given back when it is withdrawn', () => {
  const startMs = 1_800_000_000_000
  const opened = [
    ...executed(opens(1, 'trend', 1, 2_000)),
    ...executed(opens(2, 'grid', 3, 2_000)),
    raised('trade:1', 'manual-increase', usd(2_000), { atMs: startMs }),
  ]
  const atMs = startMs + 3_600_000
  const more = { pnlUsd: usd(-500), fundingReceivedUsd: usd(50), atMs }
  const liquidated = raised('trade:2', 'liquidation', usd(-10_000), more)
  const books = booksOf(opened, liquidated)
  expect(sizes(books)).toEqual({ trend: 0, grid: 0, [UNATTRIBUTED]: 0 })
  const fundingOf = (name: string) => books.get(name)?.figures.fundingUsd ?? 0n
  const names = ['trend', 'grid', UNATTRIBUTED]
  expect(names.reduce((sum, name) => sum + fundingOf(name), 0n)).toBe(usd(-50))
  // All three held it for that hour, trend and grid for some moments more.
  expect(Number(fundingOf('trend') / usd('0.01'))).toBeCloseTo(-1_000, -1)
  expect(Number(fundingOf('grid') / usd('0.01'))).toBeCloseTo(-3_000, -1)
  expect(fundingOf('grid')).toBe(3n * fundingOf('trend'))
  const gone = booksOf(opened, liquidated, settled('trade:2', 'gone', atMs + 60_000))
  expect(names.map((name) => gone.get(name)?.figures.fundingUsd ?? 0n)).toEqual([0n, 0n, 0n])
})

test('a hand and a deleveraging take what is nobody’s first, then all books by size', () => {
  const opened = [...executed(opens(1, 'trend', 2, 1_000)), ...executed(opens(2, 'grid', 1, 1_000))]
  const added = raised('trade:1', 'manual-increase', usd(300))
  expect(sizes(booksOf(opened, added))).toEqual({ trend: 2_000, grid: 1_000, [UNATTRIBUTED]: 300 })
  const taken = raised('trade:2', 'manual-decrease', usd(-900))
  expect(sizes(booksOf(opened, added, taken))).toEqual({ trend: 1_600, grid: 800, [UNATTRIBUTED]: 0 })
  const deleveraged = booksOf(opened, raised('trade:3', 'adl', usd(-1_500), { pnlUsd: usd(90) }))
  expect(sizes(deleveraged)).toEqual({ trend: 1_000, grid: 500 })
  expect(deleveraged.get('trend')?.figures.pricePnlUsd).toBe(usd(60))
  expect(deleveraged.get('grid')?.figures.pricePnlUsd).toBe(usd(30))
})

test('more than the journal knows of leaves what is nobody’s below zero, and no book', () => {
  const books = booksOf(
    executed(opens(1, 'trend', 1, 2_000)),
    raised('trade:1', 'external-close', usd(-2_600)),
  )
  expect(sizes(books)).toEqual({ trend: 0, [UNATTRIBUTED]: -600 })
})

test('a position that nobody of ours opened counts from when it is adopted', () => {
  const found = raised('position:1', 'unexplained-position', usd(900), { sizeDeltaInTokens: eth / 2n })
  expect(sizes(booksOf(found))).toEqual({})
  const books = booksOf(found, settled('position:1', 'adopted'))
  expect(sizes(books)).toEqual({ [UNATTRIBUTED]: 900 })
  expect(books.get(UNATTRIBUTED)?.sizeInTokens).toBe(eth / 2n)
  expect(sizes(booksOf(found, settled('position:1', 'ignored')))).toEqual({})
})

test('a fill that the chain takes back leaves what would have been without it, whatever came after it', () => {
  const open = opens(1, 'trend', 1, 2_000, { isProvisional: true })
  const close: Fill = {
    n: 3,
    strategy: 'guard',
    kind: 'decrease',
    isProvisional: true,
    settlement: { sizeDeltaUsd: usd(1_000), pnlUsd: usd(10), basePnlUsd: usd(10) },
  }
  const grid = executed(opens(2, 'grid', 1, 2_000))
  const all = [...executed(open), ...grid, ...executed(close)]
  expect(sizes(booksOf(all))).toEqual({ trend: 1_500, grid: 1_500, guard: 0 })
  expect(sizes(booksOf(all, reopened(open)))).toMatchObject({ grid: 1_000 })
  const later = booksOf(all, reopened(open), execution(open, false))
  expect(sizes(later)).toMatchObject({ trend: 2_000, grid: 1_000 })
  const none = booksOf(all, reopened(open), reopened(close))
  expect(none.get('grid')).toMatchObject({ sizeUsd: usd(2_000), costUsd: usd(2_000) })
  expect(none.get('grid')?.figures).toEqual(booksOf(grid).get('grid')?.figures)
  // Made again, and final, it is as if nothing had been.
  const again = booksOf(all, reopened(close), execution(close, true), execution(open, true), closed(open))
  expect(again).toEqual(booksOf(all, execution(open, true), execution(close, true)))
})

test('a liquidation that is withdrawn gives every book back what it had', () => {
  const opened = [...executed(opens(1, 'trend', 1, 2_000)), ...executed(opens(2, 'grid', 1, 2_000))]
  const taken = raised('trade:1', 'liquidation', usd(-4_000), { pnlUsd: usd(-50) })
  expect(booksOf(opened, taken, settled('trade:1', 'gone'))).toEqual(booksOf(opened))
  const afterMs = (ms: number) => 1_800_000_000_000 + ms
  expect(booksOf(opened, taken, settled('trade:1', 'gone', afterMs(3_600_000)))).toEqual(booksOf(opened))
  // After two hours all of it is for good: the sum is right, and whose it was is not told any more.
  const late = booksOf(
    opened,
    taken,
    executed(opens(3, 'trend', 1, 2_000, { atMs: 1_800_007_300_000 })),
    settled('trade:1', 'gone', 1_800_007_400_000),
  )
  expect(sizes(late)).toEqual({ trend: 2_000, grid: 0, [UNATTRIBUTED]: 4_000 })
  const pnl = ['trend', 'grid', UNATTRIBUTED].map((name) => late.get(name)?.figures.pricePnlUsd)
  expect(pnl).toEqual([usd(-25), usd(-25), usd(50)])
  const results = [...late.values()].reduce((sum, { figures }) => sum + figures.pricePnlUsd, 0n)
  expect(results).toBe(0n)
})

test('funding and borrowing are shared by size and time since they were last charged', () => {
  const hour = 3_600_000
  const fees = { feesUsd: usd(13), borrowingFeeUsd: usd(8), fundingFeeUsd: usd(4) }
  const startMs = 1_800_000_000_000
  const books = booksOf(
    executed(opens(1, 'trend', 1, 2_000, { atMs: startMs })),
    // Trend has held 2,000 for an hour when grid comes, then both for another.
    executed(
      opens(2, 'grid', 1, 2_000, {
        atMs: startMs + hour,
        settlement: { feesUsd: usd(2), borrowingFeeUsd: usd(2) },
      }),
    ),
    executed({
      n: 3,
      strategy: 'grid',
      kind: 'decrease',
      atMs: startMs + 2 * hour,
      settlement: {
        sizeDeltaUsd: usd(2_000),
        sizeDeltaInTokens: eth,
        basePnlUsd: usd(20),
        pnlUsd: usd(7),
        ...fees,
      },
    }),
  )
  expect(books.get('trend')?.figures).toMatchObject({
    borrowingUsd: usd(6),
    fundingUsd: usd(2),
    positionFeesUsd: 0n,
  })
  expect(books.get('grid')?.figures).toMatchObject({
    borrowingUsd: usd(4),
    fundingUsd: usd(2),
    positionFeesUsd: usd(1),
  })
  expect(books.get('grid')?.figures).toMatchObject({ trades: 1, wins: 1 })
})

test('funding received is shared as funding paid is, and a win may come of it alone', () => {
  const hour = 3_600_000
  const startMs = 1_800_000_000_000
  const close = (n: number, strategy: string, atMs: number, settlement: Settlement): Fill => ({
    ...{ n, strategy, atMs, kind: 'decrease' },
    settlement: { sizeDeltaUsd: usd(2_000), sizeDeltaInTokens: eth, basePnlUsd: 0n, ...settlement },
  })
  const books = booksOf(
    executed(opens(1, 'carry', 1, 2_000, { atMs: startMs })),
    // Carry has held 2,000 for an hour when grid comes, then both for another.
    executed(
      opens(2, 'grid', 1, 2_000, { atMs: startMs + hour, settlement: { fundingReceivedUsd: usd(3) } }),
    ),
    executed(
      close(3, 'carry', startMs + 2 * hour, {
        ...{ pnlUsd: usd(-2), feesUsd: usd(2), fundingFeeUsd: usd(1), fundingReceivedUsd: usd(7) },
      }),
    ),
  )
  // Received 3 alone, then each half of 7 received less 1 paid.
  expect(books.get('carry')?.figures).toMatchObject({
    fundingUsd: usd(-6),
    positionFeesUsd: usd(1),
    pricePnlUsd: 0n,
    impactUsd: 0n,
    trades: 1,
    wins: 1,
  })
  expect(resultOf(books.get('carry')?.figures ?? {})).toBe(usd(5))
  expect(books.get('grid')?.figures).toMatchObject({ fundingUsd: usd(-3), positionFeesUsd: 0n })
})

test('sending is paid by whose message it was, and a win has to earn it', () => {
  const books = booksOf(
    executed(opens(1, 'trend', 1, 2_000, { relayFeeAmount: 3_000_000n })),
    executed({
      n: 2,
      strategy: 'trend',
      kind: 'close',
      relayFeeAmount: 2_000_000n,
      settlement: { sizeDeltaUsd: usd(2_000), sizeDeltaInTokens: eth, pnlUsd: usd(4), basePnlUsd: usd(4) },
    }),
  )
  const figures = books.get('trend')?.figures
  expect(figures).toMatchObject({ relayFeesUsd: usd(5), trades: 1, wins: 0 })
  expect(resultOf(figures ?? {})).toBe(usd(-1))
})

test('older records without tokens and parts of fees are reckoned: by price, and as position fees', () => {
  const books = booksOf(
    executed({ n: 1, settlement: { sizeDeltaUsd: usd(2_000), executionPrice: usd(2_000), feesUsd: usd(1) } }),
    executed({
      n: 2,
      kind: 'decrease',
      settlement: { sizeDeltaUsd: usd(500), pnlUsd: usd(24), feesUsd: usd(1) },
    }),
  )
  expect(books.get('trend')).toMatchObject({ sizeInTokens: (3n * eth) / 4n, costUsd: usd(1_500) })
  expect(books.get('trend')?.figures).toMatchObject({
    pricePnlUsd: usd(25),
    positionFeesUsd: usd(2),
    borrowingUsd: 0n,
  })
})

test('collateral is what was paid in, and leaves in proportion', () => {
  const books = booksOf(
    executed(opens(1, 'trend', 1, 2_000)),
    executed({ n: 2, kind: 'decrease', settlement: { sizeDeltaUsd: usd(500) } }),
  )
  expect(books.get('trend')?.collateral).toBe(75_000_000_000_000_000n)
})

test('results of a day are those of its fills, and what may be taken back is left out where it is asked', () => {
  const ledger = createLedger()
  const startMs = 1_800_000_000_000
  const records = [
    ...executed(opens(1, 'trend', 1, 2_000, { atMs: startMs })),
    ...executed({
      n: 2,
      strategy: 'guard',
      kind: 'decrease',
      atMs: startMs + 1,
      isProvisional: true,
      settlement: {
        sizeDeltaUsd: usd(2_000),
        sizeDeltaInTokens: eth,
        pnlUsd: usd(-30),
        basePnlUsd: usd(-30),
      },
    }),
  ]
  for (const record of records) ledger.fold(record)
  const resultOn = (isFinal: boolean) =>
    ledger
      .books()
      .days(startMs, isFinal)
      .filter(({ strategy }) => strategy === 'trend')
      .reduce((sum, { figures }) => sum + resultOf(figures), 0n)
  expect(resultOn(false)).toBe(usd(-30))
  expect(resultOn(true)).toBe(0n)
})

test('books go on from what they were', () => {
  const open = opens(1, 'trend', 1, 2_000, { isProvisional: true })
  const ledger = createLedger()
  for (const record of executed(open)) ledger.fold(record)
  const books = ledger.books() as Books
  expect(new Books(books.state()).all()).toEqual(books.all())
  expect(books.heldBy('trend', side)).toBe(usd(2_000))
  expect(books.heldBy('grid', side)).toBe(0n)
})

test('shares add up to the amount, and what is left goes to the largest remainders', () => {
  expect(sharesOf(10n, [1n, 1n, 1n])).toEqual([4n, 3n, 3n])
  expect(sharesOf(-7n, [1n, 2n])).toEqual([-2n, -5n])
  expect(sharesOf(5n, [0n, 0n])).toEqual([0n, 0n])
})

test('books that do not add up to the journal’s size, or to the tokens of its fills, are told with both', () => {
  const ledger = createLedger()
  for (const record of executed(opens(1, 'trend', 1, 2_000))) ledger.fold(record)
  expect(wrongSums(ledger)).toEqual([])
  const [book] = ledger.books().all()
  if (book === undefined) throw new Error('there is a book')
  const wrongWith = (change: Partial<Book>) =>
    wrongSums({
      books: () => ({ all: () => [{ ...book, ...change }], tokens: () => ledger.books().tokens() }),
      closedFills: () => ledger.closedFills(),
      openIntents: () => ledger.openIntents(),
      account: () => ledger.account(),
    })
  expect(wrongWith({ sizeUsd: usd(1_999) })).toEqual([
    { ...side, booksUsd: usd(1_999), expectedUsd: usd(2_000) },
  ])
  const both = { booksUsd: usd(2_000), expectedUsd: usd(2_000) }
  expect(wrongWith({ sizeInTokens: eth - 1n })).toEqual([
    { ...side, ...both, booksTokens: eth - 1n, expectedTokens: eth },
  ])
})

test.each([
  ['nobody told either', undefined],
  ['was told when it left', eth],
])(
  'tokens of a trade by hand that nobody told leave with it, and none of another book, whether %s',
  (_, tokens) => {
    const ledger = createLedger()
    const added = raised('trade:1', 'manual-increase', usd(2_000))
    const taken = raised('trade:2', 'manual-decrease', usd(-2_000), {
      ...(tokens === undefined ? {} : { sizeDeltaInTokens: tokens }),
      atMs: 1_800_000_900_000,
    })
    for (const record of [added, ...executed(opens(1, 'trend', 1, 2_000)), taken]) ledger.fold(record)
    expect(wrongSums(ledger)).toEqual([])
    const own = ledger
      .books()
      .all()
      .find(({ strategy }) => strategy === 'trend')
    expect(own).toMatchObject({ sizeUsd: usd(2_000), sizeInTokens: eth })
  },
)
