/** A resting order is moved by one edit of the same order, with the checks of a price that is typed; what somebody maintains is left to them. */
import { afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import type { ExitSettings } from '../../src/domain/order/exitSettings.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import { type Usd, usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { defineStrategy, type Strategy, z } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

const opening = {
  ...{ type: 'open', market: ethSymbol, direction: 'long', collateral: 'short' },
  ...{ size: '500', leverage: '2', isPreview: false },
}

/** A running engine, and what rests. */
async function trading(strategies: readonly LoadedStrategy[] = []) {
  bench = await kindsBench({})
  const { clock, journal } = bench
  const { engine } = engineOver(bench, { strategies })
  running = engine
  await engine.start()
  const ask = (command: object) => engine.operate(command as OperatorCommand, { by: 'ann', via: 'control' })
  const rest = async () => {
    await clock.advance(60_000)
    return engine.status().restingOrders
  }
  const edits = async () => (await journal.intents()).filter(({ intent }) => intent.kind === 'edit')
  return { ask, rest, edits, clock }
}

/** Whole dollars of a price. */
const dollarsOf = (price: Usd | null | undefined) => (price ?? 0n) / usd('1')

test('an exit of an order by hand is moved by one edit of the same order, once for one id', async () => {
  const { ask, rest, edits } = await trading()
  await ask({ ...opening, id: 'one1', stopLoss: '1000', takeProfit: '9000' })
  const before = await rest()
  const stop = before.find(({ type }) => type === 'stop')
  const move = { type: 'move', id: 'two2', order: stop?.orderKey, price: '1100' }
  expect(await ask({ ...move, isPreview: true })).toEqual({
    ok: true,
    statement: expect.stringMatching(/ from \$1,000\.00 to \$1,100\.00 would be accepted now$/),
  })
  expect(await ask({ ...move, price: '900', isPreview: true })).toMatchObject({ ok: true, isLooser: true })
  const target = before.find(({ type }) => type === 'target')?.orderKey
  const nearer = await ask({ ...move, order: target, price: '8000', isPreview: true })
  expect(nearer).not.toHaveProperty('isLooser')
  // Of protect too, by what rests and by what it planned.
  const protect = { type: 'protect', market: ethSymbol, direction: 'long', own: false, isPreview: true }
  for (const [stopLoss, isLooser] of [
    ['1100', undefined],
    ['900', true],
    ['none', true],
  ] as const)
    expect(await ask({ ...protect, stopLoss })).toEqual({
      ok: true,
      statement: expect.any(String),
      ...(isLooser ? { isLooser } : {}),
    })
  expect(await ask({ ...protect, takeProfit: 'none' })).not.toHaveProperty('isLooser')
  expect(await edits()).toEqual([])
  expect(await ask(move)).toMatchObject({ ok: true, intentId: expect.any(String) })
  const after = await rest()
  expect(after.map(({ orderKey }) => orderKey)).toEqual(before.map(({ orderKey }) => orderKey))
  expect(dollarsOf(after.find(({ type }) => type === 'stop')?.triggerPrice)).toBe(1_100n)
  expect(await ask(move)).toMatchObject({ ok: true, statement: expect.stringContaining('done before') })
  expect(await ask({ ...move, price: '1200' })).toMatchObject({ ok: false, code: 'ID_USED' })
  const made = await edits()
  expect(made.map(({ intent }) => intent.terms.edit?.orderKey)).toEqual([stop?.orderKey])
})

test('a stop beyond the liquidation, and a trigger across the mark, are refused, and nothing is made', async () => {
  const { ask, rest, edits } = await trading()
  await ask({ ...opening, leverage: '10', id: 'one1', stopLoss: '1700', takeProfit: '9000' })
  const rows = await rest()
  const keyOf = (wanted: string) => rows.find(({ type }) => type === wanted)?.orderKey
  const moved = async (type: string, price: string, isPreview: boolean) => {
    const answer = await ask({ type: 'move', id: `${type}-${price}`, order: keyOf(type), price, isPreview })
    return answer.ok ? 'ok' : answer.code
  }
  for (const isPreview of [true, false])
    expect([
      await moved('stop', '10', isPreview),
      await moved('stop', '8000', isPreview),
      await moved('target', '100', isPreview),
    ]).toEqual(['STOP_BEHIND_LIQUIDATION', 'TRIGGER_WOULD_FIRE', 'TRIGGER_WOULD_FIRE'])
  expect(await edits()).toEqual([])
})

test('an entry that waits is moved; of an order with several parts the part must be named, and one that ended is not moved', async () => {
  const { ask, rest } = await trading()
  const waiting = await ask({ ...opening, id: 'one1', limit: '1000', far: true, stopLoss: '900' })
  const intentId = waiting.ok ? (waiting.intentId ?? '') : ''
  const rows = await rest()
  expect(await ask({ type: 'move', id: 'two2', order: intentId, price: '1050' })).toMatchObject({
    code: 'ORDER_AMBIGUOUS',
  })
  const limit = rows.find(({ type }) => type === 'limit')
  expect(await ask({ type: 'move', id: 'two2', order: limit?.orderKey, price: '1050' })).toMatchObject({
    ok: true,
  })
  expect(
    (await rest()).map(({ type, triggerPrice }) => `${type} ${dollarsOf(triggerPrice)}`).toSorted(),
  ).toEqual(['limit 1050', 'stop 900'])
  await ask({ type: 'cancel', id: 'three', order: intentId })
  await rest()
  expect(await ask({ type: 'move', id: 'four', order: intentId, price: '1100' })).toMatchObject({
    code: 'ORDER_ENDED',
  })
  expect(await ask({ type: 'move', id: 'five', order: '0xabcd', price: '1100' })).toMatchObject({
    code: 'ORDER_NOT_FOUND',
  })
})

test('a move and a cancel of an order that is too new for the list of the venue say so, and go through when it is listed', async () => {
  const { ask, rest, clock } = await trading()
  await ask({ ...opening, id: 'one1', stopLoss: '1000' })
  const [stop] = await rest()
  const key = stop?.orderKey ?? '0x'
  const orders = bench?.venue.venueState.orders ?? new Map()
  const row = orders.get(key)
  expect(orders.delete(key)).toBe(true)
  await clock.advance(2_000)
  const early = [
    { type: 'move', id: 'two2', order: key, price: '1100' },
    { type: 'cancel', id: 'two3', order: key },
  ]
  for (const command of early) expect(await ask(command)).toMatchObject({ code: 'ORDER_NOT_RESTING' })
  orders.set(key, row)
  await clock.advance(2_000)
  expect(await ask({ type: 'move', id: 'two4', order: key, price: '1100' })).toMatchObject({ ok: true })
})

test('an exit that was planned moves with its plan, by one edit, and stays there', async () => {
  const { ask, rest, edits } = await trading()
  await ask({ ...opening, id: 'one1' })
  await rest()
  await ask({ type: 'protect', market: ethSymbol, direction: 'long', stopLoss: '1000', own: false })
  const [stop] = await rest()
  expect(await ask({ type: 'move', id: 'two2', order: stop?.orderKey, price: '10' })).toMatchObject({
    code: 'STOP_BEHIND_LIQUIDATION',
  })
  expect(await ask({ type: 'move', id: 'two3', order: stop?.orderKey, price: '1100' })).toMatchObject({
    ok: true,
  })
  for (const rows of [await rest(), await rest()])
    expect(rows.map(({ orderKey, triggerPrice }) => [orderKey, dollarsOf(triggerPrice)])).toEqual([
      [stop?.orderKey, 1_100n],
    ])
  expect(new Set((await edits()).map(({ intent }) => intent.terms.edit?.orderKey))).toEqual(
    new Set([stop?.orderKey]),
  )
})

test('an exit that was planned is not cancelled but removed with its plan, and one planned anew rests within seconds', async () => {
  const { ask, rest, clock } = await trading()
  await ask({ ...opening, id: 'one1' })
  await rest()
  const protect = { type: 'protect', market: ethSymbol, direction: 'long', own: false }
  await ask({ ...protect, stopLoss: '1000' })
  const [stop] = await rest()
  for (const order of [stop?.orderKey, stop?.intentId])
    expect(await ask({ type: 'cancel', id: `not-${order}`, order })).toMatchObject({
      code: 'ORDER_MAINTAINED',
      reason: expect.stringContaining(`perpd protect "${ethSymbol}" long --stop-loss none`),
    })
  expect(await rest()).toMatchObject([{ orderKey: stop?.orderKey }])
  expect(await ask({ ...protect, stopLoss: 'none' })).toMatchObject({
    ok: true,
    statement: expect.not.stringContaining('maintains this'),
  })
  for (let at = 0; at < 10; at += 1) await clock.advance(500)
  expect(await ask({ ...protect, stopLoss: '1100' })).toMatchObject({
    statement: expect.stringContaining('perpd maintains this'),
  })
  for (let at = 0; at < 10; at += 1) await clock.advance(500)
  expect((await ask({ ...opening, id: 'two2', isPreview: true })).ok).toBe(true)
  expect(await rest()).toMatchObject([{ type: 'stop' }])
})

test('an exit of an order by hand that nobody planned is cancelled as before', async () => {
  const { ask, rest } = await trading()
  await ask({ ...opening, id: 'one1', stopLoss: '1000' })
  const [stop] = await rest()
  expect(await ask({ type: 'cancel', id: 'two2', order: stop?.orderKey })).toMatchObject({ ok: true })
  expect(await rest()).toEqual([])
})

/** A strategy that opens once with a stop; its file asks for one too, or does not. */
function onceWithStop(isKept: boolean): LoadedStrategy {
  const kind = defineStrategy({
    ...{ kind: 'once', description: 'Opens once with a stop.', params: z.strictObject({}) },
    needs: () => ({ symbols: [ethSymbol] }),
    decide(view) {
      const market = view.market(ethSymbol)
      if (market === undefined || view.positions().length > 0) return []
      const tpsl = [{ type: 'stop-loss', triggerPrice: usd('1000') }] as const
      const side = { marketToken: market.market.marketToken, direction: 'long' } as const
      const collateralToken = market.shortToken.address
      const size = { sizeDeltaUsd: usd('500'), leverageBps: 20_000, collateralToken }
      return [{ kind: 'increase', ...side, ...size, tpsl, reason: 'once' }]
    },
  }) as Strategy
  const loaded: LoadedStrategy = {
    ...{ name: 'once', path: 'once.yaml', strategy: kind, params: {}, symbols: [], symbolPlaces: [] },
    ...{ limits: {}, onRemove: 'keep' as const, written: {}, cadenceMs: 3_600_000 },
    ...{ needs: { symbols: [ethSymbol] }, instance: { name: 'once', symbols: [] } },
  }
  const exits: ExitSettings = {
    ...{ stopLoss: { bps: 5_000 }, takeProfits: [], moveEveryMs: 60_000, moveStepUsd: 0n },
    range: { period: '1h', candles: 14 },
  }
  return isKept ? { ...loaded, exits } : loaded
}

test('an order of a running strategy is left to it, and the refusal names both', async () => {
  const { ask, rest, edits } = await trading([onceWithStop(false)])
  const [stop] = await rest()
  expect(stop).toMatchObject({ ownerKind: 'instance', owner: 'once' })
  expect(await ask({ type: 'move', id: 'two2', order: stop?.orderKey, price: '1100' })).toMatchObject({
    ok: false,
    code: 'ORDER_MAINTAINED',
    reason: expect.stringContaining('once'),
  })
  expect(await edits()).toEqual([])
})

test.each([true, false])(
  'a stop of a running strategy is cancelled only where its file does not place it again: %s',
  async (isKept) => {
    const { ask, rest } = await trading([onceWithStop(isKept)])
    const [stop] = await rest()
    const answer = await ask({ type: 'cancel', id: 'one1', order: stop?.orderKey })
    expect(answer).toMatchObject(isKept ? { ok: false, code: 'ORDER_MAINTAINED' } : { ok: true })
    expect(await rest()).toHaveLength(isKept ? 1 : 0)
  },
)
