/** `perpd trades`: every fill of an order of perpd's, newest first. Works with the daemon running or not. */

import { csvText } from '../../base/csvText.ts'
import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import { bookName } from '../../books/bookView.ts'
import { closedTradesCsv } from '../../books/closedTradesCsv.ts'
import { filteredTrades, tradeFilters } from '../../books/tradeFilter.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { nearest } from '../../config/suggest.ts'
import { withJournal } from '../../daemon/journalFile.ts'
import { readStrategyFiles } from '../../daemon/readStrategies.ts'
import { authorText } from '../../domain/accountRecords/operatorName.ts'
import { signedOrderAmong } from '../../domain/order/signedOrder.ts'
import { toPlain } from '../../domain/summaries/orderView.ts'
import { type TradeRow, tradeRows } from '../../domain/summaries/tradeView.ts'

import { shortId } from '../../monitor/text.ts'
import type { Hex } from '../../protocol/address.ts'
import { formatUnits, USD_DECIMALS } from '../../protocol/units.ts'
import { closeStrategies } from '../../strategy/files/load.ts'
import type { Call } from '../call/command.ts'
import { wholeFlag } from '../call/numberFlags.ts'
import { type Column, fitTable } from '../output/fitTable.ts'
import { moneyCell } from '../output/moneyCell.ts'
import { pnlNote } from '../output/pnlNote.ts'
import { type PriceText, pricesIn } from '../output/pricePlaces.ts'
import { wrapped } from '../output/screen.ts'
import { closedTradesText } from '../results/closedTradesText.ts'
import { changesIn, MOST_LISTED } from './ordersCommand.ts'

const DEFAULT_LIMIT = 50

/** Lists fills, as text or with `--json`. */
export async function trades(call: Call): Promise<number> {
  const { loaded, flags, width, out, err } = call
  const strategy = flags.get('strategy')
  const limit = wholeFlag(flags, 'limit', { least: 1, most: MOST_LISTED }) ?? DEFAULT_LIMIT
  if (flags.has('round-trips')) return await closedTrades(call, limit)
  const odd = tradeFilters.find(({ name }) => name !== 'strategy' && flags.has(name))
  if (odd !== undefined)
    throw new CommandError(`--${odd.name} filters closed trades: add --round-trips.`, exitCodes.error)
  const { rows, names } = await withJournal(loaded.config, async (journal) => {
    const { intents: states, books } = await journal.history()
    const changes = changesIn(states)
    const costsOf = (orderKey: Hex) => books.fillOf(orderKey)
    const found = states
      .filter(({ intent }) => strategy === undefined || intent.strategy === strategy)
      .flatMap((state) =>
        tradeRows(state, { signedOf: (orderKey) => signedOrderAmong(changes, state, orderKey), costsOf }),
      )
      .toSorted((one, other) => other.filledAt.localeCompare(one.filledAt))
    return { rows: found, names: states.map(({ intent }) => intent.strategy) }
  })
  if (rows.length === 0) await knownOnly(loaded, strategy, names)
  show(rows, limit, { toText: (shown) => tradesText(shown, width), toCsv: tradesCsv }, { flags, out, err })
  return exitCodes.ok
}

/** Lists the closed trades that the filters let through. */
async function closedTrades(call: Call, limit: number): Promise<number> {
  const { loaded, flags, width, out, err } = call
  const { facts } = loaded.config.venue.chain
  const { all, sums } = await withJournal(loaded.config, async (journal) => {
    const history = await journal.tradingHistory()
    return { all: history.closedTrades(facts), sums: history.sums }
  })
  const names = sums.map(({ strategy }) => bookName(strategy))
  const asked = flags.get('strategy')
  if (!names.includes(String(asked))) await knownOnly(loaded, asked, names)
  const typed = (name: string): string | undefined => {
    const value = flags.get(name)
    return typeof value === 'string' ? value : undefined
  }
  const found = filteredTrades(all, typed, systemClock.now())
  if ('wrong' in found) {
    const { name, doc } = found.wrong
    throw new CommandError(`--${name} is ${typed(name)}; it means: ${doc}.`, exitCodes.error)
  }
  const shown = found.slice(0, limit)
  const isFiltered = tradeFilters.some(({ name }) => flags.has(name))
  if (flags.has('json')) out(JSON.stringify(toPlain(shown), undefined, 2))
  // A file of results has all of them, or its sum would not be theirs.
  else if (flags.has('csv')) out(closedTradesCsv(found))
  else out(closedTradesText(found, { shown, width, ...defined({ sums: isFiltered ? undefined : sums }) }))
  if (!flags.has('json') && !flags.has('csv') && found.length > limit)
    err(`The newest ${limit} of ${found.length}; the sum is of all. More with --limit N`)
  return exitCodes.ok
}

