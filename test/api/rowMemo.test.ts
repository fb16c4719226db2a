/** Polled rows: what is kept from the poll before is what would have been decoded. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  address,
  boolean,
  bytes32,
  count,
  type Decoder,
  type Fields,
  inside,
  int,
  list,
  Malformed,
  object,
  string,
  uint,
  word,
} from '../../src/api/decode/decode.ts'
import { getPrices } from '../../src/api/feeds/oracle.ts'
import { getMarketsConfig } from '../../src/api/markets/marketInfo.ts'
import { getMarketTickers } from '../../src/api/markets/marketReads.ts'
import { tradingCapacity } from '../../src/api/rows/capacityRow.ts'
import { marketConfig, marketValues } from '../../src/api/rows/marketInfoRow.ts'
import { createRowMemo, perTransport, type RowDecoder } from '../../src/api/rows/rowMemo.ts'
import { copyTicker, ticker } from '../../src/api/rows/tickerRow.ts'
import type { Ticker } from '../../src/protocol/market.ts'
import { fixtureText, scriptedTransport, transportAnswering } from './support.ts'

const seed = 20261121
const tokens = ['11', '22', '33'].map((byte) => `0x${byte.repeat(20)}`)
const identity = 'marketTokenAddress'

const addresses: Readonly<Record<string, string>> = {
  marketToken: 'marketTokenAddress',
  indexToken: 'indexTokenAddress',
  longToken: 'longTokenAddress',
  shortToken: 'shortTokenAddress',
}
const signed: readonly string[] = [
  'poolValueMax',
  'poolValueMin',
  'virtualInventoryForPositions',
  'virtualInventoryForPositionsInTokens',
]
const flags: readonly string[] = [
  'isSameCollaterals',
  'isSpotOnly',
  'isDisabled',
  'useOpenInterestInTokensForBalance',
  'longsPayShorts',
]

/** How a field is read when nothing is remembered: by its name alone, one after the other. */
interface PlainField {
  readonly name: string
  readonly wire: string
  readonly decode: Decoder<unknown>
  readonly absent: 'refused' | undefined | null
  /** Raw values that can be read. */
  readonly values: readonly unknown[]
}

function plainField(name: string): PlainField {
  const wire = addresses[name]
  if (wire !== undefined) {
    const isIdentity = wire === identity
    const values = isIdentity ? tokens : [...tokens, null]
    return { name, wire, decode: address, absent: isIdentity ? 'refused' : undefined, values }
  }
  if (name === 'updatedAtMs') {
    return { name, wire: 'updatedAt', decode: count, absent: null, values: [null, 0, 1_800_000_000_000] }
  }
  const optional = { name, wire: name, absent: undefined }
  if (name === 'name' || name === 'data') return { ...optional, decode: string, values: ['ETH/USD', ''] }
  if (flags.includes(name)) return { ...optional, decode: boolean, values: [true, false] }
  if (name.endsWith('Id')) return { ...optional, decode: bytes32, values: [`0x${'ab'.repeat(32)}`, null] }
  const amounts = ['0', '7', 7, '1000000000000000000000000000000', null]
  if (signed.includes(name)) return { ...optional, decode: int, values: [...amounts, '-7', -7] }
  return { ...optional, decode: uint, values: amounts }
}

function plainRow(fields: readonly PlainField[], value: unknown): Record<string, unknown> {
  const row = object(value)
  return Object.fromEntries(
    fields.map(({ name, wire, decode, absent }) => {
      const raw = row[wire]
      if (raw !== undefined && raw !== null) return [name, decode(raw, wire)]
      return [name, absent === 'refused' ? decode(raw, wire) : absent]
    }),
  )
}

/** The value, or what is wrong where. */
function outcome(decode: () => unknown): unknown {
  try {
    return decode()
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    return { path: error.path, problem: error.problem, value: error.value }
  }
}

const poisons = ['1.5', '01', '-0', 1.5, '', {}, [], Number.NaN, '1'.repeat(79), '0x', 'ff']

