/** Tasks that strategies begin and end, over the paper venue: in their own name, once for a label, in the commit of their memory. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import { usualMoves, usualRange } from '../../src/domain/order/exitSettings.ts'
import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import {
  defineStrategy,
  type OwnTask,
  type Strategy,
  type StrategyDecision,
  type StrategyView,
  type TaskWish,
  z,
} from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'
import { mortalTrader } from '../support/mortalTrader.ts'
import { settle, venueBench } from '../support/venue.ts'

const ann = { by: 'ann', via: 'control' } as const

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

type Decide = (view: StrategyView) => readonly StrategyDecision[]

/** An instance whose kind asks for whatever `decide` says. */
function asking(name: string, decide: Decide): LoadedStrategy {
  const strategy = defineStrategy({
    kind: name,
    description: 'Asks for tasks.',
    params: z.object({}),
    needs: () => ({ symbols: [ethSymbol] }),
    decide: (view): readonly StrategyDecision[] => decide(view as StrategyView),
  }) as Strategy
  return loadedOf(strategy, name, [ethSymbol])
}

async function started(
  make: (marketToken: `0x${string}`) => readonly LoadedStrategy[],
  limits: Readonly<Record<string, Limits>> = {},
) {
  bench = await kindsBench({
    path: [
      [0, 1_800],
      [300, 1_800],
      [400, 1_950],
    ],
  })
  const marketToken = await bench.marketToken(ethSymbol)
  const { engine, events, codes } = engineOver(bench, { strategies: make(marketToken), limits })
  running = engine
  await engine.start()
  const { clock, journal } = bench
  const goOn = async (isSo: () => boolean | Promise<boolean>): Promise<void> => {
    for (let turn = 0; turn < 900 && !(await isSo()); turn += 1) await clock.advance(1_000)
    const [task] = await engine.tasks()
    expect({ isSo: await isSo(), task }).toMatchObject({ isSo: true })
  }
  return { engine, events, codes, clock, journal, goOn }
}

const bracketOf = (marketToken: `0x${string}`): Extract<TaskWish, { kind: 'bracket' }> => ({
  kind: 'bracket',
  marketToken,
  direction: 'long',
  collateralToken: usdc,
  sizeUsd: usd(600),
  leverageBps: 50_000,
  stopLoss: usd(1_700),
  takeProfit: usd(1_900),
})

test('a strategy begins a task once for a label, sees how far it is, and its orders and book are its own', {
  timeout: 120_000,
}, async () => {
  const seen: (readonly OwnTask[])[] = []
  const { engine, events, journal, goOn } = await started((marketToken) => [
    asking('opener', (view) => {
      seen.push(view.tasks)
      // It asks at every turn: the label makes it one.
      return [{ kind: 'start-task', label: 'first', task: bracketOf(marketToken), reason: 'it is time' }]
    }),
    asking('other', (view) => {
      expect(view.tasks).toEqual([])
      return []
    }),
  ])
  await goOn(() => seen.at(-1)?.[0]?.doneUsd === usd(600))
  expect(seen[0]).toEqual([])
  expect(seen.at(-1)).toMatchObject([{ label: 'first', kind: 'bracket', standing: 'running', exitedUsd: 0n }])
  const intents = journal.recentIntents()
  expect(intents.map(({ intent }) => [intent.strategy, intent.kind])).toEqual([['opener', 'increase']])
  const books = journal
    .books()
    .all()
    .map(({ strategy, sizeUsd }) => [strategy, sizeUsd])
  expect(books).toEqual([['opener', usd(600)]])
  expect(events.filter(({ type }) => type === 'task.started')).toHaveLength(1)
  await goOn(() => seen.at(-1)?.[0]?.standing === 'ended')
  expect(seen.at(-1)).toMatchObject([{ outcome: 'done', doneUsd: usd(600), exitedUsd: usd(600) }])
  expect(await engine.tasks()).toMatchObject([
    { taskId: 'bracket:opener/first', by: 'opener', outcome: 'done' },
  ])
})

