/** Admission of every kind beyond market orders: sizes, reservations, slots, and whose orders may be changed. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type {
  BatchDecision,
  Decision,
  DecreaseDecision,
  IncreaseDecision,
} from '../../src/domain/order/decision.ts'
import type { Evidence, Intent, IntentState } from '../../src/domain/order/intent.ts'
import type { Snapshot } from '../../src/domain/snapshot.ts'
import { termsOf } from '../../src/monitor/text.ts'
import type { Order } from '../../src/protocol/position.ts'
import { BPS_ONE, contractPriceOf, MAX_UINT256, ONE_USD, usd, usdOfAmount } from '../../src/protocol/units.ts'
import { admit } from '../../src/risk/admit.ts'
import { exposureOf, sideOf, worstCaseUsd } from '../../src/risk/exposure/accountExposure.ts'
import { SWAP_COST_BPS } from '../../src/risk/sizing/swapPlan.ts'
import {
  ACCOUNT,
  capacity,
  close,
  type DeskParts,
  decrease,
  desk,
  increase,
  intentState,
  MARKET,
  marketView,
  NOW_MS,
  OTHER_MARKET,
  order,
  position,
  signedAs,
  snapshot,
  USDC,
  WETH,
} from './world.ts'

const key = `0x${'0d'.repeat(32)}` as const
const otherKey = `0x${'0e'.repeat(32)}` as const
const base = { marketToken: MARKET, direction: 'long', reason: 'The test wishes it.' } as const

function codeOf(decision: Decision, parts: DeskParts = {}): string {
  const admitted = admit(decision, desk(parts))
  return admitted.kind === 'denial' ? admitted.denial.code : 'admitted'
}

function intentOf(decision: Decision, parts: DeskParts = {}): Intent {
  const admitted = admit(decision, desk(parts))
  if (admitted.kind === 'denial') throw new Error(JSON.stringify(admitted.denial))
  return admitted.intent
}

/** An intent of ours whose order rests at the venue. */
function restingIntent(
  parts: Parameters<typeof intentState>[0] & { orderType?: 'limit' | 'stop-loss' } = {},
) {
  const state = intentState({ orderKey: key, ...parts })
  const { orderType = 'limit' } = parts
  return { ...state, intent: { ...state.intent, terms: { ...state.intent.terms, orderType } } }
}

/** The same as the strategy of the admission context, which is `eth-trend`. */
const ownLimit = (sizeUsd: bigint) => restingIntent({ decision: increase({ sizeDeltaUsd: sizeUsd }) })

const limit = (changes: Partial<IncreaseDecision> = {}): IncreaseDecision =>
  increase({ orderType: 'limit', triggerPrice: usd(1900), ...changes })

test('a limit order reserves its full size, waits at its trigger, and is sized like a market order', () => {
  const market = intentOf(increase())
  const resting = intentOf(limit())
  expect(resting.reservationUsd).toBe(market.reservationUsd)
  expect(resting.terms).toMatchObject({ ...market.terms, orderType: 'limit', triggerPrice: usd(1900) })
  const tight = {
    snapshot: snapshot({
      view: marketView({ capacityLong: { value: capacity({ availableLiquidity: usd(40) }), atMs: NOW_MS } }),
    }),
  }
  expect(intentOf(limit(), tight).terms.sizeDeltaUsd).toBe(usd(40))
})

test.each<readonly [string, Decision, string]>([
  ['a limit of a long above the price', limit({ triggerPrice: usd(2100) }), 'TRIGGER_WOULD_FIRE'],
  ['a limit of a short below the price', limit({ direction: 'short' }), 'TRIGGER_WOULD_FIRE'],
  ['a stop-market of a long below the price', limit({ orderType: 'stop-market' }), 'TRIGGER_WOULD_FIRE'],
  ['a trigger of zero', limit({ triggerPrice: 0n }), 'TRIGGER_NOT_POSITIVE'],
  ['a trigger too fine for the contract', limit({ triggerPrice: 10n ** 17n }), 'TRIGGER_NOT_POSITIVE'],
  [
    'a take-profit below the entry',
    increase({ tpsl: [{ type: 'take-profit', triggerPrice: usd(1900) }] }),
    'TRIGGER_WOULD_FIRE',
  ],
  [
    'a stop-loss above a limit entry',
    limit({ tpsl: [{ type: 'stop-loss', triggerPrice: usd(1950) }] }),
    'TRIGGER_WOULD_FIRE',
  ],
  [
    'six exits',
    increase({
      tpsl: Array.from({ length: 6 }, () => ({ type: 'stop-loss', triggerPrice: usd(1000) }) as const),
    }),
    'TOO_MANY_EXITS',
  ],
  [
    'an exit of nothing',
    increase({ tpsl: [{ type: 'stop-loss', triggerPrice: usd(1000), shareBps: 0 }] }),
    'EXIT_TOO_SMALL',
  ],
])('%s is denied', (_what, decision, code) => {
  expect(codeOf(decision)).toBe(code)
})

