/** Every kind of operation from a decision to its end, over real sockets to the paper venue; in whatever lane, by whatever evidence. */
import { afterEach, beforeAll, expect, test } from 'vitest'
import type { Decision } from '../../src/domain/order/decision.ts'
import { labelOf, lastAttempt } from '../../src/domain/order/intent.ts'
import { usd } from '../../src/protocol/units.ts'
import { usdc } from '../support/intents.ts'
import {
  ethSymbol,
  type KindsBench,
  type KindsOptions,
  kindsBench,
  type PricePath,
  priceAt,
} from '../support/kinds.ts'

let bench: KindsBench | undefined

let options: KindsOptions = {}

async function world(path?: PricePath): Promise<KindsBench> {
  bench = await kindsBench(path === undefined ? options : { ...options, path })
  return bench
}

async function base(at: KindsBench) {
  return {
    marketToken: await at.marketToken(ethSymbol),
    direction: 'long',
    collateralToken: usdc,
    reason: 'the test wishes it',
  } as const
}

async function opened(at: KindsBench, sizeUsd = 500): Promise<void> {
  const intent = await at.accept({
    ...(await base(at)),
    kind: 'increase',
    sizeDeltaUsd: usd(sizeUsd),
    leverageBps: 20_000,
  })
  await at.clock.advance(5_000)
  expect(at.story(intent.intentId).closing).toMatchObject({ outcome: 'EXECUTED' })
}

/** Sends a decision and lets some seconds pass. */
async function carried(at: KindsBench, decision: Decision, ms = 5_000) {
  const { intentId } = await at.accept(decision)
  await at.clock.advance(ms)
  const state = at.story(intentId)
  return { intentId, state, label: labelOf(state), children: lastAttempt(state)?.children ?? [] }
}

const refusals = (at: KindsBench) =>
  at.events.flatMap((event) =>
    event.type === 'order.payload_rejected'
      ? event.differences.map(({ field, expected, found }) => `${field}: ${expected}, not ${found}`)
      : [],
  )

