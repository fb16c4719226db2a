/** The JSON Schema that editors read: it takes what the loader takes, and refuses mistakes that the loader refuses. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { strategyFileSchema } from '../../src/strategy/files/fileJsonSchema.ts'
import { loadStrategies } from '../../src/strategy/files/load.ts'
import { builtInKinds } from '../../src/strategy/kinds/kinds.ts'
import { shippedStrategies } from '../support/shippedFiles.ts'

const shipped = resolve(import.meta.dirname, '../../strategies')
const folder = mkdtempSync(join(tmpdir(), 'perpd-schema-'))
afterAll(() => rmSync(folder, { recursive: true }))
const validate = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false }).compile(
  strategyFileSchema(),
)

const files = shippedStrategies

test('every shipped file passes, and its first line leads an editor to the schema', () => {
  expect(files).toHaveLength(20)
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    expect([file, validate(parse(text)), validate.errors]).toEqual([file, true, null])
    const [, path = ''] = /^# yaml-language-server: \$schema=(.+)\n/.exec(text) ?? []
    expect(resolve(file, '..', path)).toBe(join(shipped, 'strategy.schema.json'))
  }
})

const size = { usd: 500, leverage: 3, collateral: 'short' }
const trend = { kind: 'trend', market: 'ETH/USD [WETH-USDC]', size }

test.each<[string, object]>([
  ['a field that is none', { ...trend, slippage: 5 }],
  ['a parameter of another kind', { ...trend, params: { stepUsd: 5 } }],
  ['a parameter below its range', { ...trend, params: { fastCandles: 1 } }],
  ['a parameter that is no word of its list', { ...trend, params: { period: '2m' } }],
  ['basis points that are not whole', { ...trend, slippageBps: 1.5 }],
  ['basis points as a percentage', { ...trend, slippageBps: '1%' }],
  ['a size with its unit in it', { ...trend, size: { ...size, usd: '500 USD' } }],
  ['a size of nothing', { ...trend, size: { ...size, usd: 0 } }],
  ['a size of nothing in quotes', { ...trend, size: { ...size, usd: '0.00' } }],
  ['a leverage out of its range', { ...trend, size: { ...size, leverage: 500 } }],
  ['a collateral that is none', { ...trend, size: { ...size, collateral: 'usdc' } }],
  ['a limit that is none', { ...trend, limits: { maxOrderUsd: 5 } }],
  ['seconds out of their range', { ...trend, cadenceSeconds: 0 }],
  ['a kind that is none', { ...trend, kind: 'trand' }],
  ['no size for a kind that opens', { kind: 'trend', market: trend.market }],
  ['no market for a kind that opens', { kind: 'trend', size }],
  ['a market and markets', { ...trend, markets: ['BTC/USD [BTC-USDC]'] }],
  ['no step of a grid', { ...trend, kind: 'grid' }],
  ['an exit without a unit', { ...trend, exit: { stopLoss: 200 } }],
  ['a word for onRemove that is none', { ...trend, onRemove: 'sell' }],
])('the schema and the loader both refuse %s', async (_what, file) => {
  expect(validate(file)).toBe(false)
  const path = join(folder, 'mine.yaml')
  writeFileSync(path, JSON.stringify(file))
  expect((await loadStrategies([path])).problems).not.toEqual([])
})

test.each<[string, object]>([
  ['amounts in quotes', { ...trend, size: { ...size, usd: '500.25', leverage: '2.5' } }],
  ['several markets', { kind: 'trend', markets: [trend.market], size }],
  ['a guard with nothing else', { kind: 'guard' }],
  [
    'exits and protections',
    {
      ...trend,
      exit: {
        stopLoss: { bps: 200 },
        takeProfit: [
          { usd: 35, shareBps: 5000 },
          { bps: 900, shareBps: 5000 },
        ],
      },
      protect: {
        tradingWindows: { timeZone: 'UTC', open: [{ days: ['mon'], from: '09:00', to: '24:00' }] },
        closings: {
          timeZone: 'America/New_York',
          closed: [
            { from: 'fri 17:00', to: 'sun 18:00' },
            { from: '2026-12-24 13:00', to: '2026-12-26 18:00' },
          ],
          minutesBefore: 45,
        },
      },
      warnings: { INSUFFICIENT_LIQUIDITY: 'drop' },
    },
  ],
])('the schema and the loader both take %s', async (_what, file) => {
  expect([validate(file), validate.errors]).toEqual([true, null])
  const path = join(folder, 'mine.yaml')
  writeFileSync(path, JSON.stringify(file))
  expect((await loadStrategies([path])).problems).toEqual([])
})

test('parameters of a kind of one’s own are free', () => {
  expect(validate({ kind: './mine.ts', market: trend.market, size, params: { anything: [1, 'two'] } })).toBe(
    true,
  )
})

interface Described {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Described>>
  readonly default?: unknown
}

test('every field says what it means, what it takes, and when a running daemon takes its change over', () => {
  const schema = strategyFileSchema() as {
    readonly properties: Readonly<Record<string, Described>>
    readonly allOf: readonly { readonly then: { readonly properties: { readonly params: Described } } }[]
  }
  const silent: string[] = []
  const look = (fields: Readonly<Record<string, Described>>, path: string): void => {
    for (const [name, { description = '', properties }] of Object.entries(fields)) {
      const words = description.split('. ')
      if (
        words.length < 2 ||
        !/running daemon|restart/.test(description) ||
        description.startsWith('Expected:')
      )
        silent.push(`${path}${name}: ${description}`)
      if (properties) look(properties, `${path}${name}.`)
    }
  }
  look(schema.properties, '')
  for (const [index, kind] of Object.keys(builtInKinds).entries())
    look(schema.allOf[index]?.then.properties.params.properties ?? {}, `${kind}.`)
  expect(silent).toEqual([])
  // A default is in the unit of the file, not of the code.
  const carry = schema.allOf[Object.keys(builtInKinds).indexOf('carry')]?.then.properties.params
  expect(carry?.properties?.maxRateAgeSeconds?.default).toBe(60)
})
