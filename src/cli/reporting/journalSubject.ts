/** The subject of a report from a journal of a paper or live account: round trips and costs of its books, the equity's curve, and transfers. */

import { basename } from 'node:path'
import type { BookReads } from '../../books/books.ts'
import { bookName, sumOf } from '../../books/bookView.ts'
import type { ClosedTrade } from '../../books/closedTrades.ts'
import { type Figures, resultOf } from '../../books/figures.ts'
import { UNATTRIBUTED } from '../../books/sideParts.ts'
import type { Config } from '../../config/configTypes.ts'
import { equityFile } from '../../daemon/controlPort/equityFile.ts'
import {
  besideJournal,
  journalFileOf,
  journalNameOf,
  postgresOf,
  withJournal,
} from '../../daemon/journalFile.ts'
import { authorText } from '../../domain/accountRecords/operatorName.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import { type TradeRow, tradeRows } from '../../domain/summaries/tradeView.ts'
import type { JournalReader } from '../../journal/journal.ts'

import { hexKey } from '../../protocol/address.ts'
import type { Facts } from '../../protocol/catalogue.ts'
import type { Usd } from '../../protocol/units.ts'
import type {
  EquityMoment,
  ReportCosts,
  ReportSubject,
  Trade,
  Transfer,
} from '../../report/figures/reportSubject.ts'
import { type JournalPrices, pricesOf, withHolding } from './journalPrices.ts'
import { sendingParts } from './sendingParts.ts'

const DAY_SECONDS = 86_400
const secondOf = (iso: string): number => Math.floor(Date.parse(iso) / 1000)

/** Reads the configured journal. Throws CommandError where there is none. */
export async function journalSubject(config: Config): Promise<ReportSubject> {
  const { facts } = config.venue.chain
  const place = postgresOf(config) === undefined ? journalFileOf(config) : journalNameOf(config)
  return withJournal(config, async (journal) => {
    const { intents, books } = await journal.history()
    const rows = (await journal.tradingHistory()).closedTrades(facts)
    const figures = sumOf(books.all().map((book) => book.figures))
    const days = books
      .days(0)
      .map(({ dayMs, figures: own }) => ({ second: dayMs / 1000, usd: resultOf(own) }))
    const account = intents[0]?.intent.account
    const points = account === undefined ? [] : curveOf(config, account)
    const curve = points.length >= 2 ? points : resultCurve(days)
    const fills = intents
      .flatMap((state) => tradeRows(state))
      .toSorted((one, other) => one.filledAt.localeCompare(other.filledAt))
    const trades = rows
      .map((row) => tradeOf(row, fills, intents))
      .concat(openTrades(books, facts))
      .toSorted((one, other) => one.openedSecond - other.openedSecond)
    const seconds = [...curve.map(({ second }) => second), ...fills.map(({ filledAt }) => secondOf(filledAt))]
    const range = {
      fromSeconds: seconds.reduce((least, each) => Math.min(least, each), seconds[0] ?? 0),
      toSeconds: seconds.reduce((most, each) => Math.max(most, each), seconds[0] ?? 0),
    }
    const markets = [...new Set(fills.map(({ market }) => market))].toSorted()
    const prices = await pricesOf(config, markets, range)
    // Results that are added up from nothing have no worth that could have been held.
    const equity = points.length >= 2 ? withHolding(curve, markets, prices) : curve
    return {
      title:
        [...new Set(intents.map(({ intent }) => authorText(intent.strategy)))].toSorted().join(', ') ||
        'No orders',
      name: basename(place),
      source: 'journal',
      isResult: true,
      assumptions: [...sentencesOf(config, points.length >= 2), ...priceSentences(markets, prices, equity)],
      ...range,
      equity,
      transfers: points.length >= 2 ? await transfersOf(journal) : [],
      trades,
      turnoverUsd: fills.reduce((sum, { sizeDeltaUsd }) => sum + BigInt(sizeDeltaUsd ?? 0), 0n),
      candles: prices.candles,
      costs: costsOf(figures, intents),
      journalPath: place,
      configuration: { profile: config.profile, chain: config.venue.chain.name },
    }
  })
}

function sentencesOf({ isPaper, profile }: Config, hasCurve: boolean): readonly string[] {
  return [
    isPaper
      ? `The account of the profile ${profile} trades play money on the paper venue.`
      : `The account of the profile ${profile} trades real money.`,
    hasCurve
      ? "The curve is the account's worth as the daemon read it, with all that it holds; deposits and withdrawals are taken out as far as the journal has them."
      : 'The account has no equity curve: the chart shows the realized results of the books, summed from 0 by day, without ratios of returns.',
    'Trades and costs are those of the books: realized, after all costs; those of swaps on the way are among the fees.',
  ]
}