test('the exits of an increase that was cut close their share of what was admitted', () => {
  const { terms } = intentOf(
    increase({
      tpsl: [
        { type: 'take-profit', triggerPrice: usd(2100), shareBps: 2500 },
        { type: 'stop-loss', triggerPrice: usd(1900) },
      ],
    }),
    { limits: { maxOrderSizeUsd: usd(400) } },
  )
  expect(terms.tpsl).toEqual([
    { type: 'take-profit', triggerPrice: usd(2100), sizeDeltaUsd: usd(100) },
    { type: 'stop-loss', triggerPrice: usd(1900), sizeDeltaUsd: usd(400) },
  ])
})

test('the exits of the file come with every increase, around the price that it opens at', () => {
  const exits = { stopLoss: { bps: 500 }, takeProfits: [{ bps: 1_000, shareBps: 4_000 }] }
  const { terms } = intentOf(increase(), { exits, limits: { maxOrderSizeUsd: usd(400) } })
  const { referencePrice } = terms
  expect(terms.tpsl).toEqual([
    { type: 'take-profit', triggerPrice: (referencePrice * 11n) / 10n, sizeDeltaUsd: usd(160) },
    { type: 'stop-loss', triggerPrice: (referencePrice * 95n) / 100n, sizeDeltaUsd: usd(400) },
  ])
  // A limit order opens at its trigger.
  expect(intentOf(limit(), { exits }).terms.tpsl?.map(({ triggerPrice }) => triggerPrice)).toEqual([
    usd(2090),
    usd(1805),
  ])
  const twap = increase({ orderType: 'twap', twap: { parts: 4, durationSeconds: 60 } })
  expect(codeOf(twap, { exits })).toBe('EXITS_WITH_TWAP')
  expect(codeOf(increase(), { exits: { stopLoss: { usd: usd(5_000) }, takeProfits: [] } })).toBe(
    'TRIGGER_NOT_POSITIVE',
  )
  // Where they lie is not known yet: nothing is opened that would stand without them.
  expect(codeOf(increase(), { exits: 'unknown' })).toBe('EXITS_UNKNOWN')
})

test('orders without a bound on their price are bounded by their size; limit orders are not', () => {
  const limits = { maxUnboundedOrderUsd: usd(100) }
  const stop = increase({ orderType: 'stop-market', triggerPrice: usd(2100) })
  const twap = increase({ orderType: 'twap', twap: { parts: 4, durationSeconds: 60 } })
  expect(intentOf(stop, { limits }).sizing).toMatchObject({
    sizeDeltaUsd: usd(100),
    cuts: [{ by: 'maxUnboundedOrderUsd', toUsd: usd(100) }],
  })
  expect(intentOf(twap, { limits }).terms.sizeDeltaUsd).toBe(usd(100))
  expect(intentOf(limit(), { limits }).terms.sizeDeltaUsd).toBe(usd(1000))
  expect(codeOf(stop, { limits: { ...limits, minOrderSizeUsd: usd(200) } })).toBe('MAX_UNBOUNDED_ORDER')
})

test('every part of a twap must meet the minimums', () => {
  const twap = { parts: 30, durationSeconds: 600 }
  expect(codeOf(increase({ orderType: 'twap', twap, sizeDeltaUsd: usd(29), leverageBps: 10_000 }))).toBe(
    'ORDER_TOO_SMALL',
  )
  expect(codeOf(increase({ orderType: 'twap', twap, sizeDeltaUsd: usd(60), leverageBps: 20_000 }))).toBe(
    'COLLATERAL_BELOW_MINIMUM',
  )
  expect(codeOf(increase({ orderType: 'twap', twap, sizeDeltaUsd: usd(90), leverageBps: 20_000 }))).toBe(
    'admitted',
  )
})