test('a strategy ends a task of its own by its label, and one that it has not is denied', {
  timeout: 120_000,
}, async () => {
  let word: 'start' | 'stop' | 'other' = 'start'
  const { engine, codes, goOn } = await started((marketToken) => [
    asking('opener', () => {
      if (word === 'start') {
        const task = { ...bracketOf(marketToken), entryPrice: usd(1_750) }
        return [{ kind: 'start-task', label: 'first', task, reason: 'it is time' }]
      }
      const label = word === 'stop' ? 'first' : 'second'
      return [{ kind: 'stop-task', label, reason: 'the signal is gone' }]
    }),
  ])
  await goOn(async () => (await engine.tasks())[0]?.waits === 'its entry rests at the venue')
  word = 'stop'
  await goOn(async () => (await engine.tasks())[0]?.standing === 'ended')
  expect(await engine.tasks()).toMatchObject([
    { outcome: 'stopped', statement: expect.stringContaining('opener: the signal is gone') },
  ])
  word = 'other'
  await goOn(() => codes().includes('TASK_NOT_FOUND'))
})

test('what the exits close that a task left at the venue is shown after its end too', {
  timeout: 120_000,
}, async () => {
  const seen: (readonly OwnTask[])[] = []
  let isWanted = true
  const { goOn } = await started((marketToken) => [
    asking('opener', (view) => {
      seen.push(view.tasks)
      return isWanted
        ? [{ kind: 'start-task', label: 'first', task: bracketOf(marketToken), reason: 'it is time' }]
        : [{ kind: 'stop-task', label: 'first', reason: 'the signal is gone' }]
    }),
  ])
  await goOn(() => seen.at(-1)?.[0]?.doneUsd === usd(600))
  isWanted = false
  await goOn(() => seen.at(-1)?.[0]?.standing === 'ended')
  expect(seen.at(-1)).toMatchObject([{ outcome: 'stopped', exitedUsd: 0n }])
  await goOn(() => seen.at(-1)?.[0]?.exitedUsd === usd(600))
})

test('a task that cannot be is denied with its code, and what is no task names the field', async () => {
  const wishes: unknown[] = []
  const { events, codes, goOn } = await started((marketToken) => {
    const bracket = bracketOf(marketToken)
    wishes.push(
      { ...bracket, stopLoss: usd(1_900) },
      { ...bracket, kind: 'brackets' },
      { ...bracket, sizeUsd: 600 },
      { ...bracket, stop: usd(1_700) },
    )
    return [
      asking('opener', () =>
        wishes.map((task, at) => {
          const label = `task-${at}`
          return { kind: 'start-task', label, task, reason: 'it is time' } as unknown as StrategyDecision
        }),
      ),
    ]
  })
  await goOn(() => codes().includes('EXIT_MISPLACED'))
  const invalid = events.flatMap((event) => (event.type === 'decision.invalid' ? [event.denial.reason] : []))
  expect(invalid.slice(0, 3)).toEqual([
    expect.stringMatching(/task\.kind is "brackets"; expected twap/),
    expect.stringMatching(/task\.sizeUsd is the number 600; expected a bigint, usd\('600'\)/),
    expect.stringMatching(/task\.stop is not a field of task bracket; did you mean/),
  ])
})

test('a file with exits takes no bracket, and no ladder with exits of its own, and one without them', {
  timeout: 120_000,
}, async () => {
  const ladder = (marketToken: `0x${string}`, own: object): TaskWish => ({
    ...{ kind: 'ladder', marketToken, direction: 'long', collateralToken: usdc, sizeUsd: usd(200) },
    ...{ leverageBps: 50_000, rungs: 2, everySeconds: 30, ...own },
  })
  const { engine, codes, goOn } = await started((marketToken) => {
    const asks = asking('opener', () => [
      { kind: 'start-task', label: 'one', task: bracketOf(marketToken), reason: 'it is time' },
      { kind: 'start-task', label: 'two', task: ladder(marketToken, { stopLossBps: 500 }), reason: 'now' },
      { kind: 'start-task', label: 'three', task: ladder(marketToken, {}), reason: 'now' },
    ])
    const exits = { takeProfits: [], ...usualMoves, range: usualRange, stopLoss: { bps: 300 } }
    return [{ ...asks, exits }]
  })
  await goOn(async () => (await engine.tasks())[0]?.doneUsd === usd(200))
  expect((await engine.tasks()).map(({ taskId }) => taskId)).toEqual(['ladder:opener/three'])
  expect([...new Set(codes())]).toEqual(['EXITS_TWICE'])
})

