/** Closed trades: why each ended, its risk, its costs by kind, filters, and sums that are those of the books and of every day. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tradeSums } from '../../src/books/closedTrades.ts'
import { resultOf } from '../../src/books/figures.ts'
import { nameOf, type PnlGrouping, pnlRows } from '../../src/books/pnlRows.ts'
import { filteredTrades, tradeFilters } from '../../src/books/tradeFilter.ts'
import { centsThatAddUp, tableOfCents, toCents } from '../../src/books/wholeCents.ts'
import type { AnyRecord } from '../../src/domain/records.ts'
import { createHistoryReader } from '../../src/journal/historyReader.ts'
import { createHistoryFold } from '../../src/journal/tradeHistory.ts'
import type { Facts } from '../../src/protocol/catalogue.ts'
import { usd } from '../../src/protocol/units.ts'
import {
  cancelled,
  closed,
  executed,
  type Fill,
  raised,
  reopened,
  side,
  stopKeyOf,
  stopped,
} from './history.ts'

const eth = 10n ** 18n
const facts: Facts = { markets: new Map(), tokens: new Map() } as unknown as Facts
const dayMs = 86_400_000
const monday = Date.UTC(2027, 2, 22)

/** A fill of one ETH, or of a part of it, at $2,000, with a position fee of $1 and 50 cents of sending. */
function fill(n: number, kind: 'increase' | 'decrease', more: Partial<Fill> = {}): Fill {
  const { settlement, ...rest } = more
  const result = kind === 'increase' ? {} : { basePnlUsd: 0n, pnlUsd: usd(-1) }
  return {
    ...{ n, kind, strategy: 'trend', relayFeeAmount: 500_000n, atMs: monday + n * 60_000 },
    ...rest,
    settlement: {
      ...{ sizeDeltaUsd: usd(2_000), sizeDeltaInTokens: eth, executionPrice: usd(2_000), feesUsd: usd(1) },
      ...result,
      ...settlement,
    },
  }
}

const done = (made: Fill): readonly AnyRecord[] => [...executed(made), closed(made)]

function history(records: readonly AnyRecord[]) {
  const fold = createHistoryFold()
  for (const record of records) fold.fold(record)
  const { books, closedTrades, sums } = fold.read()
  return { trades: closedTrades(facts), books, sums }
}

/** Contract price of a token with 18 decimals. */
const contractPrice = (price: number): bigint => usd(price) / eth

test('a closed trade says which of stop, target, signal, hand, kill or liquidation ended it', () => {
  const entry = (n: number, more: Partial<Fill> = {}) => fill(n, 'increase', { hasStop: true, ...more })
  const decision = (decisionKey: string) => (record: AnyRecord) =>
    record.kind === 'intent.accepted' ? { ...record, intent: { ...record.intent, decisionKey } } : record
  const { trades } = history([
    ...executed(entry(1)),
    stopped(entry(1), {
      sizeDeltaUsd: usd(2_000),
      sizeDeltaInTokens: eth,
      basePnlUsd: usd(-60),
      pnlUsd: usd(-61),
    }),
    ...done(fill(2, 'increase')),
    ...done(fill(3, 'decrease', { terms: { orderType: 'take-profit', triggerPrice: usd(2_100) } })),
    ...done(fill(4, 'increase')),
    ...done(fill(5, 'decrease')),
    ...done(fill(6, 'increase')),
    ...done(fill(7, 'decrease', { strategy: '@operator' })),
    ...done(fill(8, 'increase')),
    ...done(fill(9, 'decrease', { strategy: '@operator' })).map(decision('kill:12#1')),
    ...done(fill(10, 'increase')),
    raised('trade:11', 'liquidation', usd(-2_000), { pnlUsd: usd(-500), atMs: monday + 20 * 60_000 }),
  ])
  expect(trades.map(({ reason }) => reason)).toEqual([
    'liquidation',
    'kill',
    'hand',
    'signal',
    'target',
    'stop',
  ])
  expect(trades.map(({ strategy }) => strategy)).toEqual(Array(6).fill('trend'))
  expect(trades[0]).toMatchObject({ closedBy: null, id: 'trade:11:trend' })
})

test('R is PnL by the loss at the first stop on the largest size; without a stop on the losing side there is none', () => {
  const entry = fill(1, 'increase', { hasStop: true, stopTrigger: contractPrice(1_940) })
  const exit = (n: number) => fill(n, 'decrease', { settlement: { basePnlUsd: usd(90), pnlUsd: usd(89) } })
  const beyond = fill(3, 'increase', { hasStop: true, stopTrigger: contractPrice(2_040) })
  const { trades } = history([
    ...executed(entry),
    ...done(exit(2)),
    ...executed(beyond),
    ...done(exit(4)),
    ...done(fill(5, 'increase')),
    ...done(exit(6)),
  ])
  // $90 of the price, two fees of $1, two messages of 50 cents.
  expect(trades.map(({ pnlUsd }) => pnlUsd)).toEqual([usd(87), usd(87), usd(87)])
  expect(trades.map(({ riskUsd, r }) => [riskUsd, r])).toEqual([
    [null, null],
    [null, null],
    [usd(60), 1.45],
  ])
})

