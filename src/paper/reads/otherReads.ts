/**
 * Reads beside trading: candles by market, signed prices, staking, buyback, boost, whitelists (docs/reference/api-coverage.md GET
 * /prices/ohlcv and GET /buyback/weekly-stats).
 */
import { getAddress, keccak256, toHex } from 'viem/utils'
import { defined } from '../../base/defined.ts'
import { type CandlePeriod, periodSeconds } from '../../protocol/market.ts'
import { blockHash, blockSeconds, generationAt, headAt } from '../blocks/blockChain.ts'
import type { PathCandle } from '../catalog/candles.ts'
import { badFields, badRequest, integerOf, type Json, requiredAddress } from '../http/http.ts'
import { listed } from '../http/yieldToEventLoop.ts'
import { hashText, unit } from '../math/random.ts'
import { liquidityProviders } from '../pools/earnings.ts'
import { scaleOf } from '../pools/marketRows.ts'
import { findMarket } from '../state/lookup.ts'
import type { VenueState } from '../state/venueState.ts'
import { tokenTickers } from './oracleRoutes.ts'
import { venueSource } from './statsSources.ts'

const DAY = 86_400
const WEEK = 7 * DAY

/** `/prices/ohlcv`: ascending, Unix ms, prices in USD with 30 decimals. Throws HttpFailure 400. */
export async function ohlcv(venueState: VenueState, query: URLSearchParams, nowMs: number): Promise<Json> {
  const symbol = query.get('symbol')
  const timeframe = query.get('timeframe')
  const wrong: Record<string, { message: string; value?: string }> = {}
  if (symbol === null || symbol === '') wrong.symbol = { message: "'symbol' is required" }
  if (timeframe === null || !Object.hasOwn(periodSeconds, timeframe)) {
    wrong.timeframe = {
      message: `'timeframe' must be one of ${Object.keys(periodSeconds).join(', ')}`,
      ...defined({ value: timeframe === null ? undefined : timeframe }),
    }
  }
  if (Object.keys(wrong).length > 0) throw badFields(wrong)
  const limit = integerOf(query.get('limit') ?? undefined, 'limit', { min: 1, max: 1000, default: 1000 })
  const since = query.get('since')
  if (since !== null && !/^\d{1,15}$/.test(since)) {
    throw badFields({ since: { message: "'since' must be Unix milliseconds", value: since } })
  }
  const market = findMarket(venueState, symbol ?? '')
  if (market === undefined || market.settings.isSpotOnly) throw badRequest('Market not found')
  const period = timeframe as CandlePeriod
  const length = periodSeconds[period]
  const now = Math.floor(nowMs / 1000)
  const running = Math.floor(now / length) * length
  const first =
    since === null ? running - (limit - 1) * length : Math.ceil(Number(since) / 1000 / length) * length
  const key = venueState.catalog.priceKeyOf(market.indexToken)
  const scale = scaleOf(market.indexToken)
  const candles = function* (): Generator<PathCandle> {
    let left = limit
    for (let start = Math.max(first, 0); start <= running && left > 0; start += length) {
      const candle = venueState.candles.candle(key, period, start, now)
      if (candle === undefined) continue
      left -= 1
      yield candle
    }
  }
  return await listed(
    candles(),
    (candle): Json => ({
      timestamp: candle.timestampSeconds * 1000,
      open: (candle.open * scale).toString(),
      high: (candle.high * scale).toString(),
      low: (candle.low * scale).toString(),
      close: (candle.close * scale).toString(),
    }),
  )
}

/** `/signed_prices/latest`: the tickers of the moment with signatures of the right form; nothing on this venue checks them. */
export function signedPrices(venueState: VenueState, nowMs: number): Json {
  const chain = venueState.blockChain
  const block = headAt(chain, nowMs)
  const seconds = blockSeconds(chain, block)
  const blockOwnHash = blockHash(chain, { number: block, generation: generationAt(chain, block) })
  const hash = (text: string) => keccak256(toHex(`${venueState.seed}:${text}`))
  const signer = getAddress(`0x${hash('oracle signer').slice(26)}`)
  const tickers = tokenTickers(venueState, nowMs)
  return {
    signedPrices: tickers.map(({ updatedAt: _updatedAt, timestamp: _timestamp, ...ticker }) => {
      const word = hash(`${String(ticker.tokenAddress)}:${String(ticker.minPrice)}:${block}`)
      const blind = hash(`${String(ticker.tokenAddress)}:${String(ticker.minPrice)}`)
      return {
        ...ticker,
        signer,
        signature: `${word}${hash(word).slice(2)}1b`,
        signatureWithoutBlockHash: `${blind}${hash(blind).slice(2)}1c`,
        tokenOracleType: 0,
        salt: hash('salt'),
        minBlockNumber: block,
        minBlockTimestamp: seconds,
        minBlockHash: blockOwnHash,
        maxBlockNumber: block,
        maxBlockTimestamp: seconds,
        maxBlockHash: blockOwnHash,
        createdAt: nowMs / 1000,
      }
    }),
  }
}

/** Weeks of buyback shown. */
const BUYBACK_WEEKS = 26

/** Returns the buyback's income between two days, USD: its share of the protocol's revenue in the stats. */
function buybackUsd(venueState: VenueState, fromDay: number, toDay: number, nowSeconds: number): bigint {
  const source = venueSource(venueState)
  let sum = 0n
  for (let day = fromDay; day < toDay; day += 1) sum += source.day(day, nowSeconds).revenueProtocol ?? 0n
  return (sum * BigInt(venueState.settings.buybackShareBps)) / 10_000n
}