/** Bodies as JSON gives them, with few different values, so that many repeat; now and then one is wrong. */
function bodiesOf(fields: readonly PlainField[]): fc.Arbitrary<readonly unknown[]> {
  const row = fc.record({
    token: fc.constantFrom(...tokens),
    picks: fc.array(fc.nat(6), { minLength: fields.length, maxLength: fields.length }),
    poison: fc.option(fc.record({ at: fc.nat(fields.length - 1), value: fc.constantFrom(...poisons) }), {
      freq: 12,
    }),
  })
  const rowJson = row.map(({ token, picks, poison }) => {
    const raw: Record<string, unknown> = {}
    for (const [index, { wire, values, absent }] of fields.entries()) {
      const pick = picks[index] ?? 0
      if (pick === 6 && absent !== 'refused') continue
      raw[wire] = values[pick % values.length]
    }
    raw[identity] = token
    if (poison !== null) raw[fields[poison.at]?.wire ?? ''] = poison.value
    return raw
  })
  return fc.array(fc.array(rowJson, { maxLength: 4 }), { minLength: 1, maxLength: 5 })
}

test.each([
  ['/markets/config', marketConfig as RowDecoder<object>, 78],
  ['/markets/values', marketValues as RowDecoder<object>, 30],
] as const)('%s: rows kept from poll to poll are the rows decoded anew', (_route, decode, size) => {
  const names = Object.keys(
    decode(Object.fromEntries(Object.values(addresses).map((wire) => [wire, tokens[0]])), {}, {}),
  )
  const fields = names.map(plainField)
  expect(fields).toHaveLength(size)
  fc.assert(
    fc.property(bodiesOf(fields), (bodies) => {
      const row = createRowMemo({ identity, decode })
      for (const body of bodies) {
        const parsed = JSON.parse(JSON.stringify(body)) as unknown
        const plain = outcome(() => list(parsed, '', (value) => plainRow(fields, value)))
        expect(outcome(() => list(parsed, '', row))).toStrictEqual(plain)
      }
    }),
    { seed, numRuns: 200 },
  )
})

const amounts = ['0', '7', '90071992547409920000', '-7', 'no number']
const capacityArbitrary = fc.option(
  fc.record({
    availableLiquidity: fc.constantFrom(...amounts),
    baseAvailableLiquidity: fc.constantFrom('1', '2'),
    jitAvailableLiquidity: fc.constantFrom('1', '2'),
    limitingFactor: fc.constantFrom('reserve', 'both', 'somethingNew', null),
    jitDataStatus: fc.constantFrom('available', 'usable', 'stale'),
    marketDataStatus: fc.constantFrom('fresh', 'usable', 'stale'),
  }),
)
/** Our name, the wire's name, and how it is read when nothing is remembered, in the order of the decoder. */
const tickerFields: readonly (readonly [string, string, Decoder<bigint>, 'needed' | 'optional'])[] = [
  ...['minPrice', 'maxPrice'].map((name) => [name, name, uint, 'needed'] as const),
  ...['markPrice', 'longInterestUsd', 'shortInterestUsd'].map(
    (name) => [name, name, uint, 'optional'] as const,
  ),
  ...['longInterestUsdMark', 'shortInterestUsdMark', 'longInterestInTokens', 'shortInterestInTokens'].map(
    (name) => [name, name, uint, 'optional'] as const,
  ),
  ...['fundingRateLong', 'fundingRateShort', 'borrowingRateLong', 'borrowingRateShort'].map(
    (name) => [name, name, int, 'optional'] as const,
  ),
  ...['netRateLong', 'netRateShort'].map((name) => [name, name, int, 'optional'] as const),
  ...['high24h', 'low24h', 'open24h', 'close24h'].map((name) => [name, name, uint, 'optional'] as const),
  ['priceChange24h', 'priceChange24h', int, 'optional'],
  ['priceChange24hBps', 'priceChangePercent24hBps', int, 'optional'],
  ...['poolAmountLongUsd', 'poolAmountShortUsd'].map((name) => [name, name, uint, 'optional'] as const),
]

const tickerArbitrary = fc.record({
  symbol: fc.constantFrom('A', 'B'),
  marketTokenAddress: fc.constantFrom(...tokens),
  ...Object.fromEntries(
    tickerFields.map(([, wire, decode, needed]) => [
      wire,
      fc.constantFrom('2', '3', ...(decode === int ? ['-2'] : []), ...(needed === 'needed' ? [] : [null])),
    ]),
  ),
  maxPrice: fc.constantFrom('3', '4', '2'),
  poolAmountShortUsd: fc.constantFrom('2', '3', '2', '3', '2', '3', '1.5'),
  capacityLong: capacityArbitrary,
  capacityShort: capacityArbitrary,
})

