/** Commands that talk to the running daemon: their tokens, and what they say when it is there, elsewhere, or not at all. */

import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { commandAnswer } from '../../src/cli/call/daemonClient.ts'
import { killQuestion } from '../../src/cli/output/killQuestion.ts'
import { killText } from '../../src/cli/output/killText.ts'
import { exitCodes } from '../../src/config/exit.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { type ControlServer, createControlServer } from '../../src/control/server.ts'
import { addressFileOf, writeAddress } from '../../src/daemon/controlAddress.ts'
import { openTokens } from '../../src/daemon/ownFiles/controlTokens.ts'
import { ACCOUNT_ID } from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { orderRow, toPlain } from '../../src/domain/summaries/orderView.ts'
import { openJournal } from '../../src/journal/service/open.ts'
import type { Verdict } from '../../src/monitor/health.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import type { EngineStatus } from '../../src/operator/port/engineStatus.ts'
import { usd } from '../../src/protocol/units.ts'
import type { KillPreview } from '../../src/running/killPlan.ts'
import { access, engine, status } from '../control/door.ts'
import { perpd } from './run.ts'

let cwd: string
let server: ControlServer | undefined
let asked: unknown[]
let leave: (() => void) | undefined
let verdict: Verdict
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-control-'))
  asked = []
  verdict = { ok: true, reasons: [] }
})
afterEach(async () => {
  await server?.close()
  server = undefined
  rmSync(cwd, { recursive: true })
})

const config = () => loadConfig({ argv: [], env: {}, cwd }).config
const operatePath = () => join(cwd, 'var', 'paper', 'control.token')

/** What a kill of that daemon would find. */
const killing: KillPreview = {
  positions: [],
  orders: [
    {
      ...{ symbol: 'ETH/USD', direction: 'long', name: 'stop-loss', stays: true },
      ...{ triggerPrice: usd(1_900), sizeUsd: usd(500) },
    },
  ],
  unlisted: [],
  inFlight: 0,
  unread: [],
}

/** A daemon with the tokens of this folder, whose status is what `states` gives one after the other. */
async function daemon(...states: readonly Partial<EngineStatus>[]): Promise<string> {
  let looks = 0
  const metrics = createMetrics({
    version: '0.1.0',
    profile: 'paper',
    chain: 'arbitrum',
  })
  server = await createControlServer({
    host: '127.0.0.1',
    port: 0,
    metrics,
    health: { live: () => verdict, ready: () => ({ ok: true, reasons: [] }) },
    ...access,
    tokens: openTokens(config()),
    engine: {
      ...engine,
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
            : {
                ok: true,
                statement: 'it is done',
                ...(command.type === 'kill' && command.isPreview ? { killing } : {}),
              },
        )
      },
    },
  })
  leave = writeAddress(config(), server.localUrl)
  return String(server.port)
}

