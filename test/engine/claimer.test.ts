/**
 * A claimer over the paper venue on real sockets: what is due is read from its chain, the calls are written once for a need and over a restart,
 * and when the owner's wallet has sent them the file goes.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPublicClient, decodeFunctionData, http, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { createHttpTransport } from '../../src/chain/wire/httpTransport.ts'
import { createRpcClient } from '../../src/chain/wire/jsonRpc.ts'
import type { Engine } from '../../src/daemon/engine.ts'
import { createClaims } from '../../src/daemon/signers/claims.ts'
import type { Event } from '../../src/domain/event.ts'
import { accountOf, claimableKeyOf } from '../../src/paper/state/accounts.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { claimer } from '../../src/strategy/kinds/claimer.ts'
import type { Strategy } from '../../src/strategy/strategy.ts'
import { type KindsBench, kindsBench, signer } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'
import { testTrader } from '../support/trader.ts'

const ethMarket = '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'
const weth = arbitrum.contracts.wrappedNative
const { address: usdc } = arbitrum.feeToken
const abi = parseAbi(['function claimFundingFees(address[] markets, address[] tokens, address receiver)'])

const node = createNodeFetch()
let inFlight = 0
/** Requests to the chain are counted: the clock waits for their answers. */
const fetch: typeof node.fetch = async (url, init) => {
  inFlight += 1
  try {
    return await node.fetch(url, init)
  } finally {
    inFlight -= 1
  }
}
let bench: KindsBench | undefined
let running: Engine | undefined
let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-claim-'))
})
afterEach(async () => {
  running?.abort()
  await bench?.close()
  bench = undefined
  rmSync(folder, { recursive: true, force: true })
})

const fileOf = () => join(folder, 'claim.json')

/** A daemon with a claimer from $25 on; `urls`: endpoints of the chain, else the venue's own. */
async function world(urls?: readonly string[]) {
  const over = bench ?? (await kindsBench({ path: [[0, 2_000]] }))
  bench = over
  const { api, clock, journal, served, venue } = over
  const params = claimer.params.parse({})
  const keeper = {
    ...loadedOf(claimer as Strategy, 'claimer', [], { cadenceMs: 60_000 }),
    params,
    needs: claimer.needs(params, []),
  }
  const own: Event[] = []
  const clients = (urls ?? served.rpc.slice(0, 1)).map((url, index) =>
    createRpcClient(`endpoint ${index}`, createHttpTransport(url, fetch), clock, {
      timeoutMs: 600_000,
      batchSize: 1,
    }),
  )
  const prepareClaim = createClaims({
    ...{ chain: arbitrum, api, clients, account: signer.address, file: fileOf(), clock },
    emit: (event) => void own.push(event),
  })
  const { trader, events, codes } = testTrader({
    ...{ api, clock, journal, signer, strategies: [keeper], prepareClaim },
  })
  running = trader
  await trader.start()
  const claimable = accountOf(venue.venueState, signer.address).claimableFunding
  return {
    async pass(ms: number) {
      for (let left = ms; left > 0; left -= 20_000) {
        await clock.advance(20_000)
        while (inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 1))
      }
    },
    codes,
    claimable,
    url: served.rpc[0] ?? '',
    wishes: () => events.filter(({ type }) => type === 'decision.made').length,
    told: () => own.flatMap(({ type }) => (type === 'claim.read' ? [] : [type])),
    stop: () => trader.abort(),
  }
}

const balances = async ({ api }: KindsBench) => {
  const { value } = await api.getWalletBalances({ account: signer.address }, { isFresh: true })
  return new Map(value.map(({ address, balance }) => [address.toLowerCase(), balance]))
}

