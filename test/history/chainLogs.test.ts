/** Events of the paper chain, downloaded over real sockets: to the unit what the venue has, resumed, held against a second endpoint, never filled. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { readLoggedMarket } from '../../src/backtest/loggedMarkets.ts'
import { usualModel } from '../../src/backtest/runModel.ts'
import { logSourceOf, openNodes } from '../../src/cli/data/logSource.ts'
import { getLogs, type LogsWish } from '../../src/history/getLogs.ts'
import { logsOf, readLogs } from '../../src/history/logsFile.ts'
import { readManifest } from '../../src/history/manifest.ts'
import { type ServedVenue, serveVenue } from '../../src/paper/server/serve.ts'
import type { MarketFigures } from '../../src/paper/state/followedMarkets.ts'
import type { VenueMarket } from '../../src/paper/state/seedMarkets.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { runFor, startSeconds, strategyOf, testFolder, writeMinutes } from '../backtest/runKit.ts'
import { perpd } from '../cli/run.ts'
import { venueBench } from '../support/venue.ts'

const MINUTES = 90
const { clock, venue } = venueBench({
  startMs: startSeconds * 1_000,
  settings: { onlyMarkets: [], traders: 40, safeLagBlocks: 0 },
})
const market = venue.venueState.markets.find(({ catalog }) => catalog.symbol === 'ETH/USD [WETH-USDC]')
const facts = arbitrum.facts.markets.get(market?.key ?? '')
const named = { chain: 'arbitrum', market: 'ETH/USD [WETH-USDC]', marketToken: facts?.marketToken ?? '' }
/** Amounts of the venue at each full minute. */
const truth = new Map<number, { readonly figures: MarketFigures; readonly borrowing: bigint }>()
const { fetch, close } = createNodeFetch()
let served: ServedVenue

function amountsOf({ state }: VenueMarket): MarketFigures {
  const side = ({ interestUsd, interestInTokens }: VenueMarket['state']['long']) => ({
    interestUsd: [...interestUsd] as const,
    interestInTokens: [...interestInTokens] as const,
  })
  return {
    ...{ long: side(state.long), short: side(state.short), pool: [...state.pool] as const },
    positionImpactPoolAmount: state.positionImpactPoolAmount,
  }
}

beforeAll(async () => {
  for (let minute = 1; minute <= MINUTES; minute += 1) {
    await clock.advance(60_000)
    venue.advance()
    if (market !== undefined)
      truth.set(startSeconds + minute * 60, {
        figures: amountsOf(market),
        borrowing: market.state.long.cumulativeBorrowingFactor,
      })
  }
  served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0, tickMs: 3_600_000 })
}, 120_000)
afterAll(async () => {
  close()
  await served.close()
})

const instant = { sleep: async () => undefined }
const wish = (more: Partial<LogsWish> = {}): LogsWish => ({
  ...{ market: named, maxSpan: 700, clock: instant },
  ...{ fromSeconds: startSeconds + 300, toSeconds: startSeconds + (MINUTES - 5) * 60 },
  ...more,
})

async function sourceOf(urls: readonly string[] = served.rpc.slice(0, 1)) {
  if (facts === undefined) throw new RangeError('no ETH market')
  const road = { chain: arbitrum, urls, finality: arbitrum.finality, timeoutMs: 5_000, fetch }
  return logSourceOf(await openNodes(road), arbitrum, facts)
}

