/** Exits that perpd keeps are judged by every host's price: no oracle host alone fires, moves or holds back one of them. */
import { afterEach, expect, test } from 'vitest'
import { type ExitPlan, usualMoves, usualRange } from '../../src/domain/order/exitPlan.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { usd } from '../../src/protocol/units.ts'
import { collateralTokenOf, defineStrategy, z } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench, type PricePath } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench
let engine: Engine | undefined
/** What the first oracle host says times so many hundredths. */
let hundredths = 100n

afterEach(async () => {
  engine?.abort()
  engine = undefined
  hundredths = 100n
  await bench.close()
})

/** Opens one long of $200 unless something is held or under way. */
const opener = defineStrategy({
  kind: 'opener',
  description: 'Opens once.',
  params: z.strictObject({}),
  memory: { version: 1, schema: z.strictObject({ opened: z.boolean() }), first: { opened: false } },
  needs: (_params, symbols) => ({ symbols }),
  decide(view, { opened }) {
    const market = view.market(ethSymbol)
    const isHeld = view.positions().length > 0 || view.openIntents.length > 0
    if (opened || isHeld || market === undefined)
      return { decisions: [], memory: { opened: opened || isHeld } }
    const decision = {
      kind: 'increase' as const,
      marketToken: market.market.marketToken,
      direction: 'long' as const,
      sizeDeltaUsd: usd(200),
      leverageBps: 20_000,
      collateralToken: collateralTokenOf(market, 'short'),
      reason: 'once',
    }
    return { decisions: [decision], memory: { opened } }
  },
})

/** A venue whose first oracle host multiplies the prices of its feed. */
async function venue(path: PricePath): Promise<void> {
  bench = await kindsBench({
    path,
    lie(url, text) {
      if (hundredths === 100n || !/\/oracle\/0\/prices\/tickers$/.test(new URL(url).pathname))
        return undefined
      const rows = JSON.parse(text) as Record<string, unknown>[]
      for (const row of rows)
        for (const name of ['minPrice', 'maxPrice', 'medianPrice'])
          if (typeof row[name] === 'string') row[name] = ((BigInt(row[name]) * hundredths) / 100n).toString()
      return JSON.stringify(rows)
    },
  })
}

/** The first oracle host says so many hundredths of the price from now on; what was read before is old. */
async function lieBy(lie: bigint): Promise<void> {
  engine?.abort()
  hundredths = lie
  await bench.clock.advance(5_000)
}

/** Runs the opener with these exits for so long; the venue goes on. */
async function run(exits: Partial<ExitPlan> | undefined, forMs: number): Promise<void> {
  engine?.abort()
  const strategy = loadedOf(opener, 'eth-once', [ethSymbol], {
    cadenceMs: 2_000,
    ...(exits && { exits: { takeProfits: [], ...usualMoves, range: usualRange, ...exits } }),
  })
  engine = engineOver(bench, { strategies: [strategy] }).engine
  await engine.start()
  await bench.clock.advance(forMs)
}

/** What rests and what is held at the venue, in whole dollars. */
async function standing(): Promise<{ readonly stops: readonly number[]; readonly held: number }> {
  const { orders, positions } = await bench.snapshot()
  return {
    stops: orders.value.flatMap(({ orderType, triggerContractPrice }) =>
      orderType === 6 ? [Math.round(Number(triggerContractPrice) / 1e12)] : [],
    ),
    held: positions.value.reduce((sum, { sizeInUsd }) => sum + Math.round(Number(sizeInUsd) / 1e30), 0),
  }
}

test.each([104n, 200n, 50n])(
  'an oracle host at %s hundredths neither fires a stop or a target, nor moves a stop, nor keeps one from being placed',
  async (lie) => {
    await venue([[0, 2_000]])
    await run(undefined, 30_000)
    await lieBy(lie)
    const exits: Partial<ExitPlan> = {
      stopLoss: { bps: 300 },
      takeProfits: [{ bps: 350 }],
      trailingStop: { distance: { bps: 200 } },
      breakEven: { after: { bps: 100 }, offsetBps: 20 },
      moveEveryMs: 10_000,
      moveStepUsd: 0n,
    }
    await run(exits, 60_000)
    expect(await standing()).toEqual({ stops: [1_960], held: 200 })
  },
)

test.each([50n])(
  'a stop whose place the price is past closes although an oracle host is at %s hundredths, and a trailing one follows',
  async (lie) => {
    await venue([
      [0, 2_000],
      [40, 2_000],
      [100, 2_200],
      [160, 2_200],
      [170, 2_000],
    ])
    await run(undefined, 30_000)
    await lieBy(lie)
    const trailing = { trailingStop: { distance: { bps: 300 } }, moveEveryMs: 10_000, moveStepUsd: 0n }
    await run(trailing, 105_000)
    expect(await standing()).toEqual({ stops: [2_134], held: 200 })
    await bench.clock.advance(60_000)
    expect(await standing()).toEqual({ stops: [], held: 0 })
  },
)

test.each([104n])(
  'what was opened without a stop is closed past its place although an oracle host is at %s hundredths',
  async (lie) => {
    await venue([
      [0, 2_000],
      [35, 2_000],
      [40, 1_900],
    ])
    await run(undefined, 60_000)
    await lieBy(lie)
    await run({ stopLoss: { bps: 200 } }, 40_000)
    expect(await standing()).toEqual({ stops: [], held: 0 })
  },
)
