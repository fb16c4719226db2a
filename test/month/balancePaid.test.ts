/** What the venue pays for balance, by its recorded settings and by those of a month of `impact-capture`. */
import { expect, test } from 'vitest'
import { createVenue } from '../../src/paper/server/venue.ts'
import type { VenueMarket } from '../../src/paper/state/seedMarkets.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { priceImpactUsd } from '../../src/protocol/priceImpact.ts'
import { mulDiv, ONE_USD, usd } from '../../src/protocol/units.ts'
import { manualClock } from '../paper/support.ts'
import { paidMarket, payForBalance } from './balancePaid.ts'

const size = usd(2_000)
const venueOf = () => createVenue({ clock: manualClock(), chain: arbitrum, seed: 1 })
const marketsOf = (venue: ReturnType<typeof venueOf>) =>
  venue.venueState.markets.filter(({ settings }) => !settings.isSpotOnly)

/** What $2,000 of longs brings where shorts outweigh by 40 % of the open interest, hundredths of a basis point, rounded down. */
function paidFor({ settings, state }: VenueMarket): bigint {
  const interest = [...state.long.interestUsd, ...state.short.interestUsd].reduce((sum, each) => sum + each)
  const { positionImpactFactorPositive, positionImpactFactorNegative } = settings
  const { positionImpactExponentFactorPositive, positionImpactExponentFactorNegative } = settings
  const { maxPositionImpactFactorPositive, maxPositionImpactFactorNegative } = settings
  const paid = priceImpactUsd(
    {
      ...{ positionImpactFactorPositive, positionImpactFactorNegative },
      ...{ positionImpactExponentFactorPositive, positionImpactExponentFactorNegative },
      ...{ maxPositionImpactFactorPositive, maxPositionImpactFactorNegative },
      ...{ balanceIn: 'usd', longInterest: (interest * 3n) / 10n, shortInterest: (interest * 7n) / 10n },
    },
    { direction: 'long', action: 'increase', sizeDeltaUsd: size, sizeDeltaInTokens: 0n },
    { decimals: 18, minPrice: ONE_USD, maxPrice: ONE_USD },
  )
  if (paid === undefined) throw new Error('the settings are not those of a market')
  return mulDiv(paid, 1_000_000n, size)
}

test('the recorded settings pay less than a hundredth of a basis point for balance, on every market', () => {
  const paid = marketsOf(venueOf()).map(paidFor)
  expect(paid.length).toBeGreaterThan(100)
  expect(new Set(paid)).toEqual(new Set([0n]))
})

test('a month of impact-capture has a market that pays what the shipped file asks for, in sums and in what is served', () => {
  const venue = venueOf()
  payForBalance(venue)
  const market = marketsOf(venue).find(({ catalog }) => catalog.symbol === paidMarket)
  if (market === undefined) throw new Error(`the catalogue has no ${paidMarket}`)
  // Fees of 10, sending of 6 and the least that opens, 10; the venue pays out at most 40.
  expect(paidFor(market)).toBeGreaterThan(2_600n)
  expect(market.config).toMatchObject({
    positionImpactExponentFactorPositive: market.config.positionImpactExponentFactorNegative,
    positionImpactFactorPositive: market.settings.positionImpactFactorPositive.toString(),
  })
})