/** A program that answers in a daemon's place, and what it was sent. */
async function stranger(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly port: number; readonly heard: string[]; readonly close: () => Promise<unknown> }> {
  const heard: string[] = []
  const listener = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      heard.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)} ${body}`)
      answer(request, response)
    })
  }).listen(0, '127.0.0.1')
  await new Promise((done) => listener.once('listening', done))
  return {
    port: (listener.address() as AddressInfo).port,
    heard,
    close: () => new Promise((done) => listener.close(done)),
  }
}

test('a probe asks the daemon where it serves, and ends with 0, 1 or 3: alive, not alive, not there', async () => {
  expect((await perpd(cwd, ['status', '--alive'])).code).toBe(exitCodes.notRunning)
  // At a port that no setting names: it is found by what the daemon wrote.
  await daemon({})
  expect(await perpd(cwd, ['status', '--alive'])).toMatchObject({ code: 0, out: 'alive' })
  verdict = { ok: false, reasons: ['it is stuck'] }
  expect(await perpd(cwd, ['status', '--alive'])).toMatchObject({
    code: exitCodes.error,
    out: 'not alive: it is stuck',
  })
})

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
    halts: [
      {
        scope: 'account',
        cause: 'daily-loss',
        state: 'reducing',
        reason: 'the account lost $120.00 since 00:00 UTC',
        by: 'perpd',
        sinceMs: status.nowMs - 60_000,
        releasedBy: 'next-day',
      },
    ],
  })
  const flags = ['--port', port]
  expect(await perpd(cwd, ['trading', 'halted', '--by', 'ann', '--reason', 'news', ...flags])).toEqual({
    code: 0,
    out: 'it is done.',
    err: '',
  })
  expect((await perpd(cwd, ['limits', 'apply', '--confirm', '--by', 'ann', ...flags])).code).toBe(0)
  expect((await perpd(cwd, ['limits', ...flags])).code).toBe(0)
  expect((await perpd(cwd, ['log', 'level', 'host', 'debug', '--by', 'ann', ...flags])).code).toBe(0)
  expect((await perpd(cwd, ['log', 'level', 'warn', '--by', 'ann', ...flags])).code).toBe(0)
  expect((await perpd(cwd, ['log', 'level', 'hots', 'debug', ...flags])).err).toContain(
    'hots is not a component of the log',
  )
  expect((await perpd(cwd, ['log', 'level', 'loud', ...flags])).err).toContain('loud is not a level')
  const shown = await perpd(cwd, ['log', 'level', ...flags])
  expect([shown.code, shown.err]).toEqual([0, ''])
  expect(shown.out.split('\n').filter((line) => /^(?:COMPONENT|host|order|all others)/.test(line))).toEqual([
    'COMPONENT   LEVEL',
    'host        debug  own',
    'order       info',
    'all others  info',
  ])
  expect(JSON.parse((await perpd(cwd, ['log', 'level', '--json', ...flags])).out)).toMatchObject({
    level: 'info',
    components: expect.arrayContaining([{ component: 'host', level: 'debug', isOwn: true }]),
  })
  // Who types it as it once was is told, and changes nothing.
  const habit = await perpd(cwd, ['limits', '--confirm', ...flags])
  expect([habit.code, habit.err]).toEqual([
    4,
    expect.stringContaining(`Nothing was done; did you mean: perpd limits apply --confirm --port ${port}`),
  ])
  expect(asked).toEqual([
    { type: 'trading', scope: 'global', state: 'halted', reason: 'news', by: 'ann', via: 'control' },
    { type: 'limits', isConfirmed: true, by: 'ann', via: 'control' },
    { type: 'limits', isConfirmed: false, isPreview: true, by: expect.any(String), via: 'control' },
    { type: 'log', component: 'host', level: 'debug', by: 'ann', via: 'control' },
    { type: 'log', level: 'warn', by: 'ann', via: 'control' },
  ])
  expect((await perpd(cwd, ['trading', ...flags])).out).toMatchInlineSnapshot(`
    "Trading is reducing.

      SCOPE    STATE     CAUSE       FOR        BY     REASON
      account  reducing  daily-loss  1 min 0 s  perpd  the account lost $120.00 since 00:00 UTC; perpd releases it on the next day (UTC), or an operator earlier: perpd trading active"
  `)
  const nobody = await perpd(cwd, ['trading', 'halted', '--scope', 'nobody', '--by', 'ann', ...flags])
  expect(nobody).toEqual({
    code: 2,
    out: '',
    err: 'perpd refuses: there is no strategy nobody (STRATEGY_UNKNOWN)',
  })
  const odd = await perpd(cwd, ['trading', 'off', ...flags])
  expect([odd.code, odd.err]).toEqual([1, 'off is not a trading state; expected active, reducing, halted.'])
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
      expect.stringMatching(
        /^cancelling and closing: 2 orders rest at the venue, 1 position is held, 1 order in flight; order f00d\w* \(increase long ETH\/USD \[WETH-USDC\]\) is pending: it waits for \S+ and the chain to show it$/,
      ),
      'done: nothing is left',
    ],
  ])
  expect(asked).toEqual([{ type: 'kill', close: true, exits: false, by: 'ann', via: 'control' }])
})

test('what a kill would do is asked over the control port, which begins none, and comes with its amounts', async () => {
  const port = await daemon({})
  const { loaded } = { loaded: loadConfig({ argv: ['--control.port', port], env: {}, cwd }) }
  const answer = await commandAnswer(loaded, '/api/kill', { preview: true, by: 'ann' })
  expect(answer.killing).toEqual(toPlain(killing))
  expect(asked).toEqual([{ type: 'kill', close: false, isPreview: true, by: 'ann', via: 'control' }])
})

test('a kill that closes nothing says what stays, and what protects it', async () => {
  const left = { symbol: 'ETH/USD [WETH-USDC]', direction: 'long' as const, sizeUsd: usd(500) }
  const stop = { name: 'stop-loss', triggerPrice: usd(1_900), sizeUsd: usd(500) }
  const kill = { by: 'ann', close: false, sinceMs: 1, endedAtMs: 2, outcome: 'done' as const }
  const text = (stays: unknown) => killText(toPlain({ ...kill, stays }) as never)
  const unproven = { ...kill, outcome: 'unproven', statement: 'the end of 1 order is not proven' }
  expect(killText(unproven as never)).toContain('over without proof: the end of 1 order is not proven')
  expect(text([{ ...left, exits: [stop], uncoveredUsd: 0n }])).toBe(
    'done: every order that adds risk is cancelled; open: long ETH/USD [WETH-USDC] $500.00 (stop-loss at $1,900.00) (perpd kill --close closes)',
  )
  expect(text([{ ...left, exits: [], uncoveredUsd: usd(500) }])).toContain('$500.00 (no stop-loss)')
  expect(text([{ ...left, exits: [stop], uncoveredUsd: usd(100) }])).toContain(
    'stop-loss at $1,900.00, no stop-loss for $100.00 of it',
  )
  expect(text([])).toBe('done: every order that adds risk is cancelled; no position is open')
})

test('the question before a kill shows what is held and at rest, what is cancelled and what stays; not knowing it keeps nobody from a kill', () => {
  const left = { symbol: 'ETH/USD', direction: 'long', sizeUsd: `${usd(500)}`, pnlUsd: `${usd(-3)}` } as const
  const order = { symbol: 'ETH/USD', direction: 'long', sizeUsd: `${usd(500)}` } as const
  const stop = { ...order, name: 'stop-loss', triggerPrice: `${usd(1_900)}` }
  const seen = {
    positions: [{ ...left, exits: [stop], uncoveredUsd: '0' }],
    orders: [
      { ...order, name: 'limit increase', triggerPrice: `${usd(1_950)}`, stays: false },
      { ...stop, stays: true },
    ],
    unlisted: [],
    inFlight: 1,
    unread: [],
  } as const
  const hidden = {
    ...stop,
    stays: true,
    why: 'it rests according to the journal, but no list shows it',
  } as const
  const held = {
    ...hidden,
    name: null,
    triggerPrice: null,
    stays: false,
    why: 'the journal holds it',
  } as const
  const unlisted = killQuestion({ ...seen, unlisted: [hidden, held] }, { close: true, exits: false }, 200)
  expect(unlisted).toMatch(
    /stop-loss long ETH\/USD .*\$1,900.00 +stays until its position is closed; it rests according to the journal/,
  )
  expect(unlisted).toMatch(/long ETH\/USD +\$500.00 +closes it at the market; the journal holds it/)
  expect(killQuestion(seen, { close: false, exits: false }, 100)).toMatchInlineSnapshot(`
    "HELD OR AT REST                 SIZE     PNL    TRIGGER  WHAT A KILL DOES
    long ETH/USD                 $500.00  -$3.00             stays: stop-loss at $1,900.00
    limit increase long ETH/USD  $500.00          $1,950.00  cancelled
    stop-loss long ETH/USD       $500.00          $1,900.00  stays

    1 more order in flight: the kill waits for the outcome of each.
    Trading is halted until you resume it (perpd trading active), and every task ends. Positions stay,
    with their stop-losses and take-profits (--exits cancels them too, --close closes the positions)."
  `)
  const closing = killQuestion(seen, { close: true, exits: false }, 100)
  expect(closing).toContain('closes it at the market')
  expect(closing).toContain('stays until its position is closed')
  expect(killQuestion('no host answers', { close: false, exits: true }, 100)).toMatch(
    /^Positions and resting orders cannot be read now \(no host answers\)[\s\S]*without stop-losses/,
  )
})

test('a kill names the order that it waits for, its state, and what that waits for', () => {
  const [row] = toPlain(status.openIntents.map(orderRow))
  if (row === undefined) throw new Error('no order')
  const kill = {
    ...{ by: 'ann', close: false, sinceMs: 0 },
    left: { orders: 0, positions: 0, inFlight: 1 },
  } as const
  const text = (changes: Partial<typeof row>) => killText(kill, [{ ...row, ...changes }])
  expect(text({ status: 'unknown' })).toMatch(
    /^cancelling: 1 order in flight; order f00d\w* \(.*\) is unknown: it was sent; the kill is done once \S+ and the chain prove its outcome. It can land until its deadline, \d\d:\d\d:\d\d UTC; .*: perpd orders resolve f00d\w*$/,
  )
  expect(text({ status: 'unknown', presumedDeadForSeconds: 90 })).toMatch(
    /is unknown: 1 min 30 s past its deadline, outcome not proven: perpd orders resolve f00d\w*$/,
  )
  expect(text({ status: 'resting' })).toBe('cancelling: 1 order in flight')
})

test('a word on an order or a discrepancy goes through the daemon that runs on the same journal', async () => {
  const { journal } = config()
  const port = await daemon({ journal: { path: journal.path, records: 1, intents: 1 } })
  const flags = ['--by', 'ann', '--port', port]
  for (const argv of [
    ['discrepancies', 'adopt', 'f1'],
    ['discrepancies', 'ignore', 'f2'],
    ['orders', 'resolve', 'f00d', '--as', 'dead'],
  ])
    expect(await perpd(cwd, [...argv, ...flags])).toMatchObject({ code: 0, out: 'it is done' })
  expect(asked).toMatchObject([
    { type: 'discrepancy', discrepancyId: 'f1', as: 'adopted' },
    { type: 'discrepancy', discrepancyId: 'f2', as: 'ignored' },
    { type: 'resolve', intentId: 'f00d', as: 'dead' },
  ])
  expect(existsSync(journal.path)).toBe(false)
})

test('without a daemon, or beside one of another journal, the word goes into the journal itself', async () => {
  const { journal: settings } = config()
  const journal = await openJournal(settings.path, { maxBytes: 1e8, clockNow: () => 1_000, holder: 'test' })
  await journal.appendAccount({
    v: RECORD_VERSION,
    atMs: 1_000,
    intentId: ACCOUNT_ID,
    kind: 'discrepancy.raised',
    discrepancy: {
      discrepancyId: 'f1',
      kind: 'manual-increase',
      statement: 'somebody added $300.00',
      sizeDeltaUsd: 0n,
      marketToken: '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336',
      direction: 'long',
      collateralToken: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    },
  })
  await journal.close()
  const port = await daemon({ journal: { path: '/elsewhere', records: 1, intents: 1 } })
  const settled = await perpd(cwd, ['discrepancies', 'adopt', 'f1', '--by', 'ann', '--port', port])
  expect(settled).toMatchObject({ code: 0, out: 'adopted by ann: somebody added $300.00.' })
  expect(asked).toEqual([])
})

/** What a listener could do with what it was sent: nothing, when neither token is in it. */
function expectNoToken(heard: readonly string[]): void {
  const { read, operate } = openTokens(config())
  for (const token of [read.reveal(), operate.reveal()]) expect(heard.join('\n')).not.toContain(token)
}

test('a listener in the daemon’s place gets no token, is not followed, and nothing that it says is believed', async () => {
  openTokens(config())
  const done = JSON.stringify({
    ok: true,
    statement: 'done',
    challenge: `1.${'0'.repeat(32)}.${'0'.repeat(64)}`,
  })
  const liars = [
    await stranger((_request, response) => void response.end(done)),
    await stranger((_request, response) => {
      response.writeHead(200, { 'x-perpd-proof': '0'.repeat(64) }).end(done)
    }),
    await stranger((_request, response) => void response.writeHead(401).end('{"error":"UNAUTHORIZED"}')),
    await stranger((request, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${liars[0]?.port}${request.url}` }).end()
    }),
  ]
  for (const { port, heard, close } of liars) {
    // Even when it could write the daemon's own file.
    const back = writeAddress(config(), `http://127.0.0.1:${port}`)
    for (const argv of [['kill'], ['trading', 'active'], ['limits', 'apply'], ['status']]) {
      const { code, out } = await perpd(cwd, argv)
      expect([argv, code, out]).toEqual([argv, 3, ''])
    }
    // One question each, and never the command.
    expect(heard).toHaveLength(4)
    for (const each of heard) expect(each).toMatch(/^GET \/api\/challenge /)
    expectNoToken(heard)
    back()
    await close()
  }
})

