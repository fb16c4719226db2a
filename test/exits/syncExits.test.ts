/** Properties of the keeping of exits: whatever rests and wherever the price is, they fit the part, and no stop goes back. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createAheadStamps } from '../../src/account/aheadStamps.ts'
import type { Decision } from '../../src/domain/order/decision.ts'
import { type PricedExits, usualRange } from '../../src/domain/order/exitSettings.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import { syncExits } from '../../src/exits/syncExits.ts'
import type { Order } from '../../src/protocol/position.ts'
import {
  contractPriceOf,
  MAX_UINT256,
  priceOfContractPrice,
  type Usd,
  usd,
} from '../../src/protocol/units.ts'
import { MARKET, marketView, NOW_MS, oraclePrice, order, position, snapshot, USDC } from '../risk/world.ts'
import { manualClock } from '../support/venue.ts'

type Direction = 'long' | 'short'

const side = { marketToken: MARKET, collateralToken: USDC } as const

/** A resting exit of the instance: the venue's row. */
interface Exit {
  readonly type: 'stop-loss' | 'take-profit'
  readonly sizeUsd: number
  readonly triggerUsd: number
  readonly ageSeconds: number
}

const keyOf = (index: number): `0x${string}` => `0x${(index + 1).toString(16).padStart(64, '0')}`

function rowOf({ type, sizeUsd, triggerUsd, ageSeconds }: Exit, index: number, direction: Direction): Order {
  return order({
    direction,
    orderKey: keyOf(index),
    orderType: type === 'stop-loss' ? 6 : 5,
    sizeDeltaUsd: sizeUsd === Number.POSITIVE_INFINITY ? MAX_UINT256 : usd(sizeUsd),
    triggerContractPrice: contractPriceOf(usd(triggerUsd), 18),
    updatedAtSeconds: NOW_MS / 1000 - ageSeconds,
  })
}

/** One landed increase whose exits they all are. */
function stateOf(exits: readonly Exit[], direction: Direction): IntentState {
  const children = exits.map(({ type }, index) => ({
    index,
    orderKey: keyOf(index),
    role: type,
    phase: 'OPEN',
  }))
  const terms = {
    marketToken: MARKET,
    direction,
    collateralToken: { address: USDC },
    orderType: 'market',
  }
  const intent = { intentId: 'a'.repeat(24), kind: 'increase', terms, acceptedAtMs: NOW_MS - 60_000 }
  return { intent, attempts: [{ phase: 'LANDED', children }] } as unknown as IntentState
}

/** What is held, at which price, and where a stop was lost. */
interface World {
  readonly direction: Direction
  readonly ownUsd: number
  readonly heldUsd: number
  readonly priceUsd: number
  readonly lostUsd?: number
}

/** The nearest stop of the part by the journal: of those that rest and the one that was lost. */
function nearestOf(resting: readonly Exit[], { direction, lostUsd }: World): number | undefined {
  const stops = resting.flatMap(({ type, triggerUsd }) => (type === 'stop-loss' ? [triggerUsd] : []))
  const all = [...stops, ...(lostUsd === undefined ? [] : [lostUsd])]
  if (all.length === 0) return undefined
  return direction === 'long' ? Math.max(...all) : Math.min(...all)
}

function decided(
  exits: PricedExits,
  resting: readonly Exit[],
  world: World,
  states = resting.length === 0 ? [] : [stateOf(resting, world.direction)],
  clock: { readonly settledMs?: (atMs: number) => number; readonly atMs?: number } = {},
): readonly Decision[] {
  return decidedBy(exits, resting, world, states, new Set(), clock)
}

