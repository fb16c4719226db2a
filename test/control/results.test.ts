/** Routes of results: pages, filters and sums of closed trades, PnL by days, and the fills of a day, which add up to each other. */
import { expect, test } from 'vitest'
import { controlRoutes } from '../../src/control/routes.ts'
import { createHistoryFold } from '../../src/journal/tradeHistory.ts'
import { usd } from '../../src/protocol/units.ts'
import { closed, executed, type Fill } from '../books/history.ts'
import { access, asReader, engine } from './door.ts'

const startMs = Date.UTC(2027, 2, 27, 23)
const hourMs = 3_600_000

function fill(n: number, kind: 'increase' | 'decrease', usdSize: number, basePnlUsd = 0n): Fill {
  const atMs = startMs + n * hourMs
  const result = kind === 'increase' ? {} : { basePnlUsd, pnlUsd: basePnlUsd - usd(1) }
  return {
    ...{ n, kind, strategy: n > 3 ? 'grid' : 'trend', relayFeeAmount: 500_000n, atMs },
    settlement: {
      sizeDeltaUsd: usd(usdSize),
      sizeDeltaInTokens: 10n ** 15n * BigInt(usdSize / 2),
      feesUsd: usd(1),
      timestampSeconds: atMs / 1_000,
      ...result,
    },
  }
}

const fold = createHistoryFold()
for (const made of [
  fill(0, 'increase', 2_000),
  fill(1, 'decrease', 500, usd('3.333')),
  fill(2, 'decrease', 1_500, usd('-1.5')),
  fill(4, 'increase', 1_000),
  fill(30, 'decrease', 1_000, usd(12)),
  fill(31, 'increase', 400),
])
  for (const record of [...executed(made), closed(made)]) fold.fold(record)

const routes = controlRoutes({
  ...access,
  results: { ...access.results, history: async () => fold.read() },
  engine,
  metrics: { render: () => Promise.resolve(''), contentType: 'text/plain' },
  health: { live: () => ({ ok: true, reasons: [] }), ready: () => ({ ok: true, reasons: [] }) } as never,
  hostNames: [],
  now: () => 0,
})

async function ask(path: string) {
  const answer = await routes.request(path, { headers: { ...asReader, host: 'localhost' } })
  return { status: answer.status, text: await answer.text() }
}
const body = async (path: string) => JSON.parse((await ask(path)).text)
const sum = (amounts: readonly string[]) => amounts.reduce((all, each) => all + BigInt(each), 0n)

test('closed trades, what is open and what is outside are the PnL of all days, weeks and months; fills and sending are a day’s', async () => {
  const { rows, sums, besides, strategies } = await body('/api/round-trips')
  expect(rows.map(({ strategy }: { strategy: string }) => strategy)).toEqual(['grid', 'trend'])
  expect(strategies).toEqual(['grid', 'trend'])
  expect(sum(rows.map(({ pnlUsd }: { pnlUsd: string }) => pnlUsd))).toBe(BigInt(sums.pnlUsd))
  const totalUsd = BigInt(sums.pnlUsd) + BigInt(besides.openUsd) + BigInt(besides.outsideUsd)
  for (const by of ['day', 'week', 'month', 'strategy', 'market']) {
    const pnl = await body(`/api/pnl?by=${by}`)
    expect(sum(pnl.rows.map(({ pnlUsd }: { pnlUsd: string }) => pnlUsd))).toBe(totalUsd)
    expect(BigInt(pnl.sums.pnlUsd)).toBe(totalUsd)
  }
  const split = await body('/api/pnl?by=day&each=strategy')
  expect(sum(split.rows.map(({ pnlUsd }: { pnlUsd: string }) => pnlUsd))).toBe(totalUsd)
  for (const { name, pnlUsd } of (await body('/api/pnl?by=day')).rows) {
    const day = await body(`/api/fills?day=${name}`)
    expect(day.pnlUsd).toBe(pnlUsd)
    expect(
      sum(day.rows.map(({ resultUsd }: { resultUsd: string }) => resultUsd)) - BigInt(day.sendingUsd),
    ).toBe(BigInt(pnlUsd))
  }
  // The partial close of the first trade counts on its own day.
  const days = (await body('/api/pnl?by=day')).rows.map(({ name }: { name: string }) => name)
  expect(days).toEqual(['2027-03-27', '2027-03-28', '2027-03-29'])
})

test('pages, filters and the file have the same trades; the last row of the file is their sum', async () => {
  const page = async (query: string) =>
    (await body(`/api/round-trips?${query}`)).rows.map(({ strategy }: { strategy: string }) => strategy)
  expect(await page('limit=1')).toEqual(['grid'])
  expect(await page('limit=1&offset=1')).toEqual(['trend'])
  expect(await page('outcome=lost')).toEqual(['trend'])
  expect(await page('from=2027-03-29')).toEqual(['grid'])
  const { text } = await ask('/api/round-trips?as=csv&strategy=trend')
  const [names = [], row = [], last = []] = text
    .trim()
    .split('\n')
    .map((line) => line.split(','))
  const at = names.indexOf('pnl_usd')
  expect([last[0], last[at]]).toEqual(['all', row[at]])
})

test('a query that is none is refused', async () => {
  for (const path of [
    '/api/round-trips?limit=0',
    '/api/round-trips?reason=luck',
    '/api/pnl?by=year',
    '/api/pnl?each=side',
    '/api/pnl?from=monday',
    '/api/fills',
  ])
    expect((await ask(path)).status).toBe(400)
})
