/**
 * A rehearsal on paper with the venue's real shapes and real processes, in both lanes and with both kinds of keys: prices
 * move in waves, a script opens, adds, reduces, exits and closes, gas spikes, and a kill ends it. All executes, nothing is
 * refused that is honest, no host rests and no breaker opens.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { operatedIn } from './operated.ts'
import {
  killLeftOver,
  ordersOf,
  perpd,
  type Running,
  scratch,
  startPaper,
  until,
  venueOf,
} from './processes.ts'

const folders: ReturnType<typeof scratch>[] = []
afterAll(async () => {
  await killLeftOver()
  for (const folder of folders.splice(0)) folder.remove()
})

const WAVE_BPS = 45
const mids = {
  'ETH/USD [WETH-USDC]': 3000,
  'BTC/USD [BTC-USDC]': 100_000,
  'SOL/USD [SOL-USDC]': 150,
  'LINK/USD [LINK-USDC]': 15,
}

const [eth, btc, sol, link] = Object.keys(mids) as [string, string, string, string]

/** What is played, market by market, all of them at once. The last two steps are left to the kill. */
const scripts = {
  [eth]: [
    { do: 'open', usd: 1000, when: 'mid' },
    { do: 'open', usd: 500, when: 'mid' },
    { do: 'decrease', usd: 200, keepLeverage: true, when: 'high' },
    { do: 'decrease', usd: 150, when: 'high' },
    { do: 'decrease', usd: 120, keepLeverage: true, when: 'low' },
    { do: 'decrease', usd: 100, when: 'low' },
    { do: 'close' },
    { do: 'wait-others' },
    { do: 'open', usd: 600 },
    { do: 'rest', usd: 300 },
  ],
  [btc]: [
    { do: 'open', usd: 1000, when: 'mid' },
    { do: 'take-profit', usd: 200, when: 'mid' },
    { do: 'stop-loss', usd: 300, when: 'mid' },
    { do: 'take-profit', when: 'mid' },
    { do: 'open', usd: 700, when: 'mid' },
    { do: 'stop-loss', when: 'mid' },
    { do: 'wait-others' },
    { do: 'open', usd: 400 },
  ],
  [sol]: [{ do: 'open', usd: 800 }, { do: 'collateral-out', usd: 40 }, { do: 'twap' }, { do: 'wait-others' }],
  [link]: [
    { do: 'open', usd: 500 },
    { do: 'collateral-in', usd: 30 },
    { do: 'close' },
    { do: 'open', usd: 600, when: 'mid', exits: true },
    { do: 'open', usd: 500 },
    { do: 'wait-others' },
    { do: 'wait-file' },
    { do: 'take-profit', when: 'mid' },
  ],
}

/** Candles in which all four assets stand at mid, high, mid and low, two seconds each, again and again. */
function writeWaves(path: string): void {
  const rows = ['timestamp,open,high,low,close,symbol']
  for (const [symbol, mid] of Object.entries(mids)) {
    const asset = symbol.split('/')[0]
    const at = (basisPoints: number): number => mid * (1 + basisPoints / 10_000)
    const levels = [0, WAVE_BPS, 0, -WAVE_BPS].map(at)
    let seconds = 1_700_000_000
    const candle = (from: number, to: number, lengthSeconds: number): void => {
      rows.push(`${seconds},${from},${Math.max(from, to)},${Math.min(from, to)},${to},${asset}`)
      seconds += lengthSeconds
    }
    for (let wave = 0; wave < 60; wave += 1) {
      for (const [index, level] of levels.entries()) {
        candle(level, level, 2)
        candle(level, levels[(index + 1) % 4] ?? level, 1)
      }
    }
  }
  writeFileSync(path, `${rows.join('\n')}\n`)
}

function writeScript(folder: string): void {
  const params = { waveBps: WAVE_BPS, midUsd: mids, goFile: join(folder, 'go'), scripts }
  const file = {
    kind: join(import.meta.dirname, 'strategies', 'script.ts'),
    markets: Object.keys(mids),
    cadenceSeconds: 0.5,
    size: { usd: 500, leverage: 4, collateral: 'short' },
    params,
  }
  // JSON is YAML.
  writeFileSync(join(folder, 'once.yaml'), JSON.stringify(file))
}

