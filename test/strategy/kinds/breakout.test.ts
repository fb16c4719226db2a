import { expect, test } from 'vitest'
import { usd } from '../../../src/protocol/units.ts'
import { breakout } from '../../../src/strategy/kinds/breakout.ts'
import { openIntentsOf } from '../../../src/strategy/resting.ts'
import { candles, intentState, marketView, position } from '../../risk/world.ts'
import { decideOn } from './kindScene.ts'

const calm = Array.from({ length: 80 }, (_, index) => 2000 + (index % 2))

test('a price above the channel is bought, one below is sold, each with a stop no further than allowed', () => {
  const params = { stopBps: 10 }
  expect(decideOn(breakout, calm, { priceUsd: 2010, params })).toMatchObject([
    { kind: 'increase', direction: 'long', tpsl: [{ type: 'stop-loss', triggerPrice: usd('2007.99') }] },
  ])
  expect(decideOn(breakout, calm, { priceUsd: 1980, params })).toMatchObject([
    { direction: 'short', tpsl: [{ triggerPrice: usd('1981.98') }] },
  ])
})

test('a price inside of the channel, a closed market and an open order open nothing', () => {
  expect(decideOn(breakout, calm, { priceUsd: 2000 })).toEqual([])
  expect(decideOn(breakout, calm, { priceUsd: 2010, view: { status: 'closed' } })).toEqual([])
  expect(decideOn(breakout, calm, { priceUsd: 2010, params: { sides: 'short' } })).toEqual([])
  expect(decideOn(breakout, calm, { priceUsd: 2010, openIntents: openIntentsOf([intentState()]) })).toEqual(
    [],
  )
  expect(decideOn(breakout, calm.slice(0, 20), { priceUsd: 2010 })).toEqual([])
})

test('a fall back through the shorter channel closes, and so does a gap through the stop on stale candles', () => {
  const held = position({ entryPrice: usd(2010) })
  expect(decideOn(breakout, calm, { positions: [held], priceUsd: 1990 })).toMatchObject([{ kind: 'close' }])
  expect(decideOn(breakout, calm, { positions: [held], priceUsd: 2020 })).toEqual([])
  const reading = candles(calm)
  const old = reading.value.candles.map((c) => ({ ...c, timestampSeconds: c.timestampSeconds - 3600 }))
  const view = { candles: { ...reading, value: { ...reading.value, candles: old } } }
  expect(decideOn(breakout, calm, { positions: [held], priceUsd: 1700, view })).toMatchObject([
    { kind: 'close' },
  ])
  expect(decideOn(breakout, calm, { priceUsd: 2010, view })).toEqual([])
})

test('a part that another token backs than the file says now is closed by its own token, and not opened twice', () => {
  const { longToken } = marketView().market
  const held = position({ entryPrice: usd(2010), collateralToken: longToken })
  expect(decideOn(breakout, calm, { positions: [held], priceUsd: 1990 })).toMatchObject([
    { kind: 'close', collateralToken: longToken },
  ])
  expect(decideOn(breakout, calm, { positions: [held], priceUsd: 2020 })).toEqual([])
})

test('in a candle that has been beyond both edges of the shorter channel nothing is opened, and in the next one is', () => {
  const reading = candles(calm)
  const withRunning = (changes: { readonly low?: number; readonly high?: number }) => {
    const rows = reading.value.candles.map((row, index) =>
      index === calm.length - 1 ? { ...row, ...changes } : row,
    )
    return { candles: { ...reading, value: { ...reading.value, candles: rows } } }
  }
  const opened = (priceUsd: number, changes: { readonly low?: number; readonly high?: number }) =>
    decideOn(breakout, calm, { priceUsd, view: withRunning(changes) })
  expect(opened(2010, { high: 2011 })).toHaveLength(1)
  expect(opened(2010, { high: 2011, low: 1990 })).toEqual([])
  expect(opened(1980, { low: 1979 })).toHaveLength(1)
  expect(opened(1980, { low: 1979, high: 2010 })).toEqual([])
})

/** Calm, then a trend of 0.1 % a candle with a fall back of half of it every fifth, then the way back; `sign` -1 turns it over. */
function trending(sign: 1 | -1): readonly number[] {
  const changes = [
    ...Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? 1 : -1)),
    ...Array.from({ length: 120 }, (_, index) => (index % 5 === 4 ? -1 : 2)),
    ...Array.from({ length: 60 }, () => -2),
  ]
  let price = 2000
  return changes.map((change) => {
    price += sign * change
    return price
  })
}

test.each([
  ['long', 1],
  ['short', -1],
] as const)(
  'on a path that trends it opens one %s with the trend, keeps it while the trend runs, and leaves with over half of the way won',
  (direction, sign) => {
    const path = trending(sign)
    let [entry, wonUsd, trades] = [0, 0, 0]
    const sides: string[] = []
    for (let index = 52; index < path.length; index += 1) {
      const price = path[index] ?? 0
      const held =
        entry === 0 ? [] : [position({ direction: sides.at(-1) as 'long', entryPrice: usd(entry) })]
      const [decision] = decideOn(breakout, path.slice(0, index), { positions: held, priceUsd: price })
      if (decision?.kind === 'increase') {
        sides.push(decision.direction)
        entry = price
        // A stop beyond what the trend falls back by.
        expect(
          sign * (price - Number((decision.tpsl?.[0]?.triggerPrice ?? 0n) / 10n ** 30n)),
        ).toBeGreaterThan(1)
      }
      if (decision?.kind === 'close') {
        wonUsd += (sides.at(-1) === 'long' ? 1 : -1) * (price - entry)
        trades += 1
        entry = 0
        break
      }
    }
    expect([sides, trades]).toEqual([[direction], 1])
    const wayUsd = sign * ((path[179] ?? 0) - (path[59] ?? 0))
    expect(wonUsd).toBeGreaterThan(wayUsd / 2)
  },
)
