/** Tasks that make orders over time, over the paper venue: over real sockets, on price paths of the test's own. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import type { StartTaskCommand } from '../../src/operator/taskBodies.ts'
import { cancelOrder } from '../../src/paper/keeper/orderEnds.ts'
import type { Order } from '../../src/protocol/position.ts'
import { formatUsd, priceOfContractPrice, type Usd, usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { collateralTokenOf, defineStrategy, z } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { btcSymbol, ethSymbol, type KindsBench, kindsBench, type PricePath } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

const ann = { by: 'ann', via: 'control' } as const
const base = { type: 'task', id: 'one-1', isPreview: false, maxFees: '200' } as const
const long = { market: ethSymbol, direction: 'long', leverage: '5' } as const
const bracket: StartTaskCommand = {
  ...base,
  ...long,
  kind: 'bracket',
  size: '600',
  stopLoss: '1700',
  takeProfit: '1900',
}
const ladder: StartTaskCommand = {
  ...base,
  ...long,
  kind: 'ladder',
  size: '700',
  rungs: 3,
  growthBps: 20_000,
  stepBps: 200,
  profitBps: 300,
  stopBps: 900,
}
const chase: StartTaskCommand = {
  ...base,
  ...long,
  kind: 'chase',
  size: '600',
  reduce: false,
  minutes: 4,
  price: '1900',
  offsetBps: 20,
  stepBps: 10,
}

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

async function started(
  path: PricePath = [[0, 1_800]],
  account: Limits = {},
  strategies: readonly LoadedStrategy[] = [],
) {
  bench = await kindsBench({ path })
  const { engine, events } = engineOver(bench, { account, strategies })
  running = engine
  await engine.start()
  const { clock, api } = bench
  const task = async () => (await engine.tasks())[0]
  const goOn = async (isSo: () => Promise<boolean>, turns = 900): Promise<void> => {
    for (let turn = 0; turn < turns && !(await isSo()); turn += 1) await clock.advance(1_000)
    const { waits, outcome, statement } = (await task()) ?? {}
    expect({ isSo: await isSo(), waits, outcome, statement }).toMatchObject({ isSo: true })
  }
  const start = async (command: StartTaskCommand) => {
    expect(await engine.operate(command, ann)).toMatchObject({ ok: true })
  }
  const { account: address } = engine.status()
  const orders = async () => (await api.getOrders({ account: address }, { isFresh: true })).value
  /** By the venue's list, once it is newer than the last fill. */
  const held = async () => {
    await clock.advance(5_000)
    const { value } = await api.getPositions({ account: address }, { isFresh: true })
    return value
  }
  const heldUsd = async () => (await held()).reduce((sum, { sizeInUsd }) => sum + sizeInUsd, 0n)
  const ended = async (turns?: number) => {
    await goOn(async () => (await task())?.outcome !== undefined, turns)
    return await task()
  }
  return { engine, events, clock, task, goOn, start, orders, held, heldUsd, ended }
}

/** Opens one long of this size, and decides nothing more. */
const opensOnce = (sizeDeltaUsd: Usd) =>
  defineStrategy({
    kind: 'opens-once',
    description: 'Opens once.',
    params: z.strictObject({}),
    needs: (_params, symbols) => ({ symbols }),
    decide(view) {
      const market = view.market(ethSymbol)
      if (market === undefined || view.ownPositions().length + view.openIntents.length > 0) return []
      const collateralToken = collateralTokenOf(market, 'short')
      const { marketToken } = market.market
      const order = { kind: 'increase', marketToken, direction: 'long', collateralToken } as const
      return [{ ...order, sizeDeltaUsd, leverageBps: 20_000, reason: 'once' }]
    },
  })

const plain = (amountUsd: bigint) => formatUsd(amountUsd).replaceAll(/[$,]/g, '')
const ethTrigger = ({ triggerContractPrice }: Order) => priceOfContractPrice(triggerContractPrice, 18)
const triggers = (orders: readonly Order[]) =>
  orders
    .map((order) => `${plain(ethTrigger(order))}: ${plain(order.sizeDeltaUsd)}`)
    .sort((one, other) => one.localeCompare(other))