test('whatever the kind of increase, it is never above a limit or the room, and its reservation is its size', () => {
  const amount = fc.bigInt({ min: 0n, max: 20_000n }).map((dollars) => dollars * ONE_USD)
  const kind = fc.constantFrom(
    {},
    { orderType: 'limit', triggerPrice: usd(1900) } as const,
    { orderType: 'stop-market', triggerPrice: usd(2100) } as const,
    { orderType: 'twap', twap: { parts: 3, durationSeconds: 60 } } as const,
    { tpsl: [{ type: 'stop-loss', triggerPrice: usd(1500), shareBps: 3333 }] } as const,
  )
  fc.assert(
    fc.property(
      kind,
      amount,
      amount,
      amount,
      amount,
      amount,
      fc.boolean(),
      (shape, wanted, room, maxPosition, maxUnbounded, resting, isOurs) => {
        const view = marketView({
          capacityLong: { value: capacity({ availableLiquidity: room }), atMs: NOW_MS },
        })
        const world = snapshot({ view, orders: resting === 0n ? [] : [order({ sizeDeltaUsd: resting })] })
        const intents = isOurs && resting > 0n ? [ownLimit(resting)] : []
        const limits = { maxPositionSizeUsd: maxPosition, maxUnboundedOrderUsd: maxUnbounded }
        const admitted = admit(
          increase({ ...shape, sizeDeltaUsd: wanted }),
          desk({ snapshot: world, limits, intents }),
        )
        if (admitted.kind === 'denial') return
        const { terms, reservationUsd, sizing } = admitted.intent
        const size = terms.sizeDeltaUsd
        expect(reservationUsd).toBe(size)
        expect(size <= wanted && size + resting <= room && size + resting <= maxPosition).toBe(true)
        if (terms.orderType === 'stop-market' || terms.orderType === 'twap')
          expect(size <= maxUnbounded).toBe(true)
        for (const exit of terms.tpsl ?? [])
          expect(exit.sizeDeltaUsd > 0n && exit.sizeDeltaUsd <= size).toBe(true)
        expect(sizing.sizeDeltaUsd).toBe(size)
        // 5x by the decision.
        const collateralUsd = usdOfAmount(terms.collateralDelta, usd('0.9997'), 6)
        expect(collateralUsd + 1n >= size / 5n - ONE_USD / 1000n).toBe(true)
      },
    ),
    { numRuns: 400, seed: 11 },
  )
})

test('an increase that rests keeps its room and lets the next one through; one on its way does not', () => {
  const resting = ownLimit(usd(300))
  const world = snapshot({ orders: [order()] })
  expect(codeOf(limit(), { snapshot: world, intents: [intentState()] })).toBe('SLOT_BUSY')
  const next = intentOf(limit(), {
    snapshot: world,
    intents: [resting],
    limits: { maxPositionSizeUsd: usd(700) },
  })
  expect(next.terms.sizeDeltaUsd).toBe(usd(400))
})

const exitsOf = (decision: IncreaseDecision, context: Parameters<typeof intentOf>[1]) =>
  intentOf(decision, context).terms.tpsl?.map(({ type, triggerPrice }) => [type, triggerPrice])

test('an entry that waits brings no exit of its file that the price has passed: it would close what else is held', () => {
  const exits = {
    stopLoss: { bps: 200 },
    takeProfits: [
      { bps: 100, shareBps: 5_000 },
      { bps: 1_000, shareBps: 5_000 },
    ],
  }
  const stop = limit({ orderType: 'stop-market', triggerPrice: usd(2_300) })
  for (const positions of [[], [position()]]) {
    const context = { exits, snapshot: snapshot({ positions }) }
    expect(exitsOf(limit(), context)).toEqual([
      ['take-profit', usd(2_090)],
      ['stop-loss', usd(1_862)],
    ])
    expect(exitsOf(stop, context)).toEqual([
      ['take-profit', usd(2_323)],
      ['take-profit', usd(2_530)],
    ])
    // At the market each lies around the price.
    expect(exitsOf(increase(), context)).toHaveLength(3)
  }
})

test('an exit that is past and that nobody places later comes with a waiting entry only where nothing is held', () => {
  const held = snapshot({ positions: [position()] })
  const part = { takeProfits: [{ bps: 100, shareBps: 5_000 }] }
  const own = limit({ tpsl: [{ type: 'take-profit', triggerPrice: usd(1_950) }] })
  expect(exitsOf(limit(), { exits: part })).toEqual([['take-profit', usd(1_919)]])
  expect(exitsOf(own, {})).toEqual([['take-profit', usd(1_950)]])
  expect(codeOf(limit(), { exits: part, snapshot: held })).toBe('TRIGGER_WOULD_FIRE')
  expect(codeOf(own, { snapshot: held })).toBe('TRIGGER_WOULD_FIRE')
  const ahead = limit({ tpsl: [{ type: 'take-profit', triggerPrice: usd(2_100) }] })
  expect(exitsOf(ahead, { snapshot: held })).toEqual([['take-profit', usd(2_100)]])
})

const seen: Evidence = { level: 'api', atMs: NOW_MS - 1000, statement: 'seen' }

/** An increase that filled a second ago and waits for its exits. */
function filled(changes: Partial<{ filledAt: number; atMs: number }> = {}): IntentState {
  const state = restingIntent({ decision: increase({ sizeDeltaUsd: usd(300) }) })
  const evidence = { ...seen, atMs: changes.atMs ?? seen.atMs }
  return {
    ...state,
    attempts: state.attempts.map((attempt) => ({
      ...attempt,
      evidence,
      children: [
        {
          index: 0,
          orderKey: key,
          phase: 'EXECUTED',
          role: 'main',
          evidence,
          settlement: { timestampSeconds: changes.filledAt ?? NOW_MS / 1000 - 1 },
        },
        { index: 1, orderKey: otherKey, phase: 'OPEN', role: 'stop-loss', evidence },
      ],
    })),
  }
}

