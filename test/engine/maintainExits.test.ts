/** What a running perpd does for the exits of a file, over real sockets to the paper venue: it places, moves, fits and closes. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { ExitSettings } from '../../src/domain/order/exitSettings.ts'
import { usualMoves, usualRange } from '../../src/domain/order/exitSettings.ts'
import { cancelOrder } from '../../src/paper/keeper/orderEnds.ts'
import { usd } from '../../src/protocol/units.ts'
import type { Needs } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench, type PricePath } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'
import { opener } from '../support/opener.ts'

let bench: KindsBench | undefined
let engine: Engine | undefined

afterEach(async () => {
  engine?.abort()
  await bench?.close()
})

const plan = (parts: Partial<ExitSettings>): ExitSettings => ({
  takeProfits: [],
  ...usualMoves,
  range: usualRange,
  ...parts,
})

/** Runs the opener with these exits for so long over a venue whose ETH follows the path; the venue goes on. */
async function run(exits: ExitSettings | undefined, forMs: number, needs?: Needs): Promise<KindsBench> {
  if (bench === undefined) throw new Error('no venue')
  engine?.abort()
  const parts = {
    cadenceMs: 2_000,
    ...(exits === undefined ? {} : { exits }),
    ...(needs === undefined ? {} : { needs }),
  }
  const strategy = loadedOf(opener, 'eth-once', [ethSymbol], parts)
  engine = engineOver(bench, { strategies: [strategy] }).engine
  await engine.start()
  await bench.clock.advance(forMs)
  return bench
}

const venue = async (path: PricePath) => {
  bench = await kindsBench({ path })
}

/** Resting exits: type of the contract, size and trigger in whole dollars. */
async function resting({ snapshot }: KindsBench): Promise<readonly string[]> {
  const { orders } = await snapshot()
  return orders.value
    .map(
      ({ orderType, sizeDeltaUsd, triggerContractPrice }) =>
        `${orderType === 6 ? 'stop' : 'target'} $${Number(sizeDeltaUsd / 10n ** 28n) / 100} at ${Math.round(Number(triggerContractPrice) / 1e12)}`,
    )
    .sort()
}

/** The stop that rests is cancelled by hand. */
function loseStop({ venue: { venueState }, clock }: KindsBench): void {
  const stop = [...venueState.orders.values()].find(({ params }) => Number(params.orderType) === 6)
  if (stop === undefined) throw new Error('no stop rests')
  cancelOrder(venueState, stop, 'USER_INITIATED_CANCEL', clock.now())
}

test('a position that was opened without exits has them after the file asks for them, and no second ones after a restart', async () => {
  await venue([[0, 2_000]])
  const opened = await run(undefined, 30_000)
  expect(await resting(opened)).toEqual([])
  const exits = plan({ stopLoss: { bps: 300 }, takeProfits: [{ bps: 500 }] })
  const kept = await run(exits, 40_000)
  expect(await resting(kept)).toEqual(['stop $200 at 1940', 'target $200 at 2100'])
  expect(engine?.status().withoutStop).toEqual([])
  const again = await run(exits, 60_000)
  expect(await resting(again)).toHaveLength(2)
})

test('a stop whose place the price is past already closes the position', async () => {
  await venue([
    [0, 2_000],
    [35, 2_000],
    [40, 1_900],
  ])
  await run(undefined, 60_000)
  const { snapshot } = await run(plan({ stopLoss: { bps: 200 } }), 60_000)
  expect((await snapshot()).positions.value).toEqual([])
})

test('a stop-loss that the file makes nearer is moved there, one that it makes farther stays, and a price past it closes', async () => {
  await venue([
    [0, 2_000],
    [230, 2_000],
    [240, 1_970],
  ])
  const at = (bps: number) => plan({ stopLoss: { bps } })
  expect(await resting(await run(at(500), 60_000))).toEqual(['stop $200 at 1900'])
  const nearer = await run(at(300), 80_000)
  expect(await resting(nearer)).toEqual(['stop $200 at 1940'])
  // Within what a fill's price differs nothing is paid for.
  expect(await resting(await run(at(290), 40_000))).toEqual(['stop $200 at 1940'])
  expect(await resting(await run(at(800), 40_000))).toEqual(['stop $200 at 1940'])
  expect((await nearer.snapshot()).positions.value).toHaveLength(1)
  await run(at(800), 30_000)
  const { snapshot } = await run(at(100), 80_000)
  expect((await snapshot()).positions.value).toEqual([])
})

