import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { limitField, limitRows } from '../../src/domain/limits/limits.ts'
import type { LimitUnit } from '../../src/domain/limits/limitTable.ts'
import { toDecimal, usd } from '../../src/protocol/units.ts'
import { decisionProblem } from '../../src/strategy/decisionProblem.ts'
import { checkMarkets, loadStrategies } from '../../src/strategy/files/load.ts'
import {
  bps,
  levelOfPrice,
  type OwnEvent,
  priceOfLevel,
  type StrategyDecision,
  type Turn,
  viewOf,
} from '../../src/strategy/strategy.ts'
import { candles, marketView, snapshot } from '../risk/world.ts'
import { shippedStrategies } from '../support/shippedFiles.ts'

const shipped = fileURLToPath(new URL('../../strategies', import.meta.url))
const indicatorsModule = new URL('../../src/strategy/indicators.ts', import.meta.url).href
const strategyModule = new URL('../../src/strategy/strategy.ts', import.meta.url).href

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-strategies-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

async function messagesOf(...paths: readonly string[]): Promise<string[]> {
  const { problems } = await loadStrategies(paths)
  return problems.map((problem) => problem.message.replaceAll(folder, 'F'))
}

test('the files that ship with perpd load without a problem', async () => {
  const { strategies, disabled, problems } = await loadStrategies(
    shippedStrategies.filter((path) => dirname(path) === resolve(shipped)),
  )
  expect(problems).toEqual([])
  expect(strategies.map((strategy) => strategy.name)).toEqual(['eth-trend', 'guard'])
  expect(disabled).toEqual(['btc-trend', 'eth-grid'])
})

test('a file becomes an instance in the units of the daemon', async () => {
  const path = write(
    'my-trend.yaml',
    `kind: trend
market: ETH/USD [WETH-USDC]
cadenceSeconds: 0.5
size: { usd: "250.000000000000000000000000000001", leverage: 2.5 }
limits:
  maxPositionSizeUsd: 1000.1
  maxLeverage: 5
  maxDataAgeSeconds: 12
  reduceAgainAfterSeconds: 90
slippageBps: 30
orderExpirySeconds: 45
`,
  )
  const { strategies, problems } = await loadStrategies([path])
  expect(problems).toEqual([])
  expect(strategies).toMatchObject([
    {
      name: 'my-trend',
      path,
      symbols: ['ETH/USD [WETH-USDC]'],
      instance: {
        name: 'my-trend',
        symbols: ['ETH/USD [WETH-USDC]'],
        size: { usd: usd(250) + 1n, leverageBps: 25_000, collateral: 'short' },
      },
      needs: { symbols: ['ETH/USD [WETH-USDC]'] },
      cadenceMs: 500,
      limits: {
        maxPositionSizeUsd: usd('1000.1'),
        maxLeverageBps: 50_000,
        maxDataAgeMs: 12_000,
        reduceAgainAfterMs: 90_000,
      },
      slippageBps: 30,
      orderExpiryMs: 45_000,
      symbolPlaces: [{ line: 2, column: 9 }],
    },
  ])
})

