/**
 * Markets that open and close. While a market is closed its oracle gives no price for execution: the keeper leaves its
 * orders where they are, nobody is liquidated, and `/markets/state` says `closed` (docs/reference/api-coverage.md O5).
 */
import { BaseError } from '../../base/errors.ts'
import { hexKey } from '../../protocol/address.ts'
import { findMarket, indexNameOf } from './lookup.ts'
import type { VenueMarket } from './seedMarkets.ts'
import type { MarketHours } from './settings.ts'
import type { VenueState } from './venueState.ts'

const DAY_MINUTES = 1440

/** Hours of `XAU/USD=13:30-20:00`, or undefined for a text of another form. */
export function parseMarketHours(text: string): MarketHours | undefined {
  const [, market = '', openHour, openMinute, closeHour, closeMinute] =
    /^([^=]+)=(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(text) ?? []
  const opensAtMinute = Number(openHour) * 60 + Number(openMinute)
  const closesAtMinute = Number(closeHour) * 60 + Number(closeMinute)
  if (!(opensAtMinute < DAY_MINUTES && closesAtMinute < DAY_MINUTES)) return undefined
  return { market, opensAtMinute, closesAtMinute }
}

function isWithin({ opensAtMinute, closesAtMinute }: MarketHours, seconds: number): boolean {
  const minutes = Math.floor(seconds / 60)
  const minute = minutes % DAY_MINUTES
  const day = Math.floor(minutes / DAY_MINUTES)
  const trades = (of: number): boolean => {
    // 1970-01-01 was a Thursday.
    const weekday = (of + 4) % 7
    return weekday >= 1 && weekday <= 5
  }
  if (opensAtMinute < closesAtMinute) {
    return trades(day) && minute >= opensAtMinute && minute < closesAtMinute
  }
  // A session past midnight belongs to the day it began on.
  return (trades(day) && minute >= opensAtMinute) || (trades(day - 1) && minute < closesAtMinute)
}

const schedules = new WeakMap<VenueState, ReadonlyMap<string, MarketHours>>()

/**
 * Hours by market key.
 *
 * @throws BaseError PAPER_MARKET_UNKNOWN for hours of a market that the venue does not have
 */
export function readSchedule(venueState: VenueState): ReadonlyMap<string, MarketHours> {
  const known = schedules.get(venueState)
  if (known !== undefined) return known
  const schedule = new Map<string, MarketHours>()
  for (const hours of venueState.settings.marketHours) {
    const pools = venueState.markets.filter(
      (market) => !market.settings.isSpotOnly && indexNameOf(market) === hours.market,
    )
    const one = findMarket(venueState, hours.market)
    const markets = pools.length > 0 ? pools : one === undefined ? [] : [one]
    if (markets.length === 0) {
      throw new BaseError(`The paper venue has no market ${hours.market} on ${venueState.chain.name}.`, {
        code: 'PAPER_MARKET_UNKNOWN',
        facts: { market: hours.market, chain: venueState.chain.name },
        details: 'Nothing was started. Correct the market hours.',
      })
    }
    for (const market of markets) schedule.set(market.key, hours)
  }
  schedules.set(venueState, schedule)
  return schedule
}

/** Tells whether a market's index has a price at a Unix second. */
function hasPrice({ prices, marketByKey, catalog }: VenueState, marketKey: string, seconds: number): boolean {
  if (prices.hasPrice === undefined) return true
  const market = marketByKey.get(hexKey(marketKey))
  return (
    market === undefined ||
    market.settings.isSpotOnly ||
    prices.hasPrice(catalog.priceKeyOf(market.indexToken), seconds)
  )
}

/** Tells whether a market trades at a Unix second. */
export function isOpenAt(venueState: VenueState, marketKey: string, seconds: number): boolean {
  if (!hasPrice(venueState, marketKey, seconds)) return false
  if (venueState.settings.marketHours.length === 0) return true
  const hours = readSchedule(venueState).get(hexKey(marketKey))
  return hours === undefined || isWithin(hours, seconds)
}

/** Keys of the markets that are closed at a Unix second. */
export function closedMarkets(venueState: VenueState, seconds: number): ReadonlySet<string> {
  return new Set(
    venueState.markets
      .filter((market: VenueMarket) => !isOpenAt(venueState, market.key, seconds))
      .map(({ key }) => key),
  )
}
