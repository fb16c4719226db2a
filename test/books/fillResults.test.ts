/** One meaning of PnL: of a closing fill, of a round trip and of a book, with sides that several strategies share. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Books } from '../../src/books/books.ts'
import { keepsAll, noBooks } from '../../src/books/booksState.ts'
import { resultOf } from '../../src/books/figures.ts'
import { createRoundTrips } from '../../src/books/roundTrips.ts'
import { labelOf } from '../../src/domain/order/intent.ts'
import { legsOf } from '../../src/domain/order/orderLegs.ts'
import type { AnyRecord } from '../../src/domain/records.ts'
import { orderRow } from '../../src/domain/summaries/orderView.ts'
import { tradeRows } from '../../src/domain/summaries/tradeView.ts'
import { createLedger } from '../../src/journal/journalLedger.ts'
import { decodeSnapshot } from '../../src/journal/ledgerState.ts'
import { type Usd, usd } from '../../src/protocol/units.ts'
import {
  cancelled,
  closed,
  executed,
  type Fill,
  keyOf,
  lost,
  orderCancelled,
  raised,
  settled,
  stopKeyOf,
  stopped,
} from './history.ts'

const eth = 10n ** 18n

/** Folds records, and gives what is asked of the result; a snapshot is taken and gone on from at `restartAt`. */
function told(records: readonly AnyRecord[], restartAt = -1) {
  const trips = createRoundTrips()
  const history = new Books(noBooks, keepsAll, trips.take)
  const whole = createLedger(undefined, history)
  let ledger = createLedger()
  for (const [place, record] of records.entries()) {
    if (place === restartAt) {
      const { seq, head, part } = ledger.snapshot()
      ledger = createLedger(decodeSnapshot({ seq, head, parts: [part] }))
    }
    whole.fold(record)
    ledger.fold(record)
  }
  for (const { posting, side } of history.unsettled()) trips.take(posting, side)
  const figuresOf = (strategy: string) =>
    history
      .all()
      .filter((book) => book.strategy === strategy)
      .map(({ figures }) => figures)
  return {
    fill: (n: number) => {
      const fill = history.fillOf(keyOf(n))
      expect(ledger.books().fillOf(keyOf(n))).toEqual(fill)
      return fill
    },
    stop: (n: number) => history.fillOf(stopKeyOf(n)),
    trips: trips.ended(),
    sums: trips.sums(history.all()),
    pnlOf: (strategy: string): Usd => figuresOf(strategy).reduce((sum, each) => sum + resultOf(each), 0n),
    winsOf: (strategy: string) => figuresOf(strategy).reduce((sum, { wins }) => sum + wins, 0),
    books: ledger.books(),
    story: (n: number) => whole.state(`intent-${n}`),
  }
}

const opens = (n: number, strategy: string, price: number, more: Partial<Fill> = {}): Fill => ({
  n,
  strategy,
  direction: 'short',
  relayFeeAmount: 400_000n,
  ...more,
  settlement: {
    sizeDeltaUsd: usd(price),
    sizeDeltaInTokens: eth,
    executionPrice: usd(price),
    feesUsd: usd('0.30'),
    ...more.settlement,
  },
})

const closes = (n: number, strategy: string, pnlUsd: Usd, more: Partial<Fill> = {}): Fill => ({
  n,
  strategy,
  kind: 'decrease',
  direction: 'short',
  relayFeeAmount: 400_000n,
  ...more,
  settlement: {
    sizeDeltaUsd: usd(2_000),
    sizeDeltaInTokens: eth,
    basePnlUsd: pnlUsd,
    pnlUsd: pnlUsd - usd('0.30'),
    feesUsd: usd('0.30'),
    ...more.settlement,
  },
})

