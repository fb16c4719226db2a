/** Exits that an operator plans by hand (`perpd protect`), over real sockets to the paper venue: placed, moved, resized, removed, and never twice. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import { cancelOrder } from '../../src/paper/keeper/orderEnds.ts'
import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { collateralTokenOf, defineStrategy, type Strategy, z } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { ann, opening, restingAt } from '../support/janitor.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench
let at: ReturnType<typeof engineOver>
let engine: Engine | undefined
beforeEach(() => {
  engine = undefined
})
afterEach(async () => {
  engine?.abort()
  await bench.close()
})

/** Cancels an order with the account's key, by another program. */
function cancelElsewhere(orderKey: string): void {
  const { venueState } = bench.venue
  const order = [...venueState.orders.values()].find(({ key }) => key === orderKey)
  if (order === undefined) throw new Error(`no order ${orderKey}`)
  cancelOrder(venueState, order, 'USER_INITIATED_CANCEL', bench.clock.now())
}

/** Holds a long of $1,000. */
const holder = defineStrategy({
  kind: 'holder',
  description: 'Holds a long.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide(view) {
    const market = view.market(ethSymbol)
    if (market === undefined || view.ownPositions().length + view.openIntents.length > 0) return []
    return [
      {
        kind: 'increase' as const,
        marketToken: market.market.marketToken,
        direction: 'long' as const,
        sizeDeltaUsd: usd(1_000),
        leverageBps: 20_000,
        collateralToken: collateralTokenOf(market, 'short'),
        reason: 'no position is open',
      },
    ]
  },
}) as Strategy

const held = () => loadedOf(holder, 'holder', [ethSymbol], { cadenceMs: 5_000 })

async function begin(
  strategies: readonly LoadedStrategy[] = [],
  path: Parameters<typeof kindsBench>[0] = { path: [[0, 2_000]] },
): Promise<void> {
  bench = await kindsBench(path)
  await run(strategies)
}

async function run(strategies: readonly LoadedStrategy[] = []): Promise<void> {
  at = engineOver(bench, { strategies })
  engine = at.engine
  await engine.start()
  await bench.clock.advance(30_000)
}

type Command = Parameters<Engine['operate']>[0]

async function ask(command: Command) {
  const answer = await engine?.operate(command, ann)
  await bench.clock.advance(40_000)
  return answer
}

const protect = (more: object = {}) =>
  ({ type: 'protect', market: ethSymbol, direction: 'long', own: false, ...more }) as Command
const close = (id: string, shareBps = 10_000) =>
  ({ type: 'close', id, market: ethSymbol, direction: 'long', shareBps }) as Command
const open = (id: string, more: object = {}) => ({ ...opening, id, direction: 'long', ...more }) as Command
const plans = () => bench.journal.account().handPlans ?? []

test('a position gets its stop and target; both are moved by one order each, follow the size, and one is removed alone', {
  timeout: 240_000,
}, async () => {
  await begin()
  expect(await ask(open('by-hand'))).toMatchObject({ ok: true })
  expect(await ask(protect({ stopLoss: '1800', takeProfit: '2400' }))).toMatchObject({ ok: true })
  expect(await restingAt(bench)).toEqual(['long 5 2400 500', 'long 6 1800 500'])

  const made = bench.journal.recentIntents().length
  expect(await ask(protect({ stopLoss: '1850' }))).toMatchObject({ ok: true })
  expect(await restingAt(bench)).toEqual(['long 5 2400 500', 'long 6 1850 500'])
  const [moved] = bench.journal.recentIntents()
  expect(bench.journal.recentIntents().length).toBe(made + 1)
  expect(moved?.intent.kind).toBe('edit')

  expect(await ask(open('more'))).toMatchObject({ ok: true })
  expect(await restingAt(bench)).toEqual(['long 5 2400 1000', 'long 6 1850 1000'])
  expect(await ask(close('a-part', 5_000))).toMatchObject({ ok: true })
  expect(await restingAt(bench)).toEqual(['long 5 2400 500', 'long 6 1850 500'])

  expect(await ask(protect({ takeProfit: 'none' }))).toMatchObject({ ok: true })
  expect(await restingAt(bench)).toEqual(['long 6 1850 500'])
  expect(plans()).toMatchObject([{ stopLoss: usd(1_850) }])
  expect(plans()[0]).not.toHaveProperty('takeProfit')
  expect(at.codes()).toEqual([])
})

