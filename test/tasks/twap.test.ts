/** What a twap does next, by what it sees: pure; and that no order of what happens takes it beyond its size, budget or bounds. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Decision } from '../../src/domain/order/decision.ts'
import type { Child, Intent, IntentState } from '../../src/domain/order/intent.ts'
import type { Snapshot } from '../../src/domain/snapshot.ts'
import { minOf, ONE_USD, type Usd, usd } from '../../src/protocol/units.ts'
import type { ExecutorView } from '../../src/tasks/executorView.ts'
import { useOf } from '../../src/tasks/executorView.ts'
import type { Next } from '../../src/tasks/taskKind.ts'
import { createTaskTimes } from '../../src/tasks/taskTimes.ts'
import { type TwapParams, type TwapProgress, twapTask } from '../../src/tasks/twapTask.ts'
import { armedFacts, ethMarket, intentOf, startMs, usdc } from '../support/intents.ts'
import { manualClock } from '../support/venue.ts'

const params: TwapParams = {
  symbol: 'ETH/USD [WETH-USDC]',
  marketToken: ethMarket,
  direction: 'long',
  collateralToken: usdc,
  action: 'increase',
  sizeUsd: usd(1_000),
  budget: { orders: 8, feesUsd: usd(50), untilMs: startMs + 240_000 },
  asked: 'open it',
  leverageBps: 50_000,
  parts: 4,
  durationMs: 120_000,
  shareBps: 2_500,
  route: 'own',
}
const twapBegins: TwapProgress = { made: 0, slot: 0 }
const task = (state: TwapProgress = twapBegins, own: Partial<TwapParams> = {}) => ({
  taskId: 'twap:one',
  by: 'ann',
  sinceMs: startMs,
  params: { ...params, ...own },
  state,
})

function snapshotAt(priceUsd: number): Snapshot {
  const value = { minPrice: usd(priceUsd), maxPrice: usd(priceUsd) }
  return {
    markets: new Map([[ethMarket.toLowerCase(), { oraclePrice: { value } }]]),
  } as unknown as Snapshot
}

const view = (parts: Partial<ExecutorView> = {}): ExecutorView => ({
  nowMs: startMs,
  snapshot: snapshotAt(1_800),
  children: [],
  isMade: () => false,
  mostSendingUsd: usd(1),
  feeTokenDecimals: 6,
  capacity: () => usd(1_000_000),
  booked: () => ({ ownUsd: 0n, othersUsd: 0n }),
  denialOf: () => undefined,
  ...parts,
})

/** An order of the task and what became of it. */
function orderOf(
  sizeUsd: Usd,
  filledUsd: Usd | undefined,
  { isOpen = false, kind = 'increase' as Intent['kind'], acceptedAtMs = startMs, parts = 1 } = {},
): IntentState {
  const base = intentOf()
  const twap = parts === 1 ? {} : { twap: { parts, durationSeconds: 120 } }
  const terms = { ...base.terms, sizeDeltaUsd: sizeUsd, ...twap }
  const child: Child = {
    index: 0,
    orderKey: `0x${'0a'.repeat(32)}`,
    role: parts === 1 ? 'main' : 'part',
    phase: filledUsd === undefined ? (isOpen ? 'OPEN' : 'CANCELLED') : 'EXECUTED',
    ...(filledUsd === undefined
      ? {}
      : { settlement: { sizeDeltaUsd: filledUsd, feesUsd: filledUsd / 2_000n } }),
  }
  return {
    intent: { ...base, kind, terms, acceptedAtMs },
    attempts: [
      {
        n: 1,
        lane: 'order-chain',
        host: 'http://127.0.0.1:1/v1',
        phase: 'LANDED',
        armed: armedFacts(),
        children: [child],
      },
    ],
    ...(isOpen
      ? {}
      : {
          closing: {
            outcome: filledUsd === undefined ? 'CANCELLED' : 'EXECUTED',
            code: 'EXECUTED',
            reason: 'it is',
            evidence: { level: 'api', atMs: startMs, statement: 'seen' },
          },
        }),
    updatedAtMs: startMs,
  }
}

const decided = (next: Next<TwapProgress>): Decision | undefined =>
  next.kind === 'go-on' ? next.decisions[0]?.decision : undefined
const said = (next: Next<TwapProgress>): string | undefined =>
  next.kind === 'go-on' ? next.problem : undefined

