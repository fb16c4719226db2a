/**
 * The real daemon with a live profile at a server that sends only what the two documents show: a proxy before the paper
 * venue's process leaves the rest out. It opens, is taken out by an exit, and closes, in both lanes.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import type { LaneName } from '../../src/domain/order/laneTable.ts'
import { type DocumentProxy, startDocumentProxy } from '../support/documentProxy.ts'
import { operatedIn } from './operated.ts'
import { killLeftOver, perpd, scratch, startPaper, until } from './processes.ts'

const folders: ReturnType<typeof scratch>[] = []
const proxies: DocumentProxy[] = []
afterAll(async () => {
  for (const proxy of proxies.splice(0)) await proxy.close()
  await killLeftOver()
  for (const folder of folders.splice(0)) folder.remove()
})

const eth = 'ETH/USD [WETH-USDC]'

/** Candles in which ETH stands at $2,990 and at $3,010 in turn, five seconds each. */
function writeWaves(path: string): void {
  const rows = ['timestamp,open,high,low,close,symbol']
  for (let step = 0; step < 200; step += 1) {
    const usd = step % 2 === 0 ? 2990 : 3010
    rows.push(`${1_700_000_000 + step * 5},${usd},${usd},${usd},${usd},ETH`)
  }
  writeFileSync(path, `${rows.join('\n')}\n`)
}

async function trade(lane: LaneName): Promise<void> {
  const folder = scratch()
  folders.push(folder)
  const at = (file: string): string => join(folder.path, file)
  writeWaves(at('waves.csv'))
  const { hosts } = await startPaper([
    `--paper.replayFile=${at('waves.csv')}`,
    '--paper.keeperDelayMs=300',
    '--paper.relayDelayMs=150',
    '--paper.safeLagBlocks=2',
    '--paper.traders=0',
  ])
  const origins = new Map<string, DocumentProxy>()
  for (const host of [...hosts.api, ...hosts.oracle]) {
    const { origin } = new URL(host)
    if (origins.has(origin)) continue
    const proxy = await startDocumentProxy(origin)
    proxies.push(proxy)
    origins.set(origin, proxy)
  }
  const through = (host: string): string => origins.get(new URL(host).origin)?.through(host) ?? ''
  const asked = () => new Set([...origins.values()].flatMap((proxy) => [...proxy.asked]))

  const key = generatePrivateKey()
  const { address } = privateKeyToAccount(key)
  writeFileSync(at('key'), `${key}\n`, { mode: 0o600 })
  writeFileSync(
    at('once.yaml'),
    `kind: trend\nenabled: false\nmarket: ${eth}\nsize: { usd: 500, leverage: 2, collateral: short }\n`,
  )
  const own = await operatedIn(folder.path)
  const settings = {
    venue: { apiHosts: hosts.api.map(through), oracleHosts: hosts.oracle.map(through) },
    rpc: { http: hosts.rpc, finality: 'safe' },
    account: { keyFile: 'key', acceptRawKey: true, lane },
    strategies: { paths: ['once.yaml'] },
    control: { port: own.port },
    log: { format: 'json' },
  }
  writeFileSync(at('perpd.json'), JSON.stringify(settings))
  const start = (...words: string[]) => perpd([...words, '--profile=arbitrum'], { cwd: folder.path })
  const daemon = start('run')
  const asks = async (...words: string[]) => {
    const running = start(...words)
    return { code: await running.ended, said: running.said() }
  }
  const list = async (what: 'orders' | 'positions') =>
    (await (await fetch(`${hosts.api[0]}/${what}?address=${address}`)).json()) as readonly unknown[]
  const when = (what: string, isTrue: () => boolean | Promise<boolean>) =>
    until(what, async () => (await isTrue()) || undefined, { seen: daemon.said, timeoutMs: 90_000 })

  await when('it runs', () => daemon.said().includes('"daemon.ready"'))
  const open = ['open', eth, 'long', '--size=500', '--leverage=2', '--yes']
  // Asked again while it is refused: a take-profit below the price of a wave's top, an entry whose last one is not final.
  const opens = (...exits: string[]) =>
    when(`it opens with ${exits.join(' ')}`, async () => (await asks(...open, ...exits)).code === 0)
  await opens('--take-profit=3005', '--stop-loss=2700')
  const standing = async () => [(await list('positions')).length, (await list('orders')).length]
  const isAllGone = async () => String(await standing()) === '0,0'
  await when('the take-profit closed it, and the stop-loss is gone', isAllGone)
  await opens('--stop-loss=2700')
  expect(await standing()).toEqual([1, 1])
  const closed = await asks('close', eth, 'long', '--yes')
  expect(closed.code, closed.said).toBe(0)
  await when('nothing is held and nothing rests', isAllGone)
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended, daemon.said()).toBe(0)

  const sent =
    lane === 'relay' ? ['relay/submit', 'relay/status'] : ['orders/txns/prepare', 'orders/txns/submit']
  for (const path of sent) expect([...asked()].filter((each) => each.endsWith(path))).not.toEqual([])
  for (const event of ['order.payload_rejected', 'order.not_signed', 'host.cooldown', 'account.discrepancy'])
    expect(daemon.said()).not.toContain(`"event":"${event}"`)
}

test.concurrent.each<LaneName>(['order-chain', 'relay'])(
  'a live profile opens, is taken out by its exit and closes in the lane %s at a server that the documents describe',
  { timeout: 240_000 },
  trade,
)
