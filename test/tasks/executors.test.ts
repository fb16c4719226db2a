/**
 * Brackets, ladders and chases on a venue of the test's own, pure: whatever is filled, cancelled, denied, lost or forgotten by a
 * crash, none opens more than its size, no exit is larger than what is left of what it opened, and no stop moves.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Decision } from '../../src/domain/order/decision.ts'
import type { Child, IntentState, Outcome } from '../../src/domain/order/intent.ts'
import type { Snapshot } from '../../src/domain/snapshot.ts'
import type { ExecutorProgress, TaskGoal } from '../../src/domain/taskStates/executorState.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { contractPriceOf, minOf, type Usd, usd } from '../../src/protocol/units.ts'
import type { BracketParams } from '../../src/tasks/bracketTask.ts'
import type { ChaseParams } from '../../src/tasks/chaseTask.ts'
import { type ExecutorView, useOf } from '../../src/tasks/executorView.ts'
import type { LadderParams } from '../../src/tasks/ladderTask.ts'
import { opens, rowOfTask } from '../../src/tasks/taskRows.ts'
import { armedFacts, ethMarket, intentOf, startMs, usdc } from '../support/intents.ts'

type Kind = 'bracket' | 'ladder' | 'chase'
type Fate = 'fills' | 'cancelled' | 'lost' | 'stays'

/** A created order of the venue's. */
interface Placed {
  readonly orderKey: Hex
  readonly type: 'entry' | 'stop-loss' | 'take-profit'
  trigger: Usd | undefined
  size: Usd
  phase: 'OPEN' | 'EXECUTED' | 'CANCELLED'
  filledUsd: Usd
  filledAt: Usd
}

/** A message and what it made. */
interface Message {
  readonly key: string
  readonly decision: Decision
  readonly placed: readonly Placed[]
  readonly atMs: number
  outcome?: Outcome
}

const side = {
  symbol: 'ETH/USD [WETH-USDC]',
  marketToken: ethMarket,
  direction: 'long',
  collateralToken: usdc,
  action: 'increase',
  sizeUsd: usd(900),
  leverageBps: 50_000,
  asked: 'it',
} as const

function paramsOf(kind: Kind, orders: number): TaskGoal {
  const budget = { orders, feesUsd: usd(1_000), untilMs: startMs + 1_500_000 }
  const bracket: BracketParams = {
    ...side,
    budget,
    entry: 'market',
    stopLoss: usd(1_650),
    takeProfit: usd(1_950),
  }
  const ladder: LadderParams = {
    ...side,
    budget,
    rungs: 3,
    growthBps: 15_000,
    stepBps: 200,
    takeProfitBps: 300,
    stopLossBps: 800,
  }
  const chase: ChaseParams = {
    ...side,
    budget,
    offsetBps: 10,
    stepBps: 10,
    everyMs: 15_000,
    worstPrice: usd(1_850),
    patienceMs: 300_000,
  }
  return { bracket, ladder, chase }[kind]
}

function stateOf({ key, decision, placed, outcome, atMs }: Message): IntentState {
  const base = intentOf()
  const isIncrease = decision.kind === 'increase'
  const sizeDeltaUsd = 'sizeDeltaUsd' in decision ? (decision.sizeDeltaUsd ?? 0n) : 0n
  const orderType = 'orderType' in decision ? (decision.orderType ?? 'market') : 'market'
  const tpsl = (isIncrease ? (decision.tpsl ?? []) : []).map(({ type, triggerPrice }) => ({
    type,
    triggerPrice,
    sizeDeltaUsd,
  }))
  const children = placed.map(
    ({ orderKey, phase, filledUsd, filledAt, type }, index): Child => ({
      index,
      orderKey,
      phase,
      role: isIncrease && type !== 'entry' ? type : 'main',
      ...(phase === 'EXECUTED' ? { settlement: { sizeDeltaUsd: filledUsd, executionPrice: filledAt } } : {}),
    }),
  )
  const isOver = outcome !== undefined || (placed.length > 0 && placed.every(({ phase }) => phase !== 'OPEN'))
  const isFilled = placed.some(({ phase }) => phase === 'EXECUTED')
  return {
    intent: {
      ...base,
      intentId: key,
      kind: decision.kind,
      decision,
      acceptedAtMs: atMs,
      terms: { ...base.terms, sizeDeltaUsd, orderType, ...(tpsl.length === 0 ? {} : { tpsl }) },
    },
    attempts: [
      {
        n: 1,
        lane: 'order-chain',
        host: 'http://127.0.0.1:1/v1',
        phase: 'LANDED',
        armed: { ...armedFacts(), relayFeeAmount: 10_000n },
        children,
      },
    ],
    ...(isOver
      ? {
          closing: {
            outcome: outcome ?? (isFilled ? 'EXECUTED' : 'CANCELLED'),
            code: 'X',
            reason: 'it is',
            evidence: { level: 'api', atMs, statement: 'seen' },
          },
        }
      : {}),
    updatedAtMs: atMs,
  }
}

