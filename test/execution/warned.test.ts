/**
 * Prepare's warnings, one of every code and reason, from the paper venue over sockets: what policy does with the order, and
 * that it is shown in four places before anything is signed.
 */
import { afterEach, expect, test } from 'vitest'
import { statusText } from '../../src/cli/results/statusText.ts'
import { explainText } from '../../src/cli/story/explainText.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import type { IncreaseDecision } from '../../src/domain/order/decision.ts'
import { isOpen, labelOf } from '../../src/domain/order/intent.ts'
import type { WarningAction } from '../../src/domain/order/warnedFacts.ts'
import { defaultWarningPolicy, type WarningPolicy } from '../../src/domain/order/warning.ts'
import { orderRow, toPlain } from '../../src/domain/summaries/orderView.ts'
import { createOrderManager } from '../../src/execution/orderManager.ts'
import { phrase } from '../../src/monitor/events/eventRegister.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { usd } from '../../src/protocol/units.ts'
import { engine } from '../control/door.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, type KindsOptions, kindsBench, priceAt } from '../support/kinds.ts'

let at: KindsBench

afterEach(() => at.close())

const settings = { startBalances: { USDC: '900000000', ETH: '50', WETH: '10' } }

function policy(
  adding: Readonly<Record<string, WarningAction>>,
  droppingReductions: readonly string[] = [],
): WarningPolicy {
  return { adding: new Map(Object.entries(adding)), droppingReductions: new Set(droppingReductions) }
}

async function open(options: KindsOptions = {}): Promise<IncreaseDecision> {
  at = await kindsBench({ settings, ...options })
  return {
    kind: 'increase',
    marketToken: await at.marketToken(ethSymbol),
    direction: 'long',
    collateralToken: usdc,
    reason: 'the test wishes it',
    sizeDeltaUsd: usd(300),
    leverageBps: 30_000,
  }
}

const warnedOf = (intentId: string) => at.story(intentId).attempts.flatMap(({ warned }) => warned ?? [])
const kindsOf = async (intentId: string) =>
  (await at.journal.records(intentId)).map(({ record }) => record.kind)

/** Accepts a decision and lets it run. */
async function walk(decision: Parameters<KindsBench['accept']>[0], limits?: Limits) {
  const intent = await at.accept(decision, limits)
  await at.clock.advance(5_000)
  return at.story(intent.intentId)
}

test('every code and reason that the documents know comes from the venue; an increase is dropped by default, unsigned', async () => {
  const increase = await open({ settings: { ...settings, onlyMarkets: [] } })
  const { capacityLong } = [...(await at.snapshot()).markets.values()][0] ?? {}
  const base = capacityLong?.value.baseAvailableLiquidity ?? 0n
  const aboveBase: IncreaseDecision = { ...increase, sizeDeltaUsd: base + usd(1_000), leverageBps: 300_000 }
  const cases = [
    [{ marketData: 'stale' }, increase, 'TRADING_CAPACITY_UNAVAILABLE', 'STALE_MARKET_DATA'],
    [{ jitData: 'unavailable' }, aboveBase, 'TRADING_CAPACITY_UNAVAILABLE', 'JIT_DATA_UNAVAILABLE'],
    [
      { jitEligibility: 'unknown' },
      aboveBase,
      'TRADING_CAPACITY_UNAVAILABLE',
      'JIT_ACCOUNT_ELIGIBILITY_UNKNOWN',
    ],
    [{ prepareWarns: 'HIGH_PRICE_IMPACT' }, increase, 'HIGH_PRICE_IMPACT', undefined],
  ] as const
  for (const [faults, decision, code, reason] of cases) {
    const admitted = await at.judge(decision)
    if (admitted.kind === 'denial') throw new Error(JSON.stringify(admitted.denial))
    // The venue's data went bad after the order was sized.
    const before = { ...at.venue.faults }
    Object.assign(at.venue.faults, faults)
    await at.orderManager.accept(admitted.intent)
    await at.clock.advance(5_000)
    Object.assign(at.venue.faults, before)
    const { intentId } = admitted.intent
    expect(warnedOf(intentId)).toMatchObject([
      { action: 'drop', warnings: [{ code, action: 'drop', ...(reason === undefined ? {} : { reason }) }] },
    ])
    expect(await kindsOf(intentId)).toEqual([
      'intent.accepted',
      'attempt.preparing',
      'attempt.warned',
      'intent.closed',
    ])
    expect(at.story(intentId).closing).toMatchObject({ outcome: 'REFUSED_LOCAL', code: 'PREPARE_WARNED' })
  }
  expect(at.venue.record()).toEqual([])
})