/** The same of orders that are of these intents, of which those of `ofTasks` are of tasks that run. */
function decidedBy(
  exits: PricedExits,
  resting: readonly Exit[],
  world: World,
  states: readonly IntentState[],
  ofTasks: ReadonlySet<string> = new Set(),
  { atMs = NOW_MS, ...clock }: { readonly settledMs?: (atMs: number) => number; readonly atMs?: number } = {},
): readonly Decision[] {
  const { direction, ownUsd, heldUsd, priceUsd } = world
  const price = oraclePrice({ minPrice: usd(priceUsd), maxPrice: usd(priceUsd) })
  const view = { ...marketView(), oraclePrice: { value: price, atMs: NOW_MS } }
  const part = {
    ...{ ...side, direction },
    sizeUsd: usd(ownUsd),
    sizeInTokens: (usd(ownUsd) * 10n ** 18n) / usd(2_000),
    costUsd: usd(ownUsd),
    collateral: 0n,
    carriedUsd: 0n,
    sizeTime: 0n,
  }
  const nearest = nearestOf(resting, world)
  return syncExits({
    exitsOn: () => exits,
    ...clock,
    snapshot: {
      ...snapshot({
        view,
        positions: [position({ direction, sizeInUsd: usd(heldUsd) })],
        orders: resting.map((exit, index) => rowOf(exit, index, direction)),
      }),
      atMs,
    },
    states,
    ofTasks,
    parts: [part],
    enteredMs: () => NOW_MS - 60_000,
    nearestStop: () => (nearest === undefined ? undefined : contractPriceOf(usd(nearest), 18)),
  })
}

/** Sizes and triggers of one type after the decisions, as the venue would have them. */
function after(
  decisions: readonly Decision[],
  resting: readonly Exit[],
  type: Exit['type'],
): readonly { readonly sizeUsd: Usd; readonly trigger: Usd; readonly before?: Usd }[] {
  const left = resting.flatMap((exit, index) => {
    if (exit.type !== type) return []
    const key = keyOf(index)
    const isCancelled = decisions.some((each) => each.kind === 'cancel' && each.orderKeys.includes(key))
    const edit = decisions.find((each) => each.kind === 'edit' && each.orderKey === key)
    if (isCancelled) return []
    const changed = edit?.kind === 'edit' ? edit : undefined
    const before = priceOfContractPrice(contractPriceOf(usd(exit.triggerUsd), 18), 18)
    return [
      {
        sizeUsd: changed?.sizeDeltaUsd ?? usd(exit.sizeUsd),
        trigger: changed?.triggerPrice ?? before,
        before,
      },
    ]
  })
  const placed = decisions.flatMap((each) =>
    each.kind === 'decrease' && each.orderType === type
      ? [{ sizeUsd: each.sizeDeltaUsd, trigger: each.triggerPrice ?? 0n }]
      : [],
  )
  return [...left, ...placed]
}

const distance = fc.integer({ min: 10, max: 3_000 }).map((bps) => ({ bps }))
const plans = fc
  .record({
    stopLoss: distance,
    trailing: fc.option(fc.record({ distance, activation: fc.option(distance) })),
    after: fc.option(distance),
    targets: fc.array(distance, { maxLength: 2 }),
  })
  .map(
    ({ stopLoss, trailing, after: profit, targets }): PricedExits => ({
      stopLoss,
      takeProfits: targets.map((target) => ({ ...target, shareBps: 10_000 / targets.length })),
      ...(trailing === null
        ? {}
        : {
            trailingStop: {
              distance: trailing.distance,
              ...(trailing.activation === null ? {} : { activation: trailing.activation }),
            },
          }),
      ...(profit === null ? {} : { breakEven: { after: profit, offsetBps: 10 } }),
      moveEveryMs: 60_000,
      moveStepUsd: usd(1),
      range: usualRange,
    }),
  )
const rests = fc.array(
  fc.record({
    type: fc.constantFrom('stop-loss', 'take-profit') as fc.Arbitrary<Exit['type']>,
    sizeUsd: fc.integer({ min: 1, max: 800 }),
    triggerUsd: fc.integer({ min: 1_000, max: 3_000 }),
    ageSeconds: fc.integer({ min: 0, max: 600 }),
  }),
  { maxLength: 5 },
)
const worlds = fc
  .record({
    ownUsd: fc.integer({ min: 10, max: 1_000 }),
    othersUsd: fc.integer({ min: 0, max: 1_000 }),
    priceUsd: fc.integer({ min: 1_000, max: 3_000 }),
    direction: fc.constantFrom<Direction>('long', 'short'),
    lostUsd: fc.option(fc.integer({ min: 1_000, max: 3_000 })),
  })
  .map(
    ({ othersUsd, lostUsd, ...world }): World => ({
      ...world,
      heldUsd: world.ownUsd + othersUsd,
      ...(lostUsd === null ? {} : { lostUsd }),
    }),
  )