const step = fc.record({
  afterMs: fc.integer({ min: 2_000, max: 60_000 }),
  price: fc.integer({ min: 1_600, max: 2_000 }),
  fate: fc.constantFrom<Fate>('fills', 'fills', 'cancelled', 'lost', 'stays'),
  /** The order at this place, if any rests there, is cancelled by somebody. */
  hand: fc.nat({ max: 40 }),
  isDenied: fc.nat({ max: 6 }).map((each) => each === 0),
  isForgotten: fc.nat({ max: 6 }).map((each) => each === 0),
  isHalted: fc.nat({ max: 8 }).map((each) => each === 0),
  isStopped: fc.nat({ max: 60 }).map((each) => each === 0),
  isClosedByHand: fc.nat({ max: 80 }).map((each) => each === 0),
})

/** The venue: what rests fires at its price, and exits see the position that there is. */
function createVenue() {
  const messages: Message[] = []
  let heldUsd = 0n
  let made = 0
  const open = () => messages.flatMap(({ placed }) => placed).filter(({ phase }) => phase === 'OPEN')
  const fill = (order: Placed, price: Usd): void => {
    const most = order.type === 'entry' ? order.size : order.size < heldUsd ? order.size : heldUsd
    order.phase = most === 0n ? 'CANCELLED' : 'EXECUTED'
    order.filledUsd = most
    order.filledAt = price
    heldUsd += order.type === 'entry' ? most : -most
  }
  const place = (type: Placed['type'], size: Usd, trigger?: Usd): Placed => {
    made += 1
    const orderKey: Hex = `0x${made.toString(16).padStart(64, '0')}`
    return { orderKey, type, trigger, size, phase: 'OPEN', filledUsd: 0n, filledAt: 0n }
  }
  const isDue = ({ type, trigger = 0n }: Placed, price: Usd) =>
    type === 'take-profit' ? price >= trigger : price <= trigger
  return {
    messages,
    heldUsd: () => heldUsd,
    booked: () => ({ ownUsd: heldUsd, othersUsd: 0n }),
    closeByHand() {
      heldUsd = 0n
    },
    open,
    take(key: string, decision: Decision, fate: Fate, price: Usd, atMs: number): void {
      if (fate === 'lost') {
        messages.push({ key, decision, placed: [], atMs, outcome: 'DEAD' })
        return
      }
      if (decision.kind === 'cancel') {
        for (const order of open()) if (decision.orderKeys.includes(order.orderKey)) order.phase = 'CANCELLED'
        messages.push({ key, decision, placed: [], atMs, outcome: 'EXECUTED' })
        return
      }
      if (decision.kind === 'edit') {
        const order = open().find(({ orderKey }) => orderKey === decision.orderKey)
        if (order !== undefined) {
          order.trigger = decision.triggerPrice ?? order.trigger
          order.size = decision.sizeDeltaUsd ?? order.size
        }
        messages.push({ key, decision, placed: [], atMs, outcome: 'EXECUTED' })
        return
      }
      if (decision.kind !== 'increase' && decision.kind !== 'decrease') throw new Error(decision.kind)
      const { sizeDeltaUsd: size, triggerPrice, orderType = 'market' } = decision
      const type =
        decision.kind === 'increase' ? 'entry' : orderType === 'stop-loss' ? orderType : 'take-profit'
      const main = place(type, size, triggerPrice)
      const exits = decision.kind === 'increase' ? (decision.tpsl ?? []) : []
      const placed = [main, ...exits.map((exit) => place(exit.type, size, exit.triggerPrice))]
      messages.push({ key, decision, placed, atMs })
      if (triggerPrice !== undefined) return
      if (fate === 'fills') fill(main, price)
      if (fate === 'cancelled') for (const order of placed) order.phase = 'CANCELLED'
    },
    /** The next price: what is due fires, what was left on its way is filled. */
    moveTo(price: Usd): void {
      for (const order of open()) {
        const isFirst = order.trigger === undefined || order.type === 'entry' || heldUsd > 0n
        if (isFirst && (order.trigger === undefined || isDue(order, price))) fill(order, price)
      }
    },
    snapshot(price: Usd): Snapshot {
      const orders = open().map(({ orderKey, trigger = 0n, size }) => ({
        orderKey,
        marketToken: ethMarket,
        sizeDeltaUsd: size,
        triggerContractPrice: contractPriceOf(trigger, 18),
        orderType: 3,
      }))
      const position = {
        marketToken: ethMarket,
        direction: 'long',
        collateralToken: usdc,
        sizeInUsd: heldUsd,
      }
      return {
        markets: new Map([
          [
            ethMarket.toLowerCase(),
            {
              oraclePrice: { value: { minPrice: price, maxPrice: price } },
              indexToken: { decimals: 18 },
              market: { symbol: side.symbol },
            },
          ],
        ]),
        positions: { value: heldUsd === 0n ? [] : [position] },
        orders: { value: orders },
      } as unknown as Snapshot
    },
  }
}

