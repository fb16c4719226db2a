/** Simulated liquidity providers and what fees earned them (docs/reference/api-coverage.md GET /yield/gm-user-earnings). */
import { getAddress, keccak256, toHex } from 'viem/utils'
import { type Address, hexKey } from '../../protocol/address.ts'
import { badFields, HttpFailure, type Json, parseAddress } from '../http/http.ts'
import { hashText, unit } from '../math/random.ts'
import { findMarket } from '../state/lookup.ts'
import type { VenueState } from '../state/venueState.ts'
import { flowBetween, ledgerOf, type MarketLedger } from './ledger.ts'

/** A wallet's part of one pool. */
export interface Holding {
  readonly marketKey: string
  /** Millionths of the pool. */
  readonly sharePpm: number
  /** Hours since 1970 between which it was held; the end is open while it is held. */
  readonly fromHour: number
  readonly toHour: number
}

/** A wallet that holds, or held, pool tokens. */
export interface LiquidityProvider {
  readonly address: Address
  readonly holdings: readonly Holding[]
}

const memo = new WeakMap<VenueState, ReadonlyMap<string, LiquidityProvider>>()

/** Wallets with pool tokens by lower-case address: the seeded ones, and those that the settings name. */
export function liquidityProviders(venueState: VenueState): ReadonlyMap<string, LiquidityProvider> {
  const known = memo.get(venueState)
  if (known !== undefined) return known
  const { firstHour, byMarket } = ledgerOf(venueState)
  const books = [...byMarket.values()].filter(({ history }) => history.listedHour < firstHour - 24 * 60)
  const providers = new Map<string, LiquidityProvider>()
  for (let i = 0; i < venueState.settings.liquidityProviders; i += 1) {
    const hash = keccak256(toHex(`liquidity provider ${venueState.seed} ${i}`))
    const stream = hashText(hash)
    const address = getAddress(`0x${hash.slice(26)}`)
    const holdings = new Map<string, Holding>()
    const count = 2 + Math.floor(5 * unit(stream, 1))
    for (let n = 0; n < count; n += 1) {
      // The first markets of the catalogue are the big ones: they draw most of the money.
      const one = books[Math.floor(books.length * unit(stream, 10 + n) ** 3)]
      if (one === undefined) continue
      holdings.set(one.market.key, seededHolding(one, stream, n, firstHour))
    }
    providers.set(hexKey(address), { address, holdings: [...holdings.values()] })
  }
  for (const [text, shares] of Object.entries(venueState.settings.poolShares)) {
    const address = parseAddress(text)
    if (address === undefined) continue
    const holdings = Object.entries(shares).flatMap(([name, sharePpm]): Holding[] => {
      const market = findMarket(venueState, name)
      return market === undefined
        ? []
        : [{ marketKey: market.key, sharePpm, fromHour: firstHour, toHour: Number.POSITIVE_INFINITY }]
    })
    providers.set(hexKey(address), { address, holdings })
  }
  memo.set(venueState, providers)
  return providers
}

function seededHolding(books: MarketLedger, stream: number, n: number, firstHour: number): Holding {
  const age = firstHour - books.history.listedHour
  const fromHour = firstHour - Math.floor(Math.min(age, 24 * 500) * (0.1 + 0.9 * unit(stream, 30 + n)))
  const hasLeft = unit(stream, 50 + n) < 0.2
  return {
    marketKey: books.market.key,
    sharePpm: 50 + Math.floor(20_000 * unit(stream, 70 + n) ** 3),
    fromHour,
    toHour: hasLeft
      ? fromHour + Math.floor((firstHour - fromHour) * (0.3 + 0.6 * unit(stream, 90 + n)))
      : Number.POSITIVE_INFINITY,
  }
}

/** Milliseconds between refreshes of the accumulator. */
const REFRESH_MS = 5000

/** Fees as the indexer had them at its last refresh: those of the running hour, by market key. Hours that ended do not change. */
interface Accumulator {
  /** Unix ms, a multiple of the interval. */
  readonly atMs: number
  readonly runningFeesUsd: ReadonlyMap<string, bigint>
}

const accumulators = new WeakMap<VenueState, Accumulator>()

/** The accumulator of a moment: the first question of each interval refreshes it, for all markets at once. */
function accumulatorAt(venueState: VenueState, nowMs: number): Accumulator {
  const known = accumulators.get(venueState)
  const atMs = Math.floor(nowMs / REFRESH_MS) * REFRESH_MS
  if (known?.atMs === atMs) return known
  const fees = [...ledgerOf(venueState).byMarket].map(
    ([key, { running }]) => [key, running.feesForPoolUsd] as const,
  )
  const refreshed = { atMs, runningFeesUsd: new Map(fees) }
  accumulators.set(venueState, refreshed)
  return refreshed
}

function earnedUsd(
  venueState: VenueState,
  { runningFeesUsd }: Accumulator,
  holding: Holding,
  fromHour: number,
): bigint {
  const { byMarket, runningHour } = ledgerOf(venueState)
  const books = byMarket.get(holding.marketKey)
  const from = Math.max(fromHour, holding.fromHour)
  if (books === undefined || holding.toHour <= from) return 0n
  const ended = flowBetween(venueState, books, from, Math.min(runningHour, holding.toHour)).feesForPoolUsd
  const isRunning = from <= runningHour && runningHour < holding.toHour
  const earned = ended + (isRunning ? (runningFeesUsd.get(holding.marketKey) ?? 0n) : 0n)
  return (earned * BigInt(holding.sharePpm)) / 1_000_000n
}

const WINDOW_DAYS = 7

/**
 * `/yield/gm-user-earnings`: one row a pool token the wallet ever held. Vault holdings and tokens elsewhere do not count.
 * Throws HttpFailure 400, 503 while warming up.
 */
export function gmUserEarnings(venueState: VenueState, query: URLSearchParams, nowMs: number): Json {
  const account = earningsAccount(query)
  const warmUpMs = venueState.settings.earningsWarmUpSeconds * 1000
  if (venueState.dataFaults.earnings === 'warming-up' || nowMs - venueState.startedAtMs < warmUpMs) {
    throw new HttpFailure(503, { message: 'Internal Server Error' })
  }
  const seconds = Math.floor(nowMs / 1000)
  const accumulator = accumulatorAt(venueState, nowMs)
  const startTimestamp = seconds - WINDOW_DAYS * 86_400
  const holdings = liquidityProviders(venueState).get(hexKey(account))?.holdings ?? []
  return {
    account,
    window: { days: WINDOW_DAYS, startTimestamp, endTimestamp: seconds },
    pools: holdings.map((holding) => ({
      marketToken: venueState.marketByKey.get(holding.marketKey)?.catalog.marketToken ?? holding.marketKey,
      lifetimeFeeUsd: earnedUsd(venueState, accumulator, holding, 0).toString(),
      recent7dFeeUsd: earnedUsd(
        venueState,
        accumulator,
        holding,
        Math.floor(startTimestamp / 3600),
      ).toString(),
    })),
  }
}

/** The wallet of the query. Throws HttpFailure 400. */
function earningsAccount(query: URLSearchParams): Address {
  const text = query.get('account')
  const account = parseAddress(text)
  if (account !== undefined) return account
  throw badFields({
    account:
      text === null
        ? { message: "'account' is required" }
        : { message: "'account' is not an address", value: text },
  })
}