test('a bracket brings its stop and target with the entry, and the target that fills cancels the stop', {
  timeout: 120_000,
}, async () => {
  const { start, goOn, task, orders, heldUsd, ended } = await started([
    [0, 1_800],
    [120, 1_800],
    [240, 1_950],
  ])
  await start(bracket)
  await goOn(async () => (await task())?.doneUsd === usd(600))
  expect(triggers(await orders())).toEqual(['1700.00: 600.00', '1900.00: 600.00'])
  expect(await heldUsd()).toBe(usd(600))
  expect(await ended()).toMatchObject({
    outcome: 'done',
    exitedUsd: usd(600),
    statement: expect.stringContaining('an exit closed it'),
  })
  expect(await heldUsd()).toBe(0n)
  expect(await orders()).toEqual([])
})

test('a bracket that is stopped after its entry leaves its exits at the venue, and before it cancels everything', {
  timeout: 120_000,
}, async () => {
  const { engine, start, goOn, task, orders, heldUsd, ended } = await started()
  await start({ ...bracket, entry: '1750' })
  await goOn(async () => (await task())?.waits === 'its entry rests at the venue')
  expect(await orders()).toHaveLength(3)
  await engine.operate({ type: 'task-stop', task: 'bracket:', reason: 'enough' }, ann)
  expect(await ended()).toMatchObject({ outcome: 'stopped', doneUsd: 0n })
  expect(await orders()).toEqual([])

  await start({ ...bracket, id: 'two-2' })
  await goOn(async () => (await task())?.doneUsd === usd(600))
  await engine.operate({ type: 'task-stop', task: 'bracket:two-2', reason: 'enough' }, ann)
  await goOn(async () => (await task())?.taskId === 'bracket:two-2' && (await task())?.outcome !== undefined)
  expect(await task()).toMatchObject({
    statement: expect.stringContaining('2 exits of it rest at the venue'),
  })
  expect(triggers(await orders())).toEqual(['1700.00: 600.00', '1900.00: 600.00'])
  expect(await heldUsd()).toBe(usd(600))
})

test('a bracket places a stop anew that somebody cancelled, and ends when its position is closed by hand', {
  timeout: 240_000,
}, async () => {
  const { engine, start, goOn, task, orders, ended, clock } = await started()
  await start(bracket)
  await goOn(async () => (await task())?.waits === 'its exits rest at the venue')
  const [stop] = (await orders()).filter((order) => ethTrigger(order) < usd(1_800))
  expect(stop).toBeDefined()
  const cancel = { type: 'cancel', order: stop?.orderKey ?? '0x', id: 'can-1' } as const
  expect(await engine.operate(cancel as never, ann)).toMatchObject({ ok: false, code: 'ORDER_MAINTAINED' })
  const { venueState } = (bench as KindsBench).venue
  const atVenue = [...venueState.orders.values()].find(({ key }) => key === stop?.orderKey)
  // By another program, with the account's key.
  cancelOrder(venueState, atVenue as NonNullable<typeof atVenue>, 'USER_INITIATED_CANCEL', clock.now())
  await goOn(async () => (await orders()).length === 1)
  await goOn(async () => (await orders()).length === 2)
  expect(triggers(await orders())).toEqual(['1700.00: 600.00', '1900.00: 600.00'])
  const close = { type: 'close', id: 'clo-1', market: ethSymbol, direction: 'long', shareBps: 10_000 }
  expect(await engine.operate(close as never, ann)).toMatchObject({ ok: true })
  await clock.advance(20_000)
  expect(await ended()).toMatchObject({ outcome: 'stopped', statement: expect.stringContaining('is gone') })
  expect(await orders()).toEqual([])
})