/** Sentences on the candles that stand beside the journal, and on holding. */
function priceSentences(
  markets: readonly string[],
  { source, histories }: JournalPrices,
  [first]: readonly EquityMoment[],
): readonly string[] {
  const missing = markets.filter((market) => !histories.has(market))
  return [
    ...(histories.size === 0 ? [] : [`Candles are those of the source ${source} in the history.`]),
    ...(missing.length === 0
      ? []
      : [`The history has no candles of ${missing.join(', ')} from ${source}: perpd data get.`]),
    (first?.holdUsd ?? null) === null
      ? 'Holding is not compared: that takes a curve, and candles of every market from its beginning on.'
      : 'Holding is the first worth of the account in the markets that were traded, in equal parts and without costs; later transfers are left out of it.',
  ]
}

function curveOf(config: Config, account: string): readonly EquityMoment[] {
  const path = besideJournal(config, 'equity')
  if (path === undefined) return []
  return equityFile(path, account, () => undefined)
    .read()
    .map(({ atMs, equityUsd }) => ({ second: Math.floor(atMs / 1000), equityUsd, ...noSizes }))
}

const noSizes = { holdUsd: null, longUsd: null, shortUsd: null }

/** Results of the books, added up by day from zero. */
function resultCurve(
  days: readonly { readonly second: number; readonly usd: Usd }[],
): readonly EquityMoment[] {
  let equityUsd = 0n
  return [...Map.groupBy(days, ({ second }) => second)].flatMap(([second, own], at) => {
    const before = at === 0 ? [{ second, equityUsd: 0n, ...noSizes }] : []
    equityUsd = own.reduce((sum, { usd }) => sum + usd, equityUsd)
    return [...before, { second: second + DAY_SECONDS, equityUsd, ...noSizes }]
  })
}

async function transfersOf(journal: JournalReader): Promise<readonly Transfer[]> {
  const { trading } = await journal.account()
  return (trading.transfers ?? []).map(({ atMs, amountUsd }) => ({
    second: Math.floor(atMs / 1000),
    amountUsd,
  }))
}

/** A round trip with the stories of the orders that filled within it. */
function tradeOf(row: ClosedTrade, fills: readonly TradeRow[], intents: readonly IntentState[]): Trade {
  const own = fills.filter(
    (fill) =>
      fill.strategy === row.strategy &&
      fill.market === row.market &&
      fill.direction === row.direction &&
      fill.filledAt >= row.openedAt &&
      fill.filledAt <= row.closedAt,
  )
  const intentIds = [...new Set(own.map(({ intentId }) => intentId))]
  const first = intents.find(({ intent }) => intent.intentId === intentIds[0])
  return {
    strategy: authorText(row.strategy),
    market: row.market,
    side: row.direction === 'long' ? 'long' : 'short',
    openedSecond: secondOf(row.openedAt),
    closedSecond: secondOf(row.closedAt),
    sizeUsd: row.sizeUsd,
    entryPrice: row.entryPrice,
    exitPrice: row.exitPrice,
    costsUsd: row.feesUsd + row.fundingUsd + row.borrowingUsd + row.sendingUsd - row.impactUsd,
    resultUsd: row.pnlUsd,
    openReason: first?.intent.decision.reason ?? '',
    closeReason: row.why,
    intentIds,
  }
}

/** Trades that are still open at the end, by the books. */
function openTrades(books: BookReads, { markets }: Facts): readonly Trade[] {
  return books
    .all()
    .filter(({ sizeUsd, strategy }) => sizeUsd > 0n && strategy !== UNATTRIBUTED)
    .map((book) => ({
      strategy: authorText(bookName(book.strategy)),
      market: markets.get(hexKey(book.marketToken))?.symbol ?? book.marketToken,
      side: book.direction,
      openedSecond: Math.floor((books.heldSince(book) ?? 0) / 1000),
      closedSecond: null,
      sizeUsd: book.sizeUsd,
      entryPrice: null,
      exitPrice: null,
      costsUsd: 0n,
      resultUsd: 0n,
      openReason: '',
      closeReason: '',
      intentIds: [],
    }))
}

function costsOf(figures: Figures, intents: readonly IntentState[]): ReportCosts {
  return {
    positionFeeUsd: figures.positionFeesUsd,
    impactUsd: -figures.impactUsd,
    fundingUsd: figures.fundingUsd,
    borrowingUsd: figures.borrowingUsd,
    ...sendingParts(figures.relayFeesUsd, intents),
    swapUsd: -figures.swapUsd,
    liquidationUsd: 0n,
  }
}
