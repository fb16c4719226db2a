/**
 * The snapshot that a daemon would read at a later turn, made of the one that it read last and of the venue's state, part by part as a kind looks at
 * them. In between nothing happened on the account, so that what does not follow the price is as it was.
 */
import { defined } from '../../base/defined.ts'
import type { CandleReading, MarketView, Snapshot } from '../../domain/snapshot.ts'
import type { VenueMarket } from '../../paper/state/seedMarkets.ts'
import { tokenPrice, type VenueState } from '../../paper/state/venueState.ts'
import { hexKey } from '../../protocol/address.ts'
import type { OraclePrice, Token } from '../../protocol/market.ts'
import type { Reading } from '../../protocol/reading.ts'
import type { CandleNeed } from '../../strategy/strategy.ts'
import type { CandleWindows } from './candleWindows.ts'

/** A later snapshot. */
export interface LaterSnapshot {
  readonly snapshot: Snapshot
  /** False once a part was looked at of which only the daemon itself knows what it is by then. */
  isKnown(): boolean
}

/** Sources of a later snapshot. */
export interface LaterSources {
  readonly venueState: VenueState
  readonly windows: CandleWindows
  /** Candles that the kind reads. */
  readonly candles: readonly CandleNeed[]
}

/** Makes the snapshot of `afterMs` after the one that was read. */
export function laterSnapshot(read: Snapshot, sources: LaterSources, afterMs: number): LaterSnapshot {
  let isKnown = true
  const moment: Moment = {
    ...sources,
    afterMs,
    second: Math.floor((read.atMs + afterMs) / 1000),
    lose() {
      isKnown = false
    },
  }
  const markets = new Map<string, MarketView>()
  for (const [key, view] of read.markets) {
    const market = sources.venueState.marketByKey.get(key)
    if (market !== undefined) markets.set(key, laterMarket(view, market, moment))
  }
  const { positions, orders } = read
  const snapshot: Snapshot = {
    ...read,
    atMs: read.atMs + afterMs,
    markets,
    positions: positions.value.length === 0 ? later(positions, afterMs) : unknown(positions, moment),
    orders: later(orders, afterMs),
    ...defined({ balances: read.balances === undefined ? undefined : later(read.balances, afterMs) }),
  }
  return { snapshot, isKnown: () => isKnown }
}

interface Moment extends LaterSources {
  readonly afterMs: number
  readonly second: number
  /** Notes that a part was looked at that is not known. */
  readonly lose: () => void
}

function later<T extends Reading<unknown>>(reading: T, afterMs: number): T {
  return { ...reading, atMs: reading.atMs + afterMs }
}

/** A reading whose value is not known later: looking at it says so. */
function unknown<T extends Reading<unknown>>(reading: T, { afterMs, lose }: Moment): T {
  const moved = later(reading, afterMs)
  return {
    ...moved,
    get value() {
      lose()
      return moved.value
    },
  }
}

/** A market at a later moment. Each part is made when it is looked at, and once. */
function laterMarket(read: MarketView, market: VenueMarket, moment: Moment): MarketView {
  const { afterMs, lose } = moment
  let price: Reading<OraclePrice> | undefined
  let readings: readonly CandleReading[] | undefined
  const unread = <T>(part: T | undefined): T | undefined => {
    if (part !== undefined) lose()
    return part
  }
  const allCandles = (): readonly CandleReading[] => {
    readings ??= candlesOf(read, market, moment)
    return readings
  }
  return {
    market: read.market,
    get status() {
      return read.status
    },
    get indexToken() {
      return tokenOf(read.indexToken, moment)
    },
    get longToken() {
      return tokenOf(read.longToken, moment)
    },
    get shortToken() {
      return tokenOf(read.shortToken, moment)
    },
    get oraclePrice() {
      if (read.oraclePrice === undefined) return undefined
      price ??= priceOf(read.oraclePrice, market, moment)
      return price
    },
    get candles() {
      return read.candles === undefined ? undefined : allCandles()[0]
    },
    get moreCandles() {
      return read.moreCandles === undefined ? undefined : allCandles().slice(1)
    },
    get ticker() {
      return unread(read.ticker)
    },
    get impact() {
      return unread(read.impact && later(read.impact, afterMs))
    },
    get capacityLong() {
      return unread(read.capacityLong)
    },
    get capacityShort() {
      return unread(read.capacityShort)
    },
    get priceSource() {
      return unread(read.priceSource)
    },
    get contested() {
      return unread(read.contested)
    },
    get staleValues() {
      return unread(read.staleValues)
    },
    get gaps() {
      return unread(read.gaps)
    },
    get untrusted() {
      return unread(read.untrusted)
    },
    get priceDoubts() {
      return unread(read.priceDoubts)
    },
  } as MarketView
}

function tokenOf(read: Token, { venueState, second }: Moment): Token {
  const token = venueState.catalog.tokenByAddress.get(hexKey(read.address))
  if (read.minPrice === undefined || token === undefined) return read
  const { min, max } = tokenPrice(venueState, token, second)
  const scale = 10n ** BigInt(token.decimals)
  return { ...read, minPrice: min * scale, maxPrice: max * scale }
}

function priceOf(
  { value, atMs }: Reading<OraclePrice>,
  { indexToken }: VenueMarket,
  { venueState, second, afterMs }: Moment,
): Reading<OraclePrice> {
  const { min, max } = tokenPrice(venueState, indexToken, second)
  const scale = 10n ** BigInt(indexToken.decimals)
  const [minPrice, maxPrice, medianPrice] = [min * scale, max * scale, ((min + max) / 2n) * scale]
  return {
    value: { ...value, minPrice, maxPrice, medianPrice, updatedAtSeconds: second },
    atMs: atMs + afterMs,
  }
}

function candlesOf(
  read: MarketView,
  { indexToken }: VenueMarket,
  { venueState, windows, candles, second, afterMs, lose }: Moment,
): readonly CandleReading[] {
  const token = { key: venueState.catalog.priceKeyOf(indexToken), decimals: indexToken.decimals }
  const before = [read.candles, ...(read.moreCandles ?? [])]
  return candles
    .filter(({ symbol }) => symbol === read.market.symbol)
    .flatMap(({ period, limit }, at) => {
      const made = windows.at(token, period, limit, second)
      const reading = before[at]
      if (made !== undefined && reading?.value.period === period)
        return [{ value: { period, candles: made }, atMs: reading.atMs + afterMs }]
      lose()
      return []
    })
}