test('a limit that cannot be used shuts no way out of a running daemon; what may hide which daemon is meant does', async () => {
  const port = await daemon({})
  const asks = async (settings: object) => {
    writeFileSync(join(cwd, 'perpd.json'), JSON.stringify(settings))
    return await perpd(cwd, ['trading', 'halted', '--by', 'ann', '--port', port])
  }
  const wrong = { risk: { maxOrderSizeUsd: 'lots' } }
  const halted = await asks(wrong)
  expect(halted.code, halted.err).toBe(0)
  expect(halted.err).toContain('using the running daemon')
  expect(halted.err).toContain('risk.maxOrderSizeUsd is "lots"')
  expect(asked).toHaveLength(1)
  // What only looks goes on too: limits by the daemon, orders by the journal.
  const limits = await perpd(cwd, ['limits', '--port', port])
  expect([limits.code, limits.err]).toEqual([0, expect.stringContaining('using the running daemon')])
  asked.pop()
  const orders = await perpd(cwd, ['orders'])
  expect([orders.code, orders.err]).toEqual([
    exitCodes.notFound,
    expect.stringMatching(/reading the journal anyway:[\s\S]*There is no journal/),
  ])
  for (const hidden of [
    { ...wrong, control: { port: 'x' } },
    { ...wrong, contrl: {} },
  ]) {
    expect((await asks(hidden)).code).toBe(4)
  }
  writeFileSync(join(cwd, 'perpd.json'), '{')
  expect((await perpd(cwd, ['kill', '--port', port])).code).toBe(4)
  expect(asked).toHaveLength(1)
})