test('an increase that waits for its exits holds nothing, once its fill shows in the positions', () => {
  const unseen = exposureOf(snapshot(), [filled()])
  expect(sideOf(unseen, MARKET, 'long')).toMatchObject({ reservedUsd: usd(300), increases: [{}] })
  const shown = exposureOf(snapshot({ positions: [position({ increasedAtSeconds: NOW_MS / 1000 - 1 })] }), [
    filled(),
  ])
  expect(sideOf(shown, MARKET, 'long')).toMatchObject({ reservedUsd: 0n, increases: [], reductions: [] })
  const old = exposureOf(snapshot(), [filled({ atMs: NOW_MS - 30_000 })])
  expect(sideOf(old, MARKET, 'long')).toMatchObject({ reservedUsd: 0n, increases: [] })
})

test('an order that an edit made larger counts with what it shows, not with what it was admitted for', () => {
  const exposure = exposureOf(snapshot({ orders: [order({ sizeDeltaUsd: usd(500) })] }), [ownLimit(usd(300))])
  expect(worstCaseUsd(sideOf(exposure, MARKET, 'long'))).toBe(usd(500))
})

const exit = (changes: Partial<DecreaseDecision> = {}): DecreaseDecision => ({
  ...decrease(usd(500)),
  orderType: 'stop-loss',
  triggerPrice: usd(1700),
  ...changes,
})

test('an exit reserves nothing, needs a position, and is cut to it', () => {
  const positions = [position()]
  expect(codeOf(exit())).toBe('NO_POSITION')
  const { terms, reservationUsd, sizing } = intentOf(exit({ sizeDeltaUsd: usd(5000) }), {
    snapshot: snapshot({ positions }),
  })
  expect(reservationUsd).toBe(0n)
  expect(terms).toMatchObject({ orderType: 'stop-loss', triggerPrice: usd(1700), sizeDeltaUsd: usd(1000) })
  expect(sizing.cuts).toEqual([{ by: 'sizeInUsd', toUsd: usd(1000) }])
  expect(codeOf(exit({ triggerPrice: usd(2100) }), { snapshot: snapshot({ positions }) })).toBe(
    'TRIGGER_WOULD_FIRE',
  )
})

test('exits that rest keep neither a close nor an increase away; one on its way keeps its like away', () => {
  const world = snapshot({ positions: [position()] })
  const rests = restingIntent({ decision: exit(), orderType: 'stop-loss' })
  expect(codeOf(close(), { snapshot: world, intents: [rests] })).toBe('admitted')
  expect(codeOf(increase(), { snapshot: world, intents: [rests] })).toBe('admitted')
  const planned = intentState({ decision: exit() })
  const way = {
    ...planned,
    intent: { ...planned.intent, terms: { ...planned.intent.terms, orderType: 'stop-loss' as const } },
  }
  expect(codeOf(exit(), { snapshot: world, intents: [way] })).toBe('REDUCE_IN_FLIGHT')
  expect(codeOf(close(), { snapshot: world, intents: [way] })).toBe('admitted')
  expect(codeOf(increase(), { snapshot: world, intents: [way] })).toBe('REDUCE_IN_FLIGHT')
})

/** An order that landed for this decision, as evidence of this level shows its end. */
function ended(decision: Decision, phase: 'CANCELLED' | 'EXECUTED', level: Evidence['level'], by: string) {
  const landed = intentState({ decision, orderKey: `0x${'0e'.repeat(32)}` })
  const evidence = { level, atMs: NOW_MS, statement: 'seen' }
  const child = { phase, cancelReason: by, evidence }
  const attempts = landed.attempts.map((attempt) => ({
    ...attempt,
    children: attempt.children.map((each) => ({ ...each, ...child })),
  }))
  return { ...landed, attempts }
}

test('a reduction that the account cancelled for good keeps nothing away; one whose end may be taken back, that filled, or that a keeper cancelled does', () => {
  const world = snapshot({ positions: [position()] })
  const codes = (...of: readonly [Decision, 'CANCELLED' | 'EXECUTED', Evidence['level'], string]) => {
    const parts = { snapshot: world, intents: [ended(...of)] }
    return [codeOf(close(), parts), codeOf(increase(), parts)]
  }
  const byAccount = 'USER_INITIATED_CANCEL'
  const held = ['REDUCE_IN_FLIGHT', 'REDUCE_IN_FLIGHT']
  for (const level of ['chain-final', 'api'] as const)
    expect(codes(close(), 'CANCELLED', level, byAccount)).toEqual(['admitted', 'admitted'])
  expect(codes(close(), 'CANCELLED', 'chain-latest', byAccount)).toEqual(held)
  expect(codes(close(), 'CANCELLED', 'chain-final', 'INSUFFICIENT_LIQUIDITY')).toEqual(held)
  expect(codes(close(), 'EXECUTED', 'chain-final', byAccount)).toEqual(held)
})

