/** The kill switch and the breakers on real processes, over kills -9 of the daemon and stops of the venue. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { denials, operatedIn, type Status } from './operated.ts'
import { killLeftOver, perpd, type Running, scratch, startPaper, until } from './processes.ts'

const folders: { readonly remove: () => void }[] = []
afterAll(async () => {
  await killLeftOver()
  for (const { remove } of folders) remove()
})

/** The place of one test: most of each is waiting, so they run beside each other. */
async function placeOf() {
  const folder = scratch()
  folders.push(folder)
  const own = await operatedIn(folder.path)
  const writeStrategy = (limits = ''): void =>
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
        limits,
        '',
      ].join('\n'),
    )
  return { ...own, writeStrategy }
}

const isRunning = ({ state }: Status): boolean => state === 'running'
/** Waits until a daemon said something. */
const heard = (daemon: Running, text: string) =>
  until(text, () => daemon.said().includes(text) || undefined, { seen: daemon.said })

test.concurrent('a halt outlives a kill -9, and a kill goes on over one until nothing rests and nothing is held', {
  timeout: 240_000,
}, async ({ expect }) => {
  const { writeStrategy, flags, command, when, status: statusOf, folder, port } = await placeOf()
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
  expect(halted).toEqual({
    code: 0,
    said: expect.stringMatching(
      /^trading is halted everywhere \(scope global\), since [\d -]+\s[\d:]+\s+UTC by ann:\s+rehearsal;\s/,
    ),
  })
  first.child.kill('SIGKILL')
  await first.ended

  const second = perpd(['run', ...flags(hosts)])
  const held = await when('the second daemon runs', second, isRunning)
  expect(held.halts).toMatchObject([{ scope: 'global', cause: 'operator', state: 'halted' }])
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
  expect([ready.status, await ready.text()]).toEqual([
    503,
    expect.stringContaining('trading is halted by operator, ann: rehearsal'),
  ])
  const listed = await command(hosts, 'trading')
  expect(listed.said).toContain('Trading is halted.')
  expect(await command(hosts, 'trading', 'active', '--by', 'ann')).toEqual({
    code: 0,
    said: 'trading is active everywhere (scope global).\n',
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
  const account = String(after?.account)
  const left = await fetch(`${hosts.api[0]}/orders?address=${account}`)
  expect([left.status, JSON.stringify(await left.json())]).not.toContain('orderKey')
  third.child.kill('SIGTERM')
  expect(await third.ended, third.said()).toBe(0)

  // Nothing of the strategy's own was made after the kill began, by any daemon.
  const file = join(folder, 'perpd.json')
  const configure = (maxOrderSizeUsd: number, breakers: object) =>
    writeFileSync(file, JSON.stringify({ risk: { maxOrderSizeUsd }, breakers }))
  configure(2_000, {})
  writeStrategy('limits: { maxOrdersPerHour: 50 }')
  const fourth = perpd(['run', `--config=${file}`, ...flags(hosts)])
  await when('the fourth daemon runs', fourth, isRunning)
  await until('the strategy is denied', () => denials(fourth, 'TRADING_HALTED') > 0 || undefined, {
    seen: fourth.said,
  })
  expect((await statusOf())?.positions).toEqual([])

  // What is tighter in the configuration and in strategy files holds at once, what is looser waits.
  configure(1_000, { unknownSeconds: 60 })
  writeStrategy('limits: { maxOrdersPerHour: 20 }')
  fourth.child.kill('SIGHUP')
  await heard(
    fourth,
    'SIGHUP: in force: maxOrderSizeUsd $2,000.00 -> $1,000.00, breakers unknownSeconds 1800 s -> 60 s, strategy once maxOrdersPerHour 50 -> 20',
  )
  configure(1_500, { unknownSeconds: 60 })
  writeStrategy('limits: { maxOrdersPerHour: 30 }')
  const looser = 'maxOrderSizeUsd $1,000.00 -> $1,500.00, strategy once maxOrdersPerHour 20 -> 30'
  fourth.child.kill('SIGHUP')
  await heard(fourth, `looser, so they need a restart or perpd limits apply --confirm: ${looser}`)
  // Looking changes nothing, and names how it is taken over.
  const shown = await command(hosts, 'limits', `--config=${file}`)
  expect([shown.code, shown.said]).toEqual([
    0,
    expect.stringMatching(
      /^2 limits are configured differently from those in force; nothing was changed\.\n\n {2}looser +account maxOrderSizeUsd: \$1,000\.00 -> \$1,500\.00\n[\s\S]*perpd limits apply --confirm/,
    ),
  ])
  // A file that cannot be used changes nothing, and stops nothing.
  writeStrategy('limits: { maxOrdersPerHour: 0 }')
  fourth.child.kill('SIGHUP')
  await heard(fourth, 'SIGHUP: the configuration is invalid, nothing was changed')
  expect((await statusOf())?.state).toBe('running')
  writeStrategy('limits: { maxOrdersPerHour: 30 }')
  // A restart takes what is configured, after a kill -9 too; it says so, and the journal keeps it.
  fourth.child.kill('SIGKILL')
  await fourth.ended
  const fifth = perpd(['run', `--config=${file}`, ...flags(hosts)])
  await heard(fifth, `limits changed since the last run: looser by this start: ${looser}`)
  await when('the fifth daemon runs', fifth, isRunning)
  const kept = perpd(['journal', 'export', ...flags(hosts)])
  expect([await kept.ended, kept.stdout()]).toEqual([
    0,
    expect.stringContaining(`looser by this start: ${looser}`),
  ])
  const same = await command(hosts, 'limits', 'apply', `--config=${file}`, '--by', 'ann')
  expect([same.code, same.said]).toEqual([
    0,
    expect.stringMatching(
      /^the limits in force are the configured ones\.\n\nSCOPE +LIMIT +IN FORCE\naccount /,
    ),
  ])
  fifth.child.kill('SIGUSR2')
  await heard(fifth, 'SIGUSR2: trading is halted everywhere')
  fifth.child.kill('SIGTERM')
  expect(await fifth.ended, fifth.said()).toBe(0)
})

test.concurrent('orders that come to nothing hold their strategy back over a restart; a silent venue holds all back until it speaks', {
  timeout: 240_000,
}, async ({ expect }) => {
  const { writeStrategy, flags, command, when } = await placeOf()
  writeStrategy()
  const paper = await startPaper()
  // Keepers cancel what comes to the market; a fee or a price that moved would be nobody's fault and count for nothing.
  await fetch(`${paper.control}/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ keeperFails: 'InsufficientReserve' }),
  })
  const strict = [
    ...flags(paper.hosts),
    '--breakers.rejectsInRow=3',
    '--breakers.staleSeconds=3',
    '--api.timeoutMs=1000',
    '--api.attempts=1',
  ]
  const first = perpd(['run', ...strict])
  const opened = await when('the breaker of the strategy opens', first, ({ halts }) => halts.length > 0)
  expect(opened.halts).toMatchObject([{ scope: 'strategy:once', cause: 'rejects', state: 'reducing' }])
  first.child.kill('SIGKILL')
  await first.ended

  const second = perpd(['run', ...strict])
  const kept = await when('the second daemon runs', second, isRunning)
  expect(kept.halts).toMatchObject([{ scope: 'strategy:once', cause: 'rejects' }])
  await until('the strategy is denied', () => denials(second, 'TRADING_REDUCING') > 0 || undefined, {
    seen: second.said,
  })
  paper.child.kill('SIGSTOP')
  const stale = await when('the data are stale', second, ({ halts }) =>
    halts.some(({ cause }) => cause === 'stale-data'),
  )
  expect(stale.tradingState).toBe('reducing')
  const early = await command(paper.hosts, 'trading', 'active', '--by', 'ann')
  expect(early.said).toContain('perpd releases it when the cause ends')
  paper.child.kill('SIGCONT')
  await when('the hold lifts itself', second, ({ tradingState }) => tradingState === 'active')
  expect(await command(paper.hosts, 'trading', 'active', '--scope', 'once', '--by', 'ann')).toEqual({
    code: 0,
    said: 'trading is active for once (scope strategy:once).\n',
  })
  second.child.kill('SIGTERM')
  expect(await second.ended, second.said()).toBe(0)
})
