/** Commands that talk to the running daemon: their tokens, and what they say when it is there, elsewhere, or not at all. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/cli/config.ts'
import { openTokens } from '../../src/cli/controlTokens.ts'
import { type ControlServer, createControlServer } from '../../src/control/server.ts'
import { ACCOUNT_ID } from '../../src/domain/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/records.ts'
import type { EngineStatus } from '../../src/engine/status.ts'
import { openJournal } from '../../src/journal/open.ts'
import { createMetrics } from '../../src/monitor/metrics.ts'
import { access, door, status } from '../control/door.ts'
import { perpd } from './run.ts'

let cwd: string
let server: ControlServer | undefined
let asked: unknown[]
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-control-'))
  asked = []
})
afterEach(async () => {
  await server?.close()
  server = undefined
  rmSync(cwd, { recursive: true })
})

const config = () => loadConfig({ argv: [], env: {}, cwd }).config
const operatePath = () => join(cwd, 'var', 'paper', 'control.token')

/** A daemon with the tokens of this folder, whose status is what `states` gives one after the other. */
async function daemon(...states: readonly Partial<EngineStatus>[]): Promise<string> {
  let looks = 0
  const metrics = createMetrics({
    version: '0.1.0',
    profile: 'paper',
    chain: 'arbitrum',
    status: door.status,
  })
  server = await createControlServer({
    host: '127.0.0.1',
    port: 0,
    metrics,
    health: { live: () => ({ ok: true, reasons: [] }), ready: () => ({ ok: true, reasons: [] }) },
    ...access,
    tokens: openTokens(config()),
    door: {
      ...door,
      status: () => {
        const state = states[Math.min(looks, states.length - 1)]
        looks += 1
        return { ...status, ...state }
      },
      operate: (command, commander) => {
        asked.push({ ...command, ...commander })
        return Promise.resolve(
          command.type === 'trading' && command.scope === 'strategy:nobody'
            ? { ok: false, code: 'STRATEGY_UNKNOWN', reason: 'there is no strategy nobody' }
            : { ok: true, statement: 'it is done' },
        )
      },
    },
  })
  return String(server.port)
}

test('two tokens are made once, for their owner alone, and are not the same', () => {
  const { read, operate } = openTokens(config())
  expect(read.reveal()).not.toBe(operate.reveal())
  for (const path of [operatePath(), `${operatePath()}.read`]) {
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readFileSync(path, 'utf8')).toMatch(/^[A-Za-z0-9_-]{43}\n$/)
  }
  const again = openTokens(config())
  expect([again.read.reveal(), again.operate.reveal()]).toEqual([read.reveal(), operate.reveal()])
  chmodSync(operatePath(), 0o644)
  expect(() => openTokens(config())).toThrow('open to others')
  chmodSync(operatePath(), 0o600)
  writeFileSync(operatePath(), 'short\n')
  expect(() => openTokens(config())).toThrow('holds no token of the control port')
})

test('an operator holds trading back, lists why, changes limits, and is told what was refused', async () => {
  const port = await daemon({
    tradingState: 'reducing',
    holds: [
      {
        scope: 'account',
        cause: 'daily-loss',
        state: 'reducing',
        reason: 'the account lost $120.00 since 00:00 UTC',
        by: 'perpd',
        sinceMs: status.nowMs - 60_000,
        lifts: 'next-day',
      },
    ],
  })
  const flags = ['--port', port]
  expect(await perpd(cwd, ['trading', 'halted', '--by', 'ann', '--reason', 'news', ...flags])).toEqual({
    code: 0,
    out: 'it is done.',
    err: '',
  })
  expect((await perpd(cwd, ['limits', '--confirm', '--by', 'ann', ...flags])).code).toBe(0)
  expect(asked).toEqual([
    { type: 'trading', scope: 'global', state: 'halted', reason: 'news', by: 'ann', via: 'control' },
    { type: 'limits', isConfirmed: true, by: 'ann', via: 'control' },
  ])
  expect((await perpd(cwd, ['trading', ...flags])).out).toMatchInlineSnapshot(`
    "Trading is reducing.

      account  reducing  daily-loss  since 1 min 0 s  by perpd  the account lost $120.00 since 00:00 UTC; the next day (UTC) lifts it, or an operator: perpd trading active"
  `)
  const nobody = await perpd(cwd, ['trading', 'halted', '--scope', 'nobody', '--by', 'ann', ...flags])
  expect(nobody).toEqual({
    code: 2,
    out: '',
    err: 'perpd refuses: there is no strategy nobody (STRATEGY_UNKNOWN)',
  })
  const odd = await perpd(cwd, ['trading', 'off', ...flags])
  expect([odd.code, odd.err]).toEqual([1, 'off is no trading state; expected active, reducing, halted.'])
})

test('a kill is followed until it is done', async () => {
  const kill = { by: 'ann', close: true, sinceMs: status.nowMs }
  const port = await daemon(
    { kill: { ...kill, left: { orders: 2, positions: 1, inFlight: 1 } } },
    { kill: { ...kill, left: { orders: 0, positions: 0, inFlight: 0 }, endedAtMs: 1, outcome: 'done' } },
  )
  const { code, out } = await perpd(cwd, ['kill', '--close', '--by', 'ann', '--port', port])
  expect([code, out.split('\n')]).toEqual([
    0,
    [
      'it is done.',
      'cancelling and closing: 2 orders, 1 position, 1 in flight left',
      'done: nothing is left',
    ],
  ])
  expect(asked).toEqual([{ type: 'kill', close: true, by: 'ann', via: 'control' }])
})

