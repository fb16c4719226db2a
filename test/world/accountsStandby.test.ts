/** Two daemons that wait for the same three accounts, their journals on a real PostgreSQL: each account has a lease, and is taken over by itself. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Cluster, startCluster } from '../support/postgres.ts'
import { atDesk, judgeDesk, linesOf, type SharedDesk, saidOf, startDesk, trade, writeDesk } from './desks.ts'
import { hastyVenue } from './killPoint.ts'
import { killLeftOver, type Running, scratch, startPaper, until } from './processes.ts'

const names = ['alpha', 'beta', 'gamma']
let cluster: Cluster
let folders: ReturnType<typeof scratch>[]
let paper: Awaited<ReturnType<typeof startPaper>>
beforeEach(async () => {
  folders = [scratch(), scratch()]
  cluster = await startCluster()
  paper = await startPaper(hastyVenue)
}, 120_000)
afterEach(async () => {
  await killLeftOver()
  cluster.remove()
  for (const folder of folders) folder.remove()
})

/** Gives both the same accounts and keys. */
function setUp(): { readonly one: string; readonly two: string; readonly shared: SharedDesk } {
  const [one = '', two = ''] = folders.map(({ path }) => path)
  const shared = { hosts: paper.hosts, url: cluster.url(), names, keys: one }
  for (const folder of [one, two]) writeDesk(folder, shared)
  return { one, two, shared }
}

/** Waits until a process has said an event of each of these accounts, in its lines after the first `from`. */
async function allSaid(desk: Running, event: string, of: readonly string[], from = 0): Promise<void> {
  await until(
    `${event} of ${of.join(', ')}`,
    () => of.every((name) => saidOf(desk, event, from).has(name)) || undefined,
    {
      seen: desk.said,
    },
  )
}

interface StatusRow {
  readonly state: string
  readonly journal: {
    readonly holder?: string
    readonly epoch?: number
    readonly server?: { holder: string }
  }
}

test('after a kill -9 the other daemon takes over all accounts within the time, and no order is sent twice', {
  timeout: 400_000,
}, async () => {
  const { one, two, shared } = setUp()
  const first = startDesk(one, shared)
  await allSaid(first, 'daemon.ready', names)
  const second = startDesk(two, shared)
  await allSaid(second, 'journal.waiting', names)
  await trade(first, shared.url, names)
  const rows = await until('each account waits for the first desk', async () => {
    const status = await atDesk(two, 'status', '--json')
    expect(status.code, status.said).toBe(0)
    const seen = JSON.parse(status.out) as Record<string, StatusRow>
    return names.every((name) => seen[name]?.state === 'waiting') ? seen : undefined
  })
  const held = JSON.parse((await atDesk(one, 'status', '--json')).out) as Record<string, StatusRow>
  for (const name of names) {
    expect(rows[name]).toMatchObject({ state: 'waiting', code: 'JOURNAL_LOCKED', journal: { epoch: 1 } })
    expect(rows[name]?.journal.holder).toBe(held[name]?.journal.server?.holder)
  }
  expect(saidOf(second, 'daemon.ready').size).toBe(0)

  first.child.kill('SIGKILL')
  // Seven seconds of a still beat, then reading.
  await allSaid(second, 'daemon.ready', names)
  await trade(second, shared.url, names)

  // A drain hands all over at once.
  const third = startDesk(one, shared)
  await allSaid(third, 'journal.waiting', names)
  second.child.kill('SIGTERM')
  await allSaid(third, 'daemon.ready', names)
  expect(await second.ended, second.said()).toBe(0)
  await trade(third, shared.url, names)
  third.child.kill('SIGTERM')
  expect(await third.ended, third.said()).toBe(0)

  const report = await judgeDesk(shared.url, names, paper.control)
  expect(report).toMatchObject({ armedTwice: [], receivedTwice: [], lost: [] })
  expect(report.received).toBeGreaterThan(6)
})

test('a lost lease ends that account alone, which waits again, and the others of its process trade on', {
  timeout: 400_000,
}, async () => {
  const { one, two, shared } = setUp()
  writeDesk(two, shared, ['beta'])
  const first = startDesk(one, shared)
  await allSaid(first, 'daemon.ready', names)
  await trade(first, shared.url, names)
  const from = linesOf(first)
  // As a holder of a newer epoch has it: the next commit of beta's first holder is refused.
  cluster.sql(
    "UPDATE perpd_head SET epoch = epoch + 1, holder = 'other/1 x', beat = beat + 1 WHERE account = 'paper.beta'",
  )
  await allSaid(first, 'daemon.failed', ['beta'], from)
  await trade(first, shared.url, ['alpha', 'gamma'])
  expect([...saidOf(first, 'daemon.failed', from)]).toEqual(['beta'])
  // Nobody moves that beat: it is taken over after the time, by the same process as a new holder.
  await allSaid(first, 'daemon.ready', ['beta'], from)
  await trade(first, shared.url, ['beta'])
  expect([...saidOf(first, 'daemon.ready', from)]).toEqual(['beta'])

  // Of a frozen holder another daemon takes beta alone; the frozen one wakes, loses beta and keeps the others, which nobody else knows.
  const second = startDesk(two, shared)
  await allSaid(second, 'journal.waiting', ['beta'])
  const woken = linesOf(first)
  first.child.kill('SIGSTOP')
  await allSaid(second, 'daemon.ready', ['beta'])
  first.child.kill('SIGCONT')
  await allSaid(first, 'journal.waiting', ['beta'], woken)
  await trade(first, shared.url, ['alpha', 'gamma'])
  await trade(second, shared.url, ['beta'])
  const status = JSON.parse((await atDesk(one, 'status', '--json')).out) as Record<string, StatusRow>
  expect(names.map((name) => status[name]?.state)).toEqual(['running', 'waiting', 'running'])
  for (const desk of [first, second]) desk.child.kill('SIGTERM')
  expect(await first.ended, first.said()).toBe(0)
  expect(await second.ended, second.said()).toBe(0)
  expect(await judgeDesk(shared.url, names, paper.control)).toMatchObject({
    ...{ armedTwice: [], receivedTwice: [], lost: [] },
  })
})

