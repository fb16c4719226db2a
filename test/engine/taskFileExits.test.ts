/** Tasks of an instance whose file writes exits: they come with each entry, and are the file's to look after, not the task's. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import { usualMoves, usualRange } from '../../src/domain/order/exitSettings.ts'
import { usd } from '../../src/protocol/units.ts'
import {
  defineStrategy,
  type Strategy,
  type StrategyDecision,
  type TaskWish,
  z,
} from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { usdc } from '../support/intents.ts'
import { btcSymbol, ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

type Side = Readonly<Record<'marketToken' | 'collateralToken', `0x${string}`>> & {
  readonly direction: 'long'
  readonly leverageBps: number
}

type TaskOf = (side: Side, other: `0x${string}`) => TaskWish

const exits = { takeProfits: [], ...usualMoves, range: usualRange, stopLoss: { bps: 300 } }

/** An instance that begins one task, and whose file asks for a stop. */
async function started(task: TaskOf) {
  bench = await kindsBench({ path: [[0, 1_800]] })
  const marketToken = await bench.marketToken(ethSymbol)
  const other = await bench.marketToken(btcSymbol)
  const side = { marketToken, direction: 'long', collateralToken: usdc, leverageBps: 50_000 } as const
  const strategy = defineStrategy({
    kind: 'opener',
    description: 'Begins a task.',
    params: z.object({}),
    needs: () => ({ symbols: [ethSymbol, btcSymbol] }),
    decide: (): readonly StrategyDecision[] => [
      { kind: 'start-task', label: 'one', task: task(side, other), reason: 'it is time' },
    ],
  }) as Strategy
  const { engine } = engineOver(bench, {
    strategies: [{ ...loadedOf(strategy, 'opener', [ethSymbol, btcSymbol]), exits }],
  })
  running = engine
  await engine.start()
  const { clock, journal } = bench
  const goOn = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
    for (let turn = 0; turn < 300 && !(await isSo()); turn += 1) await clock.advance(1_000)
    const [found] = await engine.tasks()
    expect({ isSo: await isSo(), found }).toMatchObject({ isSo: true })
  }
  const cancels = () => journal.recentIntents().filter(({ intent }) => intent.kind === 'cancel')
  return {
    engine,
    goOn,
    cancels,
    journal,
    isOver: async () => (await engine.tasks())[0]?.standing === 'ended',
  }
}

/** Each with the orders that it takes at least, and with the cancels that are its own. */
const asks: readonly (readonly [string, number, number, TaskOf])[] = [
  [
    'twap',
    2,
    0,
    (side) => ({ kind: 'twap', ...side, sizeUsd: usd(400), parts: 2, minutes: 1, route: 'own' }),
  ],
  [
    'rebalance',
    2,
    0,
    ({ marketToken, collateralToken, leverageBps }, other) => ({
      ...{ kind: 'rebalance', totalUsd: usd(400), leverageBps },
      weights: [marketToken, other].map((each) => ({ marketToken: each, collateralToken, weightBps: 5_000 })),
    }),
  ],
  ['ladder', 2, 0, (side) => ({ kind: 'ladder', ...side, sizeUsd: usd(400), rungs: 2, everySeconds: 10 })],
  // Its limit does not fill, and goes with the exit that came with it.
  [
    'chase',
    2,
    1,
    (side) => ({
      ...{ kind: 'chase', ...side, sizeUsd: usd(400), worstPrice: usd(1_900), minutes: 1, offsetBps: 90 },
    }),
  ],
]

test.each(asks)(
  "%s: it goes on although stops of its owner's file rest for what is filled, and leaves them there when it is done",
  { timeout: 120_000 },
  async (_kind, orders, itsCancels, task) => {
    const { engine, goOn, cancels, isOver, journal } = await started(task)
    await goOn(isOver)
    const [report] = await engine.tasks()
    expect(report).toMatchObject({ outcome: 'done', exitedUsd: 0n })
    expect(report?.doneUsd).toBe(report?.sizeUsd)
    expect(report?.orders).toBeGreaterThanOrEqual(orders)
    expect(cancels()).toHaveLength(itsCancels)
    expect(cancels().flatMap(({ intent }) => intent.terms.cancelOrderKeys ?? [])).toHaveLength(2 * itsCancels)
    const stops = journal.openIntents().filter(({ intent }) => intent.terms.tpsl?.length === 1)
    expect(stops.length).toBeGreaterThanOrEqual(orders - itsCancels)
  },
)