/** Throws CommandError where a strategy was asked for that neither the journal nor a file knows. */
async function knownOnly(
  { config }: Call['loaded'],
  asked: string | true | undefined,
  ofJournal: readonly string[],
): Promise<void> {
  if (typeof asked !== 'string' || ofJournal.includes(asked)) return
  const { strategies, disabled } = await readStrategyFiles(config)
  await closeStrategies(strategies)
  const known = [...new Set([...ofJournal, ...strategies.map(({ name }) => name), ...disabled])]
  if (known.includes(asked)) return
  const near = nearest(asked, known)
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  throw new CommandError(
    `No strategy is called ${asked}: the journal has no order of it, and no strategy file has this name.${hint}\n  ${known.length === 0 ? 'perpd strategies new writes one.' : `There are: ${known.join(', ')}.`}`,
    exitCodes.notFound,
  )
}

/** Prints the newest rows: as JSON, for a spreadsheet, or as text. */
function show<T>(
  rows: readonly T[],
  limit: number,
  { toText, toCsv }: { toText(rows: readonly T[]): string; toCsv(rows: readonly T[]): string },
  { flags, out, err }: Pick<Call, 'flags' | 'out' | 'err'>,
): void {
  const shown = rows.slice(0, limit)
  if (flags.has('json')) out(JSON.stringify(toPlain(shown), undefined, 2))
  else if (flags.has('csv')) out(toCsv(shown))
  else out(toText(shown))
  if (!flags.has('json') && rows.length > limit)
    err(`The newest ${limit} of ${rows.length}. More with --limit N`)
}

const columnsOf = (priceText: PriceText<TradeRow>): readonly Column<TradeRow>[] => [
  {
    title: 'FILLED (UTC)',
    rank: 0,
    wraps: true,
    of: ({ filledAt }) => filledAt.slice(0, 19).replace('T', ' '),
  },
  { title: 'MARKET', rank: 0, wraps: true, of: ({ market }) => market },
  {
    title: 'TRADE',
    rank: 0,
    wraps: true,
    of: ({ kind, direction, isProvisional }) =>
      `${kind} ${direction}${isProvisional ? ' (not final yet)' : ''}`,
  },
  { title: 'SIZE', rank: 0, isFigure: true, of: ({ sizeDeltaUsd }) => dollars(sizeDeltaUsd) },
  {
    title: 'PRICE',
    rank: 0,
    isFigure: true,
    of: (row) => priceText(row, row.executionPrice),
  },
  { title: 'FEES', rank: 2, isFigure: true, of: ({ feesUsd }) => dollars(feesUsd) },
  { title: 'PNL', rank: 1, isFigure: true, of: ({ pnlUsd }) => dollars(pnlUsd) },
  { title: 'STRATEGY', rank: 3, isName: true, of: ({ strategy }) => authorText(strategy) },
  { title: 'ORDER', rank: 4, of: ({ intentId }) => shortId(intentId) },
  { title: 'PRICE IMPACT', rank: 5, isFigure: true, of: ({ priceImpactUsd }) => dollars(priceImpactUsd) },
]

/** The table; PnL of what opens is empty. */
export function tradesText(rows: readonly TradeRow[], width: number): string {
  if (rows.length === 0) return 'No trades yet.'
  const legend = wrapped(
    '',
    [
      ...pnlNote(rows),
      'PRICE is the fill price with price impact. The entry price of perpd positions excludes the impact: the venue settles it when the position closes.',
    ].join(' '),
  )
  const priceText = pricesIn(
    rows,
    ({ market }) => market,
    ({ executionPrice }) => [executionPrice],
  )
  return [fitTable(columnsOf(priceText), rows, width), '', ...legend].join('\n')
}

function dollars(amount: string | null): string {
  return amount === null ? '' : moneyCell(BigInt(amount))
}

/** Fills for a spreadsheet; amounts are plain decimals. */
function tradesCsv(rows: readonly TradeRow[]): string {
  const plain = (amount: string | null): string | null =>
    amount === null ? null : formatUnits(BigInt(amount), USD_DECIMALS)
  return csvText(
    [
      'filled_at',
      'strategy',
      'market',
      'direction',
      'kind',
      'size_usd',
      'price',
      'fees_usd',
      'price_impact_usd',
      'pnl_usd',
      'order',
      'order_key',
      'transaction',
      'provisional',
    ],
    rows.map((row) => [
      row.filledAt,
      row.strategy,
      row.market,
      row.direction,
      row.kind,
      ...[row.sizeDeltaUsd, row.executionPrice, row.feesUsd, row.priceImpactUsd, row.pnlUsd].map(plain),
      row.intentId,
      row.orderKey,
      row.transactionHash,
      row.isProvisional ? 'yes' : 'no',
    ]),
  )
}
