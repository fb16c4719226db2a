/** The process ends before or after every third record, by turns, that is written while an executor runs to its end. */
import { expect, test } from 'vitest'
import type { OpenCommand } from '../../src/operator/commands/openPosition.ts'
import type { StartTaskCommand } from '../../src/operator/taskBodies.ts'
import { usd } from '../../src/protocol/units.ts'
import { crashedAt, crashStride, crashTimeoutMs } from '../support/crashStride.ts'
import { type PricePath, pathOf } from '../support/kinds.ts'
import { mortalTrader } from '../support/mortalTrader.ts'
import { testSigner } from '../support/trader.ts'
import { settle, venueBench } from '../support/venue.ts'

const base = {
  type: 'task',
  id: 'one-1',
  isPreview: false,
  market: 'ETH/USD [WETH-USDC]',
  direction: 'long',
  leverage: '5',
  maxOrders: 60,
  maxFees: '300',
} as const
const bracket: StartTaskCommand = {
  ...base,
  kind: 'bracket',
  size: '600',
  stopLoss: '1700',
  takeProfit: '1900',
}
const ladder: StartTaskCommand = {
  ...base,
  kind: 'ladder',
  size: '600',
  rungs: 2,
  stepBps: 200,
  profitBps: 300,
  stopBps: 900,
}
const chase: StartTaskCommand = {
  ...base,
  kind: 'chase',
  size: '600',
  reduce: false,
  minutes: 1,
  price: '1960',
  offsetBps: 20,
  stepBps: 10,
  maxMinutes: 30,
}

/** In two orders, for a limit cuts the first; between them the price is beyond its bound. */
const accumulate: StartTaskCommand = {
  ...base,
  kind: 'accumulate',
  target: '600',
  price: '1810',
  shareBps: 10_000,
  everySeconds: 15,
  least: '50',
}
const rebalance: StartTaskCommand = {
  ...{ type: 'task', id: 'one-1', isPreview: false, maxOrders: 60, maxFees: '300' },
  kind: 'rebalance',
  total: '1000',
  weights: { 'ETH/USD [WETH-USDC]': 5_000, 'BTC/USD [BTC-USDC]': -3_000 },
  leverage: '5',
  shareBps: 10_000,
}
/** What is held before the rebalance, which takes some of it off. */
const open: OpenCommand = {
  type: 'open',
  id: 'ope-1',
  isPreview: false,
  market: 'ETH/USD [WETH-USDC]',
  direction: 'long',
  size: '800',
  leverage: '5',
  collateral: 'short',
}

/** A task, what happens meanwhile, and what is to come of it. */
interface Story {
  readonly command: StartTaskCommand
  /** What was done before it. */
  readonly before?: OpenCommand
  readonly path: PricePath
  /** The account's limit of one order, USD; absent: none. */
  readonly maxOrderSizeUsd?: bigint
  /** What is held in the end, and what all entries came to, USD. */
  readonly heldUsd: bigint
  readonly enteredUsd: bigint
}

/** Tells the story with an end of the process at one boundary of it; gives how many there were, and what came of it. */
async function storyWith({ command, before, path, maxOrderSizeUsd }: Story, diesAt: number) {
  const bench = venueBench({
    settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0, replay: pathOf(path) },
    settled: () => settle(10),
  })
  const { clock, api } = bench
  const limits = { account: maxOrderSizeUsd === undefined ? {} : { maxOrderSizeUsd } }
  const daemon = mortalTrader(diesAt, clock, () => ({ ...bench, limits }))
  const { journal } = daemon
  const task = () => [...(journal.account().tasks?.values() ?? [])][0]
  await daemon.start()
  await clock.advance(1_000)
  if (before !== undefined) {
    await daemon.ask(before)
    await clock.advance(20_000)
  }
  daemon.count()
  await daemon.ask(command)
  for (let turn = 0; turn < 1_200 && task()?.end === undefined; turn += 1) {
    await daemon.advance(500)
  }
  daemon.abort()
  await clock.advance(10_000)
  const { value } = await api.getPositions({ account: testSigner.address }, { isFresh: true })
  const orders = await api.getOrders({ account: testSigner.address }, { isFresh: true })
  const made = journal.recentIntents()
  const filled = made.filter(({ closing, intent }) => {
    const isFilled = closing?.outcome === 'EXECUTED' || closing?.outcome === 'PARTIAL'
    return isFilled && intent.kind === 'increase'
  })
  return {
    boundaries: daemon.boundaries(),
    heldUsd: value.reduce((sum, { sizeInUsd }) => sum + sizeInUsd, 0n),
    resting: orders.value.length,
    outcome: task()?.end?.outcome,
    statement: task()?.end?.statement,
    enteredUsd: filled.reduce((sum, { intent }) => sum + intent.terms.sizeDeltaUsd, 0n),
    keys: made.map(({ intent }) => intent.decisionKey),
  }
}

const up: PricePath = [
  [0, 1_800],
  [150, 1_800],
  [250, 1_950],
]
const downAndUp: PricePath = [
  [0, 1_800],
  [150, 1_800],
  [200, 1_750],
  [350, 1_750],
  [450, 1_900],
]

/** Beyond the bound of the accumulation for a while. */
const upAndBack: PricePath = [
  [0, 1_800],
  [10, 1_800],
  [14, 1_850],
  [80, 1_850],
  [90, 1_790],
]

const stories: Readonly<Record<string, Story>> = {
  bracket: { command: bracket, path: up, heldUsd: 0n, enteredUsd: usd(600) },
  ladder: { command: ladder, path: downAndUp, heldUsd: 0n, enteredUsd: usd(600) },
  chase: { command: chase, path: up, heldUsd: usd(600), enteredUsd: usd(600) },
  accumulate: {
    command: accumulate,
    path: upAndBack,
    maxOrderSizeUsd: usd(350),
    heldUsd: usd(600),
    enteredUsd: usd(600),
  },
  rebalance: { command: rebalance, before: open, path: up, heldUsd: usd(800), enteredUsd: usd(1_100) },
}

test.each(Object.entries(stories))(
  'a crash between two steps of %s makes no order twice, and leaves no position or order behind',
  async (_kind, story) => {
    const { heldUsd, enteredUsd } = story
    const whole = await storyWith(story, 0)
    const expected = { outcome: 'done', heldUsd, resting: 0, enteredUsd }
    expect(whole).toMatchObject(expected)
    expect(whole.boundaries).toBeGreaterThan(20)
    // Each third boundary, by turns before a record and after one; all of them with `CRASH_STRIDE=1`.
    for (const at of crashedAt(whole.boundaries, 3, 1 + (whole.boundaries % crashStride(3)))) {
      const { outcome, resting, keys, ...told } = await storyWith(story, at)
      const { statement } = told
      expect({
        at,
        statement,
        outcome,
        heldUsd: told.heldUsd,
        resting,
        enteredUsd: told.enteredUsd,
      }).toEqual({ at, statement, ...expected })
      expect(new Set(keys).size).toBe(keys.length)
    }
  },
  crashTimeoutMs(3),
)
