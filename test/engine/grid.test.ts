/** A strategy that rests orders, from its YAML file to an executed exit: the whole loop over real sockets to the paper venue. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import { usd } from '../../src/protocol/units.ts'
import { type LoadedStrategy, loadStrategies } from '../../src/strategy/files/load.ts'
import { defineStrategy, z } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench, type PricePath } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

/** When the bench's venue starts. */
const startMs = Date.UTC(2026, 10, 20, 12)
const folder = mkdtempSync(join(tmpdir(), 'perpd-grid-'))
let bench: KindsBench | undefined
let engine: Engine | undefined

afterEach(async () => {
  engine?.abort()
  await bench?.close()
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function fromFile(yaml: string): Promise<readonly LoadedStrategy[]> {
  const file = join(folder, 'eth-grid.yaml')
  writeFileSync(file, yaml)
  const loaded = await loadStrategies([file])
  expect(loaded.problems).toEqual([])
  return loaded.strategies
}

async function run(path: PricePath, strategies: readonly LoadedStrategy[]): Promise<KindsBench> {
  bench = await kindsBench({ path })
  engine = engineOver(bench, { strategies }).engine
  await engine.start()
  return bench
}

test('a grid rests its orders, a fill gets its exits, and the take-profit closes it', async () => {
  const at = await run(
    [
      [0, 2010],
      [40, 2010],
      [60, 1945],
      [90, 1945],
      [120, 1985],
    ],
    await fromFile(
      [
        'kind: grid',
        'market: "ETH/USD [WETH-USDC]"',
        'cadenceSeconds: 2',
        'size: { usd: 200, leverage: 2, collateral: short }',
        'params: { stepUsd: 50, levels: 2, takeProfitBps: 100, stopBps: 800 }',
      ].join('\n'),
    ),
  )
  await at.clock.advance(38_000)
  const resting = (await at.snapshot()).orders.value.map(({ triggerContractPrice }) => triggerContractPrice)
  expect(resting.sort()).toEqual([1900n * 10n ** 12n, 1950n * 10n ** 12n])

  await at.clock.advance(47_000)
  const held = await at.snapshot()
  expect(held.positions.value).toMatchObject([{ direction: 'long', sizeInUsd: usd(200) }])
  expect(held.orders.value.map(({ orderType }) => orderType).sort()).toEqual([3, 5, 6])

  await at.clock.advance(60_000)
  const kinds = at.journal
    .recentIntents({ limit: 50 })
    .map(({ intent, closing }) => [intent.kind, intent.terms.orderType, closing?.outcome])
  expect(kinds).toEqual(
    expect.arrayContaining([
      ['increase', 'limit', 'EXECUTED'],
      ['decrease', 'take-profit', 'EXECUTED'],
      ['decrease', 'stop-loss', 'CANCELLED'],
    ]),
  )
  const after = await at.snapshot()
  expect(after.positions.value).toEqual([])
  expect(after.orders.value.every(({ orderType }) => orderType === 3)).toBe(true)
  const denied = at.events.flatMap((event) => (event.type === 'decision.denied' ? [event.denial.code] : []))
  expect(denied).toEqual([])
})

/** Rests one order with an exit at its first look, then cancels the order alone. */
const once = defineStrategy({
  kind: 'once',
  description: 'Rests one order with an exit, and cancels the order alone.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide: (view) => {
    const market = view.market(ethSymbol)
    if (market === undefined) return []
    const base = {
      marketToken: market.market.marketToken,
      direction: 'long',
      reason: 'the test wishes it',
    } as const
    const resting = view.restingOrders.find(({ orderType }) => orderType === 'limit')
    if (resting !== undefined) return [{ ...base, kind: 'cancel', orderKeys: [resting.orderKey] }]
    if (view.openIntents.length > 0 || view.snapshot.atMs > startMs + 3_000) return []
    return [
      {
        ...base,
        kind: 'increase',
        orderType: 'limit',
        triggerPrice: usd(1900),
        sizeDeltaUsd: usd(200),
        leverageBps: 20_000,
        collateralToken: market.market.shortToken,
        tpsl: [{ type: 'stop-loss', triggerPrice: usd(1800) }],
      },
    ]
  },
})

test('the exits of an increase that never came about are cancelled by the loop itself', async () => {
  const at = await run([[0, 2010]], [loadedOf(once, 'once', [ethSymbol], { cadenceMs: 2_000 })])
  await at.clock.advance(40_000)
  expect((await at.snapshot()).orders.value).toEqual([])
  const kinds = at.journal
    .recentIntents({ limit: 50 })
    .map(({ intent, closing }) => [intent.kind, closing?.outcome])
  expect(kinds.sort()).toEqual([
    ['cancel', 'EXECUTED'],
    ['cancel', 'EXECUTED'],
    ['increase', 'CANCELLED'],
  ])
})