test('a settings file that names another port leads no command there', async () => {
  const mallory = await stranger((_request, response) => void response.end('{"ok":true,"statement":"done"}'))
  writeFileSync(join(cwd, 'perpd.json'), JSON.stringify({ control: { port: mallory.port } }))
  openTokens(config())
  expect(await perpd(cwd, ['kill'])).toMatchObject({ code: 3, out: '' })
  await daemon({})
  expect(await perpd(cwd, ['trading', 'halted', '--by', 'ann'])).toMatchObject({
    code: 0,
    out: 'it is done.',
  })
  // The daemon was to have that port, and somebody else has it: whoever names it means the daemon.
  const wanted = ['trading', 'halted', '--by', 'ann', '--port', String(mallory.port)]
  expect(await perpd(cwd, wanted)).toMatchObject({ code: 0, out: 'it is done.' })
  const other = await perpd(cwd, ['kill', '--port', '1'])
  expect([other.code, other.err]).toEqual([3, expect.stringContaining('not the port 1')])
  expect([mallory.heard, asked.length]).toEqual([[], 2])
  await mallory.close()
})

test('a listener that hands everything on to the daemon and back can neither change nor repeat it', async () => {
  const port = await daemon({})
  const kept: { method: string; path: string; headers: Record<string, string>; body: string }[] = []
  const relay = (change: (body: string) => string, changeAnswer = change) =>
    stranger(async (request, response) => {
      const body = middle.heard.at(-1)?.replace(/^[^{]*\{.*?\} /, '') ?? ''
      const { authorization = '' } = request.headers
      const headers = { authorization, ...(body === '' ? {} : { 'content-type': 'application/json' }) }
      const sent = { method: request.method ?? '', path: request.url ?? '', headers, body }
      kept.push(sent)
      const answer = await fetch(`http://127.0.0.1:${port}${sent.path}`, {
        method: sent.method,
        headers,
        ...(body === '' ? {} : { body: change(body) }),
      })
      const proof = answer.headers.get('x-perpd-proof')
      response
        .writeHead(answer.status, proof === null ? {} : { 'x-perpd-proof': proof })
        .end(changeAnswer(await answer.text()))
    })
  const command = ['trading', 'halted', '--by', 'ann']
  let middle = await relay((text) => text)
  writeAddress(config(), `http://127.0.0.1:${middle.port}`)
  expect(await perpd(cwd, command)).toMatchObject({ code: 0, out: 'it is done.' })
  expectNoToken(middle.heard)
  expect(asked).toHaveLength(1)
  // What it kept is good once.
  for (const { method, path, headers, body } of kept.filter((each) => each.method === 'POST')) {
    const again = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body })
    expect(again.status).toBe(401)
    await again.arrayBuffer()
  }
  await middle.close()
  for (const [change, changeAnswer] of [
    [(text: string) => text.replace('halted', 'active'), (text: string) => text],
    [(text: string) => text, (text: string) => text.replace('it is done', 'it was done')],
  ] as const) {
    const before = asked.length
    middle = await relay(change, changeAnswer)
    writeAddress(config(), `http://127.0.0.1:${middle.port}`)
    const { code, out } = await perpd(cwd, command)
    expect([code === 0, out]).toEqual([false, ''])
    expect(asked.slice(before).every((each) => (each as { state?: string }).state === 'halted')).toBe(true)
    await middle.close()
  }
})