test('costs stand by kind, sending less what came back, and price and impact less them is the PnL', () => {
  const { trades } = history([
    ...done(fill(1, 'increase')),
    ...done(
      fill(2, 'decrease', {
        settlement: {
          ...{ sizeDeltaUsd: usd(500), sizeDeltaInTokens: eth / 4n, basePnlUsd: usd(10), pnlUsd: usd(4) },
          ...{
            feesUsd: usd(5),
            fundingFeeUsd: usd('1.50'),
            borrowingFeeUsd: usd('2.50'),
            priceImpactUsd: usd(-1),
          },
          executionFeeReturnedUsd: usd('0.20'),
        },
      }),
    ),
    ...done(
      fill(3, 'decrease', {
        settlement: {
          sizeDeltaUsd: usd(1_500),
          sizeDeltaInTokens: (3n * eth) / 4n,
          basePnlUsd: usd(30),
          pnlUsd: usd(29),
        },
      }),
    ),
  ])
  expect(trades).toHaveLength(1)
  expect(trades[0]).toMatchObject({
    ...{ largestUsd: usd(2_000), sizeUsd: usd(2_000), entryPrice: usd(2_000), exitPrice: usd(2_040) },
    ...{ pricePnlUsd: usd(40), impactUsd: usd(-1), feesUsd: usd(3) },
    ...{ fundingUsd: usd('1.50'), borrowingUsd: usd('2.50'), sendingUsd: usd('1.30') },
    pnlUsd: usd('30.70'),
  })
})

test('trades, what is open and what is outside are the sum of all days, weeks and months; a partial close counts on its day', () => {
  // The clocks of Europe change on 28 March 2027, a Sunday; days are UTC.
  const sunday = Date.UTC(2027, 2, 28)
  const part = (n: number, atMs: number, sizeUsd: number, tokens: bigint, basePnlUsd: bigint) =>
    done(
      fill(n, 'decrease', {
        atMs,
        settlement: {
          ...{
            sizeDeltaUsd: usd(sizeUsd),
            sizeDeltaInTokens: tokens,
            basePnlUsd,
            pnlUsd: basePnlUsd - usd(1),
          },
          timestampSeconds: atMs / 1_000,
        },
      }),
    )
  const opened = (n: number, atMs: number) =>
    done(fill(n, 'increase', { atMs, settlement: { timestampSeconds: atMs / 1_000 } }))
  const { trades, books, sums } = history([
    ...opened(1, sunday - 3_600_000),
    ...part(2, sunday + 1_800_000, 500, eth / 4n, usd('12.345678')),
    ...part(3, sunday + 23.5 * 3_600_000, 500, eth / 4n, usd('-3.1')),
    ...part(4, sunday + dayMs, 1_000, eth / 2n, usd('7.000001')),
    ...opened(5, sunday + 4 * dayMs),
    ...part(6, sunday + 5 * dayMs, 200, eth / 10n, usd('0.77')),
    ...cancelled({ n: 7, strategy: 'grid', atMs: sunday, relayFeeAmount: 130_000n }, [stopKeyOf(99)]),
  ])
  const days = books.days(0)
  const totalUsd = books.all().reduce((sum, { figures }) => sum + resultOf(figures), 0n)
  const sumOf = (by: PnlGrouping) => pnlRows(days, by, facts).reduce((sum, { pnlUsd }) => sum + pnlUsd, 0n)
  for (const by of ['day', 'week', 'month', 'strategy', 'market'] as const) expect(sumOf(by)).toBe(totalUsd)
  const split = pnlRows(days, 'day', facts, 'strategy')
  expect(split.reduce((sum, { pnlUsd }) => sum + pnlUsd, 0n)).toBe(totalUsd)
  expect(trades).toHaveLength(1)
  const besidesUsd = sums.reduce((sum, { openUsd, outsideUsd }) => sum + openUsd + outsideUsd, 0n)
  expect(tradeSums(trades).pnlUsd + besidesUsd).toBe(totalUsd)
  expect(besidesUsd).not.toBe(0n)
  const names = (by: PnlGrouping) => [...new Set(days.map((day) => nameOf(day, by, facts)))]
  expect(names('day')).toEqual(['2027-03-27', '2027-03-28', '2027-03-29', '2027-04-01', '2027-04-02'])
  expect(names('week')).toEqual(['2027-03-22', '2027-03-29'])
  expect(names('month')).toEqual(['2027-03', '2027-04'])
  const price = (name: string) => pnlRows(days, 'day', facts).find((row) => row.name === name)?.pricePnlUsd
  expect(price('2027-03-28')).toBe(usd('9.245678'))
})