test('a close, its round trip and its book say the same of a side that is shared, cancelling its stop included', () => {
  const all = [
    // The operator was there before, at the same price and for less: its entry cost it nothing.
    ...executed(opens(1, '@operator', 2_000, { relayFeeAmount: 0n, settlement: { feesUsd: 0n } })),
    ...executed(opens(2, 'signal', 2_000, { hasStop: true })),
    ...executed(closes(3, 'signal', usd(1))),
    closed(closes(3, 'signal', usd(1))),
    ...cancelled({ n: 4, strategy: 'signal', direction: 'short', relayFeeAmount: 130_000n }, [stopKeyOf(2)]),
  ]
  const { fill, trips, pnlOf, sums, winsOf, story } = told(all, 17)
  // $1 of the price; fees of $0.30 on each way, sending of $0.40 on each, and $0.13 for the stop.
  const pnlUsd = usd(1) - usd('1.40') - usd('0.13')
  expect(fill(3)).toEqual({
    pnlUsd,
    sendingUsd: usd('0.40'),
    entryCostsUsd: usd('0.70'),
    cancellingUsd: usd('0.13'),
    isEntryKnown: true,
  })
  expect(trips).toMatchObject([{ strategy: 'signal', pnlUsd, feesUsd: usd('0.60'), sendingUsd: usd('0.93') }])
  expect(pnlOf('signal')).toBe(pnlUsd)
  expect(sums.find(({ strategy }) => strategy === 'signal')).toEqual({
    strategy: 'signal',
    tripsUsd: pnlUsd,
    openUsd: 0n,
    outsideUsd: 0n,
  })
  expect(winsOf('signal')).toBe(0)
  // Rows of orders and trades, and the leg of the story, are that figure.
  const state = story(3)
  if (state === undefined) throw new Error('it is there')
  const costsOf = (key: Parameters<Books['fillOf']>[0]) => told(all).books.fillOf(key)
  const row = orderRow({ state, label: labelOf(state), costsOf }).legs[0]
  const shown = [
    row?.pnlUsd,
    tradeRows(state, { costsOf })[0]?.pnlUsd,
    legsOf(state, { costsOf })[0]?.pnlUsd?.toString(),
  ]
  expect(shown).toEqual([pnlUsd, pnlUsd, pnlUsd].map(String))
})

test('cancelling the stop makes a trade a loss that closing it had not made', () => {
  const before = [
    ...executed(opens(2, 'signal', 2_000, { hasStop: true })),
    ...executed(closes(3, 'signal', usd('1.50'))),
  ]
  expect(told(before)).toMatchObject({ trips: [{ pnlUsd: usd('0.10') }] })
  expect(told(before).winsOf('signal')).toBe(1)
  const after = told([
    ...before,
    ...cancelled({ n: 4, strategy: 'signal', direction: 'short', relayFeeAmount: 130_000n }, [stopKeyOf(2)]),
  ])
  expect(after.trips).toMatchObject([{ pnlUsd: usd('-0.03') }])
  expect(after.winsOf('signal')).toBe(0)
})

test('a fill has the entry price of the part that it takes, and says what that is beside the venue’s figure', () => {
  // One short at $2,000 and one at $4,000 are to the venue two at $3,000. At $2,000 it gives 666.67 for the first one's $2,000.
  const venueUsd = usd(2_000) / 3n
  const all = [
    ...executed(opens(1, 'trend', 2_000, { relayFeeAmount: 0n, settlement: { feesUsd: 0n } })),
    ...executed(opens(2, 'grid', 4_000, { relayFeeAmount: 0n, settlement: { feesUsd: 0n } })),
    ...executed(
      closes(3, 'trend', venueUsd, {
        relayFeeAmount: 0n,
        settlement: { sizeDeltaInTokens: (2n * eth) / 3n, pnlUsd: venueUsd, feesUsd: 0n },
      }),
    ),
  ]
  const { fill, trips, story } = told(all)
  expect(Number(fill(3)?.pnlUsd) / 1e30).toBeCloseTo(0, 6)
  expect(trips[0]?.pnlUsd).toBe(fill(3)?.pnlUsd)
  const state = story(3)
  if (state === undefined) throw new Error('it is there')
  const row = orderRow({ state, label: labelOf(state), costsOf: (key) => told(all).books.fillOf(key) })
    .legs[0]
  expect(Number(row?.ownEntryUsd) / 1e30).toBeCloseTo(-2_000 / 3, 6)
  const parts = [row?.venuePnlUsd, row?.ownEntryUsd].map((each) => BigInt(each ?? 0))
  const costs = [row?.sendingUsd, row?.entryCostsUsd, row?.cancellingUsd].map((each) => BigInt(each ?? 0))
  const sum = (amounts: readonly bigint[]) => amounts.reduce((all, each) => all + each, 0n)
  expect(BigInt(row?.pnlUsd ?? 0)).toBe(sum(parts) - sum(costs))
})

test('a stop that fires costs no message of its own, and a part of a close shares what opening cost by size', () => {
  const entry = opens(2, 'signal', 2_000, { hasStop: true })
  const half = closes(3, 'signal', usd(1), {
    settlement: { sizeDeltaUsd: usd(500), sizeDeltaInTokens: eth / 4n },
  })
  const { fill, stop, trips, pnlOf } = told([
    ...executed(entry),
    ...executed(half),
    stopped(entry, {
      sizeDeltaUsd: usd(1_500),
      sizeDeltaInTokens: (3n * eth) / 4n,
      basePnlUsd: usd(-9),
      pnlUsd: usd(-9),
    }),
  ])
  expect(fill(3)?.pnlUsd).toBe(usd(1) - usd('0.30') - usd('0.40') - usd('0.70') / 4n)
  expect(stop(2)).toMatchObject({ pnlUsd: usd(-9) - (usd('0.70') * 3n) / 4n, sendingUsd: 0n })
  expect(trips[0]?.pnlUsd).toBe((fill(3)?.pnlUsd ?? 0n) + (stop(2)?.pnlUsd ?? 0n))
  expect(pnlOf('signal')).toBe(trips[0]?.pnlUsd)
})

