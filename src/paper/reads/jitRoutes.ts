/** JIT liquidity now and in the past (docs/reference/api-coverage.md GET /jit/liquidity_info). */
import { badFields, badRequest, type Json } from '../http/http.ts'
import { maxReservedUsd, mid, type Side, slotValue } from '../math/marketState.ts'
import { hashText, unit } from '../math/random.ts'
import { type JitVault, jitLiquidityUsd, jitVaults, spareMarket } from '../pools/jitPools.ts'
import { ledgerOf, openPnl, sampleAt } from '../pools/ledger.ts'
import type { VenueMarket } from '../state/seedMarkets.ts'
import { marketPrices, type VenueState } from '../state/venueState.ts'

const HOUR = 3600
const GM_DECIMALS = 10n ** 18n
/** Least that a shift brings of what it takes, bps. */
const MIN_SHIFTED_BPS = 9900n

/** Price of one pool token, USD with 30 decimals: the pool's worth over the tokens it began with. */
function poolTokenPrice(venueState: VenueState, market: VenueMarket, seconds: number): bigint {
  const books = ledgerOf(venueState).byMarket.get(market.key)
  if (books === undefined) return 0n
  const { base } = books.history
  const startBps = BigInt(9000 + Math.floor(7000 * unit(books.history.stream, 0x6d)))
  const startUsd = base.poolLongUsd + base.poolShortUsd
  const supply = (startUsd * GM_DECIMALS * 10_000n) / (startBps * 10n ** 30n)
  if (supply === 0n) return 0n
  const prices = marketPrices(venueState, market, seconds)
  const open = openPnl(market, prices)
  const worth =
    slotValue(market.settings, market.state.pool, 0) * mid(prices.long) +
    slotValue(market.settings, market.state.pool, 1) * mid(prices.short) -
    open.long -
    open.short
  return (worth * GM_DECIMALS) / supply
}

function sideInfo(
  venueState: VenueState,
  vault: JitVault,
  market: VenueMarket,
  side: Side,
  seconds: number,
): { readonly maxReservedUsd: string; readonly glvShiftParams: readonly Json[] } {
  const native = maxReservedUsd(
    market.settings,
    market.state,
    side,
    marketPrices(venueState, market, seconds),
  )
  const extra = jitLiquidityUsd(venueState, market, side, seconds, native)
  const source = extra === 0n ? undefined : spareMarket(venueState, vault, market, side, extra, seconds)
  const paid = source === undefined ? 0n : poolTokenPrice(venueState, source, seconds)
  const got = poolTokenPrice(venueState, market, seconds)
  return {
    maxReservedUsd: (native + extra).toString(),
    glvShiftParams:
      source === undefined || paid <= 0n || got <= 0n
        ? []
        : [
            {
              glv: vault.glv,
              fromMarket: source.catalog.marketToken,
              toMarket: market.catalog.marketToken,
              marketTokenAmount: ((extra * GM_DECIMALS) / paid).toString(),
              minMarketTokens: ((((extra * GM_DECIMALS) / got) * MIN_SHIFTED_BPS) / 10_000n).toString(),
            },
          ],
  }
}

/** `/jit/liquidity_info`: one list of shifts for both sides in v1, a side each in v2. Empty without JIT data. */
export function jitInfo(venueState: VenueState, version: 'v1' | 'v2', nowMs: number): Json {
  const seconds = Math.floor(nowMs / 1000)
  if (venueState.dataFaults.jitData === 'unavailable') return { liquidityInfos: [] }
  const liquidityInfos = jitVaults(venueState).flatMap((vault) =>
    vault.markets.map((market): Json => {
      const long = sideInfo(venueState, vault, market, 'long', seconds)
      const short = sideInfo(venueState, vault, market, 'short', seconds)
      const names = { glv: vault.glv, market: market.catalog.marketToken }
      return version === 'v2'
        ? { ...names, long, short }
        : {
            ...names,
            maxReservedUsdWithJitLong: long.maxReservedUsd,
            maxReservedUsdWithJitShort: short.maxReservedUsd,
            glvShiftParams: [...long.glvShiftParams, ...short.glvShiftParams],
          }
    }),
  )
  return { liquidityInfos }
}

/** Most points in time of one answer; the newest are kept. */
const MAX_POINTS = 200
/** Points of an answer that names no start. */
const DEFAULT_POINTS = 24
/** Part of the past that was never recorded on one side. */
const MISSING_PART = 0.03

/** `/jit/liquidity_history`: a null side is a value that is missing, never zero. Throws HttpFailure 400. */
export function jitHistory(venueState: VenueState, query: URLSearchParams, nowMs: number): Json {
  const period = query.get('period')
  if (period !== '1h' && period !== '1d') {
    throw badFields({
      period:
        period === null
          ? { message: "'period' is required" }
          : { message: "'period' must be one of 1h, 1d", value: period },
    })
  }
  const length = period === '1h' ? 1 : 24
  const nowHour = Math.floor(nowMs / 3_600_000)
  const to = Math.min(nowHour, hourOf(query, 'to') ?? nowHour)
  const last = Math.floor(to / length) * length
  const from = Math.max(
    hourOf(query, 'from') ?? last - (DEFAULT_POINTS - 1) * length,
    last - (MAX_POINTS - 1) * length,
  )
  const snapshots: Json[] = []
  for (let hour = Math.ceil(from / length) * length; hour <= last; hour += length) {
    for (const vault of jitVaults(venueState)) {
      for (const market of vault.markets) {
        const books = ledgerOf(venueState).byMarket.get(market.key)
        if (books === undefined || hour < books.history.listedHour) continue
        const sample = sampleAt(venueState, books, hour)
        const side = (name: Side, reserve: bigint): string | null =>
          unit(hashText(`${market.key}:${name}`), hour) < MISSING_PART
            ? null
            : jitLiquidityUsd(venueState, market, name, hour * HOUR, reserve).toString()
        snapshots.push({
          marketAddress: market.catalog.marketToken,
          glvAddress: vault.glv,
          timestamp: hour * HOUR,
          longLiquidityUsd: side('long', sample.maxReservedLongUsd),
          shortLiquidityUsd: side('short', sample.maxReservedShortUsd),
        })
      }
    }
  }
  return { snapshots }
}

/** Whole seconds of the query as hours. Throws HttpFailure 400. */
function hourOf(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  if (!/^\d{1,10}$/.test(text) || Number(text) > 2_147_483_647) {
    throw badRequest(`Invalid ${name} timestamp: whole seconds expected`)
  }
  return Math.floor(Number(text) / HOUR)
}
