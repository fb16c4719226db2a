/** `perpd markets`: every market with its figures and where its facts come from, and an operator's word on one. */
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { Plain } from '../../domain/summaries/orderView.ts'
import { span } from '../../monitor/text.ts'
import type { MarketFigures } from '../../operator/operatorReads.ts'
import { nearMarket } from '../../operator/unknownMarket.ts'
import { formatPercent } from '../../protocol/percentText.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { absOf, ONE_USD, toDecimal, USD_DECIMALS, usd } from '../../protocol/units.ts'
import type { Call } from '../call/command.ts'
import { queryDaemon } from '../call/daemonClient.ts'
import { dollarsFlag } from '../call/numberFlags.ts'
import { type Column, fitTable, hasColumn } from '../output/fitTable.ts'
import { basisPoints } from '../output/quoteText.ts'
import { wrapped } from '../output/screen.ts'

/** A market as the daemon tells it. */
export type MarketRow = Plain<MarketFigures>

/** Lists the markets that the running daemon knows or is told of, those on which nothing is added first. */
export async function markets({ loaded, flags, positionals, width, out }: Call): Promise<number> {
  const search = positionals[0] ?? flags.get('search')
  const wanted = typeof search === 'string' ? search.trim().toLowerCase() : ''
  const all = await queryDaemon(loaded, '/api/markets', isMarkets)
  const least = dollarsFlag(flags, 'capacity')
  const filter = { isOpen: flags.has('open'), leastUsd: least === undefined ? 0n : usd(least) }
  const sort = sortOf(flags.get('sort'))
  const rows = sortedMarkets(filteredMarkets(searched(all, wanted), filter), sort)
  if (flags.has('json')) out(JSON.stringify(rows, undefined, 2))
  else if (rows.length === 0 && searched(all, wanted).length > 0) out('No market passes the filters.')
  else if (rows.length === 0) out(wanted === '' ? 'No market is listed.' : noneCalled(all, String(search)))
  else out(marketsText(rows, Date.now(), width, sort))
  return rows.length === 0 && wanted !== '' ? exitCodes.notFound : exitCodes.ok
}

/** Figures that markets may be sorted by, the largest first; of a change the one that is furthest from 0. */
export const marketSorts = {
  oi: (row: MarketRow): bigint => amountOf(row.interestLongUsd) + amountOf(row.interestShortUsd),
  change: (row: MarketRow): bigint => absOf(amountOf(row.change24hBps)),
  capacity: (row: MarketRow): bigint => amountOf(row.capacityLongUsd) + amountOf(row.capacityShortUsd),
} as const
type MarketSort = keyof typeof marketSorts

/** Reads the flag `--sort`. Throws CommandError for what is none of them. */
function sortOf(given: string | true | undefined): MarketSort | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'string' && Object.hasOwn(marketSorts, given)) return given as MarketSort
  const why = given === 'volume' ? ' perpd reads no volume of markets; oi is the nearest.' : ''
  throw new CommandError(
    `--sort is ${given === true ? 'empty' : given}; expected one of ${Object.keys(marketSorts).join(', ')}.${why}`,
    exitCodes.error,
  )
}

/** Rows that pass the filters: open ones that increases may use, and those with this capacity on a side or more, USD. */
export function filteredMarkets(
  rows: readonly MarketRow[],
  { isOpen: onlyOpen, leastUsd }: { readonly isOpen: boolean; readonly leastUsd: bigint },
): readonly MarketRow[] {
  return rows.filter((row) => {
    const sides = [amountOf(row.capacityLongUsd), amountOf(row.capacityShortUsd)]
    if (leastUsd > 0n && sides.every((capacityUsd) => capacityUsd < leastUsd)) return false
    return !onlyOpen || (row.status === 'open' && isOpen(row))
  })
}

/** Rows in the order asked for; without one those on which nothing is added first, then by symbol. */
export function sortedMarkets(rows: readonly MarketRow[], sort?: MarketSort): readonly MarketRow[] {
  const bySymbol = (one: MarketRow, other: MarketRow): number => one.symbol.localeCompare(other.symbol)
  if (sort === undefined)
    return rows.toSorted((one, other) => Number(isOpen(one)) - Number(isOpen(other)) || bySymbol(one, other))
  const of = marketSorts[sort]
  return rows.toSorted((one, other) => {
    const gap = of(other) - of(one)
    return gap === 0n ? bySymbol(one, other) : gap > 0n ? 1 : -1
  })
}

function amountOf(amount: string | null): bigint {
  return BigInt(amount ?? '0')
}

/** Those with the text in their pair (`ETH/USD`); where there are none, in their tokens, or of that address. */
function searched(all: readonly MarketRow[], wanted: string): readonly MarketRow[] {
  const inPair = all.filter(({ symbol }) => (symbol.split(' ')[0] ?? '').toLowerCase().includes(wanted))
  if (inPair.length > 0) return inPair
  return all.filter(
    ({ symbol, marketToken }) =>
      symbol.toLowerCase().includes(wanted) || marketToken.toLowerCase() === wanted,
  )
}

/** Tells whether a response is the list of markets. */
export function isMarkets(body: unknown): body is readonly MarketRow[] {
  return Array.isArray(body)
}

function noneCalled(all: readonly MarketRow[], search: string): string {
  const near = nearMarket(
    all.map(({ symbol }) => symbol),
    search,
  )
  return `No market is called ${search}.${near === undefined ? '' : ` Did you mean ${near}?`}`
}