test('a fill that takes what others opened says that the costs of the entry are not known', () => {
  const found = raised('there', 'unexplained-position', usd(2_000), { on: { ...shortSide } })
  const { fill } = told([found, settled('there', 'adopted'), ...executed(closes(3, 'guard', usd(1)))])
  expect(fill(3)).toMatchObject({ pnlUsd: usd('0.30'), entryCostsUsd: 0n, isEntryKnown: false })
})

const shortSide = {
  marketToken: '0x3333333333333333333333333333333333333333',
  direction: 'short',
  collateralToken: '0x2222222222222222222222222222222222222222',
} as const

test('messages that filled nothing are of the round trip that is open, and outside of all where none is', () => {
  const { trips, pnlOf, sums } = told([
    ...lost(opens(1, 'signal', 2_000)),
    ...executed(opens(2, 'signal', 2_000)),
    ...lost(opens(5, 'signal', 2_000)),
    ...executed(closes(6, 'signal', usd(1))),
    ...lost(opens(7, 'signal', 2_000)),
  ])
  expect(trips).toMatchObject([{ pnlUsd: usd(1) - usd('1.40') - usd('0.40') }])
  expect(sums).toMatchObject([{ outsideUsd: usd('-0.80'), openUsd: 0n }])
  expect(pnlOf('signal')).toBe((trips[0]?.pnlUsd ?? 0n) - usd('0.80'))
})

const anyStep = fc.record({
  what: fc.constantFrom('open', 'open', 'close', 'all', 'keeper', 'stop', 'lost', 'cancel'),
  strategy: fc.constantFrom('trend', 'grid', '@operator'),
  pick: fc.nat({ max: 50 }),
  sizeUsd: fc.bigInt({ min: 1n, max: 10n ** 33n }),
  moneyUsd: fc.bigInt({ min: -(10n ** 31n), max: 10n ** 31n }),
  feesUsd: fc.bigInt({ min: 0n, max: 10n ** 30n }),
  relayFeeAmount: fc.bigInt({ min: 0n, max: 10n ** 6n }),
  passedMs: fc.nat({ max: 3_000_000 }),
})