test('markets are listed with their states, and one is trusted in somebody’s name alone', async () => {
  const port = await daemon({})
  const listed = await perpd(cwd, ['markets', '--port', port])
  expect(listed.code).toBe(0)
  expect(listed.out).toContain('shipped')
  expect(JSON.parse((await perpd(cwd, ['markets', '--json', '--port', port])).out)).toMatchObject([
    { state: 'shipped' },
  ])
  const found = await perpd(cwd, ['markets', 'weth', '--json', '--port', port])
  expect(JSON.parse(found.out)).toHaveLength(1)
  expect(await perpd(cwd, ['markets', 'zzz', '--port', port])).toMatchObject({ code: exitCodes.notFound })
  const byVolume = await perpd(cwd, ['markets', '--sort', 'volume', '--port', port])
  expect(byVolume.code).toBe(exitCodes.error)
  expect(byVolume.err).toContain('perpd reads no volume of markets')
  const nobody = await perpd(cwd, ['markets', 'trust', 'ETH/USD [WETH-USDC]', '--port', port])
  expect(nobody).toMatchObject({ code: 4, err: expect.stringContaining('--by YOUR_NAME') })
  expect(asked).toEqual([])
  const trusted = await perpd(cwd, ['markets', 'trust', 'ETH/USD [WETH-USDC]', '--by', 'ann', '--port', port])
  expect(trusted).toMatchObject({ code: 0, out: expect.stringContaining('it is done') })
  expect(asked).toEqual([{ type: 'market', market: 'ETH/USD [WETH-USDC]', by: 'ann', via: 'control' }])
})

