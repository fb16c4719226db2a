/** A twap over the paper venue: over real sockets, in parts of perpd's own, and as the venue's own. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import type { StartTaskCommand } from '../../src/operator/taskBodies.ts'
import { usd } from '../../src/protocol/units.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'

const ann = { by: 'ann', via: 'control' } as const
const asked: StartTaskCommand = {
  type: 'task',
  kind: 'twap',
  id: 'one-1',
  market: ethSymbol,
  direction: 'long',
  size: '1000',
  reduce: false,
  leverage: '5',
  parts: 4,
  minutes: 2,
  shareBps: 2_500,
  route: 'own',
  maxFees: '200',
  isPreview: false,
}

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

async function started(account: Limits = {}) {
  bench = await kindsBench({})
  const { engine, events } = engineOver(bench, { account })
  running = engine
  await engine.start()
  const { clock, api } = bench
  const task = async () => (await engine.tasks())[0]
  const goOn = async (isSo: () => Promise<boolean>): Promise<void> => {
    for (let turn = 0; turn < 600 && !(await isSo()); turn += 1) await clock.advance(1_000)
    expect(await isSo()).toBe(true)
  }
  /** By the venue's list, once it is newer than the last fill. */
  const held = async () => {
    await clock.advance(5_000)
    const { value } = await api.getPositions({ account: engine.status().account }, { isFresh: true })
    return value.reduce((sum, { sizeInUsd }) => sum + sizeInUsd, 0n)
  }
  return { engine, events, clock, task, goOn, held }
}

test('a twap of our own opens its size in parts over its time, and another takes it off again', {
  timeout: 120_000,
}, async () => {
  const { engine, clock, task, goOn, held } = await started()
  const preview = await engine.operate({ ...asked, isPreview: true }, ann)
  expect(preview).toMatchObject({
    ok: true,
    statement: expect.stringMatching(
      /^it opens \$1,000\.00 of long ETH.* in 4 parts over 2 min, by orders of perpd; budget: 8 orders, at most \$[\d.]+ of fees \(20\.00% of its size\)(?:, about \$[\d.]+ expected)?, 4 min$/,
    ),
  })
  expect(await engine.tasks()).toEqual([])
  expect(await engine.operate(asked, ann)).toMatchObject({ ok: true })
  const begunAtMs = clock.now()
  await goOn(async () => (await task())?.orders === 2)
  expect(clock.now() - begunAtMs).toBeGreaterThanOrEqual(30_000)
  expect(await held()).toBeLessThanOrEqual(usd(500))
  await goOn(async () => (await task())?.outcome !== undefined)
  expect(await task()).toMatchObject({
    outcome: 'done',
    doneUsd: usd(1_000),
    orders: 4,
    statement: '$1,000.00 of $1,000.00 by 4 orders: all of it is filled',
  })
  expect(clock.now() - begunAtMs).toBeGreaterThanOrEqual(90_000)
  expect(await held()).toBe(usd(1_000))
  const { feesUsd = 0n, budget } = (await task()) ?? {}
  expect(feesUsd).toBeGreaterThan(0n)
  expect(feesUsd).toBeLessThanOrEqual(budget?.feesUsd ?? 0n)

  const { leverage: _, ...off } = asked
  const reduce: StartTaskCommand = { ...off, id: 'two-2', reduce: true, size: '600', parts: 2, minutes: 1 }
  expect(await engine.operate({ ...reduce, size: '1001' }, ann)).toMatchObject({
    code: 'SIZE_ABOVE_POSITION',
  })
  expect(await engine.operate(reduce, ann)).toMatchObject({ ok: true })
  await goOn(async () => (await task())?.taskId === 'twap:two-2' && (await task())?.outcome === 'done')
  expect(await held()).toBe(usd(400))
})

test('the same id is one task: asked again nothing is done, asked otherwise it is refused', async () => {
  const { engine } = await started()
  await engine.operate(asked, ann)
  expect(await engine.operate(asked, ann)).toMatchObject({
    ok: true,
    statement: expect.stringContaining('perpd does not repeat it'),
  })
  expect(await engine.operate({ ...asked, size: '2000' }, ann)).toMatchObject({ ok: false, code: 'ID_USED' })
  expect(await engine.tasks()).toHaveLength(1)
})