test('after any history on a shared side, round trips, what is open and what is outside come to each book, and all books to the account', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      const trips = createRoundTrips()
      const books = new Books(noBooks, keepsAll, trips.take)
      const ledger = createLedger(undefined, books)
      const fold = (records: readonly AnyRecord[]) => {
        for (const record of records) ledger.fold(record)
      }
      /** Entries whose stops rest. */
      const stops: Fill[] = []
      const hadTrip = new Set<string>()
      const outside = new Map<string, bigint>()
      let accountUsd = 0n
      let atMs = 1_800_000_000_000
      for (const [
        n,
        { what, strategy, pick, sizeUsd, moneyUsd, feesUsd, relayFeeAmount, passedMs },
      ] of steps.entries()) {
        atMs += passedMs
        const sendingUsd = relayFeeAmount * 10n ** 24n
        const heldUsd = books.heldBy(strategy, shortSide)
        const base = { n, strategy, direction: 'short', atMs, relayFeeAmount } as const
        const money = { feesUsd, borrowingFeeUsd: feesUsd / 3n, fundingFeeUsd: feesUsd / 5n }
        const leaves = (name: string, leavesUsd: Usd) =>
          outside.set(name, (outside.get(name) ?? 0n) - leavesUsd)
        const isFlatAfter = (names: readonly string[]) => {
          for (const name of names) if (books.heldBy(name, shortSide) === 0n) hadTrip.add(name)
        }
        if (what === 'open') {
          const made: Fill = { ...base, hasStop: true, settlement: { sizeDeltaUsd: sizeUsd, ...money } }
          fold(executed(made))
          stops.push(made)
          accountUsd -= feesUsd + sendingUsd
        }
        if ((what === 'close' || what === 'all') && heldUsd > 0n) {
          const takenUsd = what === 'all' || sizeUsd > heldUsd ? heldUsd : sizeUsd
          const made: Fill = {
            ...base,
            kind: 'decrease',
            settlement: { sizeDeltaUsd: takenUsd, pnlUsd: moneyUsd, ...money },
          }
          fold([...executed(made), closed(made)])
          accountUsd += moneyUsd - sendingUsd
          isFlatAfter([strategy])
        }
        if (what === 'keeper') {
          const names = ['trend', 'grid', '@operator'].filter((name) => books.heldBy(name, shortSide) > 0n)
          const allUsd = names.reduce((sum, name) => sum + books.heldBy(name, shortSide), 0n)
          if (allUsd === 0n) continue
          const takenUsd = pick % 2 === 0 || sizeUsd > allUsd ? allUsd : sizeUsd
          const settlement = { sizeDeltaUsd: takenUsd, pnlUsd: moneyUsd, ...money }
          const made: Fill = { ...base, strategy: 'guard', kind: 'decrease', settlement }
          fold([...executed(made), closed(made)])
          accountUsd += moneyUsd - sendingUsd
          leaves('guard', sendingUsd)
          isFlatAfter(names)
        }
        if (what === 'stop') {
          const fits = stops.filter(
            (each) => (each.settlement.sizeDeltaUsd ?? 0n) <= books.heldBy(each.strategy ?? '', shortSide),
          )
          const entry = fits[pick % Math.max(1, fits.length)]
          if (entry === undefined) continue
          stops.splice(stops.indexOf(entry), 1)
          const sizeDeltaUsd = entry.settlement.sizeDeltaUsd ?? 0n
          fold([stopped({ ...entry }, { sizeDeltaUsd, pnlUsd: moneyUsd, ...money }), closed(entry)])
          accountUsd += moneyUsd
          isFlatAfter([entry.strategy ?? ''])
        }
        if (what === 'lost') {
          fold(lost({ ...base, settlement: {} }))
          accountUsd -= sendingUsd
          if (heldUsd === 0n) leaves(strategy, sendingUsd)
        }
        if (what === 'cancel') {
          const entry = stops.find((each) => each.strategy === strategy)
          const target = entry === undefined ? keyOf(9_999) : stopKeyOf(entry.n)
          fold(cancelled(base, [target]))
          accountUsd -= sendingUsd
          const isBorne = heldUsd > 0n || (entry !== undefined && hadTrip.has(strategy))
          if (!isBorne) leaves(strategy, sendingUsd)
          if (entry === undefined) continue
          stops.splice(stops.indexOf(entry), 1)
          fold([orderCancelled(entry, 1), closed(entry)])
        }
      }
      for (const { posting, side } of books.unsettled()) trips.take(posting, side)
      const all = books.all()
      // What one strategy's tokens brought another's cost is in what is held, which the venue's figures do not have.
      const heldUsd = all.reduce((sum, { costUsd, sizeUsd }) => sum + sizeUsd - costUsd, 0n)
      expect(all.reduce((sum, { figures }) => sum + resultOf(figures), 0n) - heldUsd).toBe(accountUsd)
      for (const { strategy, tripsUsd, openUsd, outsideUsd } of trips.sums(all)) {
        const own = all.filter((book) => book.strategy === strategy)
        const bookUsd = own.reduce((sum, { figures }) => sum + resultOf(figures), 0n)
        expect(tripsUsd + openUsd + outsideUsd).toBe(bookUsd)
        expect({ strategy, outsideUsd }).toEqual({ strategy, outsideUsd: outside.get(strategy) ?? 0n })
        if (own.every(({ sizeUsd }) => sizeUsd === 0n)) expect(openUsd).toBe(0n)
      }
      // Costs of round trips are those of the books, each by its kind, where nothing is held and nothing is outside.
      for (const { strategy, outsideUsd } of trips.sums(all)) {
        const own = all.filter((book) => book.strategy === strategy)
        if (outsideUsd !== 0n || own.some(({ sizeUsd }) => sizeUsd !== 0n)) continue
        const ended = trips.ended().filter((trip) => trip.strategy === strategy)
        const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n)
        expect(sum(ended.map(({ feesUsd }) => feesUsd))).toBe(
          sum(own.map(({ figures }) => figures.positionFeesUsd)),
        )
        expect(sum(ended.map(({ sendingUsd }) => sendingUsd))).toBe(
          sum(own.map(({ figures }) => figures.relayFeesUsd)),
        )
      }
      // And so are the fills: what they brought is what the parts brought that they took.
      const fillsUsd = steps.reduce(
        (sum, _, n) =>
          sum + (books.fillOf(keyOf(n))?.pnlUsd ?? 0n) + (books.fillOf(stopKeyOf(n))?.pnlUsd ?? 0n),
        0n,
      )
      const sums = trips.sums(all).reduce((sum, { tripsUsd, openUsd }) => sum + tripsUsd + openUsd, 0n)
      const carriedUsd = all.reduce((sum, book) => sum + book.carriedUsd, 0n)
      expect(fillsUsd).toBe(sums + carriedUsd + (outside.get('guard') ?? 0n))
    }),
    { seed: 20_261_125, numRuns: 300 },
  )
})
