/** Amounts on the page read as those of the commands do, and none of their digits went through a float. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { crosshairText, tickText } from '../../src/control/console/page/chart/chartTimes.ts'
import {
  decimalText,
  percentText,
  priceText,
  rateText,
  shareBps,
  shareText,
  signedUsdText,
  timesText,
  usdText,
  wholeUsdText,
} from '../../src/control/console/page/shownAmount.ts'
import { dayHint } from '../../src/control/console/page/shownMatters.ts'
import {
  axisTexts,
  clockText,
  durationText,
  millisOf,
  showZone,
  spanText,
  utcText,
  zonedText,
} from '../../src/control/console/page/shownTimes.ts'
import { formatPercent } from '../../src/protocol/percentText.ts'
import { formatPrice } from '../../src/protocol/priceText.ts'
import { formatSize, formatUnits, usd } from '../../src/protocol/units.ts'

const seeded = { seed: 20_261_123, numRuns: 2_000 }
const amounts = fc.oneof(
  fc.bigInt({ min: -(10n ** 45n), max: 10n ** 45n }),
  fc.bigInt({ min: -(10n ** 29n), max: 10n ** 29n }),
  fc.constant(2n ** 256n - 1n),
)

test('an amount of dollars reads as it does in the commands and the log, as text of the wire too', () => {
  fc.assert(
    fc.property(amounts, (amount) => {
      expect(usdText(amount)).toBe(formatSize(amount))
      expect(usdText(amount.toString())).toBe(formatSize(amount))
    }),
    seeded,
  )
})

test('a price reads as it does in the commands', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (price) => {
      expect(priceText(price)).toBe(formatPrice(price))
    }),
    seeded,
  )
})

test('a percentage reads as it does in the commands', () => {
  const parts = fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n })
  fc.assert(
    fc.property(parts, parts, (part, whole) => {
      expect(shareText(part, whole)).toBe(formatPercent(part, whole))
    }),
    seeded,
  )
})

test('an amount of a token keeps every digit', () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.nat(30), (amount, decimals) => {
      expect(decimalText(amount, decimals)).toBe(formatUnits(amount, decimals))
    }),
    seeded,
  )
})

test('a result has its sign in front, and nothing has none', () => {
  expect([usd('1.20'), -usd('1.20'), 0n, 1n].map(signedUsdText)).toEqual([
    '+$1.20',
    '-$1.20',
    '$0.00',
    '$0.00',
  ])
})

test('large amounts lose their cents, small ones keep them', () => {
  expect(wholeUsdText(usd('38367765.30'))).toBe('$38,367,765')
  expect(wholeUsdText(usd('999.30'))).toBe('$999.30')
})

test('a share is bounded, has a sign, and is 0 of nothing', () => {
  expect([shareBps(5n, 20n), shareBps(-5n, 20n), shareBps(1n, 0n), shareBps(10n ** 40n, 1n, 20_000)]).toEqual(
    [2_500, -2_500, 0, 20_000],
  )
  expect([percentText(3_275), percentText(-5), percentText(0)]).toEqual(['32.75%', '-0.05%', '0.00%'])
  expect([timesText('30004'), timesText('5050')]).toEqual(['3.00x', '0.50x'])
})

test('spans have the units that tell them apart, and never run backwards', () => {
  expect([-5, 4_900, 185_000, 7_380_000, 273_600_000].map(spanText)).toEqual([
    '0 s',
    '4 s',
    '3 min 5 s',
    '2 h 3 min',
    '3 d 4 h',
  ])
  expect([32.4, 1_234, 61_000].map(durationText)).toEqual(['32 ms', '1.2 s', '1 min 1 s'])
  expect(clockText(Date.parse('2026-11-23T18:39:02.691Z'))).toBe('18:39:02')
  expect([millisOf(null), millisOf('never'), millisOf('1970-01-01T00:00:01Z')]).toEqual([
    undefined,
    undefined,
    1_000,
  ])
})

test('local time changes clocks, axes and the crosshair, over a change of clocks too, and no day of what is counted by UTC days', () => {
  const before = process.env.TZ
  process.env.TZ = 'Europe/Berlin'
  try {
    showZone('local')
    // Berlin's clocks are set back at 01:00 UTC: two moments an hour apart read alike, and their zones tell them apart.
    const hours = [0, 1].map((hour) => Date.UTC(2026, 9, 25, hour, 30))
    expect(hours.map(zonedText)).toEqual(['2026-10-25 02:30:00 UTC+2', '2026-10-25 02:30:00 UTC+1'])
    expect(hours.map(clockText)).toEqual(['02:30:00', '02:30:00'])
    expect(axisTexts(hours)).toEqual(['02:30\n2026-10-25', '02:30'])
    expect(hours.map((atMs) => crosshairText(atMs / 1_000))).toEqual(['2026-10-25 02:30', '2026-10-25 02:30'])
    const midnight = Date.UTC(2026, 10, 28)
    expect(tickText(midnight / 1_000, 2)).toBe('11-28 01:00')
    // Days of results stay those of UTC, on their axis and in the day's hint.
    expect(axisTexts([midnight, midnight + 86_400_000], utcText)).toEqual(['2026-11-28', '2026-11-29'])
    const day = { dayStartMs: midnight, dayStartUsd: '0', equityUsd: '0', peakUsd: '0' } as never
    expect(dayHint(day, midnight + 5_000)).toBe('since 00:00 UTC')
  } finally {
    showZone('utc')
    if (before === undefined) delete process.env.TZ
    else process.env.TZ = before
  }
  expect(zonedText(0)).toBe('1970-01-01 00:00:00 UTC')
})

test('an axis tells its days: dates over days, and within them the clock with each date once', () => {
  const at = (text: string): number => Date.parse(`${text}Z`)
  expect(axisTexts(['2026-11-21T00:00', '2026-11-22T00:00', '2026-11-24T00:00'].map(at))).toEqual([
    '2026-11-21',
    '2026-11-22',
    '2026-11-24',
  ])
  expect(
    axisTexts(['2026-11-22T22:00', '2026-11-22T23:00', '2026-11-23T00:00', '2026-11-23T01:00'].map(at)),
  ).toEqual(['22:00\n2026-11-22', '23:00', '00:00\n2026-11-23', '01:00'])
  expect(axisTexts(['2026-11-22T22:00:00', '2026-11-22T22:00:10'].map(at))).toEqual([
    '22:00:00\n2026-11-22',
    '22:00:10',
  ])
  expect(axisTexts([])).toEqual([])
})

test('a small rate keeps two digits of what it is', () => {
  const rates = ['1300000000000000000000000', '-13000000000000000000000000', '0'].map(rateText)
  expect(rates).toEqual(['+0.00013%', '-0.0013%', '0.00%'])
  expect(rateText(-13_000_000_000_000_000_000_000_000n * 8_760n)).toBe('-11.39%')
})
