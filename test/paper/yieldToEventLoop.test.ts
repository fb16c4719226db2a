/** Long answers do not hold the venue: others are answered while they are made, and they are the same. */
import { expect, test } from 'vitest'
import { listBytes, listed } from '../../src/paper/http/yieldToEventLoop.ts'
import { ethSymbol, startVenue } from './support.ts'

const longReads = [
  '/rates?period=total',
  '/apy?period=total',
  '/performance/snapshots?period=total',
  '/yield/gm-pools?period=total',
  '/stats/summary',
  '/prices/candles?tokenSymbol=SOL&period=1d&limit=2000',
  `/prices/ohlcv?symbol=${encodeURIComponent(ethSymbol)}&timeframe=1h&limit=1000`,
]

test('many short reads are answered while a long one is made, one after the other', async () => {
  const paper = await startVenue()
  const { api, oracle } = paper.venue.paths
  const at = (path: string) =>
    new Request(`http://paper${path.startsWith('/prices/candles') ? oracle[0] : api[0]}${path}`)
  for (const path of longReads) {
    let isMade = false
    const long = paper.venue.fetch(at(path)).then((answer) => {
      isMade = true
      return answer
    })
    let short = 0
    while (!isMade) {
      expect((await paper.venue.fetch(at('/incentives/usdg/boost-apr'))).status).toBe(200)
      short += 1
      // The turn of the process that a request over a socket takes.
      await new Promise(setImmediate)
    }
    expect((await long).status).toBe(200)
    expect(short, path).toBeGreaterThan(10)
  }
  await paper.close()
})

test('a long read that was asked twice at once answers the same, once made for both or twice', async () => {
  const paper = await startVenue()
  const [one, other] = await Promise.all([
    paper.get('/rates?period=90d&averageBy=7d'),
    paper.get('/rates?period=90d&averageBy=7d'),
  ])
  expect(one.status).toBe(200)
  expect(other.body).toEqual(one.body)
  await paper.close()
})

test('a list in slices is the list, and others go first after every twenty rows', async () => {
  const items = Array.from({ length: 175 }, (_unused, i) => i)
  let turns = 0
  let isMade = false
  const seen: number[] = []
  const count = (): void => {
    turns += 1
    if (!isMade) setImmediate(count)
  }
  setImmediate(count)
  const made = listed(items, (item) => {
    seen.push(turns)
    return item * 2
  })
  expect(await made).toEqual(items.map((item) => item * 2))
  isMade = true
  expect(new Set(seen).size).toBe(9)
  expect(Math.max(...[...new Set(seen)].map((turn) => seen.filter((one) => one === turn).length))).toBe(20)
})

test('a list as bytes is the JSON of the list with what stands around it, and others go first after every row', async () => {
  const rows = ['x', 'a "b"', 'Zürich ⟠', ''].map((name, at) => ({ name, at, wei: 10n ** 20n }))
  let turns = 0
  const seen: number[] = []
  const count = (): void => {
    turns += 1
    if (seen.length < rows.length) setImmediate(count)
  }
  setImmediate(count)
  const { bytes } = await listBytes(
    rows,
    ({ wei, ...row }) => {
      seen.push(turns)
      return { ...row, wei: String(wei) }
    },
    '{"rows":',
    '}',
  )
  const plain = rows.map((row) => ({ ...row, wei: String(row.wei) }))
  expect(bytes.toString()).toBe(JSON.stringify({ rows: plain }))
  expect(new Set(seen).size).toBe(rows.length)
  expect((await listBytes([], () => null)).bytes.toString()).toBe('[]')
})