test("where it fits the venue's own twap has all parts in one message, and a stop cancels those that rest", {
  timeout: 120_000,
}, async () => {
  const { engine, task, goOn, held } = await started()
  const command: StartTaskCommand = { ...asked, route: 'auto', minutes: 10 }
  expect(await engine.operate({ ...command, isPreview: true }, ann)).toMatchObject({
    statement: expect.stringContaining("by the venue's own twap"),
  })
  await engine.operate(command, ann)
  await goOn(async () => ((await task())?.doneUsd ?? 0n) > 0n)
  expect(bench?.venue.record()).toHaveLength(1)
  expect(await task()).toMatchObject({ orders: 4, waits: expect.stringContaining('parts of it rest') })
  expect(await engine.operate({ type: 'task-stop', task: 'twap:', reason: 'enough' }, ann)).toMatchObject({
    ok: true,
  })
  expect((await task())?.standing).toBe('stopping')
  await goOn(async () => (await task())?.outcome !== undefined)
  const report = await task()
  expect(report).toMatchObject({ outcome: 'stopped', statement: expect.stringContaining('ann: enough') })
  expect(await held()).toBe(report?.doneUsd)
  expect(report?.openUsd).toBe(0n)
  expect(report?.doneUsd).toBeLessThan(usd(1_000))
  const { account } = engine.status()
  expect((await bench?.api.getOrders({ account }))?.value).toEqual([])
})

test('a halt makes a task wait and say so; what was missed is caught up by one part more at a time', {
  timeout: 120_000,
}, async () => {
  const { engine, events, clock, task, goOn, held } = await started()
  await engine.operate(asked, ann)
  await goOn(async () => (await task())?.doneUsd === usd(250))
  await engine.operate({ type: 'trading', scope: 'global', state: 'halted', reason: 'a look' }, ann)
  await clock.advance(70_000)
  expect(await task()).toMatchObject({ orders: 1, waits: 'trading is halted: a look' })
  expect(events.filter(({ type }) => type === 'task.waits')).toHaveLength(1)
  await engine.operate({ type: 'trading', scope: 'global', state: 'active', reason: 'on' }, ann)
  await goOn(async () => (await task())?.orders === 2)
  expect(await held()).toBe(usd(750))
  await goOn(async () => (await task())?.outcome === 'done')
  expect(await held()).toBe(usd(1_000))
})

test('a kill ends every task in the commit of its own record, and none begins while it holds', async () => {
  const { engine, task, goOn } = await started()
  await engine.operate(asked, ann)
  await goOn(async () => (await task())?.orders === 1)
  await engine.operate({ type: 'kill', close: true }, ann)
  expect(await task()).toMatchObject({ outcome: 'stopped', statement: expect.stringContaining('kill') })
  expect(await engine.operate({ ...asked, id: 'two-2' }, ann)).toMatchObject({ code: 'TRADING_HALTED' })
  await goOn(async () => engine.status().kill?.outcome === 'done')
  expect((await task())?.orders).toBe(1)
})

test('a price bound and a limit of the account hold a task back, and its time ends it', {
  timeout: 120_000,
}, async () => {
  const { engine, task, goOn, held } = await started({ maxPositionSizeUsd: usd(300) })
  await engine.operate({ ...asked, id: 'bound-1', price: '1' }, ann)
  await goOn(async () => (await task())?.outcome !== undefined)
  expect(await task()).toMatchObject({ outcome: 'out of budget', orders: 0, doneUsd: 0n })
  await engine.operate({ ...asked, id: 'limit-1' }, ann)
  await goOn(
    async () =>
      (await task())?.taskId === 'twap:limit-1' && (await task())?.waits?.startsWith('MAX_') === true,
  )
  expect(await held()).toBe(usd(300))
  await goOn(async () => (await task())?.outcome !== undefined)
  expect(await task()).toMatchObject({ outcome: 'out of budget', doneUsd: usd(300) })
})
