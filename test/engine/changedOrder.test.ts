/** A second client with the same key changes a stop of ours at the venue: it is told, shown as it is in force, and settled. */
import { afterEach, expect, test } from 'vitest'
import { shortDiscrepancyId } from '../../src/domain/accountRecords/discrepancyId.ts'
import { orderRow } from '../../src/domain/summaries/orderView.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { defineStrategy, type Strategy, type StrategyView, z } from '../../src/strategy/strategy.ts'
import type { StrategyDecision } from '../../src/strategy/strategyDecision.ts'
import { engineOver } from '../support/engine.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, type KindsOptions, kindsBench, signer } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench
let running: { abort(): void } | undefined
afterEach(async () => {
  running?.abort()
  running = undefined
  await bench.close()
})

/** Opens a long with a stop once, and afterwards does what it is told at its next turns. */
function holder(marketToken: Hex): {
  readonly loaded: LoadedStrategy
  ask(decision: StrategyDecision): void
} {
  const side = { marketToken, direction: 'long', collateralToken: usdc, reason: 'test' } as const
  let isOpened = false
  let wanted: StrategyDecision | undefined
  const strategy = defineStrategy({
    kind: 'holder',
    description: 'Holds a long behind a stop.',
    params: z.object({}),
    needs: () => ({ symbols: [ethSymbol] }),
    decide: (view): readonly StrategyDecision[] => {
      if (wanted !== undefined) {
        const decision = wanted
        wanted = undefined
        return [decision]
      }
      if (isOpened || (view as StrategyView).positions(ethSymbol).length > 0) return []
      isOpened = true
      const tpsl = [{ type: 'stop-loss', triggerPrice: usd(1_200) }] as const
      return [{ kind: 'increase', ...side, sizeDeltaUsd: usd(500), leverageBps: 20_000, tpsl }]
    },
  }) as Strategy
  return {
    loaded: loadedOf(strategy, 'holder', [ethSymbol], { cadenceMs: 1_000 }),
    ask(decision) {
      wanted = decision
    },
  }
}

async function started(isByChain: boolean, lie?: KindsOptions['lie']) {
  bench = await kindsBench({ isByChain, isOperator: true, ...(lie === undefined ? {} : { lie }) })
  const marketToken = await bench.marketToken(ethSymbol)
  // The engine's own journal: what the bench's does is another client's.
  const journal = createMemoryJournal()
  const { loaded, ask } = holder(marketToken)
  const over = engineOver(
    { ...bench, journal, context: { ...bench.context, journal } },
    { strategies: [loaded] },
  )
  running = over.engine
  await over.engine.start()
  await bench.clock.advance(90_000)
  const rows = async () => (await bench.api.getOrders({ account: signer.address }, { isFresh: true })).value
  const [stop] = await rows()
  if (stop === undefined) throw new Error('no stop rests')
  const edit = { kind: 'edit', marketToken, direction: 'long', orderKey: stop.orderKey, reason: 'x' } as const
  return {
    ...over,
    ask,
    edit,
    rows,
    journal,
    /** Kinds that were told, and how they ended by themselves or by a word. */
    told: () =>
      over.events.flatMap((event) =>
        event.type === 'account.discrepancy'
          ? [event.discrepancy.kind]
          : event.type === 'account.discrepancySettled'
            ? [event.as]
            : [],
      ),
    stopLeg: async () =>
      (await over.engine.intents({ openOnly: true }))
        .flatMap((each) => orderRow(each).legs)
        .find(({ role }) => role === 'stop-loss'),
  }
}

