/** Routes of results: closed trades, PnL by day, strategy or market, and the fills of a day. All are folded from the whole journal. */
import type { Context, Hono } from 'hono'
import { isoTime } from '../base/clock.ts'
import { visible } from '../base/shownText.ts'
import { dayOf } from '../books/bookKeys.ts'
import { bookName, resultsOf, sumOf } from '../books/bookView.ts'
import { sumsOfAll, tradeSums } from '../books/closedTrades.ts'
import { closedTradesCsv } from '../books/closedTradesCsv.ts'
import { resultOf } from '../books/figures.ts'
import { pnlGroupings, pnlRows } from '../books/pnlRows.ts'
import { dayTyped, filteredTrades } from '../books/tradeFilter.ts'
import type { TradingHistory } from '../books/tradingHistory.ts'
import { centsThatAddUp } from '../books/wholeCents.ts'
import { hexKey } from '../protocol/address.ts'
import type { Facts } from '../protocol/catalogue.ts'
import type { FillsBody, PnlBody, RoundTripsBody } from './console/resultBodies.ts'
import { json } from './controlReads.ts'
import type { Proven } from './guard/requestGuard.ts'

/** Where results come from: the journal, and the facts that name its markets. */
export interface ResultSource {
  readonly history: () => Promise<TradingHistory>
  readonly facts: Facts
  /** The wall clock, Unix ms: `7d` counts from it. */
  readonly nowMs: () => number
}

const dayMs = 86_400_000
/** Rows of one answer, where none or too many are asked for. */
const [defaultRows, mostRows] = [100, 1_000]

/** Adds the routes. */
export function resultRoutes(app: Hono<Proven>, { history, facts, nowMs }: ResultSource): void {
  app.get('/api/round-trips', async (c) => {
    const [limit, offset] = [c.req.query('limit') ?? String(defaultRows), c.req.query('offset') ?? '0']
    if (!/^[1-9]\d{0,8}$/.test(limit) || !/^\d{1,9}$/.test(offset))
      return badQuery(c, 'expected limit as a whole number from 1, and offset as one from 0.')
    const { closedTrades, sums } = await history()
    const all = closedTrades(facts)
    const found = filteredTrades(all, (name) => c.req.query(name), nowMs())
    if ('wrong' in found) return badQuery(c, `${found.wrong.name}: ${found.wrong.doc}.`)
    if (c.req.query('as') === 'csv')
      return c.body(`${visible(closedTradesCsv(found))}\n`, 200, {
        'Content-Type': 'text/csv; charset=utf-8',
      })
    const { openUsd, outsideUsd } = sumsOfAll(sums)
    const from = Number(offset)
    const cents = centsThatAddUp(found.map(({ pnlUsd }) => pnlUsd))
    const rows = found.map((trade, place) => ({ ...trade, centsUsd: cents[place] ?? 0n }))
    const body: RoundTripsBody = {
      rows: rows.slice(from, from + Math.min(Number(limit), mostRows)),
      sums: tradeSums(found),
      besides: { openUsd, outsideUsd },
      strategies: namesOf(all.map(({ strategy }) => strategy)),
      markets: namesOf(all.map(({ market }) => market)),
    }
    return json(body)
  })

  app.get('/api/pnl', async (c) => {
    const by = pnlGroupings.find((each) => each === (c.req.query('by') ?? 'day'))
    const word = c.req.query('each')
    const each = (['strategy', 'market'] as const).find((name) => name === word)
    if (by === undefined || (word !== undefined && each === undefined))
      return badQuery(c, `expected by as one of ${pnlGroupings.join(', ')}, and each as strategy or market.`)
    const span = spanOf(c, nowMs())
    if (span === undefined) return badQuery(c, 'expected from and to as days (2027-01-15), or from as 7d.')
    const { books } = await history()
    const [strategy, side, market] = [c.req.query('strategy'), c.req.query('side'), c.req.query('market')]
    const symbolOf = (token: string): string => facts.markets.get(hexKey(token))?.symbol ?? token
    const days = books
      .days(span.fromMs)
      .filter(
        (day) =>
          day.dayMs < span.toMs &&
          (strategy === undefined || bookName(day.strategy) === strategy) &&
          (side === undefined || day.direction === side) &&
          (market === undefined || symbolOf(day.marketToken) === market),
      )
    const rows = pnlRows(days, by, facts, each)
    const cents = centsThatAddUp(rows.map(({ pnlUsd }) => pnlUsd))
    const body: PnlBody = {
      rows: rows.map((row, place) => ({ ...row, centsUsd: cents[place] ?? 0n })),
      sums: resultsOf(sumOf(rows)),
    }
    return json(body)
  })

  app.get('/api/fills', async (c) => {
    const fromMs = dayTyped(c.req.query('day') ?? '', nowMs())
    if (fromMs === undefined) return badQuery(c, 'expected day as 2027-01-15.')
    const { fills, books } = await history()
    const days = books.days(fromMs).filter((day) => day.dayMs === fromMs)
    const rows = fills.filter(({ atMs }) => dayOf(atMs) === fromMs)
    const pnlUsd = days.reduce((sum, { figures }) => sum + resultOf(figures), 0n)
    const body: FillsBody = {
      rows: rows.map(({ atMs, ...row }) => ({
        ...row,
        filledAt: isoTime(atMs),
        market: facts.markets.get(hexKey(row.marketToken))?.symbol ?? row.marketToken,
      })),
      sendingUsd: rows.reduce((sum, { resultUsd }) => sum + resultUsd, -pnlUsd),
      pnlUsd,
    }
    return json(body)
  })
}

function namesOf(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted((one, other) => one.localeCompare(other))
}

/** Returns the span of days that a query names, Unix ms, its end exclusive; undefined: one of them is no day. */
function spanOf(
  c: Context<Proven>,
  nowMs: number,
): { readonly fromMs: number; readonly toMs: number } | undefined {
  const [from, to] = [c.req.query('from') ?? '', c.req.query('to') ?? '']
  const fromMs = from === '' ? 0 : dayTyped(from, nowMs)
  const toMs = to === '' ? Number.POSITIVE_INFINITY : dayTyped(to, nowMs)
  return fromMs === undefined || toMs === undefined ? undefined : { fromMs, toMs: toMs + dayMs }
}

function badQuery(c: Context<Proven>, message: string): Response {
  return c.json({ error: 'BAD_QUERY', message }, 400)
}