function plainTicker(value: unknown): unknown {
  const row = object(value)
  const decoded: Record<string, unknown> = {
    symbol: word(row.symbol, 'symbol'),
    marketToken: address(row.marketTokenAddress, 'marketTokenAddress'),
  }
  for (const [name, wire, decode] of tickerFields) {
    decoded[name] = row[wire] === null ? undefined : decode(row[wire], wire)
  }
  for (const name of ['capacityLong', 'capacityShort']) {
    decoded[name] = row[name] === null ? undefined : inside(row[name], name, tradingCapacity)
  }
  const { minPrice, maxPrice } = decoded as { minPrice: bigint; maxPrice: bigint }
  // A mark that is not sent is the middle of this answer, not of the last one.
  decoded.markPrice ??= (minPrice + maxPrice) / 2n
  if (minPrice > maxPrice) throw new Malformed('minPrice', 'is above maxPrice', row.minPrice)
  return decoded
}

test('/markets/tickers: rows kept from poll to poll are the rows decoded anew', () => {
  fc.assert(
    fc.property(fc.array(fc.array(tickerArbitrary, { maxLength: 4 }), { maxLength: 6 }), (bodies) => {
      const row = createRowMemo({ identity, decode: ticker, copy: copyTicker })
      for (const body of bodies) {
        const parsed = JSON.parse(JSON.stringify(body)) as unknown
        expect(outcome(() => list(parsed, '', row))).toStrictEqual(
          outcome(() => list(parsed, '', plainTicker)),
        )
      }
    }),
    { seed, numRuns: 500 },
  )
})

test('what a caller does to the rows it got does not reach the next answer', async () => {
  type Open = { -readonly [Name in keyof Ticker]: Ticker[Name] }
  const transport = transportAnswering(fixtureText('markets-tickers'))
  const first = await getMarketTickers(transport, {}, { isFresh: true })
  const wanted = structuredClone(first.value)
  for (const row of first.value as Open[]) {
    row.markPrice = 1n
    if (row.capacityLong !== undefined) Object.assign(row.capacityLong, { availableLiquidity: 1n })
  }
  expect((await getMarketTickers(transport, {}, { isFresh: true })).value).toStrictEqual(wanted)

  const configs = transportAnswering(fixtureText('markets-info'))
  const config = await getMarketsConfig(configs, { isFresh: true })
  const wantedConfig = structuredClone(config.value)
  for (const row of config.value) Object.assign(row, { maxLongPoolAmount: 1n })
  expect((await getMarketsConfig(configs, { isFresh: true })).value).toStrictEqual(wantedConfig)
})

test('a row is decoded by itself after more markets than are remembered', () => {
  const seen: Fields[] = []
  const row = createRowMemo({
    identity: 'id',
    decode: (raw, was: Fields) => {
      seen.push(was)
      return { id: raw.id }
    },
  })
  for (let index = 0; index < 1025; index++) row({ id: String(index) })
  row({ id: '1024' })
  expect(seen.at(-1)).toEqual({ id: '1024' })
  row({ id: '5' })
  expect(seen.at(-1)).toEqual({ id: '1024' })
})

test('each transport has a memory of its own', () => {
  const made = perTransport(() => ({}))
  const [one, other] = [scriptedTransport(() => 'silence'), scriptedTransport(() => 'silence')]
  expect(made(one.transport)).toBe(made(one.transport))
  expect(made(one.transport)).not.toBe(made(other.transport))
})

test('readers of one shared answer get prices by their own decimals', async () => {
  const { transport, clock, seen } = scriptedTransport(() => ({ body: fixtureText('oracle-tickers') }))
  const [six, eighteen, again] = await clock.drive(
    Promise.all([
      getPrices(transport, () => 6),
      getPrices(transport, () => 18),
      getPrices(transport, () => 6),
    ]),
  )
  expect(seen).toHaveLength(1)
  expect(six.value.length).toBeGreaterThan(0)
  expect(again.value).toEqual(six.value)
  expect(eighteen.value.map(({ minPrice }) => minPrice)).toEqual(
    six.value.map(({ minPrice }) => minPrice * 10n ** 12n),
  )
})
