/** `perpd trades --round-trips`: what every book did from nothing to nothing, newest first. */
import { isoTime } from '../../base/clock.ts'
import { bookName } from '../../books/bookView.ts'
import { createRoundTrips, type RoundTrip, type TripSums } from '../../books/roundTrips.ts'
import type { JournalReader } from '../../journal/journal.ts'
import { span } from '../../monitor/text.ts'
import { hexKey, sameHex } from '../../protocol/address.ts'
import type { Facts } from '../../protocol/catalogue.ts'
import { formatUnits, USD_DECIMALS, type Usd } from '../../protocol/units.ts'
import { csvText } from '../output/csv.ts'
import { type Column, fitTable } from '../output/fitTable.ts'
import { moneyCell } from '../output/moneyCell.ts'
import { type PriceText, pricesIn } from '../output/pricePlaces.ts'
import { wrapped } from '../output/screen.ts'

/** One of them. USD has 30 decimals; prices are per whole index token. Null: not known. */
export interface RoundTripRow {
  readonly strategy: string
  readonly market: string
  readonly direction: string
  readonly openedAt: string
  readonly closedAt: string
  readonly durationSeconds: number
  readonly sizeUsd: Usd
  readonly entryPrice: Usd | null
  readonly exitPrice: Usd | null
  readonly feesUsd: Usd
  readonly pnlUsd: Usd
  /** Why it ended, by the order or the discrepancy that ended it. */
  readonly reason: string
}

/** All that ended, newest first, and where the results of strategies are besides. */
export async function roundTripRows(
  journal: JournalReader,
  facts: Facts,
): Promise<{ readonly rows: readonly RoundTripRow[]; readonly sums: readonly TripSums[] }> {
  const trips = createRoundTrips()
  const books = await journal.bookHistory(trips.take)
  const sums = trips.sums(books.all()).map((each) => ({ ...each, strategy: bookName(each.strategy) }))
  const { discrepancies } = await journal.account()
  const rows: RoundTripRow[] = []
  for (const trip of trips.ended().toSorted((one, other) => other.closedAtMs - one.closedAtMs)) {
    const { id, intentId } = trip.endedBy
    const state = intentId === undefined ? undefined : await journal.intent(intentId)
    const role = state?.attempts
      .flatMap(({ children }) => children)
      .find(({ orderKey }) => sameHex(orderKey, id))?.role
    const isExit = role === 'take-profit' || role === 'stop-loss'
    const found = discrepancies.get(id)?.discrepancy.kind
    const why = isExit ? role : (state?.intent.decision.reason ?? found ?? '')
    const isOthers = state !== undefined && state.intent.strategy !== trip.strategy
    rows.push(rowOf(trip, facts, isOthers ? `${state.intent.strategy}: ${why}` : why))
  }
  return { rows, sums }
}

function rowOf(trip: RoundTrip, { markets, tokens }: Facts, reason: string): RoundTripRow {
  const market = markets.get(hexKey(trip.marketToken))
  const decimals = market === undefined ? undefined : tokens.get(hexKey(market.indexToken))?.decimals
  const priceOf = (worthUsd: Usd): Usd | null =>
    decimals === undefined || trip.tokens <= 0n ? null : (worthUsd * 10n ** BigInt(decimals)) / trip.tokens
  return {
    strategy: bookName(trip.strategy),
    market: market?.symbol ?? trip.marketToken,
    direction: trip.direction,
    openedAt: isoTime(trip.openedAtMs),
    closedAt: isoTime(trip.closedAtMs),
    durationSeconds: Math.max(0, Math.round((trip.closedAtMs - trip.openedAtMs) / 1_000)),
    sizeUsd: trip.sizeUsd,
    entryPrice: priceOf(trip.entryUsd),
    exitPrice: priceOf(trip.exitUsd),
    feesUsd: trip.feesUsd,
    pnlUsd: trip.pnlUsd,
    reason,
  }
}

const columnsOf = (priceText: PriceText<RoundTripRow>): readonly Column<RoundTripRow>[] => [
  {
    title: 'ENDED (UTC)',
    rank: 0,
    wraps: true,
    of: ({ closedAt }) => closedAt.slice(0, 16).replace('T', ' '),
  },
  { title: 'STRATEGY', rank: 1, isName: true, of: ({ strategy }) => strategy },
  { title: 'MARKET', rank: 0, wraps: true, of: ({ market, direction }) => `${market} ${direction}` },
  { title: 'SIZE', rank: 0, isFigure: true, of: ({ sizeUsd }) => moneyCell(sizeUsd) },
  {
    title: 'ENTRY',
    rank: 3,
    isFigure: true,
    of: (row) => priceText(row, row.entryPrice?.toString() ?? null),
  },
  { title: 'EXIT', rank: 3, isFigure: true, of: (row) => priceText(row, row.exitPrice?.toString() ?? null) },
  { title: 'FEES', rank: 4, isFigure: true, of: ({ feesUsd }) => moneyCell(feesUsd) },
  { title: 'PNL', rank: 0, isFigure: true, of: ({ pnlUsd }) => moneyCell(pnlUsd) },
  { title: 'FOR', rank: 5, isFigure: true, of: ({ durationSeconds }) => span(durationSeconds * 1_000) },
  { title: 'WHY IT ENDED', rank: 6, wraps: true, readable: 20, of: ({ reason }) => reason },
]

/** The table, and what its figures are. `sums`: what of the strategies' results is in no row. */
export function roundTripsText(
  rows: readonly RoundTripRow[],
  width: number,
  sums: readonly TripSums[] = [],
): string {
  if (rows.length === 0) return 'No round trips yet: no strategy has closed all of a position it opened.'
  const legend = wrapped(
    '',
    [
      "A round trip is a strategy's part of a position, from opening to nothing left. PNL is after all costs: its share of funding and borrowing, all its messages, and cancelling its leftover exits; FEES lists them. Prices are without price impact.",
      ...sums.flatMap(besides),
    ].join(' '),
    Math.min(width, 80),
  )
  const priceText = pricesIn(
    rows,
    ({ market }) => market,
    ({ entryPrice, exitPrice }) => [entryPrice, exitPrice].map((price) => price?.toString() ?? null),
  )
  return [fitTable(columnsOf(priceText), rows, width), '', ...legend].join('\n')
}

/** Says which results `perpd pnl` counts in addition to a strategy's round trips. */
function besides({ strategy, openUsd, outsideUsd }: TripSums): readonly string[] {
  const parts = [
    ...(openUsd === 0n ? [] : [`${moneyCell(openUsd)} of what it still holds`]),
    ...(outsideUsd === 0n ? [] : [`${moneyCell(outsideUsd)} outside of round trips`]),
  ]
  return parts.length === 0 ? [] : [`The PnL of ${strategy} also includes ${parts.join(' and ')}.`]
}

/** The same for a spreadsheet. */
export function roundTripsCsv(rows: readonly RoundTripRow[]): string {
  const dollars = (amount: Usd | null): string | null =>
    amount === null ? null : formatUnits(amount, USD_DECIMALS)
  return csvText(
    [
      'strategy',
      'market',
      'direction',
      'opened_at',
      'closed_at',
      'duration_seconds',
      'size_usd',
      'entry_price',
      'exit_price',
      'fees_usd',
      'pnl_usd',
      'reason',
    ],
    rows.map((row) => [
      row.strategy,
      row.market,
      row.direction,
      row.openedAt,
      row.closedAt,
      row.durationSeconds,
      ...[row.sizeUsd, row.entryPrice, row.exitPrice, row.feesUsd, row.pnlUsd].map(dollars),
      row.reason,
    ]),
  )
}