test("limits of the instance hold for its tasks' orders, and a pause by an operator makes them wait", {
  timeout: 120_000,
}, async () => {
  const ladder = (marketToken: `0x${string}`): TaskWish => ({
    kind: 'ladder',
    marketToken,
    direction: 'long',
    collateralToken: usdc,
    sizeUsd: usd(600),
    leverageBps: 50_000,
    rungs: 3,
    everySeconds: 30,
    stopLossBps: 900,
  })
  const { engine, clock, goOn } = await started(
    (marketToken) => [
      asking('opener', () => [
        { kind: 'start-task', label: 'first', task: ladder(marketToken), reason: 'it is time' },
      ]),
    ],
    { opener: { maxPositionSizeUsd: usd(400) } },
  )
  const task = async () => (await engine.tasks())[0]
  await goOn(async () => (await task())?.doneUsd === usd(200))
  await engine.operate({ type: 'switch', strategy: 'opener', to: 'paused', reason: 'I look' }, ann)
  await clock.advance(60_000)
  // Its stop is placed nevertheless: a position is not left alone.
  expect(await task()).toMatchObject({
    doneUsd: usd(200),
    waits: expect.stringContaining('ann paused opener'),
  })
  expect(bench?.journal.recentIntents().map(({ intent }) => intent.terms.orderType)).toContain('stop-loss')
  await engine.operate({ type: 'switch', strategy: 'opener', to: 'running', reason: 'go on' }, ann)
  await goOn(async () => (await task())?.waits?.startsWith('MAX_') === true)
  expect((await task())?.doneUsd).toBe(usd(400))
})

test("a strategy's accumulation comes to its target by its own part, though an operator has a part too and adds to it", {
  timeout: 120_000,
}, async () => {
  let isAsked = false
  const { engine, codes, journal, clock, goOn } = await started((marketToken) => [
    asking('opener', () => {
      const task: TaskWish = {
        ...{ kind: 'accumulate', marketToken, direction: 'long', collateralToken: usdc },
        ...{ targetUsd: usd(400), leverageBps: 50_000, worstPrice: usd(1_900), shareBps: 10_000 },
        ...{ everySeconds: 10, leastUsd: usd(10) },
      }
      return isAsked ? [{ kind: 'start-task', label: 'first', task, reason: 'it is time' }] : []
    }),
  ])
  const open = { type: 'open', market: ethSymbol, direction: 'long', leverage: '5' } as const
  expect(await engine.operate({ ...open, id: 'ope-1', size: '500' } as never, ann)).toMatchObject({
    ok: true,
  })
  const side = { marketToken: await (bench as KindsBench).marketToken(ethSymbol), direction: 'long' } as const
  const held = (name: string) => journal.books().heldBy(name, { ...side, collateralToken: usdc })
  await goOn(() => held('@operator') === usd(500))
  isAsked = true
  await goOn(async () => (await engine.tasks())[0]?.standing === 'ended')
  expect(await engine.tasks()).toMatchObject([
    { outcome: 'done', sizeUsd: usd(400), statement: expect.stringContaining('all of it is filled') },
  ])
  expect([held('opener'), held('@operator')]).toEqual([usd(400), usd(500)])
  // One by hand goes by the whole position, once it is listed.
  await clock.advance(20_000)
  const task = {
    type: 'task',
    kind: 'accumulate',
    market: ethSymbol,
    direction: 'long',
    leverage: '5',
  } as const
  const byHand = { ...task, id: 'acc-1', target: '900', price: '1900', isPreview: false }
  expect(await engine.operate(byHand as never, ann)).toMatchObject({ code: 'TARGET_REACHED' })
  expect(codes()).toEqual([])
})