test.each([
  ['by its trades alone', false],
  ['by its chain', true],
])(
  'a stop that another client moved is told once, shown as in force, holds increases, and is settled or put right: %s',
  async (_how, isByChain) => {
    const { engine, ask, edit, told, stopLeg, codes, events } = await started(isByChain)
    expect(told()).toEqual([])
    expect(await stopLeg()).toMatchObject({ triggerPrice: usd(1_200).toString(), changedFrom: null })

    await bench.accept({ ...edit, triggerPrice: usd(900) })
    await bench.clock.advance(90_000)
    expect(told()).toEqual(['changed-order'])
    expect(await stopLeg()).toMatchObject({
      triggerPrice: usd(900).toString(),
      changedFrom: { triggerPrice: usd(1_200).toString() },
    })
    const [discrepancy] = events.flatMap((event) =>
      event.type === 'account.discrepancy' ? [event.discrepancy] : [],
    )
    expect(discrepancy?.statement).toContain('its trigger is $900.000, perpd signed $1,200.00')
    const { marketToken } = edit
    const more = { kind: 'increase', marketToken, direction: 'long', collateralToken: usdc } as const
    ask({ ...more, sizeDeltaUsd: usd(100), leverageBps: 20_000, reason: 'more' })
    await bench.clock.advance(10_000)
    expect(codes()).toContain('UNEXPLAINED')

    const discrepancyId = shortDiscrepancyId(discrepancy?.discrepancyId ?? '')
    await engine.operate({ type: 'discrepancy', discrepancyId, as: 'adopted' }, { by: 'ann', via: 'control' })
    await bench.clock.advance(60_000)
    expect(told()).toEqual(['changed-order', 'adopted'])
    expect(engine.status().discrepancies).toEqual([])
    expect(await stopLeg()).toMatchObject({ triggerPrice: usd(900).toString() })

    // Put back as it was signed, it is no change any more.
    await bench.accept({ ...edit, triggerPrice: usd(1_200) })
    await bench.clock.advance(60_000)
    expect(told()).toEqual(['changed-order', 'adopted', 'gone'])
    expect(await stopLeg()).toMatchObject({ triggerPrice: usd(1_200).toString(), changedFrom: null })
  },
)

test('an own edit of a stop is never told as another client’s', async () => {
  const { ask, edit, told, stopLeg, rows } = await started(false)
  for (const price of [1_100, 1_150]) {
    ask({ ...edit, triggerPrice: usd(price) })
    await bench.clock.advance(120_000)
    expect(await stopLeg()).toMatchObject({ triggerPrice: usd(price).toString(), changedFrom: null })
  }
  expect((await rows()).map(({ triggerContractPrice }) => triggerContractPrice)).toEqual([
    1_150n * 10n ** 12n,
  ])
  expect(told()).toEqual([])
})

test('a list that shows an order changed for one look alone, or an own edit late, is lag and nothing is told', async () => {
  const { ask, edit, told } = await started(false)
  const lie = () => {
    const rule = bench.venue.wire.add({
      kind: 'edit',
      route: '/orders',
      host: '*',
      edits: [{ path: '/0/triggerPrice', set: String(900n * 10n ** 12n) }],
    })
    if (typeof rule === 'string') throw new Error(rule)
    return rule.id
  }
  const once = lie()
  await bench.clock.advance(5_000)
  bench.venue.wire.remove(once)
  await bench.clock.advance(30_000)
  expect(told()).toEqual([])
  ask({ ...edit, triggerPrice: usd(1_100) })
  await bench.clock.advance(5_000)
  const late = lie()
  await bench.clock.advance(15_000)
  bench.venue.wire.remove(late)
  await bench.clock.advance(60_000)
  expect(told()).toEqual([])
})

test('a list that shows an own edit a minute late and more tells of no other client, and one that puts the old content back does', async () => {
  let isLate = false
  let held: string | undefined
  const { ask, edit, told, stopLeg } = await started(false, (url, text) => {
    if (!new URL(url).pathname.endsWith('/orders')) return undefined
    if (!isLate) held = text
    return held
  })
  for (const price of [1_100, 1_150]) {
    isLate = true
    ask({ ...edit, triggerPrice: usd(price) })
    await bench.clock.advance(100_000)
    expect(told()).toEqual([])
    isLate = false
    await bench.clock.advance(20_000)
    expect(await stopLeg()).toMatchObject({ triggerPrice: usd(price).toString(), changedFrom: null })
  }
  expect(told()).toEqual([])
  // Another client makes of it what it was by an earlier message of ours.
  await bench.accept({ ...edit, triggerPrice: usd(1_100) })
  await bench.clock.advance(60_000)
  expect(told()).toEqual(['changed-order'])
})