const resting = (changes: Partial<Order> = {}): Order =>
  order({
    triggerContractPrice: contractPriceOf(usd(1900), 18),
    acceptableContractPrice: contractPriceOf(usd(1925), 18),
    autoCancel: false,
    minOutputAmount: 0n,
    ...changes,
  })
const edit = (changes: object = {}) => ({ ...base, kind: 'edit', orderKey: key, ...changes }) as const
const cancel = (...orderKeys: readonly `0x${string}`[]) => ({ ...base, kind: 'cancel', orderKeys }) as const
const withOrder = (changes: Partial<Order> = {}): DeskParts => ({
  snapshot: snapshot({ orders: [resting(changes)] }),
  intents: [ownLimit(usd(300))],
})

test('an edit says every field that the chain rewrites; the acceptable price moves with the trigger', () => {
  const { terms, reservationUsd, kind } = intentOf(edit({ triggerPrice: usd(1800) }), withOrder())
  expect([kind, reservationUsd]).toEqual(['edit', 0n])
  expect(terms.edit).toEqual({
    orderKey: key,
    sizeDeltaUsd: usd(300),
    triggerContractPrice: contractPriceOf(usd(1800), 18),
    // 1800 and 1 % of slippage and 0.3 % for impact.
    acceptableContractPrice: contractPriceOf(usd('1823.4'), 18),
    minOutputAmount: 0n,
    autoCancel: false,
    executionFeeIncrease: 0n,
    changed: ['size', 'trigger', 'auto-cancel', 'acceptable'],
  })
})

test('a stop keeps its any price when its trigger moves', () => {
  const parts = withOrder({
    orderType: 8,
    triggerContractPrice: contractPriceOf(usd(2100), 18),
    acceptableContractPrice: MAX_UINT256,
  })
  const { edit: terms } = intentOf(edit({ triggerPrice: usd(2200) }), parts).terms
  expect(terms).toMatchObject({
    acceptableContractPrice: MAX_UINT256,
    changed: ['size', 'trigger', 'auto-cancel'],
  })
})

test('a stop of all of the position is no size in dollars: its cancel is worth what is held, its edit keeps it', () => {
  const whole = resting({ orderType: 6, sizeDeltaUsd: MAX_UINT256, acceptableContractPrice: 0n })
  const parts: DeskParts = {
    snapshot: snapshot({ orders: [whole], positions: [position()] }),
    intents: [ownLimit(usd(300))],
  }
  const { sizing } = intentOf(cancel(key), parts)
  expect(sizing).toMatchObject({ wantedUsd: position().sizeInUsd, sizeDeltaUsd: position().sizeInUsd })
  const moved = intentOf(edit({ triggerPrice: usd(1850) }), parts)
  expect(moved).toMatchObject({ reservationUsd: 0n, terms: { edit: { sizeDeltaUsd: MAX_UINT256 } } })
  expect(termsOf(moved)).toContain('to all of the position at $1,850.00')
  expect(exposureOf(parts.snapshot ?? snapshot(), []).totalExposureUsd).toBe(position().sizeInUsd)
})

test('what an edit adds is sized, reserved and cut like an increase of that much', () => {
  const grown = intentOf(edit({ sizeDeltaUsd: usd(450) }), withOrder())
  expect(grown).toMatchObject({ reservationUsd: usd(150), terms: { sizeDeltaUsd: usd(450) } })
  const cut = intentOf(edit({ sizeDeltaUsd: usd(450) }), {
    ...withOrder(),
    limits: { maxPositionSizeUsd: usd(350) },
  })
  expect(cut).toMatchObject({
    reservationUsd: usd(50),
    terms: { edit: { sizeDeltaUsd: usd(350) } },
    sizing: { cuts: [{ by: 'maxPositionSizeUsd', toUsd: usd(350) }] },
  })
  const full = { ...withOrder(), limits: { maxPositionSizeUsd: usd(300) } }
  expect(codeOf(edit({ sizeDeltaUsd: usd(450) }), full)).toBe('MAX_POSITION_SIZE')
  // $60 of collateral carry 10x, not 12x.
  const steep = { ...withOrder(), limits: { maxLeverageBps: 100_000 } }
  expect(codeOf(edit({ sizeDeltaUsd: usd(720) }), steep)).toBe('MAX_LEVERAGE')
  const smaller = intentOf(edit({ sizeDeltaUsd: usd(100) }), { ...full, tradingState: 'reducing' })
  expect(smaller).toMatchObject({ reservationUsd: 0n, terms: { edit: { sizeDeltaUsd: usd(100) } } })
})

