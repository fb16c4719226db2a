/** The line in which a kind says what it waits for: what is taken of it, and that it never costs a turn. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { callKind } from '../../src/engine/callKind.ts'
import { hostKind } from '../../src/strategy/files/hostKind.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { takenStatus } from '../../src/strategy/kindStatus.ts'
import { builtInKinds } from '../../src/strategy/kinds/kinds.ts'
import { levelOfPrice } from '../../src/strategy/levels.ts'
import {
  defineStrategy,
  type StatusLine,
  type Strategy,
  statusAfter,
  testView,
  usd,
  z,
} from '../../src/strategy/strategy.ts'
import type { TestPosition } from '../../src/strategy/testWorld.ts'
import { marketView, snapshot } from '../risk/world.ts'

const scene = { snapshot: snapshot({ view: marketView({}) }), openIntents: [], own: [], restingOrders: [] }

test('a line is taken with the values that it was decided by', () => {
  const line = { text: 'RSI 52, waits for below 45', facts: { rsi: 52, side: 'long', isBusy: false } }
  expect(takenStatus(() => line)).toEqual(line)
  expect(takenStatus(() => undefined)).toBeUndefined()
})

test('prices are taken by market and name, and those of another line later leave it as it was', () => {
  const named: Record<string, bigint> = { fast: usd('2000.5') }
  const line = { text: 'strength 0.10', prices: { 'ETH/USD [WETH-USDC]': named } }
  const taken = takenStatus(() => line)
  expect(taken).toEqual(line)
  named.fast = 1n
  expect(taken?.prices).toEqual({ 'ETH/USD [WETH-USDC]': { fast: usd('2000.5') } })
})

/** So many prices of one market. */
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, BigInt(at + 1)]))

test.each<[string, unknown]>([
  ['a price that is a number', { ETH: { fast: 2_000 } }],
  ['a price that is not finite', { ETH: { fast: Number.NaN } }],
  ['a price that is a text', { ETH: { fast: '2000' } }],
  ['a price of zero', { ETH: { fast: 0n } }],
  ['a price below it', { ETH: { fast: -1n } }],
  ['a price farther than any', { ETH: { fast: 10n ** 48n } }],
  ['prices without a market', { fast: 5n }],
  ['a name with an escape', { ETH: { '\u001b[31m': 5n } }],
  ['a market with a line end', { 'ETH\n': { fast: 5n } }],
  ['a market without a name', { '': { fast: 5n } }],
  ['a list', [5n]],
  ['33 prices', { ETH: many(20), BTC: many(13) }],
  ['33 markets', Object.fromEntries(Object.keys(many(33)).map((name) => [name, {}]))],
  ['a hundred thousand names', { ETH: many(100_000) }],
])('%s is refused with its whole line', (_what, prices) => {
  const { text, ...more } = takenStatus(() => ({ text: 'waits', prices })) ?? { text: '' }
  expect(text).toMatch(/^its status is refused: /)
  expect(text.length).toBeLessThanOrEqual(160)
  expect(more).toEqual({})
})

test('a line whose parts throw when they are read is one that failed', () => {
  const line = {
    text: 'waits',
    get prices(): never {
      throw new Error('not today')
    },
  }
  expect(takenStatus(() => line)).toEqual({ text: 'its status failed: not today' })
})

test.each<[string, unknown]>([
  ['a promise', Promise.resolve({ text: 'later' })],
  ['a bare text', 'waits'],
  ['an empty text', { text: ' ' }],
  ['more than 160 characters', { text: 'x'.repeat(161) }],
  ['an escape', { text: 'waits\u001b[31m' }],
  ['a line end', { text: 'waits\nfor' }],
  ['a turn of the writing direction', { text: 'waits \u202e' }],
  ['a key', { text: `key ${'ab'.repeat(32)}` }],
  ['a key among the values', { text: 'waits', facts: { key: `0x${'ab'.repeat(32)}` } }],
  ['a value that is no number', { text: 'waits', facts: { rsi: Number.NaN } }],
  ['a nested value', { text: 'waits', facts: { rsi: { value: 5 } } }],
  [
    'seventeen values',
    { text: 'waits', facts: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`f${at}`, at])) },
  ],
])('%s is refused, and the line says so without repeating it', (_what, returned) => {
  const { text, facts } = takenStatus(() => returned) ?? { text: '' }
  expect(text).toMatch(/^its status is refused: /)
  for (const part of ['abab', '\u001b', '\n']) expect(text).not.toContain(part)
  expect(facts).toBeUndefined()
})

test('an error of the status leaves the decisions of the turn, and is the line', async () => {
  const reason = 'asks for nothing'
  const strategy = defineStrategy({
    ...{ kind: 'mine', description: 'A test.', params: z.strictObject({}), needs: () => ({ symbols: [] }) },
    decide: () => [{ kind: 'prepare-claim', aboveUsd: 1n, reason } as const],
    status: () => {
      throw new Error('no\nvalue')
    },
  })
  const loaded = {
    strategy,
    params: {},
    instance: { name: 'mine', symbols: [] },
  } as unknown as LoadedStrategy
  const { returned, status } = await callKind(loaded, scene)
  expect(returned).toEqual([{ kind: 'prepare-claim', aboveUsd: 1n, reason }])
  expect(status).toEqual({ text: 'its status failed: no value' })
})