test.each(['bracket', 'ladder', 'chase'] as const)(
  'no order of fills, cancels, losses, denials, halts, crashes and hands takes a %s beyond its size, or its exits beyond what it opened',
  (kind) => {
    const outcomes = new Map<string, number>()
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: 30 }),
        fc.array(step, { minLength: 10, maxLength: 60 }),
        (orders, story) => {
          const params = paramsOf(kind, orders)
          const venue = createVenue()
          const { messages } = venue
          const begins = {
            bracket: { made: 0 },
            ladder: { made: 0, rung: 0 },
            chase: { made: 0, movedMs: 0 },
          }
          let state: ExecutorProgress = begins[kind]
          let nowMs = startMs
          let stop: Usd | undefined
          for (const moment of story) {
            nowMs += moment.afterMs
            const price = usd(moment.price)
            venue.moveTo(price)
            if (moment.isClosedByHand) venue.closeByHand()
            const byHand = venue.open()[moment.hand]
            if (byHand !== undefined) byHand.phase = 'CANCELLED'
            if (moment.isStopped) state = { ...state, stop: { by: 'ann', reason: 'enough' } }
            const view: ExecutorView = {
              nowMs,
              snapshot: venue.snapshot(price),
              children: messages.map(stateOf),
              isMade: (key) => messages.some((each) => each.key === key),
              mostSendingUsd: usd(1),
              feeTokenDecimals: 6,
              capacity: () => usd(1_000_000),
              booked: venue.booked,
              denialOf: () => undefined,
              ...(moment.isHalted ? { halt: 'halted', reducingHalt: 'halted' } : {}),
            }
            const task = { taskId: `${kind}:one`, by: 'ann', sinceMs: startMs, params, state }
            const next = rowOfTask(kind).next(task, view)
            expect(rowOfTask(kind).next(task, view)).toEqual(next)
            const use = useOf(view, opens(kind))
            expect(use.doneUsd + use.openUsd).toBeLessThanOrEqual(params.sizeUsd)
            expect(use.orders).toBeLessThanOrEqual(orders)
            if (next.kind === 'read') throw new Error('it was shown its market')
            if (next.kind === 'done') {
              outcomes.set(next.outcome, (outcomes.get(next.outcome) ?? 0) + 1)
              const left = venue.open()
              if (next.outcome === 'done') expect(left).toEqual([])
              expect(left.every(({ type }) => type !== 'entry')).toBe(true)
              return
            }
            state = next.state
            const [child] = next.decisions
            if (child === undefined || moment.isDenied) continue
            const { decision, decisionKey } = child
            expect(messages.some(({ key }) => key === decisionKey)).toBe(false)
            // What a hand took off is not its own any more.
            const ownUsd = minOf(use.doneUsd - use.exitedUsd, venue.heldUsd())
            const isStopping = state.stop !== undefined || state.ending !== undefined
            if (decision.kind !== 'cancel') expect(moment.isHalted || isStopping).toBe(false)
            if (decision.kind === 'increase') {
              expect(decision.sizeDeltaUsd).toBeLessThanOrEqual(params.sizeUsd - use.doneUsd - use.openUsd)
              expect(use.exitedUsd).toBe(0n)
              expect(nowMs).toBeLessThan(params.budget.untilMs)
              expect(use.orders + 1).toBeLessThanOrEqual(orders)
              if (kind === 'chase') expect(decision.triggerPrice ?? price).toBeLessThanOrEqual(usd(1_850))
            }
            if (decision.kind === 'decrease') {
              expect(decision.sizeDeltaUsd).toBe(ownUsd)
              if (decision.orderType === 'stop-loss') {
                stop ??= decision.triggerPrice
                expect(decision.triggerPrice).toBe(stop)
              }
            }
            if (decision.kind === 'edit') {
              const order = venue.open().find(({ orderKey }) => orderKey === decision.orderKey)
              if (order?.type === 'stop-loss') expect(decision.triggerPrice).toBeUndefined()
              if (order?.type === 'entry') {
                expect(decision.triggerPrice).toBeGreaterThan(order.trigger ?? 0n)
                expect(decision.triggerPrice).toBeLessThanOrEqual(usd(1_850))
              } else expect(decision.sizeDeltaUsd ?? ownUsd).toBe(ownUsd)
            }
            venue.take(decisionKey, decision, moment.fate, price, nowMs)
            // A crash may leave an order whose step was not written.
            if (!moment.isForgotten) state = child.state
          }
        },
      ),
      { seed: 53, numRuns: 3_000 },
    )
    // The stories come to every end.
    expect([...outcomes.keys()].toSorted()).toEqual(
      expect.arrayContaining(kind === 'bracket' ? ['done', 'stopped'] : ['done', 'out of budget', 'stopped']),
    )
  },
)