test('a code that policy signs is signed and executed, after its record', async () => {
  const increase = await open({ warningPolicies: [policy({ HIGH_PRICE_IMPACT: 'sign' })] })
  at.venue.faults.prepareWarns = 'HIGH_PRICE_IMPACT'
  const state = await walk(increase)
  expect(labelOf(state)).toBe('executed')
  expect((await kindsOf(state.intent.intentId)).slice(0, 4)).toEqual([
    'intent.accepted',
    'attempt.preparing',
    'attempt.warned',
    'attempt.armed',
  ])
})

test('a reason goes before its code, and a strategy can only be stricter than the account', async () => {
  const lenient = policy({ 'TRADING_CAPACITY_UNAVAILABLE.STALE_MARKET_DATA': 'sign' })
  const strict: WarningPolicy = { ...policy({ TRADING_CAPACITY_UNAVAILABLE: 'drop' }), isPartial: true }
  for (const [policies, label] of [
    [[lenient], 'executed'],
    [[lenient, strict], 'refused'],
    [[defaultWarningPolicy, { ...lenient, isPartial: true }], 'refused'],
  ] as const) {
    const increase = await open({ warningPolicies: policies })
    const admitted = await at.judge(increase)
    if (admitted.kind === 'denial') throw new Error(JSON.stringify(admitted.denial))
    at.venue.faults.marketData = 'stale'
    await at.orderManager.accept(admitted.intent)
    await at.clock.advance(5_000)
    expect(labelOf(at.story(admitted.intent.intentId))).toBe(label)
    if (label === 'executed') await at.close()
    else if (policies.includes(strict)) await at.close()
  }
})

test('a decrease is signed by default and dropped where policy says so; a close is signed whatever it says', async () => {
  const increase = await open({ warningPolicies: [policy({}, ['HIGH_PRICE_IMPACT'])] })
  await walk(increase)
  at.venue.faults.prepareWarns = 'HIGH_PRICE_IMPACT'
  const { marketToken, direction, collateralToken, reason } = increase
  const base = { marketToken, direction, collateralToken, reason } as const
  const decrease = { ...base, kind: 'decrease', sizeDeltaUsd: usd(100), keepLeverage: false } as const
  expect(labelOf(await walk(decrease))).toBe('refused')
  at.venue.faults.prepareWarns = 'ANOTHER_CODE'
  expect(labelOf(await walk(decrease))).toBe('executed')
  at.venue.faults.prepareWarns = 'HIGH_PRICE_IMPACT'
  expect(labelOf(await walk({ ...base, kind: 'close' }))).toBe('executed')
})

const waiting = [
  ['limit', { orderType: 'limit' }],
  ['limit of the relay lane', { orderType: 'limit', lane: 'relay' }],
  ['limit with exits', { orderType: 'limit', tpsl: true }],
  ['twap', { orderType: 'twap', twap: { parts: 3, durationSeconds: 60 } }],
] as const