test('the exit block becomes a plan; a distance of two sorts, shares beyond the order and a fifth target are refused', async () => {
  const head = 'kind: trend\nmarket: "ETH/USD [WETH-USDC]"\nsize: { usd: 250, leverage: 2 }\n'
  const loaded = async (exit: string) => await loadStrategies([write('exits.yaml', `${head}${exit}`)])
  const plan = async (exit: string) => (await loaded(exit)).strategies[0]?.exits
  expect(await plan('')).toBeUndefined()
  expect(await plan('exit:\n  stopLoss: { bps: 200 }\n  takeProfit: { usd: 12.5 }\n')).toMatchObject({
    stopLoss: { bps: 200 },
    takeProfits: [{ usd: usd('12.5') }],
  })
  const ladder = (...targets: readonly string[]) =>
    `exit:\n  takeProfit:\n${targets.map((each) => `    - ${each}\n`).join('')}`
  const half = '{ bps: 300, shareBps: 5000 }'
  expect(await plan(ladder(half, half))).toMatchObject({
    takeProfits: [
      { bps: 300, shareBps: 5_000 },
      { bps: 300, shareBps: 5_000 },
    ],
  })
  expect(
    await plan(
      'exit:\n  trailingStop: { atr: 2.5, activation: { bps: 100 } }\n  breakEven: { after: { usd: 30 } }\n  timeLimitSeconds: 3600\n  moveStepUsd: 0.5\n  atr: { period: 1h }\n',
    ),
  ).toEqual({
    takeProfits: [],
    trailingStop: { distance: { atrPercent: 250 }, activation: { bps: 100 } },
    breakEven: { after: { usd: usd(30) }, offsetBps: 15 },
    timeLimitMs: 3_600_000,
    moveEveryMs: 60_000,
    moveStepUsd: usd('0.5'),
    range: { period: '1h', candles: 14 },
  })
  const needs = (await loaded('exit:\n  stopLoss: { atr: 2 }\n')).strategies[0]?.needs.candles
  expect(needs).toContainEqual({ symbol: 'ETH/USD [WETH-USDC]', period: '5m', limit: 43 })
  expect(await plan('exit:\n  onSignalOnly: true\n')).toMatchObject({ isSignalOnly: true })
  const problem = async (exit: string) => (await loaded(exit)).problems.map(({ message }) => message).join()
  expect(await problem('exit:\n  stopLoss: { bps: 200, usd: 5 }\n')).toContain(
    'exactly one of bps (of the price), usd (per whole token) and atr',
  )
  expect(await problem('exit:\n  stopLoss: {}\n')).toContain('one of bps')
  expect(await problem(ladder(half, '{ bps: 600 }'))).toContain('shares that add up to at most 10000 bps')
  expect(await problem(ladder(...Array<string>(5).fill('{ bps: 9, shareBps: 1 }')))).toContain('takeProfit')
  expect(await problem('exit:\n  onSignalOnly: true\n  stopLoss: { bps: 200 }\n')).toContain(
    'onSignalOnly alone',
  )
  expect(await problem('exit:\n  breakEven: { after: { bps: 200 } }\n')).toContain('that it moves')
  expect(await problem('exit:\n  stopLoss: { atr: 0.001 }\n')).toContain('times from 0.1 to 100')
  expect(await problem('exit:\n  stoploss: { bps: 200 }\n')).toContain('stopLoss')
})

test('every mistake of a file is told at once, with place, value, expectation and hint', async () => {
  write(
    'bad.yaml',
    `kind: trend
market: "ETH/USD [WETH-USDC]"
cadenceSecond: 5
size:
  usd: -5
  leverage: 1000
limits: { maxPosition: 3 }
params:
  fastCandle: 3
  entryStrength: lots
`,
  )
  expect((await messagesOf(folder)).join('\n\n')).toBe(`F/bad.yaml:3:1: cadenceSecond is not a known field.
  field: cadenceSecond
  value: 5
  expected: one of kind, enabled, market, markets, cadenceSeconds, size, limits, warnings, slippageBps, orderExpirySeconds, exit, protect, onRemove, params
  fix: did you mean "cadenceSeconds"?

F/bad.yaml:5:8: size.usd is not valid.
  field: size.usd
  value: -5
  expected: an amount of US dollars above 0, like 250 or "250.50"
  fix: change the value

F/bad.yaml:6:13: size.leverage is not valid.
  field: size.leverage
  value: 1000
  expected: a leverage in times from 0.1 to 200, like 5 or 2.5
  fix: change the value

F/bad.yaml:7:11: limits.maxPosition is not a known field.
  field: limits.maxPosition
  value: 3
  expected: one of ${limitRows.map(([name]) => limitField(name)).join(', ')}
  fix: did you mean "maxPositionSizeUsd"?

F/bad.yaml:9:3: params.fastCandle is not a known field.
  field: params.fastCandle
  value: 3
  expected: one of period, fastCandles, slowCandles, atrCandles, entryStrength, exitStrength, maxExtension, stopAtr, takeAtr, pyramid
  fix: did you mean "fastCandles"?

F/bad.yaml:10:18: params.entryStrength is not valid.
  field: params.entryStrength
  value: "lots"
  expected: a number
  fix: change the value`)
})

test('a problem carries its file, place and field for machines', async () => {
  const path = write('bad.yaml', 'kind: guard\nslippageBps: wide\n')
  const { problems } = await loadStrategies([path])
  expect(problems).toMatchObject([
    { code: 'STRATEGY_FILE_INVALID', file: path, place: { line: 2, column: 14 }, field: 'slippageBps' },
  ])
})

test('an unknown kind is told with the nearest one', async () => {
  write('one.yaml', 'kind: trnd\n')
  expect(await messagesOf(folder)).toEqual([
    `F/one.yaml:1:7: kind is not a kind of strategy.
  field: kind
  value: "trnd"
  expected: one of approval-keeper, breakout, carry, claimer, collateral-keeper, grid, guard, hedged-carry, impact-capture, ladder, mean-reversion, order-janitor, protector, rebalancer, rotation, signal, target-exposure, trend, or a file of your own like ./mine.ts
  fix: did you mean "trend"?`,
  ])
})