test('filters keep what closed in their time, of their market, side, strategy, reason and outcome, and name a wrong value', () => {
  const { trades } = history([
    ...done(fill(1, 'increase')),
    ...done(fill(2, 'decrease', { settlement: { timestampSeconds: monday / 1_000 - 3_600 } })),
    ...done(fill(3, 'increase', { strategy: 'grid' })),
    ...done(fill(4, 'decrease', { strategy: 'grid', settlement: { basePnlUsd: usd(50), pnlUsd: usd(49) } })),
  ])
  const kept = (typed: Readonly<Record<string, string>>) => {
    const found = filteredTrades(trades, (name) => typed[name], monday + 3_600_000)
    return 'wrong' in found ? found.wrong.name : found.map(({ strategy }) => strategy)
  }
  expect(kept({})).toEqual(['grid', 'trend'])
  expect(kept({ from: '2027-03-22' })).toEqual(['grid'])
  expect(kept({ from: '1d' })).toEqual(['grid'])
  expect(kept({ to: '2027-03-21' })).toEqual(['trend'])
  expect(kept({ outcome: 'won' })).toEqual(['grid'])
  expect(kept({ outcome: 'lost', side: 'long' })).toEqual(['trend'])
  expect(kept({ side: 'short' })).toEqual([])
  expect(kept({ strategy: 'trend', reason: 'signal' })).toEqual(['trend'])
  expect(kept({ market: trades[0]?.market.split('/')[0]?.toLowerCase() ?? '' })).toEqual(['grid', 'trend'])
  expect(kept({ market: 'DOGE' })).toEqual([])
  for (const [name, value] of Object.entries({
    from: 'monday',
    to: '2027-02-31',
    side: 'up',
    reason: 'luck',
    outcome: 'even',
  }))
    expect(kept({ [name]: value })).toBe(name)
  expect(tradeFilters.map(({ name }) => name)).toHaveLength(7)
})

test('cents add up to their rounded sum in every row and column, each less than a cent from its amount', () => {
  const amount = fc.bigInt({ min: -(10n ** 33n), max: 10n ** 33n })
  fc.assert(
    fc.property(
      fc.array(fc.array(amount, { minLength: 3, maxLength: 3 }), { minLength: 1, maxLength: 20 }),
      (table) => {
        const rows = table.map((parts) => ({ parts, sumUsd: parts.reduce((sum, each) => sum + each, 0n) }))
        const { rows: shown, total } = tableOfCents(rows)
        const cent = usd('0.01')
        expect(total.sumUsd).toBe(toCents(rows.reduce((sum, { sumUsd }) => sum + sumUsd, 0n)))
        for (const row of [...shown, total]) {
          expect(row.parts.reduce((sum, each) => sum + each, 0n)).toBe(row.sumUsd)
          for (const each of [...row.parts, row.sumUsd]) expect(each % cent).toBe(0n)
        }
        for (const [at, part] of total.parts.entries())
          expect(shown.reduce((sum, { parts }) => sum + (parts[at] ?? 0n), 0n)).toBe(part)
        for (const [place, row] of shown.entries()) {
          const away = row.sumUsd - (rows[place]?.sumUsd ?? 0n)
          expect(away < cent && away > -cent).toBe(true)
        }
      },
    ),
    { seed: 20_261_128, numRuns: 300 },
  )
  expect(centsThatAddUp([usd('0.005'), usd('0.005')])).toEqual([usd('0.01'), 0n])
})

test('a history that is read twice goes on from where it was, and counts what the chain takes back in between', async () => {
  const records: AnyRecord[] = [...done(fill(1, 'increase'))]
  const asked: number[] = []
  const waits: { ms: number; run: () => void }[] = []
  const reader = createHistoryReader(
    {
      async *read(afterSeq: number) {
        asked.push(afterSeq)
        yield records.slice(afterSeq).map((record, place) => ({ seq: afterSeq + place + 1, record }))
      },
    },
    (ms, run) => {
      waits.push({ ms, run })
      return () => undefined
    },
  )
  expect((await reader.read()).closedTrades(facts)).toEqual([])
  const exit = fill(2, 'decrease', { isProvisional: true })
  records.push(...executed(exit))
  const [one, other] = await Promise.all([reader.read(), reader.read()])
  expect(one).toBe(other)
  expect(one.closedTrades(facts)).toHaveLength(1)
  records.push(reopened(exit))
  expect((await reader.read()).closedTrades(facts)).toEqual([])
  expect(asked).toEqual([0, records.length - executed(exit).length - 1, records.length - 1])
  // What nobody asks for is dropped, and read anew.
  waits.at(-1)?.run()
  expect((await reader.read()).books.heldBy('trend', side)).toBe(usd(2_000))
  expect(asked.at(-1)).toBe(0)
})
