import { expect, test } from 'vitest'
import { usd } from '../../../src/protocol/units.ts'
import { meanReversion } from '../../../src/strategy/kinds/meanReversion.ts'
import { openIntentsOf } from '../../../src/strategy/resting.ts'
import { candles, intentState, position } from '../../risk/world.ts'
import { decideOn } from './kindScene.ts'

const calm = Array.from({ length: 60 }, (_, index) => 2000 + (index % 2))
/** A fall, a candle that turns, and the running one. */
const turned = [...calm, 1960, 1965, 1965]
const rose = [...calm, 2040, 2035, 2035]

test.each(['zscore', 'bollinger', 'rsi'])(
  'by %s a fall that turns is bought with a stop, and a rise sold',
  (signal) => {
    const params = {
      signal,
      ...(signal === 'bollinger' ? { entry: 1 } : signal === 'rsi' ? { entry: 10, exit: 2 } : {}),
    }
    expect(decideOn(meanReversion, turned, { params })).toMatchObject([
      {
        kind: 'increase',
        direction: 'long',
        sizeDeltaUsd: usd(500),
        tpsl: [{ type: 'stop-loss', triggerPrice: usd('1906.05') }],
      },
    ])
    expect(decideOn(meanReversion, rose, { params })).toMatchObject([
      { direction: 'short', tpsl: [{ triggerPrice: usd('2096.05') }] },
    ])
  },
)

test('a crash that still falls is not bought, and neither is a flat market', () => {
  expect(decideOn(meanReversion, [...calm, 1990, 1900, 1900])).toEqual([])
  expect(decideOn(meanReversion, calm)).toEqual([])
  expect(
    decideOn(
      meanReversion,
      Array.from({ length: 60 }, () => 2000),
    ),
  ).toEqual([])
})

test('a position is closed near the mean, and kept far from it', () => {
  const held = position({ entryPrice: usd(1965) })
  expect(decideOn(meanReversion, [...calm, 2001, 2001], { positions: [held] })).toMatchObject([
    { kind: 'close', direction: 'long' },
  ])
  expect(decideOn(meanReversion, turned, { positions: [held] })).toEqual([])
})

test('a gap through the stop closes it, also while candles are stale', () => {
  const held = position({ entryPrice: usd(2000) })
  const reading = candles(turned)
  const old = reading.value.candles.map((c) => ({ ...c, timestampSeconds: c.timestampSeconds - 3600 }))
  const stale = { ...reading, value: { ...reading.value, candles: old } }
  expect(
    decideOn(meanReversion, turned, { positions: [held], priceUsd: 1800, view: { candles: stale } }),
  ).toMatchObject([{ kind: 'close' }])
  expect(decideOn(meanReversion, turned, { view: { candles: stale } })).toEqual([])
})

test('nothing is opened in a closed market, on a side it may not, or beside an open order', () => {
  expect(decideOn(meanReversion, turned, { view: { status: 'closed' } })).toEqual([])
  expect(decideOn(meanReversion, turned, { params: { sides: 'short' } })).toEqual([])
  expect(decideOn(meanReversion, turned, { openIntents: openIntentsOf([intentState()]) })).toEqual([])
})