test('a bracket whose part a hand closed takes its exits off and ends, though another has a part of the position', {
  timeout: 240_000,
}, async () => {
  const holder = loadedOf(opensOnce(usd(1_400)), 'holder', [ethSymbol], { cadenceMs: 2_000 })
  const { engine, start, goOn, task, orders, ended, heldUsd } = await started(
    [
      [0, 1_800],
      [400, 1_800],
      [460, 1_650],
    ],
    {},
    [holder],
  )
  await goOn(async () => (await heldUsd()) === usd(1_400))
  await start(bracket)
  await goOn(async () => (await task())?.waits === 'its exits rest at the venue')
  expect(await heldUsd()).toBe(usd(2_000))
  const close = { type: 'close', id: 'clo-1', market: ethSymbol, direction: 'long' }
  expect(await engine.operate({ ...close, shareBps: 1_500 } as never, ann)).toMatchObject({ ok: true })
  // What its exits would close is another's from the next look on.
  await goOn(async () => triggers(await orders()).join() === '1700.00: 300.00,1900.00: 300.00', 60)
  expect(await engine.operate({ ...close, id: 'clo-2', shareBps: 1_765 } as never, ann)).toMatchObject({
    ok: true,
  })
  expect(await ended(240)).toMatchObject({
    outcome: 'stopped',
    statement: expect.stringContaining('is gone'),
  })
  expect(await orders()).toEqual([])
  expect(await heldUsd()).toBeGreaterThan(usd(1_399))
})

test('exits of two brackets of one owner come to no more than its part: what a hand took off it is taken off the newer one first', {
  timeout: 240_000,
}, async () => {
  const { engine, start, goOn, orders, heldUsd } = await started()
  const resting = async () =>
    (await engine.tasks()).filter(({ waits }) => waits === 'its exits rest at the venue')
  await start(bracket)
  await goOn(async () => (await resting()).length === 1)
  await start({ ...bracket, id: 'tsk-2', stopLoss: '1650', takeProfit: '1950' })
  await goOn(async () => (await resting()).length === 2)
  expect(await heldUsd()).toBe(usd(1_200))
  const close = { type: 'close', market: ethSymbol, direction: 'long' }
  expect(await engine.operate({ ...close, id: 'clo-1', shareBps: 2_500 } as never, ann)).toMatchObject({
    ok: true,
  })
  const [older, newer] = ['1700.00: 600.00,1900.00: 600.00', '1650.00: 300.00,1950.00: 300.00']
  const sorted = (rows: string) =>
    rows
      .split(',')
      .sort((one, other) => one.localeCompare(other))
      .join()
  await goOn(async () => triggers(await orders()).join() === sorted(`${older},${newer}`), 90)
  expect(await engine.operate({ ...close, id: 'clo-2', shareBps: 6_667 } as never, ann)).toMatchObject({
    ok: true,
  })
  await goOn(async () => (await orders()).length === 2, 200)
  expect(triggers(await orders()).join()).toMatch(/^1700\.00: 299\.\d\d,1900\.00: 299\.\d\d$/)
})

test('exits on the wrong side, a ladder whose stop is before its last rung and a target that is reached are refused', async () => {
  const { engine } = await started()
  const told = async (command: StartTaskCommand) => {
    const answer = await engine.operate(command, ann)
    return answer.ok ? answer.statement : answer.code
  }
  expect(await told({ ...bracket, stopLoss: '1850' })).toBe('EXIT_MISPLACED')
  expect(await told({ ...bracket, takeProfit: '1750' })).toBe('EXIT_MISPLACED')
  expect(await told({ ...bracket, direction: 'short' })).toBe('EXIT_MISPLACED')
  expect(await told({ ...ladder, stopBps: 400 })).toBe('LADDER_STEP')
  expect(await told({ ...bracket, maxFees: '0.01' })).toBe('TASK_BUDGET')
  expect(await told({ ...bracket, isPreview: true })).toContain('as a bracket; budget: 2 orders')
  expect(await engine.tasks()).toEqual([])
})

