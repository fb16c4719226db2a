/** What a running perpd does for the exits of a file, over real sockets to the paper venue: it places, moves, fits and closes. */
import { afterEach, expect, test } from 'vitest'
import type { ExitPlan } from '../../src/domain/order/exitPlan.ts'
import { usualMoves, usualRange } from '../../src/domain/order/exitPlan.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { usd } from '../../src/protocol/units.ts'
import { collateralTokenOf, defineStrategy, z } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench, type PricePath } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench | undefined
let engine: Engine | undefined

afterEach(async () => {
  engine?.abort()
  await bench?.close()
})

/** Opens one long of $200, and decides nothing more. */
const opener = defineStrategy({
  kind: 'opener',
  description: 'Opens once.',
  params: z.strictObject({}),
  memory: { version: 1, schema: z.strictObject({ opened: z.boolean() }), first: { opened: false } },
  needs: (_params, symbols) => ({ symbols }),
  decide(view, { opened }) {
    const market = view.market(ethSymbol)
    if (opened || market === undefined) return { decisions: [], memory: { opened } }
    const decision = {
      kind: 'increase' as const,
      marketToken: market.market.marketToken,
      direction: 'long' as const,
      sizeDeltaUsd: usd(200),
      leverageBps: 20_000,
      collateralToken: collateralTokenOf(market, 'short'),
      reason: 'once',
    }
    return { decisions: [decision], memory: { opened: true } }
  },
})

const plan = (parts: Partial<ExitPlan>): ExitPlan => ({
  takeProfits: [],
  ...usualMoves,
  range: usualRange,
  ...parts,
})

/** Runs the opener with these exits for so long over a venue whose ETH follows the path; the venue goes on. */
async function run(exits: ExitPlan | undefined, forMs: number): Promise<KindsBench> {
  if (bench === undefined) throw new Error('no venue')
  engine?.abort()
  const parts = { cadenceMs: 2_000, ...(exits === undefined ? {} : { exits }) }
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

test('the time limit closes what the instance holds, counted over a restart', async () => {
  await venue([[0, 2_000]])
  const exits = plan({ timeLimitMs: 120_000 })
  const early = await run(exits, 60_000)
  expect((await early.snapshot()).positions.value).toHaveLength(1)
  const late = await run(exits, 90_000)
  expect((await late.snapshot()).positions.value).toEqual([])
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