interface Run {
  readonly lane: 'order-chain' | 'relay'
  readonly key: 'own' | 'session'
  /** Settings of the venue's shapes. */
  readonly venue?: readonly string[]
  /** Markets of the venue; absent: all of its catalogue. */
  readonly markets?: readonly string[]
}

async function rehearse({ lane, key, venue = [], markets = [] }: Run): Promise<void> {
  const folder = scratch()
  folders.push(folder)
  writeScript(folder.path)
  writeWaves(join(folder.path, 'waves.csv'))
  const own = await operatedIn(folder.path)
  const paper = await startPaper(
    [
      `--paper.replayFile=${join(folder.path, 'waves.csv')}`,
      '--paper.keeperDelayMs=300',
      '--paper.keeperJitterMs=100',
      '--paper.relayDelayMs=150',
      '--paper.traders=0',
      ...venue,
    ],
    { env: venueOf(markets) },
  )
  const { hosts, control } = paper
  const set = async (faults: object): Promise<void> => {
    const answer = await fetch(`${control}/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(faults),
    })
    if (!answer.ok) throw new Error(`faults: ${answer.status} ${await answer.text()}`)
  }
  const more = [
    `--account.lane=${lane}`,
    ...hosts.rpc.map((url) => `--rpc.http=${url}`),
    `--paper.ownerKeyFile=${join(folder.path, 'owner')}`,
    `--account.approvalFile=${join(folder.path, 'approval.json')}`,
  ]
  const command = async (...words: string[]) => {
    const running = perpd([...words, ...own.flags(hosts), ...more])
    return { code: await running.ended, said: running.said(), out: running.stdout() }
  }
  if (key === 'session') {
    for (const words of [['create'], ['approve', '--days', '9', '--actions', '400']]) {
      const made = await command('subaccount', ...words)
      if (made.code !== 0) throw new Error(made.said)
      const owner = /--account\.owner (0x[0-9a-fA-F]{40})/.exec(made.said)?.[1]
      if (owner !== undefined) more.push(`--account.owner=${owner}`)
    }
  }
  const daemon = perpd(['run', ...own.flags(hosts), ...more])
  const { account } = await own.when('the daemon runs', daemon, ({ state }) => state === 'running')
  const list = async (what: 'orders' | 'positions') => {
    const rows: unknown = await (await fetch(`${hosts.api[0]}/${what}?address=${account}`)).json()
    return Array.isArray(rows) ? (rows as readonly Record<string, unknown>[]) : []
  }
  const when = async (what: string, isTrue: () => Promise<boolean>): Promise<void> => {
    await until(what, async () => (await isTrue()) || undefined, { seen: daemon.said, timeoutMs: 200_000 })
  }

  await when('all but the order that is to freeze is played', async () => {
    const [positions, orders] = [await list('positions'), await list('orders')]
    return positions.length === 3 && orders.length === 1 && orders[0]?.orderType === 3
  })
  await set({ keeperFails: 'InsufficientReserve' })
  writeFileSync(join(folder.path, 'go'), '')
  await when('the take-profit is frozen', async () => (await list('orders')).some(({ isFrozen }) => isFrozen))
  await set({ keeperFails: '' })
  await when('the frozen order is edited and executed', async () => (await list('positions')).length === 2)

  // Fees of some twenty dollars an order: no close waits for the gas price.
  const gasPriceWei = () => gasPriceOf(hosts.rpc[0] ?? '')
  const calmWei = await gasPriceWei()
  await set({ gasSpikePercent: 2500 })
  // The venue's next whole second has it.
  await when('gas has spiked', async () => (await gasPriceWei()) > 10n * calmWei)
  const killed = await command('kill', '--close', '--by', 'ann')
  expect([killed.code, killed.said.trim().split('\n').at(-1)]).toEqual([0, 'done: nothing is left'])
  expect([await list('positions'), await list('orders')]).toEqual([[], []])

  const status = await own.status()
  // The kill itself is the only thing that holds trading back.
  expect(status?.halts.map(({ cause }) => cause)).toEqual(['kill'])
  const metrics = await metricsOf(folder.path, own.port)
  expect(
    metrics.filter((line) => /^perpd_(payload_mismatches|discrepancies)_total\S* [^0]/.test(line)),
  ).toEqual([])
  for (const event of ['order.payload_rejected', 'order.not_signed', 'host.cooldown', 'account.discrepancy'])
    expect(linesOf(daemon, event)).toEqual([])
  // A busy machine may let a level pass before the script's exit for it is looked at; the script asks again at the next wave.
  const denied = linesOf(daemon, 'decision.denied').map((line) => (JSON.parse(line) as { code: string }).code)
  expect(denied.filter((code) => code !== 'TRIGGER_WOULD_FIRE')).toEqual([])
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended, daemon.said()).toBe(0)

  // An exit may fill while its edit is being prepared: such an edit is refused, and nothing of it was signed.
  const rows = (await ordersOf(folder.path)).filter(
    ({ kind, status: label, digest }) => !(kind === 'edit' && label === 'refused' && digest === null),
  )
  const others = rows.filter(({ status: label }) => label !== 'executed')
  // The kill cancelled it.
  expect(others.map(({ kind, status: label }) => [kind, label])).toEqual([['increase', 'cancelled']])
  expect(new Set(rows.map(({ kind }) => kind))).toEqual(
    new Set(['increase', 'decrease', 'close', 'edit', 'cancel', 'collateral-in', 'collateral-out']),
  )
  const record = (await (await fetch(`${control}/record`)).json()) as readonly Submit[]
  expect(
    record.filter(({ result, operationStatus }) => `${result} ${operationStatus}` !== 'accepted executed'),
  ).toEqual([])
  expect(new Set(record.map(({ digest }) => digest)).size).toBe(record.length)
  expect(record).toHaveLength(rows.length)
  // A whole close prefers the lane whose deadline is ours.
  const closes = rows.filter(({ kind }) => kind === 'close').length
  const elsewhere = record.filter((entry) => entry.lane !== lane)
  expect(elsewhere.every((entry) => entry.lane === 'relay')).toBe(true)
  expect(elsewhere).toHaveLength(lane === 'relay' ? 0 : closes)

  const last = rows.find(({ kind }) => kind === 'close')?.intentId ?? ''
  const explained = await perpdOut('explain', last, `--journal.path=${join(folder.path, 'journal.sqlite')}`)
  expect(explained).toMatch(
    /estimated fees: execution 0\.00\d+ native, whole [12]\d\.\d+ USDC, by the chain's gas price/,
  )
  expect(explained).toMatch(/signed fees: execution 0\.00\d+ native, whole [12]\d\.\d+ USDC/)
  expect(explained).toMatch(/paid: keepers kept 0\.00\d+ native/)
}

/** What the venue's record says of a submit. */
interface Submit {
  readonly lane: string
  readonly digest: string
  readonly result: string
  readonly operationStatus: string
}

async function gasPriceOf(rpc: string): Promise<bigint> {
  const answer = await fetch(rpc, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_gasPrice', params: [] }),
  })
  return BigInt(((await answer.json()) as { result: string }).result)
}

function linesOf(daemon: Running, event: string): readonly string[] {
  return daemon
    .stdout()
    .split('\n')
    .filter((line) => line.includes(`"event":"${event}"`))
}

async function metricsOf(folder: string, port: number): Promise<readonly string[]> {
  const token = readFileSync(join(folder, 'control.token.read'), 'utf8').trim()
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const lines = (await answer.text()).split('\n')
  expect(lines.some((line) => line.startsWith('perpd_payload_mismatches_total'))).toBe(true)
  return lines
}

async function perpdOut(...args: string[]): Promise<string> {
  const running = perpd(args)
  await running.ended
  // Screens break lines where they are full.
  return running.stdout().replace(/\s+/g, ' ')
}

const runs: readonly Run[] = [
  { lane: 'order-chain', key: 'own' },
  {
    lane: 'relay',
    key: 'own',
    markets: Object.keys(mids),
    venue: [
      '--paper.exitShape=max',
      '--paper.exitsReordered=true',
      '--paper.dividesAnyPrice=true',
      '--paper.topsUpFees=true',
      '--paper.slippageOnLimits=true',
    ],
  },
  {
    lane: 'order-chain',
    key: 'session',
    venue: ['--paper.exitShape=sdk-keep'],
    markets: Object.keys(mids),
  },
  { lane: 'relay', key: 'session', markets: Object.keys(mids) },
]
test.concurrent.each(runs)(
  'everything executes through the $lane lane with the $key key, and a kill in a gas spike closes all',
  { timeout: 400_000 },
  rehearse,
)