test('fees that may exceed 2 % of the size of a task are shown, and agreed to before it starts', async () => {
  const { engine } = await started()
  const { maxFees: _, ...bare } = chase
  const shown = await engine.operate({ ...bare, isPreview: true }, ann)
  const fees = shown.ok ? shown.maxFees : undefined
  // Two orders and four moves, each by what it may be signed for, and the venue's fee.
  expect(Number(fees)).toBeGreaterThan(12)
  // The figure stands where the budget is, and in the way to agree to it; with it the fees that are to be expected.
  const words = shown.ok ? shown.statement : ''
  expect(words.split(`$${fees}`)).toHaveLength(2)
  expect(words.split(`--max-fees ${fees}`)).toHaveLength(2)
  const [, expected] = / of fees \([\d.]+% of its size\), about \$([\d.]+) expected,/.exec(words) ?? []
  expect([Number(expected) > 0, Number(expected) < Number(fees)]).toEqual([true, true])
  expect(await engine.operate(bare, ann)).toMatchObject({ ok: false, code: 'BUDGET_HIGH' })
  expect(await engine.tasks()).toEqual([])
  expect(await engine.operate({ ...bare, maxFees: fees ?? '0' }, ann)).toMatchObject({
    ok: true,
    taskId: expect.stringContaining('chase:'),
  })
  expect(await engine.tasks()).toHaveLength(1)
  // The same start, sent again before it was shown: it is the one that runs.
  for (const again of [bare, { ...bare, isPreview: true }]) {
    const answer = await engine.operate(again, ann)
    expect(answer.ok ? answer.statement : answer.code).toContain('does not repeat it')
  }
  const large = await engine.operate({ ...bare, id: 'two-2', size: '60000', isPreview: true }, ann)
  expect(large).toMatchObject({ ok: true })
  expect(large).not.toHaveProperty('maxFees')
})

test('a ladder rests its rungs, its target follows the averaged entry, its stop stays, and one exit ends it', {
  timeout: 240_000,
}, async () => {
  const { start, goOn, task, orders, heldUsd, ended } = await started([
    [0, 1_800],
    [100, 1_800],
    [160, 1_755],
    [400, 1_755],
    [520, 1_850],
  ])
  await start(ladder)
  await goOn(async () => (await orders()).length === 4)
  // The first rung of $100 at the market, then $200 at 2 % below and $400 at 4 % below, a target and a stop for the first.
  const [stop, third, second, target] = triggers(await orders())
  expect([stop, third, second]).toEqual([
    expect.stringMatching(/^1638\.\d+: 100\.00$/),
    expect.stringMatching(/^1728\.\d+: 400\.00$/),
    expect.stringMatching(/^1764\.\d+: 200\.00$/),
  ])
  expect(target).toMatch(/^185\d\.\d+: 100\.00$/)
  await goOn(async () => (await task())?.doneUsd === usd(300))
  await goOn(async () => triggers(await orders()).filter((row) => row.endsWith(' 300.00')).length === 2)
  const after = triggers(await orders())
  expect(after[0]?.split(':')[0]).toBe(stop?.split(':')[0])
  // (100 + 200) / (100 / 1800 + 200 / 1764) is about 1776, and 3 % above it 1829.
  expect(after.at(-1)).toMatch(/^18[23]\d\.\d+: 300\.00$/)
  expect(await heldUsd()).toBe(usd(300))
  expect(await ended()).toMatchObject({ outcome: 'done', doneUsd: usd(300), exitedUsd: usd(300) })
  expect(await heldUsd()).toBe(0n)
  expect(await orders()).toEqual([])
})

test('a ladder by time without exits makes a rung at a time and is done with the last', {
  timeout: 120_000,
}, async () => {
  const { clock, start, heldUsd, ended } = await started()
  const { stepBps: _, profitBps: __, stopBps: ___, ...byTime } = ladder
  const begunAtMs = clock.now()
  await start({ ...byTime, everySeconds: 60 })
  expect(await ended()).toMatchObject({ outcome: 'done', orders: 3 })
  expect(clock.now() - begunAtMs).toBeGreaterThanOrEqual(120_000)
  expect(await heldUsd()).toBe(usd(700))
})

test('a chase moves its limit after a price that runs away, never beyond its bound, and takes the rest at the market', {
  timeout: 120_000,
}, async () => {
  const { start, goOn, task, orders, heldUsd, ended } = await started([
    [0, 1_800],
    [30, 1_800],
    [120, 1_860],
  ])
  await start({ ...chase, price: '1880' })
  await goOn(async () => (await orders()).length === 1)
  const [first] = await orders()
  expect(first === undefined ? 0n : ethTrigger(first)).toBeLessThan(usd(1_800))
  await goOn(async () => {
    const [now] = await orders()
    return now !== undefined && ethTrigger(now) > usd(1_830)
  })
  const [later] = await orders()
  expect(later?.orderKey).toBe(first?.orderKey)
  expect(await ended()).toMatchObject({ outcome: 'done', doneUsd: usd(600) })
  expect((await task())?.orders).toBeGreaterThan(2)
  expect(await heldUsd()).toBe(usd(600))
  expect(await orders()).toEqual([])
})