/** A task whose orders at the market fill at once: its course until it ends, or for so many looks at these prices. */
function courseOf(
  kind: Kind,
  { params, state: begun }: { readonly params: TaskGoal; readonly state: ExecutorProgress },
  { looks, priceAt }: { readonly looks: number; readonly priceAt: (look: number) => Usd },
) {
  const venue = createVenue()
  let state = begun
  const waited: string[] = []
  for (let look = 0; look < looks; look += 1) {
    const nowMs = startMs + look * 5_000
    const price = priceAt(look)
    const view: ExecutorView = {
      nowMs,
      snapshot: venue.snapshot(price),
      children: venue.messages.map(stateOf),
      isMade: (key) => venue.messages.some((each) => each.key === key),
      mostSendingUsd: usd(1),
      feeTokenDecimals: 6,
      capacity: () => usd(1_000_000),
      booked: venue.booked,
      denialOf: () => undefined,
    }
    const task = { taskId: `${kind}:one`, by: 'ann', sinceMs: startMs, params, state }
    const next = rowOfTask(kind).next(task, view)
    const use = useOf(view, opens(kind))
    expect(use.orders).toBeLessThanOrEqual(params.budget.orders)
    if (next.kind === 'done') return { end: next, use, venue, waited }
    if (next.kind === 'read') throw new Error('it was shown its market')
    state = next.state
    const [child] = next.decisions
    if (child === undefined) waited.push(next.problem ?? '')
    else {
      venue.take(child.decisionKey, child.decision, 'fills', price, nowMs)
      state = child.state as ExecutorProgress
    }
  }
  const children = venue.messages.map(stateOf)
  return {
    use: useOf({ children, mostSendingUsd: usd(1), feeTokenDecimals: 6 }, opens(kind)),
    venue,
    waited,
  }
}