/** Declares the tests of all kinds on benches of these options. */
export function testKinds(chosen: KindsOptions): void {
  beforeAll(() => {
    options = chosen
  })
  // Here and not above: files of the deep tier share modules, which run once.
  afterEach(async () => {
    await bench?.close()
    bench = undefined
  })

  test('a limit order rests, and executes when the price falls to it', async () => {
    const at = await world([
      [0, 2000],
      [30, 2000],
      [40, 1940],
    ])
    const placed = await carried(at, {
      ...(await base(at)),
      kind: 'increase',
      orderType: 'limit',
      triggerPrice: usd(1950),
      sizeDeltaUsd: usd(300),
      leverageBps: 20_000,
    })
    expect(refusals(at)).toEqual([])
    expect(placed.label).toBe('resting')
    await at.clock.advance(60_000)
    expect(at.story(placed.intentId).closing).toMatchObject({
      outcome: 'EXECUTED',
      settlement: { sizeDeltaUsd: usd(300) },
    })
    const [position] = (await at.snapshot()).positions.value
    expect(position?.sizeInUsd).toBe(usd(300))
  })

  test('a stop-market order rests, and executes when the price rises to it', async () => {
    const at = await world([
      [0, 2000],
      [30, 2000],
      [40, 2060],
    ])
    const placed = await carried(at, {
      ...(await base(at)),
      kind: 'increase',
      orderType: 'stop-market',
      triggerPrice: usd(2050),
      sizeDeltaUsd: usd(300),
      leverageBps: 20_000,
    })
    expect(placed.label).toBe('resting')
    await at.clock.advance(60_000)
    expect(at.story(placed.intentId).closing).toMatchObject({ outcome: 'EXECUTED' })
  })

  test('an increase brings its exits; the one that is reached closes the position and the other ends with it', async () => {
    const at = await world([
      [0, 2000],
      [30, 2000],
      [40, 2110],
    ])
    const placed = await carried(at, {
      ...(await base(at)),
      kind: 'increase',
      sizeDeltaUsd: usd(300),
      leverageBps: 20_000,
      tpsl: [
        { type: 'take-profit', triggerPrice: usd(2100) },
        { type: 'stop-loss', triggerPrice: usd(1900) },
      ],
    })
    expect(refusals(at)).toEqual([])
    expect(placed.label).toBe('resting')
    expect(placed.children.map(({ role, phase }) => [role, phase])).toEqual([
      ['main', 'EXECUTED'],
      ['take-profit', 'OPEN'],
      ['stop-loss', 'OPEN'],
    ])
    await at.clock.advance(60_000)
    const state = at.story(placed.intentId)
    expect(state.closing).toMatchObject({ outcome: 'EXECUTED' })
    expect(lastAttempt(state)?.children.map(({ phase }) => phase)).toEqual([
      'EXECUTED',
      'EXECUTED',
      'CANCELLED',
    ])
    expect((await at.snapshot()).positions.value).toEqual([])
  })

  test('a twap opens in equal parts over its time', async () => {
    const at = await world()
    const placed = await carried(at, {
      ...(await base(at)),
      kind: 'increase',
      orderType: 'twap',
      twap: { parts: 4, durationSeconds: 60 },
      sizeDeltaUsd: usd(401) + 3n,
      leverageBps: 20_000,
    })
    expect(refusals(at)).toEqual([])
    expect(placed.children.map(({ role }) => role)).toEqual(['part', 'part', 'part', 'part'])
    expect(placed.label).toBe('resting')
    await at.clock.advance(120_000)
    expect(at.story(placed.intentId).closing).toMatchObject({ outcome: 'EXECUTED' })
    const [position] = (await at.snapshot()).positions.value
    expect(position?.sizeInUsd).toBe(usd(401))
  })

  test('exits that are placed later rest beside the position, and a twap reduces it in parts', async () => {
    const at = await world()
    await opened(at)
    const common = { ...(await base(at)), kind: 'decrease', keepLeverage: false } as const
    const snapshot = await at.snapshot()
    for (const [orderType, movedBps] of [
      ['take-profit', 1000],
      ['stop-loss', -1000],
    ] as const) {
      const placed = await carried(at, {
        ...common,
        orderType,
        triggerPrice: priceAt(snapshot, common.marketToken, movedBps),
        sizeDeltaUsd: usd(500),
      })
      expect([orderType, refusals(at), placed.label]).toEqual([orderType, [], 'resting'])
    }
    const twap = await carried(
      at,
      { ...common, orderType: 'twap', twap: { parts: 2, durationSeconds: 20 }, sizeDeltaUsd: usd(200) },
      60_000,
    )
    expect(twap.state.closing).toMatchObject({ outcome: 'EXECUTED' })
    const [position] = (await at.snapshot()).positions.value
    expect(position?.sizeInUsd).toBe(usd(300))
  })

  test('a close takes the exits with it', async () => {
    const at = await world()
    await opened(at)
    const common = await base(at)
    const placed = await carried(at, {
      ...common,
      kind: 'decrease',
      keepLeverage: false,
      orderType: 'stop-loss',
      triggerPrice: priceAt(await at.snapshot(), common.marketToken, -1000),
      sizeDeltaUsd: usd(500),
    })
    const closed = await carried(at, { ...common, kind: 'close' }, 60_000)
    expect(closed.state.closing).toMatchObject({ outcome: 'EXECUTED' })
    expect(at.story(placed.intentId).closing).toMatchObject({ outcome: 'CANCELLED' })
  })

  test('an order that rests is edited, and then cancelled', async () => {
    const at = await world()
    const common = await base(at)
    const snapshot = await at.snapshot()
    const placed = await carried(at, {
      ...common,
      kind: 'increase',
      orderType: 'limit',
      triggerPrice: priceAt(snapshot, common.marketToken, -2000),
      sizeDeltaUsd: usd(300),
      leverageBps: 20_000,
    })
    const [child] = placed.children
    if (child === undefined) throw new Error('the order should rest')
    const triggerPrice = priceAt(snapshot, common.marketToken, -1900)
    const edited = await carried(at, {
      ...common,
      kind: 'edit',
      orderKey: child.orderKey,
      triggerPrice,
      sizeDeltaUsd: usd(350),
    })
    expect([refusals(at), edited.label]).toEqual([[], 'executed'])
    expect((await at.snapshot()).orders.value).toMatchObject([
      { orderKey: child.orderKey, sizeDeltaUsd: usd(350), triggerContractPrice: triggerPrice / 10n ** 18n },
    ])
    const cancelled = await carried(at, { ...common, kind: 'cancel', orderKeys: [child.orderKey] })
    expect([refusals(at), cancelled.label]).toEqual([[], 'executed'])
    expect((await at.snapshot()).orders.value).toEqual([])
    expect(at.story(placed.intentId).closing).toMatchObject({ outcome: 'CANCELLED' })
  })

  test('collateral goes in and comes out', async () => {
    const at = await world()
    await opened(at)
    const common = await base(at)
    const before = (await at.snapshot()).positions.value[0]?.collateralAmount ?? 0n
    const paid = await carried(at, { ...common, kind: 'collateral-in', amount: 50_000_000n })
    expect([refusals(at), paid.label]).toEqual([[], 'executed'])
    const between = (await at.snapshot()).positions.value[0]?.collateralAmount ?? 0n
    expect(between).toBeGreaterThan(before + 49_000_000n)
    const taken = await carried(at, { ...common, kind: 'collateral-out', amount: 60_000_000n })
    expect([refusals(at), taken.label]).toEqual([[], 'executed'])
    const after = (await at.snapshot()).positions.value[0]?.collateralAmount ?? 0n
    expect(after).toBeLessThan(between - 59_000_000n)
  })

  test('a swap buys the long token of a pool with the short one, and sells it again', async () => {
    const at = await world()
    const common = await base(at)
    const held = async (symbol: string) =>
      (await at.snapshot()).balances?.value.find((token) => token.symbol === symbol)?.balance ?? 0n
    const before = await held('WETH')
    const bought = await carried(at, { ...common, kind: 'swap', payAmount: 100_000_000n })
    expect([refusals(at), bought.label]).toEqual([[], 'executed'])
    const gained = (await held('WETH')) - before
    expect(gained).toBeGreaterThan(0n)
    const sold = await carried(at, { ...common, direction: 'short', kind: 'swap', payAmount: gained })
    expect([refusals(at), sold.label]).toEqual([[], 'executed'])
    // What the relay and the keeper did not need of the fee came back as the same token.
    const left = (await held('WETH')) - before
    expect(left).toBeGreaterThanOrEqual(0n)
    expect(left).toBeLessThan(10n ** 15n)
  })
}