test.each(waiting)(
  'a waiting %s larger than the room shrinks to it inside its intent, and only shrinks',
  async (_name, kind) => {
    const limits: Limits = { capacityHeadroomBps: 1_000 }
    const increase = await open({ limits, ...('lane' in kind ? { lane: kind.lane } : {}) })
    const world = await at.snapshot()
    const price = (bps: number) => priceAt(world, increase.marketToken, bps)
    const { orderType } = kind
    const wish: IncreaseDecision = {
      ...increase,
      sizeDeltaUsd: usd(1_000_000_000),
      leverageBps: 300_000,
      orderType,
      ...(orderType === 'limit' ? { triggerPrice: price(-500) } : { twap: kind.twap }),
      ...('tpsl' in kind
        ? {
            tpsl: [
              { type: 'take-profit', triggerPrice: price(1_000), shareBps: 5_000 },
              { type: 'stop-loss', triggerPrice: price(-1_000) },
            ] as const,
          }
        : {}),
    }
    const admitted = await at.judge(wish)
    if (admitted.kind === 'denial') throw new Error(JSON.stringify(admitted.denial))
    const { intent } = admitted
    // Others take a part of the room between the size and the prepare.
    await walk({ ...increase, sizeDeltaUsd: usd(200_000), leverageBps: 200_000 })
    const capacity = (
      await at.api.getTradingCapacity({ symbol: ethSymbol, direction: 'long' }, { isFresh: true })
    ).value
    await at.orderManager.accept({ ...intent, expiresAtMs: at.clock.now() + 30_000 })
    await at.clock.advance(5_000)
    const state = at.story(intent.intentId)
    const [warned] = warnedOf(intent.intentId)
    expect(warned).toMatchObject({ action: 'shrink', warnings: [{ code: 'INSUFFICIENT_LIQUIDITY' }] })
    const { terms, sizing, reservationUsd } = state.intent
    const room = capacity.availableLiquidity - capacity.availableLiquidity / 10n
    expect(terms.sizeDeltaUsd).toBeLessThanOrEqual(room)
    expect(terms.sizeDeltaUsd).toBeGreaterThan(room / 2n)
    expect(reservationUsd).toBe(terms.sizeDeltaUsd)
    expect(sizing.cuts.at(-1)).toEqual({ by: 'INSUFFICIENT_LIQUIDITY', toUsd: terms.sizeDeltaUsd })
    // The record of the acceptance keeps what was accepted.
    const [first] = await at.journal.records(intent.intentId)
    expect(first?.record.kind === 'intent.accepted' && first.record.intent.terms.sizeDeltaUsd).toBe(
      intent.terms.sizeDeltaUsd,
    )
    expect(isOpen(state)).toBe(true)
    expect((await kindsOf(intent.intentId)).slice(0, 4)).toEqual([
      'intent.accepted',
      'attempt.preparing',
      'attempt.warned',
      'attempt.armed',
    ])
    const resting = (await at.api.getOrders({ account: intent.account }, { isFresh: true })).value
    const parts = BigInt(terms.twap?.parts ?? 1)
    const ofSize = resting.filter(({ sizeDeltaUsd }) => sizeDeltaUsd === terms.sizeDeltaUsd / parts)
    // The first part of a twap is due at once.
    expect(ofSize.length).toBeGreaterThanOrEqual(parts === 1n ? 1 : Number(parts) - 1)
  },
)

test('an order that would shrink below the strategy minimum is dropped', async () => {
  const increase = await open({ limits: { minOrderSizeUsd: usd(900_000_000) } })
  const world = await at.snapshot()
  const wish: IncreaseDecision = {
    ...increase,
    sizeDeltaUsd: usd(1_000_000_000),
    leverageBps: 300_000,
    orderType: 'limit',
    triggerPrice: priceAt(world, increase.marketToken, -500),
  }
  const admitted = await at.judge(wish)
  if (admitted.kind === 'denial') throw new Error(JSON.stringify(admitted.denial))
  await walk({ ...increase, sizeDeltaUsd: usd(200_000), leverageBps: 200_000 })
  await at.orderManager.accept({ ...admitted.intent, expiresAtMs: at.clock.now() + 30_000 })
  await at.clock.advance(5_000)
  const [warned] = warnedOf(admitted.intent.intentId)
  expect(warned).toMatchObject({
    action: 'drop',
    reason: expect.stringContaining('no smaller order is possible'),
  })
  expect(at.story(admitted.intent.intentId).closing).toMatchObject({ code: 'PREPARE_WARNED' })
})

