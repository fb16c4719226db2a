/** Records what the venue shows: tickers with capacity, pools, rates, JIT liquidity, settings, and candles into the store. It asks, and never trades. */
import type { Api } from '../api/client.ts'
import type { Clock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import { BaseError } from '../base/errors.ts'
import { hexKey } from '../protocol/address.ts'
import type { Ticker } from '../protocol/market.ts'
import { absOf, tenTo } from '../protocol/units.ts'
import { getCandles } from './getCandles.ts'
import { assetOfToken } from './indexAssets.ts'
import type { RecordedRow } from './recording.ts'
import type { Recording } from './recordingFile.ts'
import type { HistoryStore } from './store.ts'

/** The parts of a recorder. */
export interface RecorderParts {
  readonly api: Api
  readonly clock: Clock
  readonly store: HistoryStore
  readonly recording: Recording
  /** Full symbols of the markets to record; none: all of them. */
  readonly symbols: readonly string[]
  /** Source of the candles, for the store. */
  readonly source: string
  /** Receives a read that failed; the others continue. */
  readonly problem: (text: string) => void
}

/** Times between reads, ms. */
export const recordEveryMs = {
  tickers: 5_000,
  values: 15_000,
  jit: 60_000,
  config: 3_600_000,
  candles: 6 * 3_600_000,
} as const

const TICK_MS = 5_000
const FLUSH_MS = 60_000
const DAY_SECONDS = 86_400

/** Records until the signal aborts. Rejects with what the file system throws. */
export async function record(parts: RecorderParts, signal: AbortSignal): Promise<void> {
  const ended = new AbortController()
  const either = AbortSignal.any([signal, ended.signal])
  try {
    // Many candles take their time: rows do not wait for them.
    await Promise.all([recordRows(parts, either), keepCandles(parts, either)])
  } finally {
    ended.abort()
    await parts.recording.close()
  }
}

async function keepCandles(parts: RecorderParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await recordCandles(parts, signal)
    await parts.clock.sleep(recordEveryMs.candles, signal)
  }
}

async function recordRows(parts: RecorderParts, signal: AbortSignal): Promise<void> {
  const { api, clock, recording, problem } = parts
  const isWanted = wantedMarkets(parts)
  const rowsOf: Readonly<
    Record<Exclude<keyof typeof recordEveryMs, 'candles'>, () => Promise<RecordedRow[]>>
  > = {
    tickers: async () => {
      const { value } = await api.getMarketTickers({ symbols: parts.symbols })
      return value.map(tickerRow)
    },
    values: async () => {
      const { value } = await api.getMarketsValues()
      return value.filter(isWanted).map((row) => rowOf('values', row.marketToken, row))
    },
    jit: async () => {
      const { value } = await api.getJitLiquidity()
      const ofMarket = value.filter(({ market }) => isWanted({ marketToken: market }))
      return ofMarket.map((row) => rowOf('jit', `${row.glv} ${row.market}`, row))
    },
    config: async () => {
      const { value } = await api.getMarketsConfig()
      return value.filter(isWanted).map((row) => rowOf('config', row.marketToken, row))
    },
  }
  const due = new Map<string, number>()
  const isDue = (name: keyof typeof recordEveryMs, nowMs: number): boolean => {
    if ((due.get(name) ?? 0) > nowMs) return false
    due.set(name, nowMs + recordEveryMs[name])
    return true
  }
  let flushAtMs = 0
  while (!signal.aborted) {
    const startMs = clock.monotonicMs()
    for (const name of ['tickers', 'values', 'jit', 'config'] as const) {
      if (!isDue(name, startMs) || signal.aborted) continue
      await tolerating(problem, async () => recording.rows(clock.now(), await rowsOf[name]()))
    }
    if (clock.monotonicMs() >= flushAtMs) {
      await recording.flush()
      flushAtMs = clock.monotonicMs() + FLUSH_MS
    }
    await clock.sleep(Math.max(0, startMs + TICK_MS - clock.monotonicMs()), signal)
  }
}

/** Candles of a day, of those that are not in the store yet. */
async function recordCandles(
  { api, clock, store, symbols, source, problem }: RecorderParts,
  signal: AbortSignal,
): Promise<void> {
  const { markets, tokens } = api.chain.facts
  const nowSeconds = Math.floor(clock.now() / 1_000)
  const done = new Set<string>()
  for (const { symbol, indexToken } of markets.values()) {
    const index = tokens.get(hexKey(indexToken))
    if (index === undefined || (symbols.length > 0 && !symbols.includes(symbol))) continue
    const series = { asset: assetOfToken(index), period: '1m', source } as const
    if (done.has(series.asset)) continue
    if (signal.aborted) return
    done.add(series.asset)
    const tokenSymbol = index.oracleSymbol ?? index.baseSymbol ?? index.symbol
    const range = { fromSeconds: nowSeconds - DAY_SECONDS, toSeconds: nowSeconds, nowSeconds }
    await tolerating(problem, async () => {
      await getCandles(api, store, { series, tokenSymbol, marketSymbol: symbol, ...range })
    })
  }
}

async function tolerating(problem: RecorderParts['problem'], run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    problem(error.shortMessage)
  }
}

function wantedMarkets({ api, symbols }: RecorderParts): (row: { readonly marketToken: string }) => boolean {
  if (symbols.length === 0) return () => true
  const all = [...api.chain.facts.markets.values()].filter(({ symbol }) => symbols.includes(symbol))
  const tokens = new Set(all.map(({ marketToken }) => hexKey(marketToken)))
  return ({ marketToken }) => tokens.has(hexKey(marketToken as `0x${string}`))
}

/** Fields of a ticker that candles say too. */
const ofDay = new Set(['open24h', 'high24h', 'low24h', 'close24h', 'priceChange24h', 'priceChange24hBps'])
/** Digits of a ticker's amounts that are kept. Its dollars are amounts times prices: their last twenty digits are noise that no compression takes. */
const KEPT_DIGITS = 12

/** A ticker without what other fields say: prices exact, amounts and rates to twelve digits. */
function tickerRow(ticker: Ticker): RecordedRow {
  const { minPrice, maxPrice, markPrice, ...fields } = ticker
  const isMiddle = markPrice === (minPrice + maxPrice) / 2n
  const kept = Object.entries(fields).filter(([name]) => !ofDay.has(name))
  const rounded = Object.fromEntries(kept.map(([name, value]) => [name, roundedValue(value)]))
  const prices = { minPrice, maxPrice, ...defined({ markPrice: isMiddle ? undefined : markPrice }) }
  return { kind: 'ticker', key: ticker.marketToken, fields: { ...prices, ...rounded } }
}

function roundedValue(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const unit = tenTo(Math.max(0, absOf(value).toString().length - KEPT_DIGITS))
    return (value / unit) * unit
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, roundedValue(inner)]))
}

function rowOf(kind: string, key: string, row: object): RecordedRow {
  return { kind, key, fields: { ...row } }
}