test('an account whose strategy file is refused when its lease is to be taken again waits for the file, and the others trade on', {
  timeout: 400_000,
}, async () => {
  const { one, shared } = setUp()
  const own = join(one, 'own.yaml')
  const { accounts } = JSON.parse(readFileSync(join(one, 'perpd.json'), 'utf8')) as {
    readonly accounts: Record<string, { strategies: { paths: readonly string[] } }>
  }
  const good = readFileSync(accounts.beta?.strategies.paths[0] ?? '', 'utf8')
  writeFileSync(own, good)
  writeFileSync(
    join(one, 'perpd.json'),
    JSON.stringify({ accounts: { ...accounts, beta: { strategies: { paths: [own] } } } }),
  )
  const desk = startDesk(one, { ...shared, flags: ['--strategies.watch=off'] })
  await allSaid(desk, 'daemon.ready', names)
  writeFileSync(own, `${good}nothingOfTheKind: 1\n`)
  const from = linesOf(desk)
  cluster.sql(
    "UPDATE perpd_head SET epoch = epoch + 1, holder = 'other/1 x', beat = beat + 1 WHERE account = 'paper.beta'",
  )
  const isRefused = () => desk.stdout().includes('"code":"STRATEGIES_REFUSED"') || undefined
  await until('the files are refused', isRefused, { seen: desk.said })
  await until(
    'the status of beta names its file',
    async () => {
      const rows = JSON.parse((await atDesk(one, 'status', '--json')).out) as Record<
        string,
        { code?: string }
      >
      return rows.beta?.code === 'STRATEGIES_REFUSED' || undefined
    },
    { seen: desk.said },
  )
  await trade(desk, shared.url, ['alpha', 'gamma'])
  writeFileSync(own, good)
  await allSaid(desk, 'daemon.ready', ['beta'], from)
  await trade(desk, shared.url, ['beta'])
  desk.child.kill('SIGTERM')
  expect(await desk.ended, desk.said()).toBe(0)
})

test('accounts whose server was away for longer than they wait for it each wait for their lease again, and trade when it is back', {
  timeout: 400_000,
}, async () => {
  const { one, shared } = setUp()
  const desk = startDesk(one, shared)
  await allSaid(desk, 'daemon.ready', names)
  await trade(desk, shared.url, names)
  const from = linesOf(desk)
  cluster.stop('fast')
  await until(
    'an account gave its journal up',
    () =>
      desk.said().includes('JOURNAL_UNREACHABLE') ||
      saidOf(desk, 'daemon.failed', from).size === 3 ||
      undefined,
    { seen: desk.said },
  )
  cluster.start()
  await allSaid(desk, 'daemon.ready', names, from)
  await trade(desk, shared.url, names)
  desk.child.kill('SIGTERM')
  expect(await desk.ended, desk.said()).toBe(0)
  expect(await judgeDesk(shared.url, names, paper.control)).toMatchObject({
    ...{ armedTwice: [], receivedTwice: [], lost: [] },
  })
})

test('without a standby a process of several accounts is killed and starts again at once with all of them; a second one is refused them', {
  timeout: 400_000,
}, async () => {
  const { one, two, shared } = setUp()
  const own = { ...shared, flags: ['--journal.standby=false'] }
  const first = startDesk(one, own)
  await allSaid(first, 'daemon.ready', names)
  await trade(first, shared.url, names)
  const second = startDesk(two, own)
  expect(await second.ended, second.said()).toBe(1)
  expect(
    second.said().match(/JOURNAL_LOCKED|Another perpd writes this journal/g)?.length,
  ).toBeGreaterThanOrEqual(3)
  await trade(first, shared.url, names)

  first.child.kill('SIGKILL')
  await first.ended
  const again = startDesk(one, own)
  await allSaid(again, 'daemon.ready', names)
  await trade(again, shared.url, names)
  const verified = await atDesk(one, 'journal', 'verify', `--journal.url=${shared.url}`)
  expect(verified.code, verified.said).toBe(0)
  again.child.kill('SIGTERM')
  expect(await again.ended, again.said()).toBe(0)
  const report = await judgeDesk(shared.url, names, paper.control)
  expect(report).toMatchObject({ armedTwice: [], receivedTwice: [], lost: [] })
})
