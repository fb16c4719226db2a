/** The kill switch and the breakers on real processes, over kills -9 of the daemon and stops of the venue. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  daemonFlags,
  killLeftOver,
  type PaperHosts,
  perpd,
  type Running,
  scratch,
  startPaper,
  until,
} from './processes.ts'

let folder: ReturnType<typeof scratch>
let port: number
beforeEach(async () => {
  folder = scratch()
  port = await freePort()
})
afterEach(async () => {
  await killLeftOver()
  folder.remove()
})

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = server.address() as AddressInfo
      server.close(() => resolve(free))
    })
  })
}

/** The part of `/api/status` that is looked at here. */
interface Status {
  readonly state: string
  readonly tradingState: string
  readonly holds: readonly { readonly scope: string; readonly cause: string; readonly state: string }[]
  readonly kill?: { readonly outcome?: string; readonly close: boolean }
  readonly positions: readonly unknown[]
  readonly openIntents: readonly { readonly status: string; readonly strategy: string }[]
}

function writeStrategy(): void {
  writeFileSync(
    join(folder.path, 'once.yaml'),
    [
      `kind: ${join(import.meta.dirname, 'strategies', 'rest.ts')}`,
      'market: ETH/USD [WETH-USDC]',
      'cadenceSeconds: 1',
      'size:',
      '  usd: 500',
      '  leverage: 2',
      '  collateral: short',
      '',
    ].join('\n'),
  )
}

function flags(hosts: PaperHosts): string[] {
  return daemonFlags(folder.path, hosts).map((flag) =>
    flag.startsWith('--control.port=') ? `--control.port=${port}` : flag,
  )
}

/** A command beside the daemon, to its end. */
async function command(hosts: PaperHosts, ...words: string[]): Promise<{ code: unknown; said: string }> {
  const running = perpd([...words, ...flags(hosts)])
  return { code: await running.ended, said: running.said() }
}