/** A ladder by time, each rung filled at once: its course with so many orders. */
function ladderByTime(orders: number, looks: number) {
  const params: LadderParams = {
    ...side,
    budget: { orders, feesUsd: usd(1_000), untilMs: startMs + 86_400_000 },
    rungs: 5,
    growthBps: 10_000,
    everyMs: 15_000,
    takeProfitBps: 500,
    stopLossBps: 500,
  }
  const state = { made: 0, rung: 0 } as ExecutorProgress
  // The price drifts, so that the target follows the average and every exit is edited.
  return courseOf('ladder', { params, state }, { looks, priceAt: (look) => usd(1_800 + look) })
}

test.each([
  ['orders', { orders: 5, feesUsd: usd(1_000) }],
  // A message costs $0.01 here, and may cost $1: the reserve is what it may cost.
  ['fees', { orders: 100, feesUsd: usd('2.935') }],
])(
  'a chase that used up its moves by %s keeps an order for the rest, and fills it at the market',
  (_, budget) => {
    const params: ChaseParams = {
      ...side,
      budget: { ...budget, untilMs: startMs + 1_200_000 },
      offsetBps: 10,
      stepBps: 10,
      everyMs: 15_000,
      worstPrice: usd(3_000),
      patienceMs: 600_000,
    }
    const state = { made: 0, movedMs: 0 } as ExecutorProgress
    // The price runs away from the limit at each look.
    const { end, use, venue, waited } = courseOf(
      'chase',
      { params, state },
      { looks: 200, priceAt: (look) => usd(1_800 + 2 * look) },
    )
    expect(end).toMatchObject({ kind: 'done', outcome: 'done' })
    expect([use.doneUsd, use.orders]).toEqual([side.sizeUsd, 5])
    expect(waited.some((why) => why.includes('its moves are used up'))).toBe(true)
    const made = venue.messages.map(({ decision: { kind } }) => kind)
    expect(made).toEqual(['increase', 'edit', 'edit', 'edit', 'cancel', 'increase'])
  },
)

test('exits and their edits take nothing of the budget of a ladder: by twice its rungs it opens all of its size', () => {
  const { use, venue, waited } = ladderByTime(10, 60)
  expect([use.doneUsd, use.orders]).toEqual([side.sizeUsd, 5])
  expect(use.exitOrders).toBeGreaterThan(8)
  expect(venue.open().map(({ type, size }) => [type, size])).toEqual([
    ['stop-loss', side.sizeUsd],
    ['take-profit', side.sizeUsd],
  ])
  expect(waited.at(-1)).toBe('its exits rest at the venue')
})

test('a ladder that has used up its budget ends as that, says why, and leaves exits of all that it opened at the venue', () => {
  const { end, use, venue } = ladderByTime(3, 60)
  expect(end).toMatchObject({ kind: 'done', outcome: 'out of budget' })
  expect(end?.statement).toMatch(
    /^\$540\.00 of \$900\.00 by 3 orders and \d+ of exits: 3 of 3 orders are used; 2 exits of it rest at the venue$/,
  )
  expect(use.orders).toBe(3)
  expect(venue.open().map(({ type, size }) => [type, size])).toEqual([
    ['stop-loss', usd(540)],
    ['take-profit', usd(540)],
  ])
})

