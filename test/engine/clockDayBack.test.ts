/** A wall clock that was a day ahead and is set back while orders are under way: what hung there for that day. */
import { expect, test } from 'vitest'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { usd } from '../../src/protocol/units.ts'
import { collateralTokenOf, defineStrategy, z } from '../../src/strategy/strategy.ts'
import { storyOf } from '../journal/story.ts'
import { loadedOf } from '../support/loaded.ts'
import { type TestTraderParts, testTrader } from '../support/trader.ts'
import { type ManualClock, venueBench } from '../support/venue.ts'

const symbol = 'ETH/USD [WETH-USDC]'
const dayMs = 86_400_000

/** Asks for a long at every tick, whatever is held or in flight. */
const always = defineStrategy({
  kind: 'always',
  description: 'Wishes for a long at every tick.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide: (view) => {
    const market = view.market(symbol)
    if (market === undefined) return []
    const { marketToken } = market.market
    const collateralToken = collateralTokenOf(market, 'short')
    const order = {
      kind: 'increase',
      direction: 'long',
      sizeDeltaUsd: usd(100),
      leverageBps: 20_000,
    } as const
    return [{ ...order, marketToken, collateralToken, reason: 'the test always wishes' }]
  },
})

interface Before {
  /** Runs before the trader starts. */
  readonly before?: (clock: ManualClock) => Promise<void>
}

async function world(isOneProcess: boolean, { before, ...parts }: Partial<TestTraderParts> & Before = {}) {
  const bench = venueBench({
    settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0 },
    ...(isOneProcess ? { isOneProcess } : {}),
  })
  const size = { usd: usd(100), leverageBps: 20_000, collateral: 'short' } as const
  const strategy = loadedOf(always, 'one', [symbol], {
    instance: { name: 'one', symbols: [symbol], size },
    limits: { maxDataAgeMs: 30_000 },
  })
  const clock = isOneProcess ? bench.venue.venueState.clock : bench.clock
  const { trader, journal, codes } = testTrader({ ...bench, ...parts, clock, strategies: [strategy] })
  await before?.(bench.clock)
  await trader.start()
  const closed = () => journal.recentIntents().filter(({ closedAtMs }) => closedAtMs !== undefined).length
  const untilUnderWay = async () => {
    for (let turns = 0; turns < 200; turns += 1) {
      if (trader.status().openIntents.some(({ label }) => label === 'pending')) return
      await bench.clock.advance(100)
    }
    throw new Error('no order came under way')
  }
  return { ...bench, trader, codes, closed, untilUnderWay }
}

test('orders under way are filled, and others follow, where the clock of the process with the venue is set back by a day', async () => {
  const { clock, trader, closed, codes, untilUnderWay } = await world(true)
  await untilUnderWay()
  const before = closed()
  const denied = codes().length
  clock.setBack(dayMs)
  await clock.advance(30_000)
  expect(closed()).toBeGreaterThan(before + 2)
  expect(
    codes()
      .slice(denied)
      .filter((code) => code !== 'SLOT_BUSY'),
  ).toEqual([])
  const { feedAgesMs, oldestUnresolvedSeconds } = trader.status()
  for (const ageMs of [...Object.values(feedAgesMs), oldestUnresolvedSeconds])
    expect(ageMs).toBeGreaterThanOrEqual(0)
  trader.abort()
})

test('where the venue has a time of another process, what is under way is filled, and increases wait until the clocks agree', async () => {
  const { clock, trader, closed, codes, untilUnderWay } = await world(false)
  await untilUnderWay()
  const before = closed()
  clock.setBack(dayMs)
  await clock.advance(30_000)
  expect(closed()).toBeGreaterThan(before)
  expect(new Set(codes().slice(-3))).toEqual(new Set(['CLOCK_SKEW']))
  clock.setBack(-dayMs)
  await clock.advance(30_000)
  expect(closed()).toBeGreaterThan(before + 2)
  trader.abort()
})

test('a clock that is set back into a time in which orders were made makes none of their keys again, and orders follow', async () => {
  const { clock, trader, closed, codes, untilUnderWay } = await world(true)
  await untilUnderWay()
  await clock.advance(60_000)
  const before = closed()
  clock.setBack(60_000)
  await clock.advance(30_000)
  expect(closed()).toBeGreaterThan(before + 2)
  expect(codes()).not.toContain('DUPLICATE_DECISION')
  trader.abort()
})

test('what a clock a day ahead accepted counts against the hour of now, and not against one an hour after the step', async () => {
  for (const minutesAfter of [10, 61]) {
    const journal = createMemoryJournal()
    const { clock, trader, codes } = await world(false, {
      journal,
      limits: { account: { maxOrdersPerHour: 1 } },
      async before(stepped) {
        const [atMs, intentId] = [stepped.now() + dayMs, 'intent-1']
        const { accepted } = storyOf(1, { acceptedAtMs: atMs })
        const evidence = { level: 'local', atMs, statement: 'nothing was signed' } as const
        const closing = { outcome: 'REFUSED_LOCAL', code: 'ANY', reason: 'refused', evidence } as const
        await journal.append(accepted())
        await journal.append({ v: RECORD_VERSION, atMs, intentId, kind: 'intent.closed', closing })
        journal.lookAt(stepped)
        await stepped.advance(minutesAfter * 60_000)
      },
    })
    await clock.advance(3_000)
    const isCounted = minutesAfter < 60
    expect(codes().includes('ORDERS_PER_HOUR')).toBe(isCounted)
    expect(journal.summary().intents).toBe(isCounted ? 1 : 2)
    trader.abort()
  }
})