test('a kind that opens positions needs a market and a size', async () => {
  write('one.yaml', 'kind: trend\n')
  expect(await messagesOf(folder)).toEqual([
    `F/one.yaml:1:1: market is missing; the kind trend opens positions.
  field: market
  expected: the full symbol of a market
  fix: add a line like: market: "ETH/USD [WETH-USDC]"`,
    `F/one.yaml:1:1: size is missing; the kind trend opens positions.
  field: size
  expected: usd, leverage and collateral
  fix: add a line like: size: { usd: 250, leverage: 3, collateral: short }`,
  ])
})

test('params that contradict each other are told at the field to change', async () => {
  write('one.yaml', 'kind: guard\nparams:\n  minDistanceBps: 100\n  closeDistanceBps: 400\n')
  expect(await messagesOf(folder)).toEqual([
    `F/one.yaml:4:21: params.closeDistanceBps is not valid.
  field: params.closeDistanceBps
  value: 400
  expected: fewer basis points than minDistanceBps
  fix: change the value`,
  ])
})

test('a missing field, both market fields, a size below the smallest order: each has its own words', async () => {
  write('a.yaml', 'enabled: true\n')
  write(
    'b.yaml',
    `kind: trend
market: "ETH/USD [WETH-USDC]"
markets: ["ETH/USD [WETH-USDC]"]
size: { usd: 5, leverage: 2 }
limits: { minOrderSizeUsd: 10 }
`,
  )
  expect(await messagesOf(folder)).toEqual([
    'F/a.yaml:1:1: kind is missing.\n  field: kind\n  expected: a string\n  fix: add kind: a string',
    'F/b.yaml:3:10: markets is set together with market.\n  field: markets\n  fix: keep one: market for one market, markets for a list',
    'F/b.yaml:3:10: markets names "ETH/USD [WETH-USDC]" twice.\n  field: markets\n  fix: name each market once',
    'F/b.yaml:4:7: size asks for $5.00 an order, below limits.minOrderSizeUsd ($10.00), so perpd could never send an order.\n  field: size\n  fix: raise size.usd or lower limits.minOrderSizeUsd',
  ])
})

test('a file that is no YAML, no map, or has a number a float cannot carry is told with its place', async () => {
  write('a.yaml', 'kind: guard\n  slippageBps: 5\n')
  write('b.yaml', '- kind\n')
  write('c.yaml', 'kind: guard\nlimits: { maxOrderSizeUsd: 1234567890123.4567 }\n')
  write('d.yaml', 'kind: guard\nkind: trend\n')
  write('e.yaml', 'kind: guard\n---\nkind: trend\n')
  writeFileSync(join(folder, 'f.yaml'), Buffer.from('\ufeffkind: guard\n', 'utf16le'))
  const messages = await messagesOf(folder)
  expect(messages.map((message) => message.split('\n')[0])).toEqual([
    'F/a.yaml:1:7: cannot be read as YAML: Nested mappings are not allowed in compact mappings.',
    'F/b.yaml:1:1: does not hold fields.',
    'F/c.yaml:2:28: has a number of 17 digits, more than a YAML number can carry exactly.',
    'F/d.yaml:2:1: cannot be read as YAML: kind is set twice, at 1:1 and here.',
    'F/e.yaml:2:1: cannot be read as YAML: a second document begins here, but a file is one strategy.',
    'F/f.yaml: cannot be read: it is in UTF-16; save it as UTF-8.',
  ])
  expect(messages[2]).toContain('fix: put it in quotes: "1234567890123.4567"')
})

test('hidden files are no strategies: the lock of an editor, which is a link to nowhere, and what systems put beside a file', async () => {
  write('guard.yaml', 'kind: guard\nmarket: "ETH/USD [WETH-USDC]"\n')
  symlinkSync('ann@desk.4711:1732', join(folder, '.#guard.yaml'))
  write('._guard.yaml', '\u0000\u0005\u0016\u0007')
  const { strategies, problems } = await loadStrategies([folder])
  expect([strategies.map(({ name }) => name), problems]).toEqual([['guard'], []])
  rmSync(join(folder, 'guard.yaml'))
  expect(await messagesOf(folder)).toEqual([expect.stringContaining('has no strategy file')])
  symlinkSync('nowhere', join(folder, 'lost.yaml'))
  expect(await messagesOf(folder)).toEqual([expect.stringContaining('does not exist')])
})

