/** The process ends before or after every third record, by turns, that is written while a bracket, a ladder or a chase runs to its end. */
import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import type { OperatorCommand } from '../../src/engine/operator/operatorCommand.ts'
import type {
  StartBracketCommand,
  StartChaseCommand,
  StartLadderCommand,
  StartTaskCommand,
} from '../../src/engine/operator/taskCommand.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { usd } from '../../src/protocol/units.ts'
import { dyingJournal } from '../support/dyingJournal.ts'
import { type PricePath, pathOf } from '../support/kinds.ts'
import { testSigner, testTrader } from '../support/trader.ts'
import { settle, venueBench } from '../support/venue.ts'

const base = {
  type: 'task',
  id: 'one-1',
  isPreview: false,
  market: 'ETH/USD [WETH-USDC]',
  direction: 'long',
  leverage: '5',
  maxOrders: 60,
} as const
const bracket: StartBracketCommand = {
  ...base,
  kind: 'bracket',
  size: '600',
  stopLoss: '1700',
  takeProfit: '1900',
}
const ladder: StartLadderCommand = {
  ...base,
  kind: 'ladder',
  size: '600',
  rungs: 2,
  stepBps: 200,
  profitBps: 300,
  stopBps: 900,
}
const chase: StartChaseCommand = {
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

/** Tells the story with an end of the process at one boundary of it; gives how many there were, and what came of it. */
async function storyWith(command: StartTaskCommand, path: PricePath, diesAt: number) {
  const bench = venueBench({
    settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0, replay: pathOf(path) },
    settled: () => settle(10),
  })
  const { clock, api } = bench
  const journal = createMemoryJournal()
  let boundaries = 0
  let engine: Engine | undefined
  let isCounting = false
  let isDown = false
  const run = async (): Promise<void> => {
    const made = testTrader({
      ...bench,
      journal: dyingJournal(journal, () => {
        if (!isCounting) return false
        boundaries += 1
        if (boundaries !== diesAt) return false
        engine?.abort()
        isDown = true
        return true
      }),
    })
    engine = made.trader
    isDown = false
    await made.trader.start()
  }
  /** He asks until he is answered, and with yes. */
  const ask = async (wish: OperatorCommand): Promise<void> => {
    let isAnswered = false
    while (!isAnswered) {
      void engine?.operate(wish, { by: 'ann', via: 'control' }).then((answer) => {
        isAnswered ||= answer.ok
      })
      await clock.advance(50)
      if (isDown) await run()
    }
  }
  const task = () => [...(journal.account().tasks?.values() ?? [])][0]
  await run()
  await clock.advance(1_000)
  isCounting = true
  await ask(command)
  for (let turn = 0; turn < 1_200 && task()?.end === undefined; turn += 1) {
    await clock.advance(500)
    if (isDown) await run()
  }
  engine?.abort()
  await clock.advance(10_000)
  const { value } = await api.getPositions({ account: testSigner.address }, { isFresh: true })
  const orders = await api.getOrders({ account: testSigner.address }, { isFresh: true })
  const made = journal.recentIntents()
  const filled = made.filter(({ closing, intent }) => {
    const isFilled = closing?.outcome === 'EXECUTED' || closing?.outcome === 'PARTIAL'
    return isFilled && intent.kind === 'increase'
  })
  return {
    boundaries,
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

test.each([
  ['bracket', bracket, up, 0n],
  ['ladder', ladder, downAndUp, 0n],
  ['chase', chase, up, usd(600)],
] as const)(
  'a crash between two steps of a %s makes no order twice, and leaves no position or order behind',
  async (_kind, command, path, heldUsd) => {
    const whole = await storyWith(command, path, 0)
    const expected = { outcome: 'done', heldUsd, resting: 0, enteredUsd: usd(600) }
    expect(whole).toMatchObject(expected)
    expect(whole.boundaries).toBeGreaterThan(20)
    // Each third boundary: by turns before a record and after one.
    for (let at = 1 + (whole.boundaries % 3); at <= whole.boundaries; at += 3) {
      const { outcome, resting, enteredUsd, keys, ...told } = await storyWith(command, path, at)
      const { statement } = told
      expect({ at, statement, outcome, heldUsd: told.heldUsd, resting, enteredUsd }).toEqual({
        at,
        statement,
        ...expected,
      })
      expect(new Set(keys).size).toBe(keys.length)
    }
  },
  600_000,
)
