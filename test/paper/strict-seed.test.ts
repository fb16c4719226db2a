/** The same seed gives the same world, byte for byte: answers, chain, faults and the file the world is kept in. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Any, ethSymbol, startVenue, trader, usd } from './support.ts'

const account = trader.address
const reads = [
  '/markets/info',
  '/markets/tickers',
  `/positions?address=${account}&includeRelatedOrders=true`,
  `/orders?address=${account}`,
  '/trades?limit=100&showDebugValues=true',
  '/rates?period=1d&averageBy=1d',
  '/yield/gm-pools?period=7d',
  '/stats/summary',
  '/pairs',
  '/jit/liquidity_info',
  '/staking/power?address=0x00000000000000000000000000000000000000a7',
]

interface Story {
  /** Every body, in order. */
  readonly texts: readonly string[]
  /** The world's file at the end. */
  readonly world: string
}

/** A quarter of an hour of trading among others, with faults that are drawn; `isNosy`: somebody else reads all the time. */
async function storyOf(seed: number, isNosy = false): Promise<Story> {
  const folder = mkdtempSync(join(tmpdir(), 'perpd-seed-'))
  const stateFile = join(folder, 'world.json')
  const paper = await startVenue({ seed, stateFile, settings: { traders: 25 } })
  const texts: string[] = []
  const tell = (value: unknown): void => void texts.push(JSON.stringify(value))
  const nose = async (): Promise<void> => {
    if (!isNosy) return
    await Promise.all(
      [...reads, '/prices/ohlcv?symbol=BTC%2FUSD&timeframe=1m', '/apy?period=30d'].map((path) =>
        paper.call('GET', paper.peer + path),
      ),
    )
  }
  const orders: Any[] = [
    {},
    { orderType: 'limit', triggerPrice: usd(1700) },
    { tpsl: [{ type: 'stop-loss', triggerPrice: usd(1600) }] },
    { orderType: 'twap', twapConfig: { duration: 300, parts: 3 } },
    { kind: 'decrease', size: usd(400), collateralToPay: undefined },
  ]
  for (const fields of orders) {
    await nose()
    const status = await paper.trade(fields)
    tell(status)
    tell((await paper.prepare({ symbol: ethSymbol, size: usd(50) })).body)
    paper.clock.move(120_000)
  }
  await nose()
  paper.clock.move(300_000)
  if (!isNosy) {
    for (const path of reads) tell((await paper.get(path)).body)
    const rpc = (method: string, params: unknown[]) =>
      paper.call('POST', paper.served.rpc[0] ?? '', { jsonrpc: '2.0', id: 1, method, params })
    tell((await rpc('eth_getBlockByNumber', ['latest', true])).body)
    tell((await rpc('eth_getLogs', [{ fromBlock: 'earliest', toBlock: 'latest' }])).body)
    await paper.call('POST', `${paper.control}/wire`, { kind: 'status', status: 503, probability: 0.4 })
    for (let i = 0; i < 40; i += 1) tell((await paper.get('/tokens')).status)
    tell((await paper.call('GET', `${paper.control}/fault-log`)).body)
    tell((await paper.call('GET', `${paper.control}/record`)).body)
  }
  paper.venue.advance()
  await paper.close()
  // The count of saves of a served world is a matter of the machine's clock, and the one thing of the file that tells it.
  const world = readFileSync(stateFile, 'utf8').replace(/"logPart":\d+,/, '')
  rmSync(folder, { recursive: true })
  return { texts, world }
}

test('two runs of one seed agree in every byte of every answer, and of the file', async () => {
  const [one, two] = await Promise.all([storyOf(11), storyOf(11)])
  expect(two.texts.length).toBe(one.texts.length)
  for (const [i, text] of one.texts.entries()) expect(two.texts[i] === text, text.slice(0, 200)).toBe(true)
  expect(two.world === one.world).toBe(true)
})

test('another seed is another world', async () => {
  const [one, other] = await Promise.all([storyOf(11), storyOf(12)])
  expect(other.world === one.world).toBe(false)
})

test('whoever else reads, the world is the same to the byte', async () => {
  const [quiet, nosy] = await Promise.all([storyOf(11), storyOf(11, true)])
  expect(nosy.world === quiet.world).toBe(true)
})
