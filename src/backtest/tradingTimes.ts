/** Times at which a market of a run could be traded: from its listing on, and within the hours that are set for it (`paper.marketHours`). */
import { defined } from '../base/defined.ts'
import { loadCatalog } from '../paper/catalog/catalog.ts'
import { isOpenAt, parseMarketHours } from '../paper/state/hours.ts'
import { findMarket } from '../paper/state/lookup.ts'
import type { MarketHours } from '../paper/state/settings.ts'
import type { VenueState } from '../paper/state/venueState.ts'
import { sameHex } from '../protocol/address.ts'
import type { ChainName } from '../protocol/chains/chain.ts'
import type { TradingTimes } from './runFiles.ts'

/** Gives the times of a market by its full symbol; `hours`: texts as `XAU/USD=13:30-20:00`, of which the last that names the market counts. */
export function tradingTimesOf(
  chain: ChainName,
  market: string,
  hours: readonly string[],
): Omit<TradingTimes, 'market'> {
  const row = loadCatalog(chain).markets.find(({ symbol }) => symbol === market)
  const isNamed = (name: string): boolean =>
    name === market || market.startsWith(`${name} [`) || (row !== undefined && sameHex(name, row.marketToken))
  const own = hours.findLast((text) => isNamed(parseMarketHours(text)?.market ?? ''))
  const listedMs = Date.parse(row?.listingDate ?? '')
  return defined({
    listedSeconds: Number.isNaN(listedMs) ? undefined : listedMs / 1000,
    hours: own?.slice(own.indexOf('=') + 1),
  })
}

/** The hours of a run's markets as the venue takes them. */
export function venueHours(inputs: readonly TradingTimes[]): readonly MarketHours[] {
  return inputs.flatMap(({ market, hours }) => {
    const parsed = hours === undefined ? undefined : parseMarketHours(`${market}=${hours}`)
    return parsed === undefined ? [] : [parsed]
  })
}

/** Tells whether a market trades at a Unix second: it is listed, open and has a price. One that the venue does not have always does. */
export function isTradedAt(
  venueState: VenueState,
  inputs: readonly TradingTimes[],
  symbol: string,
  second: number,
): boolean {
  const { listedSeconds = 0 } = inputs.find(({ market }) => market === symbol) ?? {}
  if (second < listedSeconds) return false
  const market = findMarket(venueState, symbol)
  return market === undefined || isOpenAt(venueState, market.key, second)
}

/** Sentences for the assumptions of a run that begins at a Unix second; none for markets that were open all along. */
export function timesSentences(
  inputs: readonly TradingTimes[],
  fromSeconds: number,
  ignoresListing = false,
): readonly string[] {
  return inputs.flatMap(({ market, listedSeconds = 0, hours }) => [
    ...(hours === undefined
      ? []
      : [
          `${market} trades ${hours} UTC from Monday to Friday, as set, holidays not known: outside of it no turn, no execution and no liquidation.`,
        ]),
    ...(listedSeconds > fromSeconds
      ? [
          `${market} was listed on ${new Date(listedSeconds * 1000).toISOString().slice(0, 10)}: ${ignoresListing ? 'before that no order could execute. The run trades it all the same, as asked (--ignore-listing).' : 'nothing trades before.'}`,
        ]
      : []),
  ])
}