async function statusOf(): Promise<Status | undefined> {
  try {
    const token = readFileSync(join(folder.path, 'control.token.read'), 'utf8').trim()
    const answer = await fetch(`http://127.0.0.1:${port}/api/status`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return answer.ok ? ((await answer.json()) as Status) : undefined
  } catch {
    return undefined
  }
}

function when(what: string, daemon: Running, isTrue: (status: Status) => boolean): Promise<Status> {
  const look = async () => {
    const status = await statusOf()
    return status !== undefined && isTrue(status) ? status : undefined
  }
  return until(what, look, { seen: daemon.said })
}

const isRunning = ({ state }: Status): boolean => state === 'running'
const denials = (daemon: Running, code: string): number =>
  daemon.stdout().split(`"code":"${code}"`).length - 1

test('a halt outlives a kill -9, and a kill goes on over one until nothing rests and nothing is held', {
  timeout: 240_000,
}, async () => {
  writeStrategy()
  const { hosts } = await startPaper()
  const first = perpd(['run', ...flags(hosts)])
  await when(
    'a position is held and an order rests',
    first,
    ({ positions, openIntents }) =>
      positions.length === 1 && openIntents.some(({ status }) => status === 'resting'),
  )
  const halted = await command(hosts, 'trading', 'halted', '--by', 'ann', '--reason', 'rehearsal')
  expect(halted).toEqual({ code: 0, said: 'global is halted.\n' })
  first.child.kill('SIGKILL')
  await first.ended

  const second = perpd(['run', ...flags(hosts)])
  const held = await when('the second daemon runs', second, isRunning)
  expect(held.holds).toMatchObject([{ scope: 'global', cause: 'operator', state: 'halted' }])
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
  expect([ready.status, await ready.text()]).toEqual([
    503,
    expect.stringContaining('global is halted by operator, ann: rehearsal'),
  ])
  const listed = await command(hosts, 'trading')
  expect(listed.said).toContain('Trading is halted.')
  expect(await command(hosts, 'trading', 'active', '--by', 'ann')).toEqual({
    code: 0,
    said: 'global is active.\n',
  })
  const asked = perpd(['kill', '--close', '--by', 'bob', ...flags(hosts)])
  await when('the kill has begun', second, ({ kill }) => kill !== undefined)
  second.child.kill('SIGKILL')
  await second.ended
  // Whoever watched hears that nobody answers; the kill itself is in the journal.
  expect([0, 3]).toContain(await asked.ended)

  const third = perpd(['run', ...flags(hosts)])
  await when('the third daemon runs', third, isRunning)
  const done = await command(hosts, 'kill', '--close', '--by', 'bob')
  expect([done.code, done.said.trim().split('\n').at(-1)]).toEqual([0, 'done: nothing is left'])
  const after = await statusOf()
  expect(after).toMatchObject({ positions: [], openIntents: [], tradingState: 'halted' })
  expect(after?.kill).toMatchObject({ outcome: 'done', close: true })
  const account = String((after as unknown as { account: string }).account)
  const left = await fetch(`${hosts.api[0]}/orders?address=${account}`)
  expect([left.status, JSON.stringify(await left.json())]).not.toContain('orderKey')
  third.child.kill('SIGTERM')
  expect(await third.ended, third.said()).toBe(0)

  // Nothing of the strategy's own was made after the kill began, by any daemon.
  const file = join(folder.path, 'perpd.json')
  const configure = (maxOrderSizeUsd: number) =>
    writeFileSync(file, JSON.stringify({ risk: { maxOrderSizeUsd } }))
  configure(2_000)
  const fourth = perpd(['run', `--config=${file}`, ...flags(hosts)])
  await when('the fourth daemon runs', fourth, isRunning)
  await until('the strategy is denied', () => denials(fourth, 'TRADING_HALTED') > 0 || undefined, {
    seen: fourth.said,
  })
  expect((await statusOf())?.positions).toEqual([])
  configure(1_000)
  fourth.child.kill('SIGHUP')
  const tightened = 'SIGHUP: in force: maxOrderSizeUsd $2,000.00 -> $1,000.00'
  await until('the limit is tighter', () => fourth.said().includes(tightened) || undefined, {
    seen: fourth.said,
  })
  configure(1_500)
  fourth.child.kill('SIGHUP')
  const waits = 'looser, so only after a restart or with --confirm: maxOrderSizeUsd $1,000.00 -> $1,500.00'
  await until('the looser one waits', () => fourth.said().includes(waits) || undefined, {
    seen: fourth.said,
  })
  fourth.child.kill('SIGUSR2')
  await until('the signal is told', () => fourth.said().includes('SIGUSR2: global is halted') || undefined, {
    seen: fourth.said,
  })
  fourth.child.kill('SIGTERM')
  expect(await fourth.ended, fourth.said()).toBe(0)
})

test('orders that come to nothing hold their strategy back over a restart; a silent venue holds all back until it speaks', {
  timeout: 240_000,
}, async () => {
  writeStrategy()
  const paper = await startPaper()
  const strict = [
    ...flags(paper.hosts),
    '--signing.maxExecutionFee=0.00003',
    '--breakers.rejectsInRow=3',
    '--breakers.staleSeconds=3',
    '--api.timeoutMs=1000',
    '--api.attempts=1',
  ]
  const first = perpd(['run', ...strict])
  const opened = await when('the breaker of the strategy opens', first, ({ holds }) => holds.length > 0)
  expect(opened.holds).toMatchObject([{ scope: 'strategy:once', cause: 'rejects', state: 'reducing' }])
  first.child.kill('SIGKILL')
  await first.ended

  const second = perpd(['run', ...strict])
  const kept = await when('the second daemon runs', second, isRunning)
  expect(kept.holds).toMatchObject([{ scope: 'strategy:once', cause: 'rejects' }])
  await until('the strategy is denied', () => denials(second, 'TRADING_REDUCING') > 0 || undefined, {
    seen: second.said,
  })
  paper.child.kill('SIGSTOP')
  const stale = await when('the data are stale', second, ({ holds }) =>
    holds.some(({ cause }) => cause === 'stale-data'),
  )
  expect(stale.tradingState).toBe('reducing')
  const early = await command(paper.hosts, 'trading', 'active', '--by', 'ann')
  expect(early.said).toContain('it lifts itself when the cause ends')
  paper.child.kill('SIGCONT')
  await when('the hold lifts itself', second, ({ tradingState }) => tradingState === 'active')
  expect(await command(paper.hosts, 'trading', 'active', '--scope', 'once', '--by', 'ann')).toEqual({
    code: 0,
    said: 'strategy:once is active.\n',
  })
  second.child.kill('SIGTERM')
  expect(await second.ended, second.said()).toBe(0)
})