/** A task whose orders at rest are cancelled after a while, and how it goes on: `takenBack` says which of them its file took back, and for how long. */
function cancelledAtRest(
  kind: 'bracket' | 'ladder',
  params: TaskGoal,
  { orders, takenBack }: { readonly orders: number; readonly takenBack: readonly number[] },
) {
  const venue = createVenue()
  const ours = new Set<Hex>()
  let state: ExecutorProgress = (kind === 'ladder' ? { made: 0, rung: 0 } : { made: 0 }) as ExecutorProgress
  const price = usd(1_800)
  for (let look = 0; look < 60; look += 1) {
    const nowMs = startMs + look * 5_000
    if (look === 20) {
      for (const [index, order] of venue.open().entries()) {
        order.phase = 'CANCELLED'
        if (takenBack.includes(index)) ours.add(order.orderKey)
      }
    }
    const view: ExecutorView = {
      nowMs,
      snapshot: venue.snapshot(price),
      children: venue.messages.map(stateOf),
      isMade: (key) => venue.messages.some((each) => each.key === key),
      mostSendingUsd: usd(1),
      feeTokenDecimals: 6,
      capacity: () => usd(1_000_000),
      booked: venue.booked,
      // What took them back is not at hand for long.
      takenBackBy: (orderKey) => (look < 22 && ours.has(orderKey) ? 'protect.tradingWindows' : undefined),
      denialOf: () => undefined,
    }
    const task = { taskId: `${kind}:one`, by: 'ann', sinceMs: startMs, params, state }
    const next = rowOfTask(kind).next(task, view)
    if (next.kind === 'done') return { end: next, venue }
    if (next.kind === 'read') throw new Error('it was shown its market')
    state = next.state
    const [child] = next.decisions
    // Nothing may be added for a while after it.
    if (child === undefined || (look >= 20 && look < 30 && child.decision.kind === 'increase')) continue
    venue.take(child.decisionKey, child.decision, 'fills', price, nowMs)
    state = child.state as ExecutorProgress
    expect(useOf(view, true).orders).toBeLessThanOrEqual(orders)
  }
  return { venue }
}

const restingLadder = (orders: number): LadderParams => ({
  ...side,
  budget: { orders, feesUsd: usd(1_000), untilMs: startMs + 86_400_000 },
  rungs: 3,
  growthBps: 10_000,
  stepBps: 200,
})

const entriesOf = ({ open }: ReturnType<typeof createVenue>) =>
  open()
    .filter(({ type }) => type === 'entry')
    .map(({ trigger, size }) => [trigger, size])

test('a rung that its file took back is made anew where it was, long after it too, and one that somebody cancelled is not', () => {
  const rungs = [
    [usd(1_764), usd(300)],
    [usd(1_728), usd(300)],
  ]
  const asked = (takenBack: readonly number[]) =>
    cancelledAtRest('ladder', restingLadder(6), { orders: 6, takenBack })
  expect(entriesOf(asked([0, 1]).venue)).toEqual(rungs)
  expect(entriesOf(asked([1]).venue)).toEqual([rungs[1]])
  const byHand = asked([])
  expect(byHand.end?.statement).toBe('$300.00 of $900.00 by 3 orders: each of its 3 rungs has ended')
})

test('a rung that was taken back takes of the budget of its ladder, which ends where nothing is left of it', () => {
  const { end, venue } = cancelledAtRest('ladder', restingLadder(4), { orders: 4, takenBack: [0, 1] })
  expect(end?.statement).toBe('$300.00 of $900.00 by 4 orders: 4 of 4 orders are used')
  expect(venue.open()).toEqual([])
})

test('a bracket whose entry its file took back ends, and says which rule did so', () => {
  const params: BracketParams = {
    ...side,
    budget: { orders: 4, feesUsd: usd(1_000), untilMs: startMs + 86_400_000 },
    entry: 'limit',
    entryPrice: usd(1_750),
    stopLoss: usd(1_650),
  }
  const statementOf = (takenBack: readonly number[]) =>
    cancelledAtRest('bracket', params, { orders: 4, takenBack }).end?.statement
  expect(statementOf([0])).toBe(
    '$0.00 of $900.00 by 1 order and 1 of exits: its file cancelled its entry (protect.tradingWindows), and its prices may be out of date when it may add again',
  )
  expect(statementOf([])).toBe(
    '$0.00 of $900.00 by 1 order and 1 of exits: its entry ended without a fill: it is',
  )
})