test('a twap asks to see, makes a part a stretch under keys of its own steps, and passes over a step that was taken', () => {
  const { snapshot: _, ...blind } = view()
  expect(twapTask.next(task(), blind)).toEqual({ kind: 'read', symbols: [params.symbol] })
  expect(twapTask.next(task(), view())).toMatchObject({
    kind: 'go-on',
    state: twapBegins,
    decisions: [
      {
        decisionKey: 'twap:one#1',
        decision: { kind: 'increase', sizeDeltaUsd: usd(250), leverageBps: 50_000 },
        state: { made: 1, slot: 1 },
      },
    ],
  })
  const isMade = (key: string) => key === 'twap:one#1'
  expect(twapTask.next(task(), view({ isMade }))).toMatchObject({
    state: { made: 1 },
    decisions: [{ decisionKey: 'twap:one#2' }],
  })
  const filled = [orderOf(usd(250), usd(250))]
  const begun = { made: 1, slot: 1 }
  expect(said(twapTask.next(task(begun), view({ children: filled })))).toContain('not due yet')
  const later = view({ children: filled, nowMs: startMs + 30_000 })
  expect(decided(twapTask.next(task(begun), later))).toMatchObject({ sizeDeltaUsd: usd(250) })
})

test('what was missed is caught up by one part more at a time, and a part has its share of the capacity at most', () => {
  const late = view({ nowMs: startMs + 100_000 })
  expect(decided(twapTask.next(task(), late))).toMatchObject({ sizeDeltaUsd: usd(500) })
  const thin = view({ nowMs: startMs + 100_000, capacity: () => usd(400) })
  expect(decided(twapTask.next(task(), thin))).toMatchObject({ sizeDeltaUsd: usd(100) })
  const none = view({ capacity: () => 0n })
  expect(said(twapTask.next(task(), none))).toContain('no capacity')
  const unknown = view({ capacity: () => ({ code: 'CAPACITY_TOO_OLD', reason: 'it is too old' }) })
  expect(said(twapTask.next(task(), unknown))).toBe('it is too old')
  // A reduction needs no capacity.
  const off = task(twapBegins, { action: 'decrease' })
  expect(decided(twapTask.next(off, none))).toMatchObject({ kind: 'decrease', sizeDeltaUsd: usd(250) })
})

test('the venue makes the parts where its twap fits: in shape, within the share of the capacity, and admitted', () => {
  const auto = (own: Partial<TwapParams> = {}) => task(twapBegins, { route: 'auto', ...own })
  expect(decided(twapTask.next(auto(), view()))).toMatchObject({
    orderType: 'twap',
    sizeDeltaUsd: usd(1_000),
    twap: { parts: 4, durationSeconds: 120 },
  })
  for (const [own, parts] of [
    [{ worstPrice: usd(1_900) }, {}],
    [{ durationMs: 90_000 }, {}],
    [{ parts: 31 }, { mostSendingUsd: 0n }],
    [{}, { capacity: () => usd(3_999) }],
    [{}, { denialOf: () => ({ code: 'SIZE_NOT_WHOLE', reason: 'a limit' }) }],
  ] as const) {
    const decision = decided(twapTask.next(auto(own), view(parts)))
    expect(decision).toMatchObject({ kind: 'increase' })
    expect(decision).not.toHaveProperty('twap')
  }
})

test.each([
  ['long', 'increase', 1_801],
  ['long', 'decrease', 1_799],
  ['short', 'increase', 1_799],
  ['short', 'decrease', 1_801],
] as const)('a %s %s waits while the price is worse than its bound', (direction, action, worse) => {
  const bounded = task(twapBegins, { direction, action, worstPrice: usd(1_800) })
  expect(said(twapTask.next(bounded, view({ snapshot: snapshotAt(worse) })))).toContain('is beyond')
  expect(decided(twapTask.next(bounded, view()))).toMatchObject({ kind: action })
})

test('a task waits for what is under way, under a halt, and after a denial, and says so', () => {
  const open = [orderOf(usd(250), undefined, { isOpen: true })]
  const begun = task({ made: 1, slot: 1 })
  const later = { nowMs: startMs + 30_000 }
  expect(said(twapTask.next(begun, view({ ...later, children: open })))).toContain('in flight')
  expect(said(twapTask.next(task(), view({ halt: 'trading is halted: a look' })))).toContain('halted')
  expect(said(twapTask.next(task(), view({ paused: 'NO_CAPACITY, none' })))).toContain('NO_CAPACITY')
})