test('what is not there is said: no daemon, no token, another token, no address of this machine', async () => {
  const none = await perpd(cwd, ['kill', '--close'])
  expect(none.code).toBe(3)
  expect(none.err).toContain('No perpd is running here')
  expect(none.err).toContain('perpd run & perpd kill --close')
  expect(none.err).toContain('kill -USR2 PID')

  const port = await daemon({})
  const good = readFileSync(operatePath(), 'utf8')
  rmSync(operatePath())
  const absent = await perpd(cwd, ['trading', 'halted', '--port', port])
  expect(absent.code).toBe(1)
  expect(absent.err).toContain('requires a token, and there is none at CWD/var/paper/control.token')
  writeFileSync(operatePath(), `${'x'.repeat(43)}\n`, { mode: 0o600 })
  const other = await perpd(cwd, ['trading', 'halted'])
  expect(other.err).toContain('does not know the token of CWD/var/paper/control.token')
  writeFileSync(operatePath(), good)
  for (const address of [
    'http://203.0.113.7:9464',
    `http://localhost:${port}`,
    `https://127.0.0.1:${port}`,
    `http://user@127.0.0.1:${port}`,
    'x',
  ]) {
    writeFileSync(`${operatePath()}.address`, JSON.stringify({ address }))
    const { code, err } = await perpd(cwd, ['kill'])
    expect([address, code]).toEqual([address, 4])
    expect(err).toContain('has no address of this machine')
  }
  chmodSync(`${operatePath()}.address`, 0o644)
  expect((await perpd(cwd, ['kill'])).err).toContain('open to others')
  expect(asked).toEqual([])
})