test('a trailing stop follows the price up, never down, at most so often, and ends the position with a profit', async () => {
  await venue([
    [0, 2_000],
    [60, 2_000],
    [360, 2_200],
    [480, 2_150],
    [540, 2_150],
    [600, 2_050],
  ])
  const exits = plan({
    stopLoss: { bps: 200 },
    trailingStop: { distance: { bps: 300 }, activation: { bps: 200 } },
    moveEveryMs: 60_000,
    moveStepUsd: usd(1),
  })
  const early = await run(exits, 60_000)
  expect(await resting(early)).toEqual(['stop $200 at 1960'])
  const triggers: number[] = []
  for (let step = 0; step < 42; step += 1) {
    await early.clock.advance(10_000)
    const [stop] = await resting(early)
    if (stop !== undefined) triggers.push(Number(stop.split(' at ')[1]))
  }
  const steps = triggers.filter((trigger, index) => trigger !== triggers[index - 1])
  expect(steps).toEqual([...steps].sort((one, other) => one - other))
  // Five minutes of rise, a move a minute at most.
  expect(steps.length).toBeGreaterThan(3)
  expect(steps.length).toBeLessThan(8)
  expect(steps.at(-1)).toBeGreaterThan(2_100)
  await early.clock.advance(150_000)
  const after = await early.snapshot()
  expect(after.positions.value).toEqual([])
  expect(after.orders.value).toEqual([])
})

test('break-even puts the stop a little above the entry once the profit is large enough, and no further', async () => {
  await venue([
    [0, 2_000],
    [60, 2_000],
    [120, 2_080],
    [400, 2_080],
  ])
  const exits = plan({ stopLoss: { bps: 200 }, breakEven: { after: { bps: 300 }, offsetBps: 20 } })
  const early = await run(exits, 60_000)
  expect(await resting(early)).toEqual(['stop $200 at 1960'])
  await early.clock.advance(180_000)
  expect(await resting(early)).toEqual(['stop $200 at 2004'])
})

test('a break-even stop that is lost while perpd is down comes back where it was; where the price is past that the part is closed', async () => {
  await venue([
    [0, 2_000],
    [60, 2_000],
    [120, 2_080],
    [240, 2_080],
    [280, 2_040],
    [460, 2_040],
    [480, 2_000],
  ])
  const exits = plan({ stopLoss: { bps: 500 }, breakEven: { after: { bps: 300 }, offsetBps: 50 } })
  const early = await run(exits, 240_000)
  expect(await resting(early)).toEqual(['stop $200 at 2010'])
  engine?.abort()
  loseStop(early)
  await early.clock.advance(60_000)
  expect(await resting(early)).toEqual([])
  const late = await run(exits, 60_000)
  expect(await resting(late)).toEqual(['stop $200 at 2010'])
  engine?.abort()
  loseStop(late)
  await late.clock.advance(120_000)
  const { snapshot } = await run(exits, 60_000)
  expect((await snapshot()).positions.value).toEqual([])
})

test('the time limit closes what the instance holds, counted over a restart', async () => {
  await venue([[0, 2_000]])
  const exits = plan({ timeLimitMs: 120_000 })
  const early = await run(exits, 60_000)
  expect((await early.snapshot()).positions.value).toHaveLength(1)
  const late = await run(exits, 90_000)
  expect((await late.snapshot()).positions.value).toEqual([])
})

test('while the range of the market is not known, what does not count in it is kept all the same', async () => {
  await venue([[0, 2_000]])
  await run(plan({ stopLoss: { bps: 300 } }), 30_000)
  const inRanges = plan({ stopLoss: { atrPercent: 300 }, takeProfits: [{ atrPercent: 300 }] })
  const kept = await run(inRanges, 20_000)
  expect(await resting(kept)).toEqual(['stop $200 at 1940'])
  await run({ ...inRanges, timeLimitMs: 70_000 }, 40_000)
  expect((await kept.snapshot()).positions.value).toEqual([])
})

test('when one target fills, the stop is made as large as what is left', async () => {
  await venue([
    [0, 2_000],
    [60, 2_000],
    [80, 2_070],
    [300, 2_070],
  ])
  const exits = plan({
    stopLoss: { bps: 200 },
    takeProfits: [
      { bps: 300, shareBps: 5_000 },
      { bps: 1_000, shareBps: 5_000 },
    ],
  })
  const early = await run(exits, 60_000)
  expect(await resting(early)).toEqual(['stop $200 at 1960', 'target $100 at 2060', 'target $100 at 2200'])
  await early.clock.advance(90_000)
  expect(await resting(early)).toEqual(['stop $100 at 1960', 'target $100 at 2200'])
})

