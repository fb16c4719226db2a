import { expect, test } from 'vitest'
import { usd } from '../../../src/protocol/units.ts'
import { breakout } from '../../../src/strategy/kinds/breakout.ts'
import { openIntentsOf } from '../../../src/strategy/resting.ts'
import { candles, intentState, position } from '../../risk/world.ts'
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