test('a quote, bracket or brace that is not closed is told where it opens', async () => {
  write('a.yaml', 'kind: trend\nmarket: "ETH/USD\nsize:\n  usd: 5\n')
  write('b.yaml', `kind: 'trend\nmarket: 'ETH/USD'\n`)
  write('c.yaml', 'kind: trend\nmarkets: ["ETH/USD, "BTC/USD"]\nslippageBps: 5\n')
  write('d.yaml', 'kind: trend\nsize: { usd: 5, leverage: 2\nslippageBps: 5\n')
  write('e.yaml', 'kind: trend\nmarkets: ["a"\nslippageBps: 5\n')
  const messages = await messagesOf(folder)
  expect(messages.map((message) => message.split('\n')[0])).toEqual([
    'F/a.yaml:2:9: cannot be read as YAML: the " that opens here is not closed.',
    "F/b.yaml:1:7: cannot be read as YAML: the ' that opens here is not closed.",
    'F/c.yaml:2:22: cannot be read as YAML: Missing , or : between flow sequence items.',
    'F/d.yaml:2:7: cannot be read as YAML: the { that opens here is not closed.',
    'F/e.yaml:2:10: cannot be read as YAML: the [ that opens here is not closed.',
  ])
  expect(messages[2]).toContain('the quoted text that ends here opens at 2:11')
})

test('an alias without its anchor, one that holds itself and a flood of them are told with their place', async () => {
  write('a.yaml', 'kind: guard\nmarkets: *mine\n')
  write('b.yaml', 'kind: guard\nparams: &all\n  minDistanceBps: *all\n')
  const flood = Array.from(
    { length: 12 },
    (_, at) => `l${at + 1}: &l${at + 1} [${`*l${at}, `.repeat(9)}*l${at}]`,
  )
  write('c.yaml', `kind: guard\nl0: &l0 x\n${flood.join('\n')}\n`)
  write(
    'd.yaml',
    'kind: guard\nslippageBps: &wide 150\nparams: { minDistanceBps: *wide, closeDistanceBps: 200, reduceShareBps: 5000 }\n',
  )
  expect((await messagesOf(folder)).map((message) => message.split('\n')[0])).toEqual([
    'F/a.yaml:2:10: has a YAML alias that cannot be used: Unresolved alias (the anchor must be set before the alias): mine.',
    'F/b.yaml:3:19: has a YAML alias that cannot be used: it contains itself.',
    'F/c.yaml:3:10: has a YAML alias that cannot be used: Excessive alias count indicates a resource exhaustion attack.',
    'F/d.yaml:3:52: params.closeDistanceBps is not valid.',
  ])
})

test('two files with one name, a bad name, an empty folder, a wrong file and a missing path are problems', async () => {
  mkdirSync(join(folder, 'empty'))
  mkdirSync(join(folder, 'other'))
  const first = write('guard.yaml', 'kind: guard\n')
  const second = write('other/guard.yml', 'kind: guard\n')
  const messages = await messagesOf(
    first,
    first,
    second,
    write('My Trend.yaml', 'kind: guard\n'),
    join(folder, 'empty'),
    write('notes.txt', ''),
    join(folder, 'none'),
  )
  expect(messages.map((message) => message.split('\n')[0])).toEqual([
    'F/empty: has no strategy file.',
    'F/notes.txt: is not a strategy file.',
    'F/none: does not exist.',
    'F/other/guard.yml: has the same name as F/guard.yaml.',
    'F/My Trend.yaml: has a name that cannot name an instance.',
  ])
})

test('a market that the venue does not list is told with the nearest one', async () => {
  const path = write('one.yaml', 'kind: guard\nmarkets:\n  - "ETH/USD [WETH-USDC]"\n  - ETH/USD\n')
  const { strategies } = await loadStrategies([path])
  const problems = checkMarkets(strategies, ['BTC/USD [BTC-USDC]', 'ETH/USD [WETH-USDC]'])
  expect(problems.map((problem) => problem.message.replaceAll(folder, 'F'))).toEqual([
    `F/one.yaml:4:5: market is not a market of the venue.
  field: market
  value: "ETH/USD"
  expected: the full symbol of one of 2 markets, like "ETH/USD [WETH-USDC]"
  fix: did you mean "ETH/USD [WETH-USDC]"?`,
  ])
})