test('a chase whose bound the price passed rests at its bound, makes nothing beyond it, and ends with its time', {
  timeout: 120_000,
}, async () => {
  const { start, orders, heldUsd, ended, goOn } = await started([
    [0, 1_800],
    [30, 1_800],
    [60, 1_900],
  ])
  await start({ ...chase, price: '1810' })
  const highest: bigint[] = []
  await goOn(async () => {
    highest.push(...(await orders()).map(ethTrigger))
    return highest.at(-1) === usd(1_810)
  })
  expect(await ended()).toMatchObject({ outcome: 'out of budget', doneUsd: 0n })
  expect(highest.every((price) => price <= usd(1_810))).toBe(true)
  expect(await heldUsd()).toBe(0n)
  expect(await orders()).toEqual([])
})

test('an accumulation adds to what is held until the target, and waits while the price is beyond its bound', {
  timeout: 120_000,
}, async () => {
  const { engine, start, goOn, task, heldUsd, ended } = await started([
    [0, 1_800],
    [60, 1_800],
    [90, 1_850],
    [200, 1_850],
    [260, 1_780],
  ])
  const open = { type: 'open', id: 'ope-1', market: ethSymbol, direction: 'long', size: '200', leverage: '5' }
  expect(await engine.operate(open as never, ann)).toMatchObject({ ok: true })
  expect(await heldUsd()).toBe(usd(200))
  const accumulate: StartTaskCommand = {
    ...base,
    ...long,
    kind: 'accumulate',
    target: '900',
    price: '1810',
    shareBps: 1,
    everySeconds: 40,
    least: '50',
  }
  await start({ ...accumulate, shareBps: 10_000, maxOrders: 5 })
  await goOn(async () => ((await task())?.doneUsd ?? 0n) > 0n)
  expect(await ended()).toMatchObject({ outcome: 'done', sizeUsd: usd(700), doneUsd: usd(700) })
  expect(await heldUsd()).toBe(usd(900))
  expect(await engine.operate({ ...accumulate, id: 'two-2' }, ann)).toMatchObject({ code: 'TARGET_REACHED' })
  await start({ ...accumulate, id: 'thr-3', target: '1500', price: '1', maxMinutes: 1 })
  await goOn(
    async () => (await task())?.taskId === 'accumulate:thr-3' && (await task())?.outcome !== undefined,
  )
  expect(await task()).toMatchObject({ outcome: 'out of budget', orders: 0 })
})

test('a rebalance takes off what is too much before it adds, and comes to the weights', {
  timeout: 120_000,
}, async () => {
  const { engine, start, held, ended, events } = await started()
  const open = { type: 'open', id: 'ope-1', market: ethSymbol, direction: 'long', size: '800', leverage: '5' }
  expect(await engine.operate(open as never, ann)).toMatchObject({ ok: true })
  expect(await held()).toHaveLength(1)
  const rebalance: StartTaskCommand = {
    ...base,
    kind: 'rebalance',
    total: '1000',
    weights: { [ethSymbol]: 5_000, [btcSymbol]: -3_000 },
    leverage: '5',
    shareBps: 10_000,
  }
  await start(rebalance)
  expect(await ended()).toMatchObject({ outcome: 'done', sizeUsd: usd(600), doneUsd: usd(600), orders: 2 })
  const rows = (await held()).map(({ direction, sizeInUsd }) => `${direction} ${plain(sizeInUsd)}`)
  expect(rows.sort((one, other) => one.localeCompare(other))).toEqual(['long 500.00', 'short 300.00'])
  const made = events.flatMap((event) => (event.type === 'decision.admitted' ? [event.intent.kind] : []))
  expect(made.slice(-2)).toEqual(['decrease', 'increase'])
  expect(await engine.operate({ ...rebalance, id: 'two-2' }, ann)).toMatchObject({ code: 'TARGET_REACHED' })
})