test("a strategy's rebalance and reductions move its own part alone, and reckon with no other's", {
  timeout: 120_000,
}, async () => {
  let wish: { readonly label: string; readonly task: TaskWish } | undefined
  const { engine, events, journal, goOn } = await started((marketToken) => [
    asking('opener', () =>
      wish === undefined ? [] : [{ kind: 'start-task', ...wish, reason: `for ${marketToken}` }],
    ),
  ])
  const marketToken = await (bench as KindsBench).marketToken(ethSymbol)
  const open = { type: 'open', market: ethSymbol, direction: 'long', leverage: '5' } as const
  expect(await engine.operate({ ...open, id: 'ope-1', size: '500' } as never, ann)).toMatchObject({
    ok: true,
  })
  const side = { marketToken, direction: 'long', collateralToken: usdc } as const
  const held = () => ['opener', '@operator'].map((name) => journal.books().heldBy(name, side))
  await goOn(() => held()[1] === usd(500))
  const ended = (label: string) => async () =>
    (await engine.tasks()).some(({ taskId, standing }) => taskId.endsWith(label) && standing === 'ended')
  const rebalance = (weightBps: number): TaskWish => ({
    ...{ kind: 'rebalance', totalUsd: usd(1_000), leverageBps: 50_000, shareBps: 10_000 },
    weights: [{ marketToken, collateralToken: usdc, weightBps }],
  })
  wish = { label: 'up', task: rebalance(5_000) }
  await goOn(ended('up'))
  expect(held()).toEqual([usd(500), usd(500)])
  wish = { label: 'down', task: rebalance(2_000) }
  await goOn(ended('down'))
  expect(held()).toEqual([usd(200), usd(500)])
  const twap = { kind: 'twap', ...side, action: 'decrease', parts: 2, minutes: 1, route: 'own' } as const
  wish = { label: 'more', task: { ...twap, sizeUsd: usd(600) } }
  const denials = () => events.flatMap((event) => (event.type === 'decision.denied' ? [event.denial] : []))
  await goOn(() => denials().length > 0)
  expect(denials()[0]).toEqual({
    code: 'SIZE_ABOVE_POSITION',
    reason: 'its own part of the position is $200.00, which is less than $600.00',
  })
  wish = { label: 'none', task: rebalance(0) }
  await goOn(ended('none'))
  expect(held()).toEqual([0n, usd(500)])
  expect((await engine.tasks()).every(({ outcome }) => outcome === 'done')).toBe(true)
})

test('a kind with a memory begins its task in the commit of the memory, through a death at every boundary', {
  timeout: 240_000,
}, async () => {
  const story = async (diesAt: number) => {
    const venue = venueBench({
      settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0 },
      settled: () => settle(10),
    })
    const listed = (await venue.api.getMarkets()).value.find(({ symbol }) => symbol === ethSymbol)
    const marketToken = listed?.marketToken ?? '0x'
    const strategy = defineStrategy({
      kind: 'counter',
      description: 'Begins one task for each count.',
      params: z.object({}),
      memory: { version: 1, schema: z.object({ begun: z.number() }), first: { begun: 0 } },
      needs: () => ({ symbols: [ethSymbol] }),
      decide: (view, memory) => {
        const isIdle = view.tasks.every(({ standing }) => standing === 'ended')
        if (!isIdle || memory.begun === 2) return { decisions: [], memory }
        const task: TaskWish = {
          kind: 'ladder',
          marketToken,
          direction: 'long',
          collateralToken: usdc,
          sizeUsd: usd(200),
          leverageBps: 50_000,
          rungs: 2,
          everySeconds: 10,
        }
        const begun = memory.begun + 1
        const label = `task-${begun}`
        return {
          decisions: [{ kind: 'start-task', label, task, reason: 'the next' }],
          memory: { begun },
        }
      },
    }) as Strategy
    const daemon = mortalTrader(diesAt, venue.clock, () => ({
      ...venue,
      strategies: [loadedOf(strategy, 'counter', [ethSymbol])],
    }))
    const { journal } = daemon
    await daemon.start()
    daemon.count()
    const tasks = () => [...(journal.account().tasks?.values() ?? [])]
    const isOver = () => tasks().length === 2 && tasks().every(({ end }) => end !== undefined)
    for (let turn = 0; turn < 800 && !isOver(); turn += 1) {
      await daemon.advance(500)
    }
    daemon.abort()
    const memory = journal.account().memories?.get('counter')?.memory
    const outcomes = tasks().map(
      ({ taskId, end }) => `${taskId} ${end?.outcome}, ${end?.statement?.slice(0, 18)}`,
    )
    return { boundaries: daemon.boundaries(), memory, outcomes }
  }
  const whole = await story(0)
  const expected = {
    memory: { begun: 2 },
    outcomes: [
      'ladder:counter/task-1 done, $200.00 of $200.00',
      'ladder:counter/task-2 done, $200.00 of $200.00',
    ],
  }
  expect(whole).toMatchObject(expected)
  expect(whole.boundaries).toBeGreaterThan(20)
  for (let at = 1; at <= whole.boundaries; at += 1) {
    const { memory, outcomes } = await story(at)
    expect({ at, memory, outcomes }).toEqual({ at, ...expected })
  }
})