test('a kind of your own runs from a file beside the YAML', async () => {
  write(
    'steady.ts',
    `import { defineStrategy, usdField, z } from ${JSON.stringify(strategyModule)}
export default defineStrategy({
  kind: 'steady',
  description: 'Wishes nothing.',
  opensPositions: false,
  params: z.strictObject({ stepUsd: usdField() }),
  needs: (_params, symbols: readonly string[]) => ({ symbols }),
  decide: () => [],
})
`,
  )
  write('mine.yaml', 'kind: ./steady.ts\nparams: { stepUsd: 12.5 }\n')
  const { strategies, problems } = await loadStrategies([folder])
  expect(problems).toEqual([])
  expect(strategies).toMatchObject([{ strategy: { kind: 'steady' }, params: { stepUsd: usd('12.5') } }])

  write('mine.yaml', 'kind: ./steady.ts\nparams: { stepUsed: 12.5 }\n')
  expect((await messagesOf(folder)).map((message) => message.split('\n').at(-1))).toEqual([
    '  fix: add stepUsd: an amount of US dollars above 0, like 250 or "250.50"',
    '  fix: did you mean "stepUsd"?',
  ])
})

test.each([
  ['{}', 'symbols: '],
  ['{ symbols, candles: [{ symbol: symbols[0], period: "2m", limit: 5 }] }', 'candles.0.period: '],
  ['undefined', ''],
])('needs that are none, %s, are a problem of the file that names the kind', async (needs, said) => {
  write(
    'odd.ts',
    `import { defineStrategy, z } from ${JSON.stringify(strategyModule)}
export default defineStrategy({
  kind: 'odd', description: 'Needs what is none.', opensPositions: false, params: z.strictObject({}),
  needs: (_params, symbols: readonly string[]) => (${needs}),
  decide: () => [],
})
`,
  )
  write('mine.yaml', 'kind: ./odd.ts\nmarket: ETH/USD [WETH-USDC]\n')
  const [message = ''] = await messagesOf(folder)
  expect(message).toContain(`kind returns invalid needs: ${said}`)
})

test('a kind of your own that is missing, broken or no strategy is a problem, not a crash', async () => {
  write('broken.ts', 'throw new Error("no luck today")\n')
  write('wrong.ts', 'export default { kind: "wrong" }\n')
  write('a.yaml', 'kind: ./none.ts\n')
  write('b.yaml', 'kind: ./broken.ts\n')
  write('c.yaml', 'kind: ./wrong.ts\n')
  expect((await messagesOf(folder)).map((message) => message.split('\n')[0])).toEqual([
    'F/a.yaml:1:7: kind names a file that is not there.',
    'F/b.yaml:1:7: kind could not be loaded: no luck today.',
    'F/c.yaml:1:7: kind has no strategy as its default export.',
  ])
})

test('a kind whose definition lacks a part, or has one that is none, is told at its check and not at its first turn', async () => {
  const define = (parts: string) =>
    `import { defineStrategy, z } from ${JSON.stringify(strategyModule)}
export default defineStrategy({ kind: 'mine', description: 'Mine.', params: z.strictObject({}),
  needs: () => ({ symbols: [] }), opensPositions: false, ${parts} } as never)
`
  write('a.yaml', 'kind: ./a.ts\n')
  write('a.ts', define('decid: () => []'))
  write('b.yaml', 'kind: ./b.ts\n')
  write('b.ts', define('decide: []'))
  write('c.yaml', 'kind: ./c.ts\n')
  write('c.ts', define('decide: () => []'))
  write('d.yaml', 'kind: guard\nenabled: yes\n')
  write('e.yaml', 'kind: ./e.ts\n')
  write(
    'e.ts',
    define(
      "decide: () => [], memory: { version: 1, schema: z.strictObject({ rungs: z.number() }), first: { rungs: 'no' } }",
    ),
  )
  expect((await messagesOf(folder)).map((message) => message.split('\n').slice(0, 2).join(''))).toEqual([
    'F/a.yaml:1:7: kind could not be loaded: defineStrategy: decid is no part of a kind; did you mean decide?  field: kind',
    'F/b.yaml:1:7: kind could not be loaded: defineStrategy: decide is an object; expected a function.  field: kind',
    expect.stringContaining('F/d.yaml:2:10: enabled'),
    expect.stringContaining('memory.first does not fit memory.schema: rungs: '),
  ])
  expect((await messagesOf(folder)).at(-2)).toContain('expected: true or false')
})