/** An endpoint that edits the logs of the venue's, or refuses ranges wider than some blocks. */
async function liar(
  edit: (logs: readonly { readonly topics: readonly string[] }[]) => readonly unknown[],
  most = Number.POSITIVE_INFINITY,
) {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece) => {
      body += String(piece)
    })
    request.on('end', () => {
      void (async () => {
        const asked = JSON.parse(body)
        const isLogs = asked.method === 'eth_getLogs'
        const { fromBlock, toBlock } = isLogs ? asked.params[0] : { fromBlock: 0, toBlock: 0 }
        const isTooWide = isLogs && Number(toBlock) - Number(fromBlock) >= most
        const error = { code: -32_005, message: 'query exceeds the range of this plan' }
        const answer = (await (
          await globalThis.fetch(served.rpc[0] ?? '', { method: 'POST', body })
        ).json()) as { readonly result: Parameters<typeof edit>[0] }
        const edited = isLogs ? { ...answer, result: edit(answer.result) } : answer
        const said = isTooWide ? { id: asked.id, error } : edited
        response.setHeader('content-type', 'application/json').end(JSON.stringify(said))
      })()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}

test("the pools, open interest and impact pools of each minute are the venue's, to the unit, and borrowing accrues by what it accrued", async () => {
  const folder = testFolder()
  const { added, covered } = await getLogs(await sourceOf(), folder, wish())
  expect(added).toBeGreaterThan(200)
  expect(covered?.fromSeconds).toBeLessThanOrEqual(wish().fromSeconds)
  const run = { fromSeconds: wish().fromSeconds, toSeconds: wish().toSeconds }
  const followed = await readLoggedMarket(folder, { ...named, isSingleToken: false }, run)
  const steps = followed?.steps ?? []
  let compared = 0
  for (const [second, { figures }] of truth) {
    if (second < run.fromSeconds || second >= run.toSeconds) continue
    expect(steps.findLast((step) => step.second <= second)?.figures, String(second)).toMatchObject(figures)
    compared += 1
  }
  expect(compared).toBeGreaterThan(70)
  // The first accrual tells no time that it is for: from a later minute on the rates add up to the factor.
  const [from, to] = [startSeconds + 20 * 60, startSeconds + 60 * 60]
  const accrued = steps.reduce((sum, { second, rates }, at) => {
    const until = Math.min(to, steps[at + 1]?.second ?? to)
    const spent = Math.max(0, until - Math.max(from, second))
    return sum + (rates.borrowingFactorPerSecond?.long ?? 0n) * BigInt(spent)
  }, 0n)
  const due = (truth.get(to)?.borrowing ?? 0n) - (truth.get(from)?.borrowing ?? 0n)
  const apart = Number(accrued - due) / Number(due)
  // The venue's own factor stands still between two accruals.
  expect(Math.abs(apart)).toBeLessThan(0.05)
  expect(steps.some(({ rates }) => (rates.fundingFactorPerSecond ?? 0n) !== 0n)).toBe(true)
})

test('a backtest over the events shows a kind the open interest that the venue had, to the unit, and says where it is from', async () => {
  const folder = testFolder()
  await getLogs(await sourceOf(), folder, wish())
  const seen = new Map<number, bigint>()
  const looks = await strategyOf(folder, 'looks', (view) => {
    const { longInterestUsd } = view.market(named.market)?.ticker?.value ?? {}
    if (longInterestUsd !== undefined) seen.set(Math.floor(view.snapshot.atMs / 1_000), longInterestUsd)
    return []
  })
  const model = { ...usualModel, impact: 'recorded' as const, skewBps: 0 }
  const data = writeMinutes(folder, MINUTES, () => 2_300)
  const { manifest } = await runFor(folder, data, 60, [looks], { model, fromSeconds: startSeconds + 600 })
  const [one, other] = [600, 3_000].map((after) => startSeconds + after)
  for (const second of [one ?? 0, other ?? 0]) {
    const { long } = truth.get(second)?.figures ?? {}
    const [, interest = 0n] = [...seen].find(([at]) => at >= second && at < second + 30) ?? []
    expect(interest).toBe((long?.interestUsd[0] ?? 0n) + (long?.interestUsd[1] ?? 0n))
  }
  expect(manifest.recorded).toMatchObject([{ market: named.market, source: 'chain', gaps: [] }])
})

test('a download that stopped goes on where it was last saved, and one that is extended both ways is the same bytes as one that went through', async () => {
  const [whole, parts] = [testFolder(), testFolder()]
  await getLogs(await sourceOf(), whole, wish())
  const source = await sourceOf()
  let asked = 0
  const dying = {
    ...source,
    changes: async (from: number, to: number) => {
      asked += 1
      if (asked > 25) throw new Error('killed')
      return await source.changes(from, to)
    },
  }
  await expect(
    getLogs(dying, parts, wish({ fromSeconds: startSeconds + 1_200, maxSpan: 400 })),
  ).rejects.toThrow('killed')
  expect(logsOf(parts, named)).toHaveLength(1)
  const again = await getLogs(source, parts, wish())
  expect(readManifest(parts)).toEqual(readManifest(whole))
  const fresh = await getLogs(source, parts, wish())
  expect([fresh.requests, fresh.added]).toEqual([0, 0])
  expect(again.requests).toBeLessThan(Math.ceil(((MINUTES - 10) * 240) / 700))
})

test('an endpoint that takes fewer blocks is asked in halves until it answers', async () => {
  const [narrow, whole] = [testFolder(), testFolder()]
  const { url, stop } = await liar((logs) => logs ?? [], 200)
  await getLogs(await sourceOf(), whole, wish())
  await getLogs(await sourceOf([url]), narrow, wish())
  await stop()
  expect(readManifest(narrow)).toEqual(readManifest(whole))
})

test('an endpoint that leaves an event out is found by the amounts, and what it shows is not saved', async () => {
  const folder = testFolder()
  const { url, stop } = await liar((logs) => logs.filter((_log, at) => at !== 12))
  const source = await sourceOf([url])
  await expect(getLogs(source, folder, wish())).rejects.toMatchObject({
    code: 'HISTORY_LOGS_GAP',
    facts: { field: expect.any(String), block: expect.any(Number) },
  })
  await stop()
  expect(logsOf(folder, named)).toEqual([])
})

test('two endpoints must agree: the block and the amount that one alone shows is named', async () => {
  const folder = testFolder()
  const { url, stop } = await liar((logs) => logs.slice(0, -1))
  const source = await sourceOf([served.rpc[0] ?? '', url])
  await expect(getLogs(source, folder, wish())).rejects.toMatchObject({
    code: 'HISTORY_ENDPOINTS_DIFFER',
    facts: { of: expect.any(String), block: expect.any(Number) },
  })
  await stop()
  const both = [served.rpc[0] ?? '', served.rpc[1] ?? '']
  await getLogs(await sourceOf(both), folder, wish())
  expect(logsOf(folder, named)).toHaveLength(1)
})

test('a run that the events do not cover has none of them; they are listed, and a file that was changed is refused', async () => {
  const folder = testFolder()
  await getLogs(await sourceOf(), folder, wish())
  const name = { ...named, isSingleToken: false }
  const early = { fromSeconds: startSeconds + 60, toSeconds: startSeconds + 600 }
  expect(await readLoggedMarket(folder, name, early)).toBeUndefined()
  const [entry] = logsOf(folder, named)
  if (entry === undefined) throw new RangeError('nothing was saved')
  const list = await perpd(folder, ['data', 'list', '--json', `--history.folder=${folder}`])
  expect(JSON.parse(list.out).logs).toMatchObject([
    { chain: 'arbitrum', market: named.market, events: entry.rows, lastSeconds: entry.toSeconds },
  ])
  await expect(readLogs(folder, { ...entry, sha256: '0'.repeat(64) })).rejects.toMatchObject({
    code: 'HISTORY_FILE_CHANGED',
  })
})

test('what is read so far is told with each group of requests, never less than before, and ends with every block', async () => {
  const told: (readonly [done: number, total: number])[] = []
  await getLogs(await sourceOf(), testFolder(), wish(), (done, total) => {
    told.push([done, total])
  })
  expect(told.length).toBeGreaterThan(2)
  expect(told.map(([done]) => done)).toEqual(told.map(([done]) => done).toSorted((one, other) => one - other))
  expect(new Set(told.map(([, total]) => total)).size).toBe(1)
  expect(told.at(-1)?.[0]).toBe(told.at(-1)?.[1])
})

test('without an endpoint, with none that answers, and with one of another chain the command names what to set, and downloads nothing', async () => {
  const other = createServer((request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x1' })))
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  const hosts = [`--venue.apiHosts=${served.api.join(',')}`, `--venue.oracleHosts=${served.oracle.join(',')}`]
  for (const [url, word] of [
    ['', 'rpc.http'],
    [`http://127.0.0.1:${port}`, 'another chain'],
    ['http://127.0.0.1:9', '127.0.0.1:9'],
  ] as const) {
    const folder = testFolder()
    const ran = await perpd(folder, [
      ...['data', 'get', named.market, '--period=1h', '--chain-logs', '--profile=arbitrum'],
      ...[...hosts, `--history.folder=${folder}`, ...(url === '' ? [] : [`--rpc.http=${url}`])],
    ])
    expect([url, ran.code, ran.err.includes(word)]).toEqual([url, 4, true])
    expect(readManifest(folder)).toMatchObject({ candles: [], logs: [] })
  }
  await new Promise((resolve) => other.close(resolve))
})