test('where the daemon serves is taken back at its end, and only its own word', async () => {
  await daemon({})
  const path = `${operatePath()}.address`
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const mine = leave
  const other = writeAddress(config(), 'http://127.0.0.1:1')
  mine?.()
  expect(readFileSync(path, 'utf8')).toContain('127.0.0.1:1"')
  other()
  expect(existsSync(path)).toBe(false)
})

/** A way to the daemon that closes the connection under the request after the challenge, as often as `cuts` says. */
async function cuttingWay(port: string, cuts: number, onCut: () => void = () => {}) {
  const requests: string[] = []
  let left = cuts
  const open = new Set<Socket>()
  const way = createTcpServer((client) => {
    const onward = connect(Number(port), '127.0.0.1')
    open.add(client).add(onward)
    client.on('data', (bytes) => {
      const [line = ''] = bytes.toString('latin1').split('\r\n')
      if (/ HTTP\/1\.1$/.test(line)) {
        requests.push(line.replace(/^(\S+) ([^ ?]+).*$/, '$1 $2'))
        if (!line.includes('/api/challenge') && left > 0) {
          left -= 1
          onCut()
          client.resetAndDestroy()
          onward.destroy()
          return
        }
      }
      onward.write(bytes)
    })
    onward.on('data', (bytes) => void client.write(bytes))
    for (const [one, other] of [
      [client, onward],
      [onward, client],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  await new Promise((done) => way.once('listening', done))
  leave?.()
  writeAddress(config(), `http://127.0.0.1:${(way.address() as AddressInfo).port}`)
  const close = () => {
    for (const socket of open) socket.destroy()
    return new Promise((done) => way.close(done))
  }
  return { requests, close }
}

test('a read whose kept connection is closed is asked once more, and only once', async () => {
  const port = await daemon({})
  const once = await cuttingWay(port, 1)
  expect(await perpd(cwd, ['trading'])).toMatchObject({ code: 0, err: '' })
  const read = ['GET /api/challenge', 'GET /api/status']
  expect(once.requests).toEqual([...read, ...read])
  await once.close()
  const always = await cuttingWay(port, 9)
  const { code, out, err } = await perpd(cwd, ['trading'])
  expect([code === 0, out]).toEqual([false, ''])
  expect(err).toMatch(/does not answer at|No perpd answers at/)
  expect(always.requests).toEqual([...read, ...read])
  await always.close()
})

test('a daemon that is killed while it is asked is told as one that does not run, though its process is there for a moment longer', async () => {
  const port = await daemon({})
  const killed = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60_000)'], { stdio: 'ignore' })
  const way = await cuttingWay(port, 9, () => setTimeout(() => killed.kill('SIGKILL'), 200))
  const file = addressFileOf(config())
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), pid: killed.pid }))
  const { code, err } = await perpd(cwd, ['trading', 'halted', '--by', 'ann'])
  expect([code, err]).toEqual([exitCodes.notRunning, expect.stringContaining('No perpd answers at')])
  await way.close()
})

test('a command whose connection is closed is never sent again: the daemon may have done it', async () => {
  const port = await daemon({})
  const way = await cuttingWay(port, 1)
  const { code, out } = await perpd(cwd, ['trading', 'halted', '--by', 'ann'])
  expect([code === 0, out]).toEqual([false, ''])
  expect(way.requests).toEqual(['GET /api/challenge', 'POST /api/trading'])
  expect(asked).toEqual([])
  await way.close()
})
