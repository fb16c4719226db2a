/** Which lists go on without a row that cannot be read, and which are read whole or not at all. */
import { expect, test } from 'vitest'
import type { MissingRow } from '../../src/protocol/missing.ts'
import { bodyOf, names, type Path, readOf, valueAt, withValue } from './decoders.ts'
import { failureOf, transportAnswering } from './support.ts'

/** Where the list of each answer is. */
const lists: Readonly<Record<string, Path>> = {
  pairs: [],
  'markets-info': [],
  'markets-config': [],
  'markets-values': [],
  allowances: [],
  buyback: ['weeks'],
  rates: [],
  'performance-annualized': [],
  'performance-snapshots': [],
  'gm-pools': ['pools'],
  'gm-user-earnings': ['pools'],
  'oracle-markets': ['markets'],
  'oracle-markets-info': ['markets'],
  'signed-prices': ['signedPrices'],
  'stats-sources': ['sources'],
  'stats-summary': ['meta', 'sources'],
  'stats-timeseries': ['series'],
  'jit-info': ['liquidityInfos'],
  'jit-info-v2': ['liquidityInfos'],
  'jit-history': ['snapshots'],
}

const read = (name: string, body: unknown) =>
  readOf(name, transportAnswering(body)) as Promise<{
    readonly value: unknown
    readonly missing?: readonly MissingRow[]
  }>

test.each(Object.entries(lists))('%s: a row that cannot be read costs itself alone', async (name, path) => {
  const body = JSON.parse(bodyOf(name)) as unknown
  const rows = valueAt(body, path) as readonly unknown[]
  const broken = await read(name, withValue(body, path, ['no row', ...rows]))
  expect(broken.value).toEqual((await read(name, body)).value)
  expect(broken.missing).toMatchObject([{ problem: expect.stringContaining('[0] is not an object') }])
  expect(await failureOf(read(name, withValue(body, path, ['no row'])))).toMatchObject({
    path: expect.stringContaining('[0]'),
  })
})

test('a yield that cannot be read costs itself alone', async () => {
  const body = JSON.parse(bodyOf('apy')) as unknown
  const broken = await read('apy', withValue(body, ['markets', 'no address'], {}))
  expect(broken.value).toEqual((await read('apy', body)).value)
  expect(broken.missing).toMatchObject([{ problem: expect.stringContaining('is not an address') }])
})

test.each([
  ['oracle-candles', ['candles']],
  ['ohlcv', []],
] as const)(
  '%s: a candle that cannot be read costs them all, for a gap would shift every average',
  async (name, path) => {
    expect(names).toContain(name)
    const body = JSON.parse(bodyOf(name)) as unknown
    const rows = valueAt(body, path) as readonly unknown[]
    expect(await failureOf(read(name, withValue(body, path, ['no candle', ...rows])))).toMatchObject({
      path: expect.stringContaining('[0]'),
    })
  },
)