test.each<readonly [string, object, DeskParts, string]>([
  ['the same values', { triggerPrice: usd(1900) }, withOrder(), 'EDIT_CHANGES_NOTHING'],
  ['nothing', {}, withOrder(), 'EDIT_CHANGES_NOTHING'],
  [
    'the same values of a frozen order, which lifts the freeze',
    {},
    withOrder({ isFrozen: true }),
    'admitted',
  ],
  ['a size of zero', { sizeDeltaUsd: 0n }, withOrder(), 'SIZE_NOT_POSITIVE'],
  ['a trigger that would fire', { triggerPrice: usd(2100) }, withOrder(), 'TRIGGER_WOULD_FIRE'],
  ['a market order', { sizeDeltaUsd: 1n }, withOrder({ orderType: 2 }), 'ORDER_NOT_EDITABLE'],
  [
    'a part of a twap',
    { sizeDeltaUsd: 1n },
    withOrder({ triggerContractPrice: MAX_UINT256 }),
    'ORDER_NOT_EDITABLE',
  ],
  ['a waiting part', { sizeDeltaUsd: 1n }, withOrder({ validFromSeconds: 5 }), 'ORDER_NOT_EDITABLE'],
  ['an order of the other side', { direction: 'short', sizeDeltaUsd: 1n }, withOrder(), 'ORDER_UNKNOWN'],
  ['an order that is gone', { orderKey: otherKey, sizeDeltaUsd: 1n }, withOrder(), 'ORDER_UNKNOWN'],
  [
    'an order that no intent explains',
    { sizeDeltaUsd: 1n },
    { ...withOrder(), intents: [] },
    'ORDER_NOT_OWN',
  ],
  ["another strategy's order", { sizeDeltaUsd: 1n }, { ...withOrder(), strategy: 'other' }, 'ORDER_NOT_OWN'],
  [
    'a resting increase while trading is reducing',
    { triggerPrice: usd(1800) },
    { ...withOrder(), tradingState: 'reducing' },
    'TRADING_REDUCING',
  ],
])('an edit of %s', (_what, changes, parts, code) => {
  expect(codeOf(edit(changes), parts)).toBe(code)
})

test.each<readonly [string, Partial<Order>]>([
  ['acceptablePrice', { acceptableContractPrice: MAX_UINT256 }],
  ['triggerPrice', { triggerContractPrice: contractPriceOf(usd(1500), 18) }],
  ['sizeDeltaUsd', { sizeDeltaUsd: usd(900) }],
  ['minOutputAmount', { minOutputAmount: 1n }],
  ['autoCancel', { autoCancel: true }],
  ['orderType', { orderType: 8 }],
  ['initialCollateralTokenAddress', { initialCollateralToken: WETH }],
])('an edit copies nothing that a host lists otherwise than it was signed: %s', (field, changes) => {
  const signedOrder = () => signedAs(resting())
  const grown = edit({ sizeDeltaUsd: usd(310) })
  expect(codeOf(grown, { ...withOrder(), signedOrder })).toBe('admitted')
  const judged = admit(grown, desk({ ...withOrder(changes), signedOrder }))
  expect(judged).toMatchObject({ denial: { code: 'ORDER_DIFFERS' } })
  expect(judged.kind === 'denial' ? judged.denial.reason : '').toContain(`The listed ${field} of the order`)
  // Nothing of it is in a cancel.
  expect(codeOf(cancel(key), { ...withOrder(changes), signedOrder })).toBe('admitted')
})

test('an order whose signed fields are not known is edited by an operator alone', () => {
  const unknown = { ...withOrder(), signedOrder: () => undefined }
  expect(codeOf(edit({ triggerPrice: usd(1800) }), unknown)).toBe('ORDER_NOT_KNOWN')
  expect(codeOf(edit({ triggerPrice: usd(1800) }), { ...unknown, isOperator: true })).toBe('admitted')
  expect(codeOf(cancel(key), unknown)).toBe('admitted')
})

test('one unresolved change of an order at a time, whatever the change', () => {
  const changing = intentState({ intentId: 'changing', decision: cancel(key) })
  const open = {
    ...changing,
    intent: { ...changing.intent, terms: { ...changing.intent.terms, cancelOrderKeys: [key] } },
  }
  const parts = { ...withOrder(), intents: [ownLimit(usd(300)), open] }
  expect(codeOf(edit({ triggerPrice: usd(1800) }), parts)).toBe('ORDER_CHANGING')
  expect(codeOf(cancel(key), parts)).toBe('ORDER_CHANGING')
})