test('a task ends when it is done, stopped, or out of orders, fees or time, and cancels what rests first', () => {
  const whole = [orderOf(usd(1_000), usd(1_000))]
  const next = (parts: Partial<ExecutorView>, state: TwapProgress = { made: 1, slot: 1 }, own = {}) =>
    twapTask.next(task(state, own), view({ nowMs: startMs + 60_000, ...parts }))
  expect(next({ children: whole })).toMatchObject({ kind: 'done', outcome: 'done' })
  const stop = { by: 'ann', reason: 'enough' }
  expect(next({}, { made: 0, slot: 0, stop })).toMatchObject({
    outcome: 'stopped',
    statement: '$0.00 of $1,000.00 by 0 orders: ann: enough',
  })
  const one = [orderOf(usd(250), usd(250))]
  expect(next({ children: one, nowMs: startMs + 240_000 })).toMatchObject({ outcome: 'out of budget' })
  expect(next({ children: one }, undefined, { budget: { ...params.budget, orders: 1 } })).toMatchObject({
    outcome: 'out of budget',
    statement: expect.stringContaining('1 of 1 orders'),
  })
  expect(next({ children: one }, undefined, { budget: { ...params.budget, feesUsd: usd(1) } })).toMatchObject(
    {
      outcome: 'out of budget',
      statement: expect.stringContaining('fees of $0.38 of $1.00 are used'),
    },
  )
  const resting = orderOf(usd(1_000), undefined, { isOpen: true, parts: 4 })
  const stopping = { made: 1, slot: 1, stop }
  expect(next({ children: [resting] }, stopping)).toMatchObject({
    decisions: [{ decisionKey: 'twap:one#2', decision: { kind: 'cancel' }, state: { made: 2, stop } }],
  })
  const cancel = orderOf(0n, undefined, { kind: 'cancel', acceptedAtMs: startMs + 59_000 })
  expect(next({ children: [resting, cancel] }, { ...stopping, made: 2 })).toMatchObject({ decisions: [] })
})

/** What may happen to an order of a task, or around it, between two looks. */
const happening = fc.record({
  afterMs: fc.integer({ min: 0, max: 40_000 }),
  /** What becomes of an open order: `unknown` stays open. */
  fate: fc.constantFrom('filled', 'part', 'cancelled', 'dead', 'unknown'),
  isDenied: fc.boolean(),
  /** Admission cut it to so much of what was asked, percent. */
  cut: fc.integer({ min: 1, max: 100 }),
  isHalted: fc.boolean(),
  isCrash: fc.boolean(),
  isStopped: fc.nat({ max: 30 }).map((each) => each === 0),
  capacityUsd: fc.integer({ min: 0, max: 5_000 }),
  price: fc.integer({ min: 1_700, max: 1_900 }),
})

