/** What people are told of the venue over whole stories: hosts that contradict what a market is, and oracle prices that stand still. */
import { expect, test } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import { createIncidents } from '../../src/monitor/incidents/incidents.ts'
import { everyEvent } from '../monitor/events.ts'
import { ethMarket, usdc } from '../support/intents.ts'

/** What else happens all the time. */
const beat: Event = { type: 'tick.done', strategy: 'eth-trend', durationMs: 5, decisions: 0 }

type Contradicted = Extract<Event, { type: 'market.contradicted' }>
const eth = { host: 'one.example', address: ethMarket, statement: 'calls WETH something else' }
const dollars = { host: 'two.example', address: usdc, statement: 'gives USDC 18 decimals' }
const contradicted = (...contradictions: readonly (typeof eth)[]): Contradicted => ({
  type: 'market.contradicted',
  ...{ contradictions, symbols: ['ETH/USD [WETH-USDC]'] },
})
const settled = (contradictions: readonly (typeof eth)[], by?: string): Event => ({
  ...contradicted(...contradictions),
  type: 'market.settled',
  ...(by === undefined ? {} : { by }),
})

test('a host that contradicts a market is told with what to look at, and its end when nothing is contradicted any more', () => {
  const watch = createIncidents({ now: () => 0 })
  const told = [
    contradicted(eth),
    contradicted(dollars),
    settled([eth]),
    beat,
    settled([dollars], 'ann'),
    contradicted(eth),
  ].flatMap((event) => watch.take(event, 0).map(({ notice }) => notice))
  expect(told.map(({ kind, level, isEnd, stage }) => [kind, level, isEnd === true, stage])).toEqual([
    ['market-contradicted', 'error', false, '1'],
    ['market-contradicted', 'error', false, '2'],
    ['market-contradicted', 'info', false, '1'],
    ['market-contradicted', 'info', true, undefined],
    ['market-contradicted', 'error', false, '1'],
  ])
  expect(new Set(told.map(({ cause }) => cause)).size).toBe(1)
  const [first, , part, end] = told
  expect(first?.text).toContain('Increases on ETH/USD [WETH-USDC] wait')
  expect(first?.action).toContain('perpd markets trust MARKET --by NAME')
  expect(part?.text).toContain('1 contradiction stays')
  expect(part?.action).toBeUndefined()
  expect(end?.text).toContain('trusted by ann')
})

const prices = (host: string, isStale: boolean): Event => ({
  type: 'host.prices',
  ...{ host, isStale, ageMs: isStale ? 120_000 : 0 },
})
const started = (...oracleHosts: readonly string[]): Event => ({ ...everyEvent[0], oracleHosts }) as Event

/** Takes events at their seconds; gives what was told, with when. */
function pricesTold(hosts: readonly string[], story: readonly (readonly [seconds: number, event: Event])[]) {
  const watch = createIncidents({ now: () => 0 })
  watch.take(started(...hosts), 0)
  const told = story.flatMap(([seconds, event]) =>
    watch.take(event, seconds * 1_000).map(({ notice }) => ({ seconds, ...notice })),
  )
  return { told, rest: watch.rest(0).map(({ notice }) => notice) }
}

test('prices that stand still are told with the first word of them, and their end once they moved on for a minute', () => {
  const { told, rest } = pricesTold(
    ['a', 'b'],
    [
      [0, prices('a', true)],
      [20, prices('a', false)],
      [50, prices('a', true)],
      [70, prices('a', false)],
      [129, beat],
      [130, beat],
      [131, beat],
      [140, prices('a', true)],
    ],
  )
  expect(told.map(({ seconds, kind, level, isEnd }) => [seconds, kind, level, isEnd === true])).toEqual([
    [0, 'prices-stale', 'warn', false],
    [130, 'prices-stale', 'info', true],
    [140, 'prices-stale', 'warn', false],
  ])
  // Another host has fresh ones: there is nothing to do.
  expect(told[0]?.action).toBeUndefined()
  expect(told[0]?.text).toContain('perpd uses the fallback hosts')
  expect(rest).toEqual([])
})

test('prices that stand still at all oracle hosts ask for somebody, and each host has an end of its own', () => {
  const { told } = pricesTold(
    ['a', 'b'],
    [
      [0, prices('a', true)],
      [10, prices('b', true)],
      [100, prices('b', false)],
      [200, prices('a', false)],
      [300, beat],
    ],
  )
  expect(told.map(({ seconds, cause, level, isEnd }) => [seconds, cause, level, isEnd === true])).toEqual([
    [0, 'prices:a', 'warn', false],
    [10, 'prices:b', 'error', false],
    [200, 'prices:b', 'info', true],
    [300, 'prices:a', 'info', true],
  ])
  expect(told[1]?.text).toContain('all oracle hosts')
  expect(told[1]?.text).not.toContain('fallback hosts')
  expect(told[1]?.action).toContain('perpd markets')
})

test('a host that comes back for a moment while all stand still is no news, one that lets all stand still again is', () => {
  const { told } = pricesTold(
    ['a', 'b'],
    [
      [0, prices('a', true)],
      [5, prices('b', true)],
      [20, prices('b', false)],
      [30, prices('b', true)],
      [40, prices('a', false)],
      [120, beat],
      [130, prices('a', true)],
    ],
  )
  expect(told.map(({ seconds, cause, level, isEnd }) => [seconds, cause, level, isEnd === true])).toEqual([
    [0, 'prices:a', 'warn', false],
    [5, 'prices:b', 'error', false],
    [120, 'prices:a', 'info', true],
    [130, 'prices:a', 'error', false],
  ])
})

test('that all stand still is told though each host was told of before', () => {
  const { told } = pricesTold(
    ['a', 'b'],
    [
      [0, prices('b', true)],
      [10, prices('b', false)],
      [20, prices('a', true)],
      [30, prices('b', true)],
      [40, prices('a', false)],
      [50, prices('a', true)],
    ],
  )
  expect(told.map(({ seconds, cause, level }) => [seconds, cause, level])).toEqual([
    [0, 'prices:b', 'warn'],
    [20, 'prices:a', 'warn'],
    [30, 'prices:b', 'error'],
  ])
})

test('a stop tells the ends that wait', () => {
  const { told, rest } = pricesTold(
    ['a'],
    [
      [0, prices('a', true)],
      [5, prices('a', false)],
    ],
  )
  expect(told.map(({ level }) => level)).toEqual(['error'])
  expect(rest).toMatchObject([{ cause: 'prices:a', isEnd: true, level: 'info' }])
})