test('a file that others can change is not read, nor is the kind that it names, and its code is not loaded', async () => {
  write('mine.ts', 'globalThis.wasLoaded = true\nexport default {}\n')
  write(
    'a.yaml',
    'kind: ./mine.ts\nmarket: "ETH/USD [WETH-USDC]"\nsize: { usd: 1, leverage: 1, collateral: short }\n',
  )
  const first = async (planted?: string) => {
    const untrusted = (path: string) =>
      planted !== undefined && path.endsWith(planted)
        ? { what: 'it is planted', fix: 'move away' }
        : undefined
    const { problems } = await loadStrategies([join(folder, 'a.yaml')], { untrusted })
    return problems.map((problem) => problem.message.replaceAll(folder, 'F').replaceAll('\n', ''))[0]
  }
  expect(await first('a.yaml')).toBe('F/a.yaml: not read: it is planted.  fix: move away')
  expect(await first('mine.ts')).toBe('F/mine.ts: not read: it is planted.  fix: move away')
  expect('wasLoaded' in globalThis).toBe(false)
  expect(await first()).toMatch(/has no strategy as its default export/)
})

/** A block of code of a page, by the path in its first line. */
function exampleOf(page: string, path: string): string {
  const text = readFileSync(join(shipped, '..', 'docs', page), 'utf8')
  const code = new RegExp(`\`\`\`ts\\n// strategies/${path}\\n([\\s\\S]*?)\`\`\``).exec(text)?.[1] ?? ''
  return code
    .replace("'#strategy'", JSON.stringify(strategyModule))
    .replace("'#indicators'", JSON.stringify(indicatorsModule))
}

test('the example of the tutorial is a whole strategy, and its stop is the exact price of a level of its candles', async () => {
  write('dip.ts', exampleOf('strategies.md', 'dip.ts'))
  write('eth-dip.yaml', 'kind: ./dip.ts\nmarket: "ETH/USD [WETH-USDC]"\nsize: { usd: 200, leverage: 2 }\n')
  const { strategies, problems } = await loadStrategies([folder])
  expect(problems).toEqual([])
  const [loaded] = strategies
  if (loaded === undefined) throw new Error('the example did not load')
  const decide = (...closes: readonly number[]) =>
    loaded.strategy.decide(
      viewOf({
        snapshot: snapshot({ view: marketView({ candles: candles([...closes], '1m', 60) }) }),
        params: loaded.params,
        instance: loaded.instance,
        openIntents: [],
      }),
    ) as readonly StrategyDecision[]
  // The world's oracle price is $2,000; a candle's low is a dollar below its closes.
  const [decision, ...more] = decide(1_900.25, ...Array<number>(30).fill(2_100.1))
  expect(more).toEqual([])
  expect(decisionProblem(decision)).toBeUndefined()
  const low = usd('1899.25')
  expect(decision).toMatchObject({
    kind: 'increase',
    sizeDeltaUsd: usd(200),
    reason: 'ETH/USD [WETH-USDC] is 60 bps or more below the high of 30 candles.',
    tpsl: [{ type: 'stop-loss', triggerPrice: low - bps(low, 80) }, { type: 'take-profit' }],
  })
  expect(decide(...Array<number>(31).fill(2_000))).toEqual([])
})

test('the kind with a memory of the guide climbs down rung after rung, and takes a denied one again', async () => {
  write('ladder.ts', exampleOf('own-kinds.md', 'ladder.ts'))
  write(
    'eth-ladder.yaml',
    'kind: ./ladder.ts\nmarket: "ETH/USD [WETH-USDC]"\nsize: { usd: 200, leverage: 2 }\nparams: { rungs: 2, stepBps: 100 }\n',
  )
  const { strategies, problems } = await loadStrategies([folder])
  expect(problems).toEqual([])
  const [loaded] = strategies
  if (loaded === undefined) throw new Error('the example did not load')
  const { strategy, params, instance } = loaded
  const { marketToken } = marketView({}).market
  const turn = (memory: unknown, events: readonly OwnEvent[], price = 2_000) => {
    const median = usd(price)
    const oraclePrice = {
      value: { token: marketToken, minPrice: median, maxPrice: median, medianPrice: median },
      atMs: 0,
    }
    const view = marketView({ oraclePrice: oraclePrice as never })
    const made = strategy.decide(
      viewOf({ snapshot: snapshot({ view }), params, instance, openIntents: [], events }),
      memory,
    )
    return made as Turn<unknown>
  }
  const filled = {
    kind: 'filled',
    seq: 7,
    atMs: 0,
    decisionKey: 'k',
    intentId: 'i',
    role: 'main',
    marketToken,
    direction: 'long',
    collateralToken: marketToken,
    adds: true,
    executionPrice: usd(2_000),
    isProvisional: false,
  } as const satisfies OwnEvent
  const first = turn(strategy.memory?.first, [])
  expect(first.decisions).toMatchObject([{ kind: 'increase', reason: 'Rung 1 of 2.' }])
  const second = turn(first.memory, [filled])
  expect(second).toEqual({ decisions: [], memory: { rungs: 1, lastPrice: usd(2_000) } })
  const third = turn(second.memory, [], 1_970)
  expect(third.decisions).toMatchObject([{ reason: 'Rung 2 of 2.' }])
  const denied = { kind: 'denied', atMs: 0, decisionKey: 'k', code: 'SLOT_BUSY', reason: 'wait' } as const
  expect(turn(third.memory, [denied], 1_970).decisions).toMatchObject([{ reason: 'Rung 2 of 2.' }])
  expect(turn(third.memory, [], 1_900).decisions).toEqual([])
})