test('what is due is prepared once it is enough, over a restart too, and the file goes when the wallet sent it', {
  timeout: 600_000,
}, async () => {
  const first = await world()
  // $20: not yet.
  first.claimable.set(claimableKeyOf(ethMarket, usdc), 20_000_000n)
  await first.pass(180_000)
  expect([first.told(), first.wishes(), first.codes(), existsSync(fileOf())]).toEqual([[], 0, [], false])
  first.claimable.set(claimableKeyOf(ethMarket, weth), 5n * 10n ** 15n)
  await first.pass(180_000)
  expect([first.told(), first.wishes(), first.codes()]).toEqual([['claim.prepared'], 1, []])
  expect(statSync(fileOf()).mode & 0o777).toBe(0o600)
  const file = JSON.parse(readFileSync(fileOf(), 'utf8'))
  expect(file).toMatchObject({ schema: 'perpd-claim/1', chain: 'arbitrum', account: signer.address })
  const [call] = file.calls
  expect(file.calls).toHaveLength(1)
  expect(call).toMatchObject({ chainId: 42_161, to: arbitrum.contracts.exchangeRouter, value: '0' })
  expect(decodeFunctionData({ abi, data: call.data }).args).toEqual([
    [ethMarket, ethMarket],
    [usdc, weth],
    signer.address,
  ])
  expect(call.claims.map(({ amount }: { amount: string }) => amount)).toEqual(['20 USDC', '0.005 WETH'])

  first.stop()
  await first.pass(20_000)
  const second = await world()
  await second.pass(180_000)
  expect(second.told()).toEqual([])
  // Somebody spoilt it: the need is still there.
  writeFileSync(fileOf(), '{')
  await second.pass(120_000)
  expect(second.told()).toEqual(['claim.prepared'])

  if (bench === undefined) throw new Error('no venue')
  const before = await balances(bench)
  const chain = createPublicClient({ transport: http(second.url) })
  const serializedTransaction = await privateKeyToAccount(`0x${'11'.repeat(32)}`).signTransaction({
    ...{ to: call.to, data: call.data, value: BigInt(call.value), chainId: call.chainId },
    ...{ type: 'eip1559', nonce: 0, gas: 1_000_000n, maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 0n },
  })
  await chain.sendRawTransaction({ serializedTransaction })
  await second.pass(180_000)
  const after = await balances(bench)
  const gained = (token: string) =>
    (after.get(token.toLowerCase()) ?? 0n) - (before.get(token.toLowerCase()) ?? 0n)
  expect([gained(usdc), gained(weth)]).toEqual([20_000_000n, 5n * 10n ** 15n])
  expect([second.told(), existsSync(fileOf())]).toEqual([['claim.prepared', 'claim.over'], false])
})

test('without an endpoint, and where one is silent, nothing is prepared and the reason is told', {
  timeout: 600_000,
}, async () => {
  const none = await world([])
  none.claimable.set(claimableKeyOf(ethMarket, usdc), 50_000_000n)
  await none.pass(120_000)
  expect([...new Set(none.codes())]).toEqual(['CLAIM_UNREAD'])
  none.stop()
  await none.pass(20_000)
  const dead = await world(['http://127.0.0.1:9'])
  await dead.pass(120_000)
  expect([dead.codes(), existsSync(fileOf())]).toEqual([['CLAIM_UNREAD'], false])
})

test('a part that was claimed elsewhere leaves the file, and more that becomes due makes it anew', {
  timeout: 600_000,
}, async () => {
  const { claimable, pass, told } = await world()
  claimable.set(claimableKeyOf(ethMarket, usdc), 30_000_000n)
  claimable.set(claimableKeyOf(ethMarket, weth), 10n ** 15n)
  await pass(120_000)
  claimable.delete(claimableKeyOf(ethMarket, usdc))
  await pass(120_000)
  expect([told(), existsSync(fileOf())]).toEqual([['claim.prepared'], true])
  // Of another market, and above what is asked for by itself.
  const btcMarket = '0x47c031236e19d024b42f8AE6780E44A573170703'
  claimable.set(claimableKeyOf(btcMarket, usdc), 40_000_000n)
  await pass(120_000)
  expect(told()).toEqual(['claim.prepared', 'claim.prepared'])
  const { calls } = JSON.parse(readFileSync(fileOf(), 'utf8'))
  expect(calls[0].claims.map(({ marketToken }: { marketToken: string }) => marketToken)).toEqual([
    btcMarket,
    ethMarket,
  ])
})