test('perpd that dies between a target that filled and the stop that must shrink makes it smaller first of all when it is back', async () => {
  await venue([
    [0, 2_000],
    [60, 2_000],
    [80, 2_070],
    [400, 2_070],
  ])
  const exits = plan({
    stopLoss: { bps: 200 },
    takeProfits: [
      { bps: 300, shareBps: 5_000 },
      { bps: 1_000, shareBps: 5_000 },
    ],
  })
  const early = await run(exits, 60_000)
  expect(await resting(early)).toHaveLength(3)
  engine?.abort()
  await early.clock.advance(60_000)
  // The target filled while nobody looked; the stop is still of all.
  expect(await resting(early)).toEqual(['stop $200 at 1960', 'target $100 at 2200'])
  const late = await run(exits, 40_000)
  expect(await resting(late)).toEqual(['stop $100 at 1960', 'target $100 at 2200'])
})

test('distances in average true ranges lie so many ranges of its market away', async () => {
  await venue([
    [0, 2_000],
    [30, 2_004],
    [60, 1_996],
    [90, 2_004],
    [120, 1_996],
    [150, 2_004],
    [180, 1_996],
    [900, 2_000],
  ])
  const atr = plan({ stopLoss: { atrPercent: 300 }, range: { period: '1m', candles: 2 } })
  const needs = { symbols: [ethSymbol], candles: [{ symbol: ethSymbol, period: '1m', limit: 7 } as const] }
  if (bench === undefined) throw new Error('no venue')
  const strategy = loadedOf(opener, 'eth-once', [ethSymbol], { cadenceMs: 2_000, exits: atr, needs })
  engine = engineOver(bench, { strategies: [strategy] }).engine
  await engine.start()
  await bench.clock.advance(60_000)
  const opened = bench.journal.recentIntents().filter(({ intent }) => intent.kind === 'increase')
  const { referencePrice = 0n, tpsl: [stop] = [] } = opened.at(-1)?.intent.terms ?? {}
  const ranges = Number(referencePrice - (stop?.triggerPrice ?? 0n)) / 1e30 / 3
  // The venue's candles before the path are nearly flat.
  expect(ranges).toBeGreaterThan(0)
  expect(ranges).toBeLessThan(20)
})

test('a market that calms down moves no stop in average true ranges, and closes nothing before it', {
  timeout: 120_000,
}, async () => {
  await venue([
    [0, 2_000],
    [30, 2_020],
    [60, 1_980],
    [90, 2_020],
    [120, 1_980],
    [150, 2_020],
    [180, 2_000],
    [330, 1_985],
    [900, 1_985],
  ])
  const { clock } = bench ?? {}
  await clock?.advance(185_000)
  const exits = plan({ stopLoss: { atrPercent: 200 }, range: { period: '1m', candles: 2 } })
  const needs = { symbols: [ethSymbol], candles: [{ symbol: ethSymbol, period: '1m', limit: 7 } as const] }
  const opened = await resting(await run(exits, 40_000, needs))
  const [, stopAt = ''] = /^stop \$200 at (\d+)$/.exec(opened[0] ?? '') ?? []
  expect(Number(stopAt)).toBeGreaterThan(1_800)
  expect(Number(stopAt)).toBeLessThan(1_975)
  const calm = await run(exits, 300_000, needs)
  expect((await calm.snapshot()).positions.value).toHaveLength(1)
  expect(await resting(calm)).toEqual(opened)
})

test('the status names what acts only while perpd runs, and a position that is meant to be without a stop is not told', async () => {
  await venue([[0, 2_000]])
  await run(plan({ isSignalOnly: true }), 40_000)
  expect(engine?.status()).toMatchObject({ positions: [{}], withoutStop: [] })
  await run(
    plan({ timeLimitMs: 3_600_000, trailingStop: { distance: { bps: 300 }, activation: { bps: 100 } } }),
    40_000,
  )
  expect(engine?.status()).toMatchObject({
    withoutStop: [{}],
    strategies: [{ exitsHere: ['trailing-stop', 'time-limit'] }],
  })
})