test('exits of one type never come to more than the part, but for the tolerance of 2 %', () => {
  fc.assert(
    fc.property(plans, rests, worlds, (plan, resting, world) => {
      const decisions = decided(plan, resting, world)
      if (decisions.some(({ kind }) => kind === 'close')) return
      for (const type of ['stop-loss', 'take-profit'] as const) {
        const sum = after(decisions, resting, type).reduce((all, { sizeUsd }) => all + sizeUsd, 0n)
        expect(sum <= (usd(world.ownUsd) * 102n) / 100n).toBe(true)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('where the position shows a fill that no record tells yet, none of the exits is taken off: the one that fired may be listed still', () => {
  const exits: PricedExits = {
    stopLoss: { bps: 400 },
    takeProfits: [
      { bps: 300, shareBps: 5_000 },
      { bps: 3_000, shareBps: 5_000 },
    ],
    moveEveryMs: 60_000,
    moveStepUsd: usd(1),
    range: usualRange,
  }
  const stop: Exit = { type: 'stop-loss', sizeUsd: 500, triggerUsd: 1_920, ageSeconds: 60 }
  const fired: Exit = { type: 'take-profit', sizeUsd: 250, triggerUsd: 2_060, ageSeconds: 60 }
  const waiting: Exit = { ...fired, triggerUsd: 2_600 }
  const filled: World = { direction: 'long', ownUsd: 500, heldUsd: 250, priceUsd: 2_062 }
  expect(decided(exits, [stop, fired, waiting], filled)).toEqual([])
  // The record came: the part is smaller, the exit that fired rests no more, and the stop is made as large as what is left.
  expect(decided(exits, [stop, waiting], { ...filled, ownUsd: 250 })).toMatchObject([
    { kind: 'edit', orderKey: keyOf(0), sizeDeltaUsd: usd(250) },
  ])
})

test('a stop is never moved away from profit, and not twice within the time of the file', () => {
  fc.assert(
    fc.property(plans, rests, worlds, (plan, resting, world) => {
      const decisions = decided(plan, resting, world)
      const isAsNear = (level: Usd, other: Usd) =>
        world.direction === 'long' ? level >= other : level <= other
      for (const { trigger, before } of after(decisions, resting, 'stop-loss'))
        if (before !== undefined) expect(isAsNear(trigger, before)).toBe(true)
      for (const each of decisions) {
        if (each.kind !== 'edit' || each.triggerPrice === undefined) continue
        const index = resting.findIndex((_, at) => keyOf(at) === each.orderKey)
        expect(resting[index]?.ageSeconds).toBeGreaterThanOrEqual(60)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('a stop that is placed lies as near to profit as any that rested for the part; where the price is past that what no stop covers is closed', () => {
  fc.assert(
    fc.property(plans, rests, worlds, (plan, resting, world) => {
      const nearest = nearestOf(resting, world)
      if (nearest === undefined) return
      const decisions = decided(plan, resting, world)
      const { direction, priceUsd } = world
      const placed = decisions.filter((each) => each.kind === 'decrease' && each.orderType === 'stop-loss')
      const isPast = direction === 'long' ? priceUsd <= nearest : priceUsd >= nearest
      if (isPast) expect(placed).toEqual([])
      for (const each of placed) {
        const trigger = (each.kind === 'decrease' && each.triggerPrice) || 0n
        expect(direction === 'long' ? trigger >= usd(nearest) : trigger <= usd(nearest)).toBe(true)
      }
      const stopsUsd = resting.reduce(
        (sum, { type, sizeUsd }) => sum + (type === 'stop-loss' ? sizeUsd : 0),
        0,
      )
      const isBare = world.ownUsd - stopsUsd > world.ownUsd / 50 + 1
      if (!isPast || !isBare) return
      // What rests of stops, and is not past the file's own, goes on covering its share: no more is closed than it leaves out.
      const [only, ...others] = decisions
      expect(others.filter(({ kind }) => kind !== 'edit' && kind !== 'cancel')).toEqual([])
      const missing = { kind: 'decrease', sizeDeltaUsd: usd(world.ownUsd - stopsUsd) }
      expect(only).toMatchObject(only?.kind === 'close' ? {} : missing)
      expect(only).not.toHaveProperty('orderType')
      if (stopsUsd === 0) expect(only).toMatchObject({ kind: 'close' })
    }),
    { numRuns: 2_000 },
  )
})

test.each([
  ['long', 2_010, 2_040, 2_005],
  ['short', 1_990, 1_960, 1_995],
] as const)(
  'a break-even stop of a %s that was lost comes back where it was, also when the price has fallen back under what moved it',
  (direction, lostUsd, priceUsd, pastUsd) => {
    const exits: PricedExits = {
      stopLoss: { bps: 500 },
      takeProfits: [],
      breakEven: { after: { bps: 300 }, offsetBps: 50 },
      moveEveryMs: 60_000,
      moveStepUsd: usd(1),
      range: usualRange,
    }
    const world = { direction, ownUsd: 500, heldUsd: 500, priceUsd, lostUsd }
    expect(decided(exits, [], world)).toMatchObject([
      { kind: 'decrease', orderType: 'stop-loss', sizeDeltaUsd: usd(500), triggerPrice: usd(lostUsd) },
    ])
    expect(decided(exits, [], { ...world, priceUsd: pastUsd })).toMatchObject([
      { kind: 'close', reason: expect.stringContaining('a stop-loss rested before') },
    ])
    // A file that asks for no stop has none placed, whatever rested.
    const { stopLoss: _, breakEven: __, ...none } = exits
    expect(decided(none, [], world)).toEqual([])
  },
)

test.each([
  ['long', [1_905, 1_950, 2_003], 2_055, 2_100],
  ['short', [2_095, 2_050, 1_997], 1_945, 1_900],
] as const)(
  'a trailing stop of a %s waits for its activation wherever a fill, an average or break-even left the stop, resting or lost',
  (direction, levels, earlyUsd, activeUsd) => {
    const exits: PricedExits = {
      stopLoss: { bps: 500 },
      takeProfits: [],
      trailingStop: { distance: { bps: 200 }, activation: { bps: 300 } },
      moveEveryMs: 60_000,
      moveStepUsd: usd(1),
      range: usualRange,
    }
    for (const triggerUsd of levels) {
      const stop: Exit = { type: 'stop-loss', sizeUsd: 500, triggerUsd, ageSeconds: 600 }
      const world: World = { direction, ownUsd: 500, heldUsd: 500, priceUsd: earlyUsd }
      expect(decided(exits, [stop], world)).toEqual([])
      expect(decided(exits, [], { ...world, lostUsd: triggerUsd })).toMatchObject([
        { kind: 'decrease', triggerPrice: usd(triggerUsd) },
      ])
      expect(decided(exits, [stop], { ...world, priceUsd: activeUsd })).toMatchObject([
        { kind: 'edit', triggerPrice: usd(direction === 'long' ? 2_058 : 1_938) },
      ])
    }
    // One that lies in profit has followed the price, and goes on where more was bought nearer to the price since.
    const followed: Exit = {
      ...{ type: 'stop-loss', sizeUsd: 500, ageSeconds: 600 },
      triggerUsd: direction === 'long' ? 2_005 : 1_995,
    }
    const world: World = { direction, ownUsd: 500, heldUsd: 500, priceUsd: earlyUsd }
    expect(decided(exits, [followed], world)).toMatchObject([{ kind: 'edit' }])
  },
)

test.each([
  ['long', 1_950, 1_905, 1_940, 1_890],
  ['short', 2_050, 2_095, 2_060, 2_110],
] as const)(
  'where one of several stops of a %s was lost and the price is past it, what it was for is closed and the others stay, until the price is past the file',
  (direction, lostUsd, triggerUsd, priceUsd, pastUsd) => {
    const exits: PricedExits = {
      stopLoss: { bps: 500 },
      takeProfits: [{ bps: 500 }],
      moveEveryMs: 60_000,
      moveStepUsd: usd(1),
      range: usualRange,
    }
    const stop: Exit = { type: 'stop-loss', sizeUsd: 750, triggerUsd, ageSeconds: 600 }
    const world: World = { direction, ownUsd: 1_000, heldUsd: 1_000, priceUsd, lostUsd }
    expect(decided(exits, [stop], world)).toEqual([
      {
        kind: 'decrease',
        ...{ ...side, direction },
        sizeDeltaUsd: usd(250),
        keepLeverage: false,
        reason: expect.stringContaining('a stop-loss of $250.00 rested before; the rest has its own'),
      },
    ])
    expect(decided(exits, [stop], { ...world, priceUsd: pastUsd })).toMatchObject([{ kind: 'close' }])
    expect(decided(exits, [], world)).toMatchObject([{ kind: 'close' }])
  },
)

test('while a stop is asked for, the part is covered by stops, is being closed, or an exit is being made smaller', () => {
  fc.assert(
    fc.property(plans, rests, worlds, (plan, resting, world) => {
      const decisions = decided(plan, resting, world)
      const sum = after(decisions, resting, 'stop-loss').reduce((all, { sizeUsd }) => all + sizeUsd, 0n)
      const isCovered = sum >= (usd(world.ownUsd) * 98n) / 100n || usd(world.ownUsd) - sum < usd(1)
      expect(isCovered || decisions.length > 0).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})

test('of a ladder the rungs that do not rest are placed for what no rung covers, those alone that still wait', () => {
  const ladder: PricedExits = {
    ...{ moveEveryMs: 60_000, moveStepUsd: usd(1), range: usualRange },
    takeProfits: [
      { bps: 100, shareBps: 5_000 },
      { bps: 200, shareBps: 2_500 },
      { bps: 300, shareBps: 2_500 },
    ],
  }
  const rung = (triggerUsd: number, sizeUsd: number): Exit => ({
    ...{ type: 'take-profit', sizeUsd, triggerUsd, ageSeconds: 600 },
  })
  const asked = (resting: readonly Exit[], ownUsd: number, priceUsd = 2_000) =>
    decided(ladder, resting, { direction: 'long', ownUsd, heldUsd: ownUsd, priceUsd }).map((each) =>
      each.kind === 'decrease' ? [each.triggerPrice, each.sizeDeltaUsd] : each.kind,
    )
  const [first, second, third] = [usd(2_020), usd(2_040), usd(2_060)]
  expect(asked([], 1_000)).toEqual([
    [first, usd(500)],
    [second, usd(250)],
    [third, usd(250)],
  ])
  // The first went out, and the others waited for it.
  expect(asked([rung(2_020, 500)], 1_000)).toEqual([
    [second, usd(250)],
    [third, usd(250)],
  ])
  expect(asked([rung(2_020, 500), rung(2_060, 250)], 1_000)).toEqual([[second, usd(250)]])
  expect(asked([rung(2_020, 500), rung(2_040, 250), rung(2_060, 250)], 1_000)).toEqual([])
  // Where the price is past some of them, what they would close waits for those beyond it; past all of them the part is closed.
  expect(asked([], 1_000, 2_030)).toEqual([
    [second, usd(500)],
    [third, usd(500)],
  ])
  expect(asked([], 1_000, 2_050)).toEqual([[third, usd(1_000)]])
  expect(asked([], 1_000, 2_070)).toEqual(['close'])
  // As much was bought anew at the same price, and its targets are gone: what rests at a level covers no more than it closes.
  expect(asked([rung(2_020, 250), rung(2_040, 125), rung(2_060, 125)], 1_000)).toEqual([
    [first, usd(250)],
    [second, usd(125)],
    [third, usd(125)],
  ])
  expect(asked([rung(2_020, 500), rung(2_040, 125), rung(2_060, 250)], 1_000)).toEqual([[second, usd(125)]])
  // The first filled: what is left is covered.
  expect(asked([rung(2_040, 250), rung(2_060, 250)], 500, 2_015)).toEqual([])
  // One that was cancelled, and whose level the price is past, closes nothing while others rest.
  expect(asked([rung(2_060, 250)], 1_000, 2_030)).toEqual([[second, usd(750)]])
  expect(asked([rung(2_060, 250)], 1_000, 2_050)).toEqual([])
})

test('what rests by the journal and is not listed yet keeps everything back: it may be the very exit', () => {
  const exits: PricedExits = {
    stopLoss: { bps: 200 },
    takeProfits: [],
    moveEveryMs: 60_000,
    moveStepUsd: usd(1),
    range: usualRange,
  }
  const view = { ...marketView(), oraclePrice: { value: oraclePrice(), atMs: NOW_MS } }
  const parts = [
    {
      ...{ ...side, direction: 'long' as const },
      sizeUsd: usd(100),
      sizeInTokens: 5n * 10n ** 16n,
      costUsd: usd(100),
      collateral: 0n,
      carriedUsd: 0n,
      sizeTime: 0n,
    },
  ]
  const world = snapshot({ view, positions: [position({ sizeInUsd: usd(100) })] })
  const kept = {
    exitsOn: () => exits,
    snapshot: world,
    parts,
    enteredMs: () => NOW_MS,
    nearestStop: () => undefined,
  }
  const hidden = stateOf([{ type: 'stop-loss', sizeUsd: 100, triggerUsd: 1_960, ageSeconds: 5 }], 'long')
  const stop = [{ kind: 'decrease', orderType: 'stop-loss' }]
  expect(syncExits({ ...kept, states: [hidden] })).toEqual([])
  expect(syncExits({ ...kept, states: [] })).toMatchObject(stop)

  // All orders of an entry have ended, in a block that is not final for minutes: the part is not left without its stop for them.
  const ended = (kind: string, orderType: string, phase: string, level = 'chain-latest') => {
    const { intent, attempts } = hidden
    const terms = { ...intent.terms, orderType }
    const children = [{ index: 0, orderKey: keyOf(0), phase, evidence: { level } }]
    return {
      intent: { ...intent, kind, terms },
      attempts: [{ ...attempts[0], children }],
    } as unknown as IntentState
  }
  for (const orderType of ['market', 'limit', 'twap'])
    expect(syncExits({ ...kept, states: [ended('increase', orderType, 'EXECUTED')] })).toMatchObject(stop)
  // An exit that an endpoint alone calls ended may rest still: it must have ended for good.
  expect(syncExits({ ...kept, states: [ended('decrease', 'take-profit', 'EXECUTED')] })).toEqual([])
  expect(
    syncExits({ ...kept, states: [ended('decrease', 'take-profit', 'EXECUTED', 'chain-final')] }),
  ).toMatchObject(stop)
  expect(syncExits({ ...kept, states: [ended('increase', 'market', 'OPEN')] })).toEqual([])
  // The part that a reduction at the market took off may come back until then: nothing is closed twice.
  expect(syncExits({ ...kept, states: [ended('decrease', 'market', 'EXECUTED')] })).toEqual([])
  expect(syncExits({ ...kept, states: [ended('close', 'market', 'EXECUTED')] })).toEqual([])
})

test('an exit that closes all of the position is made as large as the part, and the reason says so in words', () => {
  const stop: Exit = {
    type: 'stop-loss',
    sizeUsd: Number.POSITIVE_INFINITY,
    triggerUsd: 1_900,
    ageSeconds: 60,
  }
  const held: World = { direction: 'long', ownUsd: 500, heldUsd: 900, priceUsd: 2_000 }
  const exits: PricedExits = {
    stopLoss: { bps: 500 },
    takeProfits: [],
    moveEveryMs: 60_000,
    moveStepUsd: usd(1),
    range: usualRange,
  }
  expect(decided(exits, [stop], held)).toEqual([
    {
      kind: 'edit',
      marketToken: MARKET,
      direction: 'long',
      orderKey: keyOf(0),
      sizeDeltaUsd: usd(500),
      reason:
        '$500.00 of the long position still belongs to this strategy; a stop-loss of all of the position shrinks to match.',
    },
  ])
})

test('what a task that runs reduces at rest counts as a target, and the targets of the file are made smaller for it wherever it rests', () => {
  const file: PricedExits = {
    takeProfits: [{ bps: 500, shareBps: 10_000 }],
    moveEveryMs: 60_000,
    moveStepUsd: usd(1),
    range: usualRange,
  }
  const exits = (sizeUsd: number, taskUsd: number, taskAt: number): readonly Exit[] => [
    { type: 'take-profit', sizeUsd, triggerUsd: 2_100, ageSeconds: 60 },
    { type: 'take-profit', sizeUsd: taskUsd, triggerUsd: taskAt, ageSeconds: 60 },
  ]
  const [ofFile, ofTask] = [keyOf(0), keyOf(1)]
  const changes = (resting: readonly Exit[], ofTasks: readonly string[]) => {
    const [entry, chase] = resting.map((_exit, index): IntentState => {
      const { intent, attempts } = stateOf(resting, 'long')
      const children = attempts[0]?.children.slice(index, index + 1) ?? []
      const landed = [{ phase: 'LANDED', children }]
      if (index === 0) return { intent, attempts: landed } as unknown as IntentState
      const terms = { ...intent.terms, orderType: 'take-profit' }
      const task = { ...intent, intentId: 'b'.repeat(24), kind: 'decrease', terms }
      return { intent: task, attempts: landed } as unknown as IntentState
    })
    return decidedBy(
      file,
      resting,
      { direction: 'long', ownUsd: 1_000, heldUsd: 1_000, priceUsd: 2_000 },
      [entry, chase].flatMap((state) => state ?? []),
      new Set(ofTasks),
    ).map((each) => {
      if (each.kind === 'edit') return [each.orderKey, each.sizeDeltaUsd]
      return each.kind === 'cancel' ? each.orderKeys : each
    })
  }
  const tasks = ['b'.repeat(24)]
  for (const at of [2_010, 2_200]) {
    expect(changes(exits(1_000, 300, at), tasks)).toEqual([[ofFile, usd(700)]])
    expect(changes(exits(700, 300, at), tasks)).toEqual([])
  }
  // Without a task that looks after it, the farthest goes.
  expect(changes(exits(1_000, 300, 2_200), [])).toEqual([[ofTask]])
  // More than the part it never is.
  expect(changes(exits(100, 1_200, 2_200), tasks)).toEqual([[ofFile], [ofTask, usd(1_000)]])
  // Once it is over, the file's target is for all of the part again.
  const [target] = exits(700, 300, 2_010)
  const anew = decided(file, target === undefined ? [] : [target], {
    direction: 'long',
    ownUsd: 1_000,
    heldUsd: 1_000,
    priceUsd: 2_000,
  })
  expect(anew).toMatchObject([{ kind: 'decrease', sizeDeltaUsd: usd(300), triggerPrice: usd(2_100) }])
})

test('a time limit ends and a trailing stop moves where the clock was set back by hours after the entry and the move', async () => {
  const clock = manualClock(NOW_MS - 18_000_000)
  const { settledMs } = createAheadStamps(clock)
  const exits: PricedExits = {
    timeLimitMs: 600_000,
    trailingStop: { distance: { bps: 200 } },
    takeProfits: [],
    moveEveryMs: 60_000,
    moveStepUsd: usd(1),
    range: usualRange,
  }
  const stop: Exit = { type: 'stop-loss', sizeUsd: 500, triggerUsd: 1_950, ageSeconds: 0 }
  const world: World = { direction: 'long', ownUsd: 500, heldUsd: 500, priceUsd: 2_100 }
  const look = () =>
    decided(exits, [stop], world, [stateOf([stop], 'long')], { settledMs, atMs: clock.now() })
  expect(look()).toEqual([])
  await clock.advance(60_000)
  expect(look()).toMatchObject([{ kind: 'edit', triggerPrice: usd(2_058) }])
  await clock.advance(540_000)
  expect(look()).toMatchObject([{ kind: 'close' }])
})