test('a kind with a memory says it by the memory that the turn returned, and one that says nothing costs nothing', async () => {
  const strategy = defineStrategy({
    ...{ kind: 'mine', description: 'A test.', params: z.strictObject({}), needs: () => ({ symbols: [] }) },
    memory: { version: 1, schema: z.number(), first: 4 },
    decide: (_view, seen) => ({ decisions: [], memory: seen + 1 }),
    status: (_view, seen): StatusLine => ({ text: `turn ${seen}` }),
  })
  const past = { events: [], eventsMissed: 0, signals: [] }
  const loadedOf = (kind: unknown) =>
    ({ strategy: kind, params: {}, instance: { name: 'mine', symbols: [] } }) as unknown as LoadedStrategy
  expect((await callKind(loadedOf(strategy), scene, past)).status).toEqual({ text: 'turn 5' })
  const { status: _, ...silent } = strategy as Strategy<unknown>
  expect(await callKind(loadedOf(silent), scene, past)).not.toHaveProperty('status')
})

test("a kind of the user's own says it from its thread, and a status that is no function is refused when it is loaded", async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-status-'))
  const path = join(folder, 'mine.ts')
  const program = new URL('../../src/daemon/kindThread.ts', import.meta.url)
  const of = (status: string) => `import { defineStrategy, z } from '#strategy'
export default defineStrategy({ kind: 'mine', description: 'A test.', params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }), decide: () => [], status: ${status} })`
  const load = async (status: string) => {
    writeFileSync(path, of(status))
    return await hostKind(path, { program, decideTimeoutMs: 30_000, memoryMiB: 64 })
  }
  try {
    const kind = await load(
      "(view) => ({ text: 'sees ' + view.instance.symbols.length + ' markets', facts: { markets: 1 } })",
    )
    await kind.takeParams({})
    await kind.takeInstance({ name: 'mine', symbols: ['ETH/USD [WETH-USDC]'] })
    expect((await kind.decide(scene)).status).toEqual({ text: 'sees 1 markets', facts: { markets: 1 } })
    await kind.close()
    await expect(load("'waits'")).rejects.toThrow(/status is a string; expected a function/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('every kind that ships says what it waits for', () => {
  const silent = Object.values(builtInKinds).filter(({ status }) => status === undefined)
  expect(silent.map(({ kind }) => kind)).toEqual([])
})

test('kinds that decide by prices name them, each on its market', () => {
  const symbol = 'ETH/USD [WETH-USDC]'
  // Closes rise by a dollar a minute, up to 2,000.
  const closes = Array.from({ length: 900 }, (_, at) => 1_101 + at)
  const named = (kind: Strategy<unknown>, params: unknown, memory?: unknown) => {
    const view = testView({ symbol, params: kind.params.parse(params), closes })
    const prices = statusAfter(kind, view as never, memory)?.prices ?? {}
    return Object.entries(prices).map(([market, byName]) => [
      market,
      Object.entries(byName).map(([name, price]) => [name, Math.round(levelOfPrice(price))]),
    ])
  }
  const period = { period: '1m' }
  const kinds = builtInKinds as unknown as Record<string, Strategy<unknown>>
  const of = (kind: string) => kinds[kind] as Strategy<unknown>
  expect(named(of('trend'), period)).toEqual([
    [
      symbol,
      [
        ['fast', 1_994],
        ['slow', 1_975],
      ],
    ],
  ])
  expect(named(of('breakout'), period)).toEqual([
    [
      symbol,
      [
        ['top', 1_999],
        ['bottom', 1_952],
      ],
    ],
  ])
  const bands = [
    ['mean', 1_990],
    ['opensLong', 1_978],
    ['opensShort', 2_001],
  ]
  expect(named(of('mean-reversion'), period)).toEqual([[symbol, bands]])
  expect(named(of('mean-reversion'), { ...period, signal: 'bollinger', entry: 1, exit: 0 })).toEqual([
    [symbol, bands],
  ])
  expect(named(of('mean-reversion'), { ...period, signal: 'rsi', entry: 20, exit: 5 })).toEqual([])
  const sides = [
    ['longLine', 1_900],
    ['shortLine', 2_100],
  ]
  expect(named(of('grid'), { stepUsd: '100', direction: 'both' })).toEqual([[symbol, sides]])
  const ladders = (count: number) => {
    const rung = { price: usd(2_000), sizeUsd: usd(100), atMs: 0 }
    return { ladders: { [symbol]: { rungs: Array.from({ length: count }, () => rung) } } }
  }
  const rungs = { stepBps: 500, maxRungs: 2, maxUsd: '1000' }
  expect(named(of('ladder'), rungs, ladders(1))).toEqual([[symbol, [['nextRung', 1_900]]]])
  expect(named(of('ladder'), rungs, ladders(2))).toEqual([])
})

test('a rebalancer names the market that is furthest from its weight, and a keeper of exits what it watches', () => {
  const symbol = 'ETH/USD [WETH-USDC]'
  const said = (
    kind: Strategy<unknown>,
    params: unknown,
    positions: readonly TestPosition[],
    memory?: unknown,
  ) => statusAfter(kind, testView({ symbol, params: kind.params.parse(params), positions }) as never, memory)
  const held = [{ direction: 'long', sizeUsd: usd(700) } as const]
  const weights = { weights: { [symbol]: 5_000 }, totalUsd: '1000' }
  const short = { ...weights, weights: { [symbol]: -5_000 } }
  expect(said(builtInKinds.rebalancer as never, short, [])).toMatchObject({ facts: { driftBps: 5_000 } })
  expect(said(builtInKinds.rebalancer as never, weights, held)).toEqual({
    text: 'ETH is 20.0 % of the total from its weight, trades above 5 %',
    facts: { market: 'ETH', driftBps: 2_000, totalUsd: expect.any(String) },
  })
  expect(said(builtInKinds.protector as never, { stopBps: 500 }, [], { sinceMs: {} })).toMatchObject({
    text: 'no position to protect',
  })
  expect(said(builtInKinds['collateral-keeper'] as never, {}, held)).toMatchObject({
    facts: { positions: 1 },
  })
})
