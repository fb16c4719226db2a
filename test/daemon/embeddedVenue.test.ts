/** What the configuration says of the paper venue reaches its world. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { type StartedVenue, startVenue } from '../../src/daemon/embeddedVenue.ts'
import { createLog } from '../../src/monitor/log/log.ts'

const wallet = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const market = 'ETH/USD [WETH-USDC]'
const marketToken = '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'

let cwd: string
let started: StartedVenue | undefined
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-paper-'))
  started = undefined
})
afterEach(async () => {
  await started?.close()
  rmSync(cwd, { recursive: true })
})

const log = createLog({ level: 'error', format: 'json', stream: new PassThrough() })

const isSeed = (flag: string): boolean => flag.startsWith('--paper.seed=')

async function start(...flags: string[]): Promise<StartedVenue> {
  const argv = ['--paper.traders=0', ...(flags.some(isSeed) ? [] : ['--paper.seed=1']), ...flags]
  started = await startVenue(loadConfig({ argv, env: {}, cwd }).config, log)
  return started
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads the wire freely
async function read(url: string): Promise<any> {
  return (await fetch(url)).json()
}

async function rpc(url: string, method: string, params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await response.json()) as { result: unknown }).result
}

test('shares of pools, whitelists and the boost of a wallet are what the settings say', async () => {
  const { hosts } = await start(
    '--paper.poolShares',
    `${wallet}=${market}=2500`,
    '--paper.liquidityProviders',
    '3',
    '--paper.whitelists',
    `${wallet}=${marketToken}`,
    '--paper.boostAprBps',
    '0',
  )
  const [api] = hosts.api
  const holders = await read(`${started?.control}/liquidity-providers`)
  expect(holders).toHaveLength(4)
  expect(holders.at(-1)).toEqual({
    address: wallet,
    pools: [{ marketToken, sharePpm: 2500, isHeld: true }],
  })
  expect(await read(`${api}/whitelists?address=${wallet}`)).toEqual([marketToken])
  expect(await read(`${api}/incentives/usdg/boost-apr`)).toEqual({ boostApr: 0 })
})

test('a new folder draws a seed of its own and keeps it; a seed that is set is taken by a new folder alone', async () => {
  const seedOf = async (name: string, seed: number) => {
    const { seed: taken, close } = await start(
      `--paper.seed=${seed}`,
      '--paper.stateFile',
      join(cwd, name, 'venue.json'),
    )
    await close()
    started = undefined
    return taken
  }
  const drawn = await seedOf('one', 0)
  expect(drawn).toBeGreaterThan(0)
  expect(await seedOf('one', 0)).toBe(drawn)
  expect(await seedOf('one', 7)).toBe(drawn)
  // One of two thousand million, drawn three times.
  expect(new Set([drawn, await seedOf('two', 0), await seedOf('three', 0)]).size).toBe(3)
  expect(await seedOf('four', 7)).toBe(7)
})

test('a replay is where its world is, and seeded prices have none', async () => {
  const file = join(cwd, 'eth-usd.csv')
  writeFileSync(file, 'timestamp,open,high,low,close\n1735689600,1,1,1,1\n1735689660,1,1,1,1\n')
  const { replay } = await start('--paper.replayFile', file)
  expect(replay?.()).toMatchObject({ file: 'eth-usd.csv', endMs: 1_735_689_720_000, hasEnded: false })
  await started?.close()
  expect((await start('--paper.stateFile', join(cwd, 'other.json'))).replay).toBeUndefined()
})

test('the shares of pools, of open interest and of JIT liquidity shape the markets', async () => {
  const row = async (...flags: string[]) => {
    const { hosts, close } = await start(...flags)
    const rows = await read(`${hosts.api[0]}/markets/tickers?addresses=${marketToken}`)
    await close()
    started = undefined
    rmSync(join(cwd, 'var'), { recursive: true })
    return rows[0]
  }
  const plain = await row()
  expect(BigInt(plain.capacityLong.jitAvailableLiquidity)).toBeGreaterThan(0n)
  const quiet = await row('--paper.jitPoolShareBps', '0', '--paper.openInterestShareBps', '0')
  expect(quiet.capacityLong.jitAvailableLiquidity).toBe('0')
  expect(quiet.longInterestUsd).toBe('0')
  const deep = await row('--paper.poolShareBps', '6000')
  expect(BigInt(deep.poolAmountLongUsd)).toBeGreaterThan((BigInt(plain.poolAmountLongUsd) * 3n) / 2n)
})

test('block time and the lags of safe and finalized blocks are those of the settings', async () => {
  const { chains } = await start(
    '--paper.blockTimeMs',
    '1000',
    '--paper.safeLagBlocks',
    '0',
    '--paper.finalizedLagBlocks',
    '7',
  )
  const url = chains.arbitrum?.rpc[0] ?? ''
  const block = async (tag: string) =>
    (await rpc(url, 'eth_getBlockByNumber', [tag, false])) as { number: string; timestamp: string }
  const finalized = await block('finalized')
  const safe = await block('safe')
  // The machine's clock may make blocks between the two requests.
  expect(Number(safe.number) - Number(finalized.number)).toBeGreaterThanOrEqual(7)
  expect(Number(safe.number) - Number(finalized.number)).toBeLessThan(60)
  expect(Number(safe.timestamp) - Number(finalized.timestamp)).toBe(
    Number(safe.number) - Number(finalized.number),
  )
})

test('earnings warm up for as long as the settings say', async () => {
  const { hosts } = await start('--paper.earningsWarmUpSeconds', '86400')
  const response = await fetch(`${hosts.api[0]}/yield/gm-user-earnings?account=${wallet}`)
  expect(response.status).toBe(503)
  expect(await response.json()).toEqual({ message: 'Internal Server Error' })
})

test('faults of the start are in force at once, and nonsense is refused', async () => {
  const { hosts } = await start(
    '--paper.faults',
    '[{"marketData":"stale"},{"kind":"status","status":429,"route":"/tokens","host":"api/0"}]',
  )
  const [row] = await read(`${hosts.api[0]}/markets/tickers?addresses=${marketToken}`)
  expect(row.capacityLong.marketDataStatus).toBe('stale')
  expect((await fetch(`${hosts.api[0]}/tokens`)).status).toBe(429)
  expect((await fetch(`${hosts.api[1]}/tokens`)).status).toBe(200)
  await started?.close()
  await expect(start('--paper.faults', '{"gremlins":1}')).rejects.toThrow(
    'paper.faults cannot be used: step 1: unknown fault gremlins.',
  )
  await expect(start('--paper.faults', 'rain')).rejects.toThrow(
    'paper.faults cannot be used: it is not JSON: at line 1 column 1 a value is expected.',
  )
})

test('a share or whitelist of a market that no chain has is refused, and nothing is started', async () => {
  await expect(start('--paper.poolShares', `${wallet}=NOPE/USD=5`)).rejects.toThrow(
    'paper.poolShares names a market that no chain of the venue has: NOPE/USD',
  )
  await expect(start('--paper.whitelists', `${wallet}=NOPE/USD`)).rejects.toThrow(
    'paper.whitelists names a market that no chain of the venue has: NOPE/USD',
  )
  for (const bad of [`${wallet}=${market}`, `${wallet}=${market}=1000001`, `0x12=${market}=5`]) {
    await expect(start('--paper.poolShares', bad)).rejects.toThrow('paper.poolShares')
  }
})

test('a venue of chosen markets has them and the market of the fees; a chain without any has all of its own, and a saved venue keeps what it had', async () => {
  const symbolsOf = async (api: string | undefined): Promise<string[]> =>
    (await read(`${api}/markets`)).map(({ symbol }: { symbol: string }) => symbol)
  const flags = ['--paper.chains=arbitrum,avalanche', '--paper.onlyMarkets=LINK/USD [LINK-USDC]']
  const chosen = await start(...flags)
  expect(await symbolsOf(chosen.hosts.api[0])).toEqual(
    expect.arrayContaining([market, 'LINK/USD [LINK-USDC]']),
  )
  expect(await symbolsOf(chosen.hosts.api[0])).toHaveLength(2)
  expect((await symbolsOf(chosen.chains.avalanche?.api[0])).length).toBeGreaterThan(2)
  await chosen.close()
  // At another port, for connections to this one are kept.
  rmSync(join(cwd, 'var', 'paper', 'venue.port.json'))
  const again = await start('--paper.chains=arbitrum,avalanche')
  expect(await symbolsOf(again.hosts.api[0])).toHaveLength(2)
  await again.close()
  started = undefined
  const unknown = start(
    '--paper.onlyMarkets=LINK/USD [LINK-USDC]',
    '--paper.onlyMarkets=AVAX/USD [WAVAX-USDC]',
  )
  await expect(unknown).rejects.toMatchObject({
    exitCode: 4,
    message: expect.stringMatching(/^paper\.onlyMarkets .* on arbitrum: AVAX\/USD \[WAVAX-USDC\]\n/),
  })
})

test('a second venue on the same state file is refused, and takes it over when the first has ended', async () => {
  const flags = ['--paper.chains=arbitrum,avalanche']
  const first = await start(...flags)
  const config = (...argv: string[]) => loadConfig({ argv, env: {}, cwd }).config
  await expect(startVenue(config(), log)).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringContaining(
      `Another perpd uses the paper venue in ${join(cwd, 'var/paper/venue.json')}.\n  Nothing was started`,
    ),
  })
  const elsewhere = await startVenue(config(`--paper.stateFile=${join(cwd, 'other.json')}`), log)
  await elsewhere.close()
  await first.close()
  await start(...flags)
})

test('a venue that takes a free port has the same hosts at its next start, for orders that were under way; where another has the port, others', async () => {
  const first = await start()
  const hosts = first.hosts
  await first.close()
  const second = await start()
  expect(second.hosts).toEqual(hosts)
  await second.close()
  const { port } = new URL(hosts.api[0] ?? '')
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(Number(port), '127.0.0.1', resolve))
  const third = await start()
  expect(third.hosts).not.toEqual(hosts)
  expect((await read(`${third.hosts.api[0]}/markets`)).length).toBeGreaterThan(0)
  await new Promise((resolve) => other.close(resolve))
})