test('a cancel passes on old data and in a reducing account, and names each order once', () => {
  const old: Snapshot = { ...snapshot({ orders: [resting()] }), positions: { value: [], atMs: 0 } }
  const { oraclePrice: _none, ...view } = marketView()
  const parts: DeskParts = {
    snapshot: { ...old, markets: new Map([[MARKET.toLowerCase(), { ...view, status: 'unknown' }]]) },
    intents: [ownLimit(usd(300))],
    tradingState: 'reducing',
    limits: { maxDataAgeMs: 1000 },
  }
  expect(intentOf(cancel(key, key), parts)).toMatchObject({
    kind: 'cancel',
    reservationUsd: 0n,
    terms: { cancelOrderKeys: [key] },
  })
  expect(codeOf(cancel(), parts)).toBe('NO_ORDERS')
  expect(codeOf(cancel(otherKey), parts)).toBe('ORDER_UNKNOWN')
  expect(codeOf(cancel(key), withOrder({ orderType: 4 }))).toBe('ORDER_NOT_CANCELLABLE')
  expect(codeOf({ ...cancel(key), marketToken: OTHER_MARKET }, parts)).toBe('MARKET_UNKNOWN')
})

const collateral = (kind: 'collateral-in' | 'collateral-out', amount: bigint) =>
  ({ ...base, kind, collateralToken: USDC, amount }) as const
const held = { snapshot: snapshot({ positions: [position()] }) }

test('collateral goes in whatever the limits say, and names the position', () => {
  const limits = { maxLeverageBps: 10_000, maxPositionSizeUsd: 1n }
  expect(
    intentOf(collateral('collateral-in', 7n), { ...held, limits, tradingState: 'reducing' }),
  ).toMatchObject({
    kind: 'collateral-in',
    reservationUsd: 0n,
    terms: { collateralDelta: 7n, sizeDeltaUsd: 0n, positionKey: `${ACCOUNT}:${MARKET}:${USDC}:true` },
  })
  expect(codeOf(collateral('collateral-in', 0n), held)).toBe('AMOUNT_NOT_POSITIVE')
  expect(codeOf(collateral('collateral-in', 7n))).toBe('NO_POSITION')
})

test('collateral comes out while every limit carries the position, and not a unit further', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 250_000_000n }),
      fc.integer({ min: 10_000, max: 500_000 }),
      fc.bigInt({ min: -150n, max: 150n }),
      (amount, maxLeverageBps, pnl) => {
        const row = position({ netValueUsd: usd(200) + pnl * ONE_USD })
        const admitted = admit(
          collateral('collateral-out', amount),
          desk({ snapshot: snapshot({ positions: [row] }), limits: { maxLeverageBps } }),
        )
        const worst = pnl < 0n ? row.netValueUsd : row.remainingCollateralUsd
        // What leaves at the token's max price, rounded up.
        const left = worst - usdOfAmount(amount, usd('1.0001'), 6) - 1n
        const isCarried = left * BigInt(maxLeverageBps) >= row.sizeInUsd * BigInt(BPS_ONE) && left >= usd(3)
        expect(admitted.kind).toBe(isCarried ? 'intent' : 'denial')
      },
    ),
    { numRuns: 300, seed: 12 },
  )
  expect(codeOf(collateral('collateral-out', 1n), { ...held, tradingState: 'reducing' })).toBe(
    'TRADING_REDUCING',
  )
  expect(codeOf(collateral('collateral-out', 1n), { ...held, intents: [intentState()] })).toBe('SLOT_BUSY')
})

const swap = (payAmount: bigint, direction: 'long' | 'short' = 'long') =>
  ({ ...base, direction, kind: 'swap', payAmount }) as const

function withBalance(usdc: bigint, weth = 10n ** 18n): Snapshot {
  const row = (symbol: string, address: typeof USDC, decimals: number, balance: bigint) => ({
    symbol,
    address,
    decimals,
    balance,
  })
  return {
    ...snapshot(),
    balances: { value: [row('USDC', USDC, 6, usdc), row('WETH', WETH, 18, weth)], atMs: NOW_MS },
  }
}

test('a swap pays what the wallet has and the limits allow, and must give a fair amount less its costs', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 11n }),
      fc.bigInt({ min: 0n, max: 10n ** 11n }),
      fc.bigInt({ min: 1n, max: 50_000n }),
      fc.integer({ min: 0, max: 500 }),
      (wanted, balance, most, slippageBps) => {
        const parts: DeskParts = {
          snapshot: withBalance(balance),
          limits: { maxOrderSizeUsd: most * ONE_USD },
          slippageBps,
        }
        const admitted = admit(swap(wanted), desk(parts))
        if (admitted.kind === 'denial') return
        const { terms, reservationUsd } = admitted.intent
        const paid = terms.collateralDelta
        expect(paid > 0n && paid <= wanted && paid <= balance).toBe(true)
        const worth = usdOfAmount(paid, usd('0.9997'), 6)
        expect(worth <= most * ONE_USD && reservationUsd === 0n).toBe(true)
        const least = terms.swap?.minOutputAmount ?? 0n
        const leastWorth = usdOfAmount(least, usd(2001), 18)
        const costs = BigInt(BPS_ONE - slippageBps - SWAP_COST_BPS)
        expect(leastWorth <= (worth * costs) / BigInt(BPS_ONE) + usd('0.000001')).toBe(true)
        expect(leastWorth + usd('0.000001') >= (worth * costs) / BigInt(BPS_ONE)).toBe(true)
      },
    ),
    { numRuns: 300, seed: 13 },
  )
})