/** Monday 00:00 UTC of a moment. */
function weekOf(seconds: number): number {
  return Math.floor((seconds - 4 * DAY) / WEEK) * WEEK + 4 * DAY
}

/** `/buyback/weekly-stats`: amounts in USD with 30 decimals; the newest week is still running. */
export function buyback(venueState: VenueState, nowMs: number): Json {
  const now = Math.floor(nowMs / 1000)
  const running = weekOf(now)
  let total = 0n
  let latest = 0n
  const weeks: Json[] = []
  for (let i = BUYBACK_WEEKS - 1; i >= 0; i -= 1) {
    const weekStart = running - i * WEEK
    const lastDay = Math.min(weekStart / DAY + 7, Math.floor(now / DAY) + 1)
    latest = buybackUsd(venueState, weekStart / DAY, lastDay, now)
    total += latest
    weeks.push({
      weekStart,
      weekEnd: weekStart + WEEK,
      weeklyAccrued: latest.toString(),
      cumulativeAccrued: total.toString(),
    })
  }
  return {
    summary: {
      totalAccrued: total.toString(),
      latestWeekAccrued: latest.toString(),
      weeksTracked: BUYBACK_WEEKS,
    },
    weeks,
  }
}

const TOKEN = 10n ** 18n
/** Stake of everybody who is not simulated one by one, whole tokens. */
const OTHER_STAKE = 6_400_000n
const ACCRUAL_DAYS = 210

/** `/staking/power`: power is staked tokens times seconds. Liquidity providers stake; other wallets do not. Throws HttpFailure 400. */
export function stakingPower(venueState: VenueState, query: URLSearchParams, nowMs: number): Json {
  const address = requiredAddress(query, 'address')
  const now = Math.floor(nowMs / 1000)
  const powerAccrualStart = venueState.epochSeconds - ACCRUAL_DAYS * DAY
  const stakeOf = (key: string) => {
    const stream = hashText(`${venueState.seed}:${key}:stake`)
    const most = BigInt(100 + Math.floor(40_000 * unit(stream, 1) ** 3)) * TOKEN
    const loyal = unit(stream, 2) < 0.7
    const staked = loyal ? most : (most * BigInt(30 + Math.floor(60 * unit(stream, 3)))) / 100n
    const resetAt = loyal ? null : powerAccrualStart + Math.floor(0.8 * ACCRUAL_DAYS * DAY * unit(stream, 4))
    return { most, staked, resetAt, power: staked * BigInt(now - (resetAt ?? powerAccrualStart)) }
  }
  const providers = liquidityProviders(venueState)
  let total = OTHER_STAKE * TOKEN * BigInt(now - powerAccrualStart)
  for (const key of providers.keys()) total += stakeOf(key).power
  const key = address.toLowerCase()
  const own = providers.has(key) ? stakeOf(key) : undefined
  const power = own?.power ?? 0n
  const share = Number((power * 10n ** 12n) / total) / 1e12
  const day = Math.floor(now / DAY)
  const treasuryUsd = buybackUsd(venueState, Math.floor(powerAccrualStart / DAY), day + 1, now)
  const token = venueState.catalog.tokenBySymbol.get('GMX')
  const price =
    token === undefined ? undefined : venueState.prices.at(venueState.catalog.priceKeyOf(token), now)
  const treasury = price === undefined ? null : treasuryUsd / price.max
  return {
    cumulativePower: power.toString(),
    totalNetworkPower: total.toString(),
    userSharePercent: share * 100,
    historicalMaxStaked: own === undefined ? null : own.most.toString(),
    currentStaked: (own?.staked ?? 0n).toString(),
    loyaltyRatio: own === undefined ? null : Number((own.staked * 10_000n) / own.most) / 10_000,
    lastPowerResetAt: own?.resetAt ?? null,
    powerResetCount: own === undefined || own.resetAt === null ? 0 : 1,
    projectedRewardShare:
      own === undefined || treasury === null ? null : ((treasury * power) / total).toString(),
    treasuryGmxBalance: treasury?.toString() ?? null,
    powerAccrualStart,
    loyaltyTrackingStart: powerAccrualStart + 30 * DAY,
  }
}

/** Days in which the launch boost falls by half, and days before the world's start that it began. */
const BOOST_HALF_DAYS = 30
const BOOST_AGE_DAYS = 12

/** `/incentives/usdg/boost-apr`: a fraction that falls from the launch on. */
export function boostApr(venueState: VenueState, nowMs: number): Json {
  const days = (nowMs / 1000 - venueState.epochSeconds) / DAY + BOOST_AGE_DAYS
  return { boostApr: (venueState.settings.boostAprBps / 10_000) * 0.5 ** (days / BOOST_HALF_DAYS) }
}

/** `/whitelists`: pools open to the deposits of a wallet. Throws HttpFailure 400. */
export function whitelists(venueState: VenueState, query: URLSearchParams): Json {
  const address = requiredAddress(query, 'address').toLowerCase()
  const found = Object.entries(venueState.settings.whitelists).find(
    ([wallet]) => wallet.toLowerCase() === address,
  )
  return (found?.[1] ?? []).flatMap((name) => findMarket(venueState, name)?.catalog.marketToken ?? [])
}