test('a word on an order or a finding goes through the daemon that runs on the same journal', async () => {
  const { journal } = config()
  const port = await daemon({ journal: { path: journal.path, records: 1, intents: 1 } })
  const flags = ['--by', 'ann', '--port', port]
  for (const argv of [
    ['findings', 'adopt', 'f1'],
    ['findings', 'ignore', 'f2'],
    ['orders', 'resolve', 'f00d', '--as', 'dead'],
  ])
    expect(await perpd(cwd, [...argv, ...flags])).toMatchObject({ code: 0, out: 'it is done' })
  expect(asked).toMatchObject([
    { type: 'finding', findingId: 'f1', as: 'adopted' },
    { type: 'finding', findingId: 'f2', as: 'ignored' },
    { type: 'resolve', intentId: 'f00d', as: 'dead' },
  ])
  expect(existsSync(journal.path)).toBe(false)
})

test('without a daemon, or beside one of another journal, the word goes into the journal itself', async () => {
  const { journal: settings } = config()
  const journal = openJournal(settings.path, { maxBytes: 1e8, clockNow: () => 1_000, holder: 'test' })
  await journal.appendAccount({
    v: RECORD_VERSION,
    atMs: 1_000,
    intentId: ACCOUNT_ID,
    kind: 'finding.raised',
    finding: {
      findingId: 'f1',
      kind: 'manual-increase',
      statement: 'somebody added $300.00',
      sizeDeltaUsd: 0n,
      marketToken: '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336',
      direction: 'long',
      collateralToken: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    },
  })
  journal.close()
  const port = await daemon({ journal: { path: '/elsewhere', records: 1, intents: 1 } })
  const settled = await perpd(cwd, ['findings', 'adopt', 'f1', '--by', 'ann', '--port', port])
  expect(settled).toMatchObject({ code: 0, out: 'adopted by ann: somebody added $300.00.' })
  expect(asked).toEqual([])
})

test('a program on the port that sends elsewhere is not followed, and gets no token', async () => {
  const visits: string[] = []
  const elsewhere = createServer((request, response) => {
    visits.push(request.url ?? '')
    response.end('{"ok":true}')
  }).listen(0, '127.0.0.1')
  await new Promise((done) => elsewhere.once('listening', done))
  const target = (elsewhere.address() as AddressInfo).port
  const turning = createServer((request, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${target}${request.url}` }).end()
  }).listen(0, '127.0.0.1')
  await new Promise((done) => turning.once('listening', done))
  const port = String((turning.address() as AddressInfo).port)
  expect((await perpd(cwd, ['kill', '--port', port])).code).toBe(3)
  expect(visits).toEqual([])
  for (const server of [turning, elsewhere]) await new Promise((done) => server.close(done))
})

test('markets are listed with their states, and one is trusted in somebody’s name alone', async () => {
  const port = await daemon({})
  const listed = await perpd(cwd, ['markets', '--port', port])
  expect(listed.code).toBe(0)
  expect(listed.out).toContain('shipped')
  expect(JSON.parse((await perpd(cwd, ['markets', '--json', '--port', port])).out)).toMatchObject([
    { state: 'shipped' },
  ])
  const nobody = await perpd(cwd, ['markets', 'trust', 'ETH/USD [WETH-USDC]', '--port', port])
  expect(nobody).toMatchObject({ code: 1, err: expect.stringContaining('--by YOUR_NAME') })
  expect(asked).toEqual([])
  const trusted = await perpd(cwd, ['markets', 'trust', 'ETH/USD [WETH-USDC]', '--by', 'ann', '--port', port])
  expect(trusted).toMatchObject({ code: 0, out: expect.stringContaining('it is done') })
  expect(asked).toEqual([{ type: 'market', market: 'ETH/USD [WETH-USDC]', by: 'ann', via: 'control' }])
})

test('what is not there is said: no daemon, no token, another token, a stranger on the port', async () => {
  const stranger = createServer((_request, response) => response.end('{"hello":1}')).listen(0, '127.0.0.1')
  await new Promise((done) => stranger.once('listening', done))
  const strange = String((stranger.address() as AddressInfo).port)
  const first = await perpd(cwd, ['kill', '--port', strange])
  expect([first.code, first.err.split('\n')[0]?.replaceAll(strange, 'PORT')]).toEqual([
    3,
    'Something answers at http://127.0.0.1:PORT, but it is no perpd.',
  ])
  await new Promise((done) => stranger.close(done))
  const none = await perpd(cwd, ['kill', '--close', '--port', strange])
  expect(none.code).toBe(3)
  expect(none.err).toContain('perpd run & perpd kill --close')
  expect(none.err).toContain('kill -USR2 PID')

  const port = await daemon({})
  rmSync(operatePath())
  const absent = await perpd(cwd, ['trading', 'halted', '--port', port])
  expect(absent.code).toBe(1)
  expect(absent.err).toContain('asks for a token, and there is none at CWD/var/paper/control.token')
  writeFileSync(operatePath(), `${'x'.repeat(43)}\n`, { mode: 0o600 })
  const other = await perpd(cwd, ['trading', 'halted', '--port', port])
  expect(other.err).toContain('does not know the token of CWD/var/paper/control.token')
  expect(asked).toEqual([])
})