test('a level is the price that it prints as, and back; what is none is refused', () => {
  expect(priceOfLevel(1_234.56)).toBe(usd('1234.56'))
  expect(priceOfLevel(1.25e-9)).toBe(usd('0.00000000125'))
  expect(priceOfLevel(0.1 + 0.2)).toBe(usd('0.30000000000000004'))
  expect(levelOfPrice(usd('1234.56'))).toBe(1_234.56)
  for (const price of [0n, 1n, 10n ** 30n - 1n, 2n ** 53n * 10n ** 30n + 1n, 123_456_789n ** 5n, 7n ** 60n])
    expect(levelOfPrice(price)).toBe(toDecimal(price, 30).toNumber())
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, 0, -1])
    expect(() => priceOfLevel(bad)).toThrow('a level is a finite number above 0')
})

test('the test of the guide passes, and fails for a kind that is wrong', async () => {
  write('package.json', '{ "type": "module" }')
  const path = write('dip.test.ts', exampleOf('own-kinds.md', 'dip.test.ts'))
  const dip = exampleOf('strategies.md', 'dip.ts')
  // The runner of the tests would be taken for the one of these.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env
  const testing = () => spawnSync(process.execPath, ['--test', path], { encoding: 'utf8', env })
  write('dip.ts', dip)
  expect(testing()).toMatchObject({ status: 0, stdout: expect.stringContaining('pass 2') })
  write('dip.ts', dip.replace('levelOfPrice(price) > top', 'levelOfPrice(price) < top'))
  expect(testing().status).toBe(1)
})

test('a file has every limit that the account has, in its own units', async () => {
  const file = (limits: string) =>
    write(
      'all.yaml',
      `kind: trend\nmarket: ETH/USD [WETH-USDC]\nsize: { usd: 250, leverage: 2 }\nlimits:\n${limits}`,
    )
  /** What is written for each unit, and what it is in code. */
  const values: Readonly<Record<LimitUnit, readonly [written: string, value: number | bigint]>> = {
    usd: ['20', usd(20)],
    native: ['"0.5"', 5n * 10n ** 17n],
    times: ['20', 200_000],
    bps: ['20', 20],
    count: ['20', 20],
    ms: ['2', 2_000],
  }
  const lines = limitRows.map(([name, { unit }]) => `  ${limitField(name)}: ${values[unit][0]}`)
  const { strategies, problems } = await loadStrategies([file(`${lines.join('\n')}\n`)])
  expect(problems).toEqual([])
  expect(strategies[0]?.limits).toEqual(
    Object.fromEntries(limitRows.map(([name, { unit }]) => [name, values[unit][1]])),
  )
  const bad = await loadStrategies([file('  executionFeesPerDay: "0.0000000000000000001"\n')])
  expect(bad.problems[0]?.message).toContain('an amount of the native token up to 1000000, like "0.05"')
})

test('what warnings do to the orders of one file stands beside what the account says', async () => {
  const trend = 'kind: trend\nmarket: ETH/USD [WETH-USDC]\nsize: { usd: 250, leverage: 2 }\n'
  const path = write(
    'strict.yaml',
    `${trend}warnings: { INSUFFICIENT_LIQUIDITY: drop, A_CODE.A_REASON: sign }\n`,
  )
  const [strategy] = (await loadStrategies([path])).strategies
  expect(strategy?.warnings?.isPartial).toBe(true)
  expect([...(strategy?.warnings?.adding ?? [])]).toEqual([
    ['INSUFFICIENT_LIQUIDITY', 'drop'],
    ['A_CODE.A_REASON', 'sign'],
  ])
  const wrong = await messagesOf(
    write('wrong.yaml', `${trend}warnings: { INSUFFICIENT_LIQUIDITY: ignore }\n`),
  )
  expect(wrong).toHaveLength(1)
  expect(wrong[0]).toContain('warnings.INSUFFICIENT_LIQUIDITY')
})