test('an order shrinks twice at most, over a restart too', async () => {
  const increase = await open({ warningPolicies: [policy({ AGAIN: 'shrink' })] })
  at.venue.faults.prepareWarns = 'AGAIN'
  let sizeUsd = usd(300)
  const context = {
    ...at.context,
    admission: {
      veto: () => undefined,
      resize: async () => {
        sizeUsd -= usd(50)
        if (sizeUsd === usd(200)) orderManager.stop().catch(() => undefined)
        return sizeUsd
      },
    },
  }
  const orderManager = createOrderManager(context)
  const admitted = await at.judge(increase)
  if (admitted.kind === 'denial') throw new Error(JSON.stringify(admitted.denial))
  const { intentId } = admitted.intent
  await orderManager.accept(admitted.intent)
  await at.clock.advance(3_000)
  expect(warnedOf(intentId).map(({ action }) => action)).toEqual(['shrink'])
  expect(at.story(intentId).intent.terms.sizeDeltaUsd).toBe(usd(250))
  sizeUsd = usd(240)
  const next = createOrderManager({
    ...at.context,
    admission: { veto: () => undefined, resize: async () => (sizeUsd -= usd(10)) },
  })
  next.restore(at.journal.openIntents(), [])
  await next.recover()
  await at.clock.advance(3_000)
  expect(warnedOf(intentId).map(({ action }) => action)).toEqual(['shrink', 'shrink', 'drop'])
  expect(at.story(intentId)).toMatchObject({
    closing: { code: 'PREPARE_WARNED' },
    intent: { terms: { sizeDeltaUsd: usd(230) } },
  })
  expect(at.venue.record()).toEqual([])
})

test('a warning is shown by log, metric, journal, explanation, list and status, before the signature', async () => {
  const order: string[] = []
  const increase = await open({ warningPolicies: [policy({ HIGH_PRICE_IMPACT: 'sign' })] })
  at.venue.faults.prepareWarns = 'HIGH_PRICE_IMPACT'
  const metrics = createMetrics({ version: '', profile: '', chain: '' })
  const orderManager = createOrderManager({
    ...at.context,
    emit: (event) => {
      metrics.listen(event)
      if (event.type === 'order.warned') order.push(phrase(event).text)
      if (event.type === 'journal.committed') order.push(event.record.kind)
    },
    signer: {
      ...at.context.signer,
      sign: (request) => {
        order.push('signed')
        return at.context.signer.sign(request)
      },
    },
  })
  const admitted = await at.judge(increase)
  if (admitted.kind === 'denial') throw new Error(JSON.stringify(admitted.denial))
  const { intentId } = admitted.intent
  await orderManager.accept(admitted.intent)
  await at.clock.advance(5_000)
  expect(order.slice(2, 5)).toEqual([
    expect.stringMatching(
      /the venue warns before signing: Every order gets the warning HIGH_PRICE_IMPACT \[HIGH_PRICE_IMPACT\]\. The policy signs it anyway/,
    ),
    'attempt.warned',
    'signed',
  ])
  expect(await metrics.render()).toContain(
    'perpd_validation_warnings_total{code="HIGH_PRICE_IMPACT",action="sign"} 1',
  )
  const state = at.story(intentId)
  const text = explainText(state, await at.journal.records(intentId), {
    rules: { ...at.context.rules, nowMs: at.clock.now() },
    endings: [],
    attemptsPerCause: undefined,
    feeToken: arbitrum.feeToken,
  })
  const flat = text.replace(/\s+/g, ' ')
  expect(flat).toContain('attempt 1: the venue warns of HIGH_PRICE_IMPACT; by policy signed anyway')
  expect(flat).toContain('Every order gets the warning HIGH_PRICE_IMPACT [HIGH_PRICE_IMPACT]; policy: sign')
  const row = orderRow({ state, label: labelOf(state) })
  expect(row.warnings).toEqual(['HIGH_PRICE_IMPACT: sign'])
  const body = { ...toPlain({ ...engine.status(), symbols: {} }), openIntents: [row], incidents: [] }
  expect(statusText(body)).toContain('old, warnings: HIGH_PRICE_IMPACT: sign')
})