test('a percent counts from the entry price, to the losing side for a stop and the winning one for a target', {
  timeout: 240_000,
}, async () => {
  await begin()
  await ask(open('by-hand'))
  const [position] = (await bench.snapshot()).positions.value
  const entry = position?.entryPrice ?? 0n
  await ask(protect({ stopLoss: '10%', takeProfit: '2.5%' }))
  const near = (price: bigint | undefined, wanted: bigint) =>
    expect(Number(((price ?? 0n) - wanted) / usd('0.01'))).toBe(0)
  const [plan] = plans()
  near(plan?.stopLoss as bigint, (entry * 90n) / 100n)
  near(plan?.takeProfit as bigint, (entry * 1025n) / 1000n)
  expect((await restingAt(bench)).length).toBe(2)
})

test('an order brings exits in percent: from its trigger where it waits, else from the price that it opens at', {
  timeout: 240_000,
}, async () => {
  await begin()
  await ask(open('waits', { limit: '1900', far: true, stopLoss: '10%', takeProfit: '5%' }))
  expect(await restingAt(bench)).toEqual(['long 3 1900 500', 'long 5 1995 500', 'long 6 1710 500'])
  const quote = await engine?.operate({ ...open('now', { stopLoss: '3%' }), isPreview: true } as Command, ann)
  expect(quote).toMatchObject({ ok: true })
  await ask(open('now', { stopLoss: '10%' }))
  const stops = bench.journal.recentIntents()[0]?.intent.terms.tpsl ?? []
  const price = bench.journal.recentIntents()[0]?.intent.terms.referencePrice ?? 0n
  expect(Number(stops[0]?.triggerPrice) / Number(price)).toBeCloseTo(0.9, 6)
})

test('a stop that somebody cancels is placed anew, and an engine that starts again goes on with the plan', {
  timeout: 240_000,
}, async () => {
  await begin()
  await ask(open('by-hand'))
  await ask(protect({ stopLoss: '1800' }))
  const [{ orderKey } = { orderKey: '' }] = (await bench.snapshot()).orders.value
  cancelElsewhere(orderKey)
  await bench.clock.advance(60_000)
  expect(await restingAt(bench)).toEqual(['long 6 1800 500'])
  engine?.abort()
  await run()
  expect(await restingAt(bench)).toEqual(['long 6 1800 500'])
  const [{ orderKey: next } = { orderKey: '' }] = (await bench.snapshot()).orders.value
  expect(next).not.toBe(orderKey)
  cancelElsewhere(next)
  await bench.clock.advance(60_000)
  expect(await restingAt(bench)).toEqual(['long 6 1800 500'])
})

test('the whole position of a strategy is protected by hand, and with the share of the operator only its own part', {
  timeout: 240_000,
}, async () => {
  await begin([held()])
  expect(await ask(protect({ own: true, stopLoss: '1800' }))).toMatchObject({
    ok: false,
    code: 'PART_NOT_FOUND',
  })
  expect(plans()).toEqual([])
  expect(await ask(protect({ stopLoss: '1800' }))).toMatchObject({ ok: true })
  expect(await restingAt(bench)).toEqual(['long 6 1800 1000'])
  await ask(open('by-hand'))
  expect(await restingAt(bench)).toEqual(['long 6 1800 1500'])
  expect(await ask(protect({ own: true, stopLoss: '1800' }))).toMatchObject({ ok: true })
  expect(await restingAt(bench)).toEqual(['long 6 1800 500'])
  // A close takes the hand's part first, and says so, with the PnL of what it takes.
  const preview = (await ask({ ...close('half', 5_000), isPreview: true } as Command)) as {
    readonly closing?: {
      readonly pnlUsd: string
      readonly parts: readonly {
        readonly strategy: string
        readonly sizeUsd: string
        readonly pnlUsd: string
      }[]
    }
  }
  const parts = preview.closing?.parts ?? []
  expect(parts.map(({ strategy, sizeUsd }) => [strategy, sizeUsd])).toEqual([
    ['@operator', usd(500).toString()],
    ['holder', usd(250).toString()],
  ])
  const priceUsd = parts.reduce((sum, { pnlUsd }) => sum + BigInt(pnlUsd), 0n)
  // Pending funding and borrowing of half an hour at most stand between them.
  expect(Math.abs(Number(BigInt(preview.closing?.pnlUsd ?? 0) - priceUsd) / 1e30)).toBeLessThan(0.1)
  await ask(close('mine', 3_334))
  expect(await restingAt(bench)).toEqual([])
  expect(plans()).toEqual([])
})

