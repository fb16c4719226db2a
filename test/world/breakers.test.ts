/**
 * Breakers on real processes: each opens, says why and since when, outlives a kill -9, does not lift by itself, lets exits
 * through, and is lifted as it says. `rejects` and `stale-data` are rehearsed in killSwitch.test.ts.
 */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { denials, operatedIn, type Status } from './operated.ts'
import { folderOfEachTest } from './ownFolder.ts'
import { perpd, type Running, startPaper, until } from './processes.ts'

const folder = folderOfEachTest()

function writeStrategy(path: string, market: string, holdSeconds: number): void {
  writeFileSync(
    join(path, 'once.yaml'),
    [
      `kind: ${join(import.meta.dirname, 'strategies', 'turn.ts')}`,
      `market: ${market}`,
      'cadenceSeconds: 1',
      'size: { usd: 500, leverage: 2, collateral: short }',
      `params: { holdSeconds: ${holdSeconds} }`,
      '',
    ].join('\n'),
  )
}

const causes = ({ halts }: Status) => halts.map(({ cause }) => cause).sort()
const isRunning = ({ state }: Status) => state === 'running'
const isHeldBy =
  (...wanted: string[]) =>
  (status: Status) =>
    causes(status).join() === wanted.join()

// Midnight (UTC) lifts one of the holds: for every process of this file it is noon.
const dayMs = 86_400_000
process.env.TEST_CLOCK_SHIFT_MS = String(dayMs / 2 - (Date.now() % dayMs))
afterAll(() => {
  delete process.env.TEST_CLOCK_SHIFT_MS
})

test('losses, an unknown fate and drift each hold trading back over a kill -9, until what lifts them does', {
  timeout: 240_000,
}, async () => {
  writeStrategy(folder.path, 'ETH/USD [WETH-USDC]', 12)
  const paper = await startPaper(['--paper.startBalances=USDC=2000', '--paper.startBalances=ETH=1'])
  const { hosts } = paper
  const own = await operatedIn(folder.path)
  const control = async (path: string, change: object) => {
    const answer = await fetch(`${paper.control}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(change),
    })
    expect(answer.status).toBe(200)
  }
  const start = () =>
    perpd([
      'run',
      ...own.flags(hosts),
      '--risk.maxDailyLossUsd=200',
      '--breakers.maxDrawdownBps=500',
      '--breakers.unknownSeconds=3',
      '--breakers.openDiscrepancies=1',
    ])
  /** The next daemon after a kill -9, with the holds of the one before, each as old as it was. */
  async function overKill(daemon: Running, before: Status): Promise<Running> {
    daemon.child.kill('SIGKILL')
    await daemon.ended
    const next = start()
    const after = await own.when('the next daemon runs', next, isRunning)
    expect(after.halts.map(({ scope, cause, sinceMs }) => [scope, cause, sinceMs])).toEqual(
      before.halts.map(({ scope, cause, sinceMs }) => [scope, cause, sinceMs]),
    )
    return next
  }

  const first = start()
  const { account } = await own.when(
    'a position is held',
    first,
    ({ positions, equity }) => positions.length === 1 && equity !== undefined,
  )
  first.child.kill('SIGKILL')
  await first.ended
  // Nobody watches while most of the money goes.
  await control('accounts', { address: account, balances: { USDC: '500' } })
  const second = start()
  const lost = await own.when('the loss is seen', second, isHeldBy('daily-loss', 'drawdown'))
  expect(lost.halts.map(({ reason }) => reason).sort()).toEqual([
    expect.stringMatching(/^the account lost \$[\d,.]+ since 00:00 UTC; the limit is \$200\.00$/),
    expect.stringMatching(
      /^the equity of \$[\d,.]+ is \$[\d,.]+ below its peak of \$[\d,.]+; the limit is \$[\d,.]+$/,
    ),
  ])
  expect(lost.halts.map(({ releasedBy }) => releasedBy).sort()).toEqual(['next-day', 'operator'])
  const third = await overKill(second, lost)
  await until('increases are denied', () => denials(third, 'TRADING_REDUCING') > 0 || undefined, {
    seen: third.said,
  })
  // The exit goes through all the same, and nothing lifts itself.
  const closed = await own.when('the position is closed', third, ({ positions }) => positions.length === 0)
  expect(causes(closed)).toEqual(['daily-loss', 'drawdown'])

  // What the operator lets go on next is sent, and nobody tells whether it arrived.
  await control('faults', { submit: '500-before-work', times: 1 })
  const lifted = await own.command(hosts, 'trading', 'active', '--by', 'ann')
  expect(lifted).toEqual({ code: 0, said: 'trading is active everywhere (scope global).\n' })
  const unknown = await own.when('an unknown is too old', third, isHeldBy('unknowns'))
  expect(unknown.halts[0]).toMatchObject({ scope: 'account', state: 'reducing', releasedBy: 'itself' })
  expect(unknown.halts[0]?.reason).toMatch(
    /^the fate of an order has been unknown for \d+ s; the limit is 3 s$/,
  )
  const early = await own.command(hosts, 'trading', 'active', '--by', 'ann')
  expect(early.said).toContain('still reducing on the account (scope account) by unknowns')
  // A daemon of another place, with the same key, does what this journal knows nothing of.
  const elsewhere = join(folder.path, 'elsewhere')
  mkdirSync(elsewhere)
  copyFileSync(join(folder.path, 'key'), join(elsewhere, 'key'))
  writeStrategy(elsewhere, 'BTC/USD [BTC-USDC]', 600)
  const other = await operatedIn(elsewhere)
  const stranger = perpd(['run', ...other.flags(hosts)])
  await other.when('the stranger holds a position', stranger, ({ positions }) => positions.length === 1)
  stranger.child.kill('SIGKILL')
  await stranger.ended
  const both = await own.when('the drift is seen too', third, isHeldBy('unexplained', 'unknowns'))
  const fourth = await overKill(third, both)
  const [open] = both.openIntents
  const resolved = await own.command(
    hosts,
    'orders',
    'resolve',
    open?.intentId ?? '',
    '--as',
    'dead',
    '--by',
    'ann',
  )
  expect(resolved).toMatchObject({ code: 0, said: expect.stringContaining('is closed as dead, by ann') })
  const drift = await own.when('the known fate lifts its hold', fourth, isHeldBy('unexplained'))
  expect(drift.halts[0]).toMatchObject({ scope: 'account', releasedBy: 'itself' })
  expect(drift.halts[0]?.reason).toMatch(/^the account has \d+ open discrepancies/)
  const found = JSON.parse((await own.command(hosts, 'discrepancies', '--json')).said) as {
    readonly discrepancy: { readonly discrepancyId: string }
  }[]
  for (const { discrepancy } of found) {
    await own.command(hosts, 'discrepancies', 'adopt', discrepancy.discrepancyId, '--by', 'ann')
  }
  await own.when('what is explained lifts its hold', fourth, ({ halts }) =>
    halts.every(({ cause }) => cause !== 'unexplained'),
  )
  fourth.child.kill('SIGTERM')
  expect(await fourth.ended, fourth.said()).toBe(0)
})
