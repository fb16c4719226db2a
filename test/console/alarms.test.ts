/** Events of which a browser may be alarmed, each once, and none of before the page was opened. */
import { expect, test } from 'vitest'
import {
  type AlarmMemory,
  type AlarmScene,
  alarmsOf,
} from '../../src/control/console/page/alarms/alarmEvents.ts'
import { order, positionRow, status, usd } from './rows.ts'

type Leg = ReturnType<typeof order>['legs'][number]

const leg = (over: Partial<Leg>): Leg =>
  ({
    role: 'main',
    status: 'resting',
    orderKey: '0x01',
    sizeDeltaUsd: usd(100),
    filledAt: null,
    ...over,
  }) as Leg

/** Events of each look after the first, which tells none. */
function toldBy(first: AlarmScene, ...rest: readonly AlarmScene[]): readonly (readonly string[])[] {
  let memory: AlarmMemory | undefined = alarmsOf(undefined, first).memory
  return rest.map((scene) => {
    const seen = alarmsOf(memory, scene)
    memory = seen.memory
    return seen.alarms.map(({ event }) => event)
  })
}

const calm: AlarmScene = { orders: [], status: status(), isOld: false }
const at = (ms: number): string => new Date(ms).toISOString()
const { nowMs } = status()

test('a fill is told once, a stop as a stop, and neither where it was before the page was opened', () => {
  const filled = (over: Partial<Leg> = {}) =>
    order('a', { legs: [leg({ status: 'filled', filledAt: at(nowMs + 1_000), ...over })] })
  const stopped = order('b', {
    legs: [leg({ role: 'stop-loss', status: 'filled', orderKey: '0x02', filledAt: at(nowMs + 2_000) })],
  })
  const protect = order('c', {
    orderType: 'stop-loss',
    legs: [leg({ status: 'filled', orderKey: '0x03', filledAt: at(nowMs + 2_000) })],
  })
  expect(
    toldBy(
      calm,
      { ...calm, orders: [filled()] },
      { ...calm, orders: [filled(), stopped, protect] },
      { ...calm, orders: [filled(), stopped, protect] },
    ),
  ).toEqual([['fill'], ['stop', 'stop'], []])
  const former = filled({ filledAt: at(nowMs - 1_000) })
  expect(toldBy(calm, { ...calm, orders: [former] })).toEqual([[]])
  // Orders that the page had before it heard a status are not lost.
  expect(toldBy({ ...calm, status: undefined }, { ...calm, orders: [former] })).toEqual([[]])
})

test('a liquidation is near below a tenth of the mark, once until it is far again', () => {
  const away = (liquidation: number): AlarmScene => ({
    ...calm,
    status: status({ positions: [positionRow({ liquidationPrice: usd(liquidation) })] }),
  })
  expect(toldBy(away(1_500), away(1_801), away(1_790), away(1_801), away(1_700), away(1_801))).toEqual([
    ...[['liquidation'], [], [], []],
    ['liquidation'],
  ])
})

test('a halt and a lost stream are told when they begin, and what ends them is not', () => {
  const halted = { ...calm, status: status({ tradingState: 'halted' }) }
  const reducing = { ...calm, status: status({ tradingState: 'reducing' }) }
  expect(toldBy(calm, reducing, reducing, halted, calm)).toEqual([['halt'], [], ['halt'], []])
  expect(toldBy(calm, { ...calm, isOld: true }, { ...calm, isOld: true }, calm)).toEqual([['lost'], [], []])
})