test('the plan ends with its position: exits are cancelled, and a position that opens there later gets none', {
  timeout: 240_000,
}, async () => {
  await begin()
  await ask(open('by-hand'))
  await ask(protect({ stopLoss: '1800', takeProfit: '2400' }))
  await ask(close('all-of-it'))
  expect(await restingAt(bench)).toEqual([])
  expect(plans()).toEqual([])
  await ask(open('anew'))
  expect(await restingAt(bench)).toEqual([])
})

test('exits that came with an entry are taken over: one order of each at the new place', {
  timeout: 240_000,
}, async () => {
  await begin()
  await ask(open('one', { stopLoss: '1700' }))
  await ask(open('two', { stopLoss: '1750' }))
  expect((await restingAt(bench)).length).toBe(2)
  await ask(protect({ stopLoss: '1800' }))
  await bench.clock.advance(60_000)
  expect(await restingAt(bench)).toEqual(['long 6 1800 1000'])
  expect(await ask(open('three', { stopLoss: '1700' }))).toMatchObject({ ok: false, code: 'EXITS_PLANNED' })
})

test('refused with a code, and nothing is planned: no position, the wrong side of the price, behind the liquidation', {
  timeout: 240_000,
}, async () => {
  await begin()
  const refused = async (command: Command) => {
    const answer = await engine?.operate(command, ann)
    return answer?.ok === false ? answer.code : answer
  }
  expect(await refused(protect({ stopLoss: '1800' }))).toBe('POSITION_NOT_FOUND')
  await ask(open('by-hand'))
  expect(await refused(protect({ stopLoss: '2100' }))).toBe('TRIGGER_WOULD_FIRE')
  expect(await refused(protect({ takeProfit: '1900' }))).toBe('TRIGGER_WOULD_FIRE')
  expect(await refused(protect({ stopLoss: '500' }))).toBe('STOP_BEHIND_LIQUIDATION')
  expect(plans()).toEqual([])
  const preview = await engine?.operate({ ...protect({ stopLoss: '1800' }), isPreview: true }, ann)
  expect(preview).toMatchObject({ ok: true })
  expect([plans(), await restingAt(bench)]).toEqual([[], []])
})

test('a price that passed the stop while nothing rested closes the part at the market, once', {
  timeout: 240_000,
}, async () => {
  await begin([], {
    path: [
      [0, 2_000],
      [600, 2_000],
      [601, 1_700],
    ],
  })
  await ask(open('by-hand'))
  await ask(protect({ stopLoss: '1800' }))
  const [{ orderKey } = { orderKey: '' }] = (await bench.snapshot()).orders.value
  const waitMs = 599_000 - (bench.clock.now() - bench.venue.venueState.epochSeconds * 1000)
  await bench.clock.advance(waitMs)
  cancelElsewhere(orderKey)
  await bench.clock.advance(120_000)
  expect((await bench.snapshot()).positions.value).toEqual([])
  const closes = bench.journal.recentIntents().filter(({ intent: { kind, terms } }) => {
    return kind === 'decrease' && terms.orderType === 'market'
  })
  expect(closes.length).toBeLessThanOrEqual(1)
  expect(plans()).toEqual([])
})