test('no order of fills, denials, cuts, cancels, unknown fates, halts and crashes takes a twap beyond its size, budget or bounds', () => {
  fc.assert(
    fc.property(
      fc.record({
        sizeUsd: fc.bigInt({ min: 10n * ONE_USD, max: 5_000n * ONE_USD }),
        parts: fc.integer({ min: 2, max: 12 }),
        orders: fc.integer({ min: 1, max: 15 }),
        feesUsd: fc.integer({ min: 1, max: 20 }),
        route: fc.constantFrom('auto' as const, 'own' as const),
        action: fc.constantFrom('increase' as const, 'decrease' as const),
        worst: fc.option(fc.integer({ min: 1_750, max: 1_850 }), { nil: undefined }),
      }),
      fc.array(happening, { minLength: 5, maxLength: 60 }),
      ({ sizeUsd, parts, orders, feesUsd, route, action, worst }, story) => {
        const own: Partial<TwapParams> = {
          sizeUsd,
          parts,
          route,
          action,
          budget: { orders, feesUsd: usd(feesUsd), untilMs: startMs + 600_000 },
          ...(worst === undefined ? {} : { worstPrice: usd(worst) }),
        }
        let state: TwapProgress = twapBegins
        let nowMs = startMs
        const children: { state: IntentState; key: string }[] = []
        for (const step of story) {
          nowMs += step.afterMs
          // What is open moves on.
          children.forEach((child, at) => {
            const { terms, kind } = child.state.intent
            if (child.state.closing !== undefined || step.fate === 'unknown') return
            const size = terms.sizeDeltaUsd
            const filled = { filled: size, part: size / 2n, cancelled: undefined, dead: undefined }[step.fate]
            const options = {
              kind,
              parts: terms.twap?.parts ?? 1,
              acceptedAtMs: child.state.intent.acceptedAtMs,
            }
            children[at] = { ...child, state: orderOf(size, kind === 'cancel' ? undefined : filled, options) }
          })
          if (step.isStopped) state = { ...state, stop: { by: 'ann', reason: 'enough' } }
          const seen = view({
            nowMs,
            snapshot: snapshotAt(step.price),
            children: children.map((each) => each.state),
            isMade: (key) => children.some((each) => each.key === key),
            capacity: () => usd(step.capacityUsd),
            ...(step.isHalted
              ? { halt: 'trading is halted: a look', reducingHalt: 'trading is halted: a look' }
              : {}),
          })
          const next = twapTask.next(task(state, own), seen)
          expect(twapTask.next(task(state, own), seen)).toEqual(next)
          if (next.kind === 'read') throw new Error('it was shown its market')
          if (next.kind === 'done') {
            expect(children.every((each) => each.state.closing !== undefined)).toBe(true)
            break
          }
          const [made] = next.decisions
          state = next.state
          if (made === undefined || step.isDenied) continue
          const { decision } = made
          expect(children.some((each) => each.key === made.decisionKey)).toBe(false)
          if (decision.kind !== 'cancel') {
            expect(step.isHalted || state.stop !== undefined).toBe(false)
            expect(children.every((each) => each.state.closing !== undefined)).toBe(true)
            expect(nowMs).toBeLessThan(startMs + 600_000)
            if (decision.kind !== 'increase' && decision.kind !== 'decrease') throw new Error(decision.kind)
            if (action === 'increase')
              expect(decision.sizeDeltaUsd).toBeLessThanOrEqual(usd(step.capacityUsd) / 4n)
            if (worst !== undefined)
              expect(action === 'increase' ? step.price <= worst : step.price >= worst).toBe(true)
            const isWhole = decision.twap !== undefined
            const size = isWhole
              ? decision.sizeDeltaUsd
              : minOf(decision.sizeDeltaUsd, (decision.sizeDeltaUsd * BigInt(step.cut)) / 100n)
            const options = {
              kind: decision.kind,
              parts: decision.twap?.parts ?? 1,
              acceptedAtMs: nowMs,
              isOpen: true,
            }
            children.push({ key: made.decisionKey, state: orderOf(size, undefined, options) })
          } else {
            const options = { kind: 'cancel' as const, acceptedAtMs: nowMs, isOpen: true }
            children.push({ key: made.decisionKey, state: orderOf(0n, undefined, options) })
          }
          // A crash before the step is folded leaves the state as it was only where the order is not there either; one that
          // is there without its step is passed over.
          if (!step.isCrash) state = made.state
          const use = useOf(view({ children: children.map((each) => each.state) }))
          expect(use.doneUsd + use.openUsd).toBeLessThanOrEqual(sizeUsd)
          expect(use.orders).toBeLessThanOrEqual(orders)
          expect(use.feesUsd).toBeLessThanOrEqual(usd(feesUsd))
        }
      },
    ),
    { seed: 41, numRuns: 2_000 },
  )
})

test('the end of a task and its parts keep their time where the clock is set back by a day', async () => {
  const dayMs = 86_400_000
  const clock = manualClock(startMs)
  const [times, running] = [createTaskTimes(clock), { ...task({ made: 1, slot: 1 }) }]
  const look = () => {
    const setBackMs = times.setBackSince(running)
    const nowMs = clock.now()
    const children = [orderOf(usd(250), usd(250))]
    return twapTask.next(running, view({ children, nowMs, setBackMs }))
  }
  expect(said(look())).toContain('not due yet')
  clock.setBack(dayMs)
  expect(said(look())).toContain('not due yet')
  await clock.advance(30_000)
  expect(decided(look())).toMatchObject({ sizeDeltaUsd: usd(250) })
  await clock.advance(210_000)
  expect(look()).toMatchObject({ outcome: 'out of budget' })
  // A step ends how long the clock has run straight, one forth too; what a time server corrects does not.
  expect(times.straightMs()).toBe(0)
  await clock.advance(60_000)
  clock.setBack(1_000)
  expect(times.straightMs()).toBe(60_000)
  clock.setBack(-dayMs)
  expect(times.straightMs()).toBe(0)
  clock.setBack(dayMs)
  // One that begins after the step has its own time, and so has one of before the process.
  expect(times.setBackSince({ taskId: 'later', sinceMs: clock.now() })).toBe(0)
  expect(createTaskTimes(clock).setBackSince({ taskId: 'twap:one', sinceMs: clock.now() + dayMs })).toBe(
    dayMs,
  )
})