function isOpen({ state }: MarketRow): boolean {
  return state !== 'untrusted' && state !== 'contradicted'
}

const FEE = 'FEE (BPS)'

/** The column of each figure that sorts. */
const sortTitles: Readonly<Record<MarketSort, string>> = {
  oi: 'INTEREST',
  change: '24H',
  capacity: 'CAPACITY',
}

const columns: readonly Column<MarketRow>[] = [
  { title: 'MARKET', rank: 0, wraps: true, of: ({ symbol }) => symbol.replace(' ', '\n') },
  {
    title: 'PRICE',
    rank: 0,
    isFigure: true,
    of: ({ markPrice }) => (markPrice === null ? '-' : formatPrice(BigInt(markPrice))),
  },
  {
    title: '24H',
    rank: 3,
    isFigure: true,
    of: ({ change24hBps }) => (change24hBps === null ? '-' : changeText(BigInt(change24hBps))),
  },
  { title: 'SIDE', rank: 0, of: () => 'long\nshort' },
  {
    title: 'INTEREST',
    rank: 2,
    isFigure: true,
    of: ({ interestLongUsd, interestShortUsd }) => sides(interestLongUsd, interestShortUsd, short),
  },
  {
    title: 'FUNDING/H',
    rank: 0,
    isFigure: true,
    of: ({ fundingLong, fundingShort }) => sides(fundingLong, fundingShort, percent),
  },
  {
    title: 'BORROW/H',
    rank: 1,
    isFigure: true,
    of: ({ borrowingLong, borrowingShort }) => sides(borrowingLong, borrowingShort, percent),
  },
  {
    title: 'CAPACITY',
    rank: 0,
    isFigure: true,
    of: ({ capacityLongUsd, capacityShortUsd }) => sides(capacityLongUsd, capacityShortUsd, short),
  },
  { title: FEE, rank: 1, isFigure: true, of: feesOf },
  {
    title: 'TRADES',
    rank: 0,
    of: ({ status, state }) => `${status}\n${state}`,
  },
  {
    title: 'LEVERAGE',
    rank: 5,
    isFigure: true,
    of: ({ maxLeverageBps }) => (maxLeverageBps === null ? '' : `${maxLeverageBps / 10_000}x`),
  },
  { title: 'ADDRESS', rank: 6, of: ({ marketToken }) => marketToken },
]

function feesOf({ feeBalancingBps100: low, feeUnbalancingBps100: high }: MarketRow): string {
  if (low === null || high === null) return '-'
  return low === high ? basisPoints(low) : `${basisPoints(low)}/${basisPoints(high)}`
}

/** The table with the column that sorts, what its figures mean, and why nothing is added on some. */
export function marketsText(
  rows: readonly MarketRow[],
  nowMs: number,
  width: number,
  sort?: MarketSort,
): string {
  const readAtMs = Math.min(...rows.map(({ readAtMs: atMs }) => atMs ?? Number.POSITIVE_INFINITY))
  const age = Number.isFinite(readAtMs)
    ? `read ${span(Math.max(0, nowMs - readAtMs))} ago`
    : 'no answer from the venue: no figures'
  const whys = rows.flatMap(({ symbol, why, state, marketToken }) =>
    why === undefined ? [] : wrapped('', `${symbol} (${marketToken}) is ${state}: ${why}`),
  )
  const sorted = sort && sortTitles[sort]
  const shown = columns.map((column) => (column.title === sorted ? { ...column, rank: 0 } : column))
  const text = fitTable(shown, rows, width)
  // A column that a narrow screen leaves out needs no explanation.
  const fee = hasColumn(text, FEE)
    ? " The fee is in hundredths of a percent of an order's size: the first figure where the order balances longs and shorts, else the second."
    : ''
  const legend = wrapped(
    '',
    `Rates are percent an hour: negative funding is paid, borrowing is a cost. Capacity is the venue's room for increases.${fee} The line below a market shows the source of its facts; ${age}.`,
  )
  return [text, '', ...legend, ...(whys.length === 0 ? [] : ['', ...whys])].join('\n')
}

/** The figure of the long side over that of the short one. */
function sides(long: string | null, side: string | null, text: (value: bigint) => string): string {
  const of = (value: string | null): string => (value === null ? '-' : text(BigInt(value)))
  return `${of(long)}\n${of(side)}`
}

/** A factor with 30 decimals as percent, four places or two digits of what is smaller, `0.0012%`; with its sign. */
function percent(factor: bigint): string {
  const shown = formatPercent(factor, ONE_USD)
  const usual = `${toDecimal(factor, USD_DECIMALS).mul(100).toFixed(4)}%`
  return shown.length > usual.length ? shown : usual
}

/** `+1.52%`. */
function changeText(bps: bigint): string {
  return `${bps > 0n ? '+' : ''}${formatPercent(bps, 10_000n)}`
}

/** Dollars in few characters: `$12.3M`, `$450k`. */
function short(amount: bigint): string {
  const dollars = toDecimal(amount, USD_DECIMALS).toNumber()
  if (dollars >= 1_000_000) return `$${(dollars / 1_000_000).toFixed(1)}M`
  if (dollars >= 1_000) return `$${(dollars / 1_000).toFixed(0)}k`
  return `$${dollars.toFixed(0)}`
}