/** A bracket whose exits rest: when it ends, ms after the look from which on its book is `bookedAt`, and what the list shows goes with `isListed`. */
function bracketEndsAfter(
  isListed: (sinceMs: number) => boolean,
  bookedAt: (sinceMs: number) => Usd,
  /** How far the clock of the looks is set forth from the second of them on; less than 0: back. */
  forthMs = 0,
): number | undefined {
  const params: BracketParams = {
    ...side,
    budget: { orders: 4, feesUsd: usd(1_000), untilMs: startMs + 86_400_000 },
    entry: 'market',
    stopLoss: usd(1_650),
  }
  const venue = createVenue()
  const othersUsd = usd(500)
  const fromMs = 60_000
  let state: ExecutorProgress = { made: 0 }
  for (let atMs = 0; atMs < 200_000; atMs += 2_000) {
    const sinceMs = atMs - fromMs
    const shown = venue.snapshot(usd(1_800))
    const heldUsd = othersUsd + (sinceMs < 0 || isListed(sinceMs) ? venue.heldUsd() : 0n)
    const [position] = venue.heldUsd() === 0n ? [] : shown.positions.value
    const positions = { value: position === undefined ? [] : [{ ...position, sizeInUsd: heldUsd }] }
    const view: ExecutorView = {
      nowMs: startMs + atMs + (sinceMs > 0 ? forthMs : 0),
      ...(forthMs === 0 || sinceMs <= 0 ? {} : { straightMs: sinceMs - 2_000 }),
      snapshot: { ...shown, positions } as unknown as Snapshot,
      children: venue.messages.map(stateOf),
      isMade: (key) => venue.messages.some((each) => each.key === key),
      mostSendingUsd: usd(1),
      feeTokenDecimals: 6,
      capacity: () => usd(1_000_000),
      booked: () => ({ ownUsd: sinceMs < 0 ? venue.heldUsd() : bookedAt(sinceMs), othersUsd }),
      denialOf: () => undefined,
    }
    const task = { taskId: 'bracket:one', by: 'ann', sinceMs: startMs, params, state }
    const next = rowOfTask('bracket').next(task, view)
    if (next.kind !== 'go-on') throw new Error(next.kind)
    state = next.state
    const [child] = next.decisions
    if (child?.decision.kind === 'cancel') return sinceMs
    if (child !== undefined) {
      venue.take(child.decisionKey, child.decision, 'fills', usd(1_800), startMs + atMs)
      state = child.state as ExecutorProgress
    }
  }
  return undefined
}

test('a task takes its exits off within seconds once its book says that its share is gone and another has the position, and not for one look', () => {
  const gone = () => false
  expect(bracketEndsAfter(gone, () => 0n)).toBe(10_000)
  // Where the book still holds it, what the list shows of others is no proof.
  expect(bracketEndsAfter(gone, () => side.sizeUsd)).toBeUndefined()
  // A fill that was written between two reads.
  const once = (sinceMs: number) => (sinceMs === 0 ? 0n : side.sizeUsd)
  expect(bracketEndsAfter((sinceMs) => sinceMs > 0, once)).toBeUndefined()
})

test('a clock that steps by hours while a position does not show makes the wait no shorter, and longer by no more than the wait', () => {
  const gone = () => false
  for (const forthMs of [18_000_000, -18_000_000]) {
    const endsMs = bracketEndsAfter(gone, () => 0n, forthMs)
    expect(endsMs).toBeGreaterThanOrEqual(10_000)
    expect(endsMs).toBeLessThanOrEqual(20_000)
    // A list that lags for some looks is no proof, whatever the clock says.
    const once = (sinceMs: number) => (sinceMs <= 6_000 ? 0n : side.sizeUsd)
    expect(bracketEndsAfter((sinceMs) => sinceMs > 6_000, once, forthMs)).toBeUndefined()
  }
})