test('a swap is denied without balances, without money, without prices, and without an amount', () => {
  expect(codeOf(swap(1_000_000n))).toBe('BALANCE_UNKNOWN')
  expect(codeOf(swap(1_000_000n), { snapshot: withBalance(0n) })).toBe('NO_BALANCE')
  expect(codeOf(swap(0n), { snapshot: withBalance(1n) })).toBe('AMOUNT_NOT_POSITIVE')
  const { minPrice: _min, maxPrice: _max, ...unpriced } = marketView().longToken
  const view = marketView({ longToken: unpriced })
  const doubted = { ...withBalance(10n ** 9n), markets: new Map([[MARKET.toLowerCase(), view]]) }
  expect(codeOf(swap(1_000_000n), { snapshot: doubted })).toBe('COLLATERAL_PRICE_UNKNOWN')
  expect(intentOf(swap(10n ** 15n, 'short'), { snapshot: withBalance(0n) }).terms).toMatchObject({
    collateralToken: { symbol: 'WETH' },
    swap: { receiveToken: { symbol: 'USDC' } },
  })
})

const zero = '0x0000000000000000000000000000000000000000'
const create = (
  changes: { orderType?: bigint; isLong?: boolean; sizeUsd?: bigint; collateral?: bigint } = {},
) =>
  ({
    addresses: {
      receiver: ACCOUNT,
      cancellationReceiver: zero,
      callbackContract: zero,
      uiFeeReceiver: zero,
      market: MARKET,
      initialCollateralToken: USDC,
      swapPath: [],
    } as const,
    numbers: {
      sizeDeltaUsd: (changes.sizeUsd ?? 100n) * ONE_USD,
      initialCollateralDeltaAmount: changes.collateral ?? 50_000_000n,
      triggerPrice: 0n,
      acceptablePrice: contractPriceOf(usd(2020), 18),
      executionFee: 1n,
      callbackGasLimit: 0n,
      minOutputAmount: 0n,
      validFromTime: 0n,
    },
    orderType: changes.orderType ?? 2n,
    decreasePositionSwapType: 0n,
    isLong: changes.isLong ?? true,
    shouldUnwrapNativeToken: false,
    autoCancel: false,
    referralCode: `0x${'00'.repeat(32)}`,
    dataList: [],
  }) as const

const batch = (parts: Partial<BatchDecision['batch']> = {}): BatchDecision => ({
  ...base,
  kind: 'batch',
  batch: { createOrderParamsList: [], updateOrderParamsList: [], cancelOrderKeys: [], ...parts },
})
const two = batch({ createOrderParamsList: [create(), create({ sizeUsd: 150n }), create({ orderType: 6n })] })

test.each<readonly [string, BatchDecision, DeskParts, string]>([
  ['on the order chain', two, { lane: 'order-chain' }, 'BATCH_NEEDS_RELAY'],
  ['that does nothing', batch(), {}, 'BATCH_EMPTY'],
  ['that fits', two, {}, 'admitted'],
  ['above a limit together', two, { limits: { maxPositionSizeUsd: usd(249) } }, 'MAX_POSITION_SIZE'],
  ['while the side is unknown', two, { intents: [intentState()] }, 'SLOT_BUSY'],
  ['while trading is reducing', two, { tradingState: 'reducing' }, 'TRADING_REDUCING'],
  ['with a swap', batch({ createOrderParamsList: [create({ orderType: 0n })] }), {}, 'BATCH_UNSUPPORTED'],
  [
    'with the other side',
    batch({ createOrderParamsList: [create({ isLong: false })] }),
    {},
    'BATCH_UNSUPPORTED',
  ],
  [
    'with too little collateral',
    batch({ createOrderParamsList: [create({ collateral: 1_000_000n })] }),
    { limits: { maxLeverageBps: 500_000 } },
    'MAX_LEVERAGE',
  ],
  ['that cancels what is not ours', batch({ cancelOrderKeys: [key] }), {}, 'ORDER_UNKNOWN'],
  ['that cancels our order', batch({ cancelOrderKeys: [key] }), withOrder(), 'admitted'],
])('a batch %s', (_what, decision, parts, code) => {
  expect(codeOf(decision, { lane: 'relay', ...parts })).toBe(code)
})

test('a batch reserves what all its increases add, and nothing for its exits', () => {
  expect(intentOf(two, { lane: 'relay' })).toMatchObject({ kind: 'batch', reservationUsd: usd(250) })
  const exits = batch({ createOrderParamsList: [create({ orderType: 6n })] })
  expect(intentOf(exits, { lane: 'relay', tradingState: 'reducing' }).reservationUsd).toBe(0n)
})