test('the protect block becomes rules in the units of the daemon', async () => {
  const path = write(
    'guarded.yaml',
    `kind: trend
market: ETH/USD [WETH-USDC]
size: { usd: 100, leverage: 2 }
protect:
  cooldownAfterExitSeconds: 90
  stopsInWindow: { stops: 3, windowSeconds: 3600, pauseSeconds: 600.5 }
  tradingWindows:
    timeZone: America/New_York
    open:
      - { days: [mon, tue], from: "09:30", to: "16:00" }
      - { days: [sun], from: "22:00", to: "02:00" }
      - { days: [sat], from: "00:00", to: "24:00" }
  maxDrawdownUsd: "12.5"
onRemove: close
`,
  )
  const { strategies, problems } = await loadStrategies([path])
  expect(problems).toEqual([])
  expect(strategies[0]?.onRemove).toBe('close')
  expect(strategies[0]?.protect).toEqual({
    cooldownMs: 90_000,
    stops: { count: 3, windowMs: 3_600_000, pauseMs: 600_500 },
    windows: {
      timeZone: 'America/New_York',
      open: [
        { days: ['mon', 'tue'], fromMinute: 570, toMinute: 960 },
        { days: ['sun'], fromMinute: 1_320, toMinute: 120 },
        { days: ['sat'], fromMinute: 0, toMinute: 1_440 },
      ],
    },
    maxDrawdownUsd: usd('12.5'),
  })
})

test('what is wrong with a protect block is told with its place', async () => {
  const path = write(
    'odd.yaml',
    `kind: trend
market: ETH/USD [WETH-USDC]
size: { usd: 100, leverage: 2 }
protect:
  cooldownSeconds: 90
  tradingWindows:
    timeZone: Mars/Olympus
    open: [{ days: [monday], from: "9:30", to: "24:10" }]
onRemove: sell
`,
  )
  const messages = await messagesOf(path)
  expect(messages.map((message) => message.split('\n')[0])).toEqual([
    expect.stringMatching(/^F\/odd.yaml:5:3: protect.cooldownSeconds is not a known field/),
    expect.stringMatching(/^F\/odd.yaml:7:15: protect.tradingWindows.timeZone is not valid/),
    expect.stringMatching(/^F\/odd.yaml:8:\d+: protect.tradingWindows.open.0.days.0 is not valid/),
    expect.stringMatching(/^F\/odd.yaml:8:\d+: protect.tradingWindows.open.0.from is not valid/),
    expect.stringMatching(/^F\/odd.yaml:8:\d+: protect.tradingWindows.open.0.to is not valid/),
    expect.stringMatching(/^F\/odd.yaml:9:11: onRemove is not valid/),
  ])
})

test('closings of a file are read into their zone, and what is no span is refused with its field', async () => {
  const closings = (closed: readonly string[]) =>
    [
      'kind: trend',
      'market: "ETH/USD [WETH-USDC]"',
      'size: { usd: 100, leverage: 2 }',
      'protect:',
      '  closings:',
      '    timeZone: America/New_York',
      '    minutesAfter: 15',
      '    closed:',
      ...closed.map((span) => `      - ${span}`),
      '',
    ].join('\n')
  const good = write(
    'sessions.yaml',
    closings([
      '{ from: "fri 17:00", to: "sun 18:00" }',
      '{ from: "2026-12-24 13:00", to: "2026-12-26 18:00" }',
    ]),
  )
  const { strategies, problems } = await loadStrategies([good])
  expect(problems).toEqual([])
  expect(strategies[0]?.protect?.closings).toEqual({
    timeZone: 'America/New_York',
    spans: [
      { from: { weekday: 'fri', minute: 1_020 }, to: { weekday: 'sun', minute: 1_080 } },
      { from: { date: '2026-12-24', minute: 780 }, to: { date: '2026-12-26', minute: 1_080 } },
    ],
    beforeMs: 1_800_000,
    afterMs: 900_000,
  })
  const odd = write(
    'unsessions.yaml',
    closings([
      '{ from: "friday 17:00", to: "sun 18:00" }',
      '{ from: "2026-02-30 13:00", to: "2026-12-26 18:00" }',
      '{ from: "fri 17:00", to: "2026-12-26 18:00" }',
      '{ from: "fri 17:00", to: "fri 17:00" }',
      '{ from: "2026-12-26 18:00", to: "2026-12-24 13:00" }',
    ]),
  )
  const messages = await messagesOf(odd)
  expect(messages.map((message) => /: (protect\S+) is not valid/.exec(message)?.[1])).toEqual([
    'protect.closings.closed.0.from',
    'protect.closings.closed.1.from',
    'protect.closings.closed.2.to',
    'protect.closings.closed.3.to',
    'protect.closings.closed.4.to',
  ])
})
