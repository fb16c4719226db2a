/** The `exit` block of a strategy file, from the YAML to an executed stop: the whole loop over real sockets to the paper venue. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import { usd } from '../../src/protocol/units.ts'
import { loadStrategies } from '../../src/strategy/files/load.ts'
import {
  collateralTokenOf,
  defineStrategy,
  type MarketView,
  type OrderSize,
  z,
} from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { restingAt } from '../support/janitor.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-exits-'))
let bench: KindsBench | undefined
let engine: Engine | undefined

afterEach(async () => {
  engine?.abort()
  await bench?.close()
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** An entry with no exit of its own. */
const entryOf = (market: MarketView, { usd: sizeDeltaUsd, leverageBps, collateral }: OrderSize) => ({
  kind: 'increase' as const,
  marketToken: market.market.marketToken,
  direction: 'long' as const,
  sizeDeltaUsd,
  leverageBps,
  collateralToken: collateralTokenOf(market, collateral),
  reason: 'it enters',
})

/** Opens once. */
const opener = defineStrategy({
  kind: 'opener',
  description: 'Opens once.',
  params: z.strictObject({}),
  memory: { version: 1, schema: z.strictObject({ opened: z.boolean() }), first: { opened: false } },
  needs: (_params, symbols) => ({ symbols }),
  decide(view, { opened }) {
    const market = view.market(ethSymbol)
    const { size } = view.instance
    if (opened || market === undefined || size === undefined) return { decisions: [], memory: { opened } }
    return { decisions: [entryOf(market, size)], memory: { opened: true } }
  },
})

async function loaded() {
  const file = join(folder, 'eth-once.yaml')
  writeFileSync(
    file,
    [
      'kind: trend',
      'market: "ETH/USD [WETH-USDC]"',
      'size: { usd: 200, leverage: 2, collateral: short }',
      'exit:',
      '  stopLoss: { bps: 200 }',
      '  takeProfit:',
      '    - { bps: 1000, shareBps: 5000 }',
      '    - { usd: 400, shareBps: 5000 }',
    ].join('\n'),
  )
  const { strategies, problems } = await loadStrategies([file])
  expect(problems).toEqual([])
  const [{ instance, exits } = { instance: undefined, exits: undefined }] = strategies
  if (instance === undefined || exits === undefined) throw new Error('the file did not load')
  return loadedOf(opener, 'eth-once', [ethSymbol], { instance, exits, cadenceMs: 2_000 })
}

test('the exits of the file rest with the entry, hold over a restart, and the stop that fires leaves none behind', async () => {
  bench = await kindsBench({
    path: [
      [0, 2_000],
      [60, 2_000],
      [80, 1_940],
      [200, 1_940],
    ],
  })
  const strategy = await loaded()
  const first = engineOver(bench, { strategies: [strategy] }).engine
  engine = first
  await first.start()
  await bench.clock.advance(30_000)
  const held = await bench.snapshot()
  expect(held.positions.value).toHaveLength(1)
  const { referencePrice = 1n, tpsl = [] } = bench.journal.recentIntents()[0]?.intent.terms ?? {}
  expect(tpsl.map(({ type }) => type)).toEqual(['take-profit', 'take-profit', 'stop-loss'])
  const awayBps = tpsl.map(
    ({ triggerPrice }) => Number(((triggerPrice - referencePrice) * 1_000_000n) / referencePrice) / 100,
  )
  expect(awayBps[0]).toBeCloseTo(1_000, 1)
  expect(awayBps[1]).toBeCloseTo((400 / 2_000) * 10_000, -1)
  expect(awayBps[2]).toBeCloseTo(-200, 1)
  expect(held.orders.value.map(({ orderType }) => orderType).sort()).toEqual([5, 5, 6])
  expect(first.status()).toMatchObject({ positions: [{}], withoutStop: [] })
  first.abort()
  // Nobody runs while the price falls through the stop.
  await bench.clock.advance(60_000)
  const second = engineOver(bench, { strategies: [strategy] }).engine
  engine = second
  await second.start()
  await bench.clock.advance(90_000)
  const after = await bench.snapshot()
  expect(after.positions.value).toEqual([])
  expect(after.orders.value).toEqual([])
  const [opened] = bench.journal.recentIntents().filter(({ intent }) => intent.kind === 'increase')
  const legs = opened?.attempts.at(-1)?.children.map(({ role, phase }) => [role, phase])
  expect(legs).toEqual([
    ['main', 'EXECUTED'],
    ['take-profit', 'CANCELLED'],
    ['take-profit', 'CANCELLED'],
    ['stop-loss', 'EXECUTED'],
  ])
})

/** Opens, and lays a stop-market entry far above, once what it opened is held. */
const breaker = defineStrategy({
  kind: 'breaker',
  description: 'Adds where the price breaks out.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide(view) {
    const market = view.market(ethSymbol)
    const { size } = view.instance
    if (market === undefined || size === undefined) return []
    const entry = entryOf(market, size)
    const waits = view.openIntents.some(({ kind, onlyExitsRest }) => kind === 'increase' && !onlyExitsRest)
    if (waits) return []
    if (view.ownPositions(ethSymbol).length === 0) return [entry]
    const above = view.openIntents.some(({ orderType }) => orderType === 'stop-market')
    return above ? [] : [{ ...entry, orderType: 'stop-market' as const, triggerPrice: usd(2_300) }]
  },
})

test('a stop that belongs below an entry far above the price does not close what is held while that entry waits', async () => {
  bench = await kindsBench({
    path: [
      [0, 2_000],
      [3_600, 2_000],
    ],
  })
  const { exits, instance } = await loaded()
  if (exits === undefined) throw new Error('the file has no exits')
  const strategy = loadedOf(breaker, 'eth-once', [ethSymbol], { instance, exits, cadenceMs: 2_000 })
  engine = engineOver(bench, { strategies: [strategy] }).engine
  await engine.start()
  await bench.clock.advance(60_000)
  const rows = await restingAt(bench)
  expect(rows.filter((row) => row.startsWith('long 8'))).toEqual(['long 8 2300 200'])
  expect(rows.filter((row) => row.startsWith('long 6'))).toEqual([expect.stringMatching(/^long 6 19\d\d/)])
  expect(bench.journal.books().partsOf('eth-once')).toMatchObject([{ sizeUsd: usd(200) }])
})
