/**
 * Two real daemons of one account on a real PostgreSQL with a standby server, by an address with both hosts. The primary is killed with SIGKILL while orders
 * are in flight and the standby takes over; the venue's own record judges.
 */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Cluster, demandStandby, hostsOf, startCluster, startStandby } from '../support/postgres.ts'
import { hastyVenue } from './killPoint.ts'
import { judge, post, restFlags, settle } from './killRun.ts'
import { ofJournal, readMachines, type Shared, said, startMachine, statusOf, trades } from './machines.ts'
import { killLeftOver, type Running, scratch, startPaper, until } from './processes.ts'

let clusters: Cluster[]
let folders: ReturnType<typeof scratch>[]
let paper: Awaited<ReturnType<typeof startPaper>>
beforeEach(async () => {
  folders = [scratch(), scratch()]
  clusters = [await startCluster()]
  paper = await startPaper(hastyVenue)
}, 120_000)
afterEach(async () => {
  await killLeftOver()
  for (const cluster of clusters.toReversed()) cluster.remove()
  for (const folder of folders) folder.remove()
})

/** Makes a standby of the first server, and gives the two machines what they share. */
async function setUp(isSynchronous: boolean) {
  const [primary] = clusters as [Cluster]
  const standby = await startStandby(primary, isSynchronous)
  clusters.push(standby)
  const [one = '', two = ''] = folders.map(({ path }) => path)
  const url = `${hostsOf([primary, standby])}?target_session_attrs=read-write`
  const shared: Shared = {
    ...{ hosts: paper.hosts, url, keyFile: join(one, 'key') },
    flags: [`--journal.synchronousStandby=${isSynchronous}`],
  }
  return { primary, standby, one, two, url, shared, start: (folder: string) => startMachine(folder, shared) }
}

/** Waits until orders are signed and have not ended, and the venue answers their submits with an error though it takes them. */
async function inFlight(url: string): Promise<void> {
  await post(`${paper.control}/faults`, { submit: '503-after-work', times: 3 })
  const isOpen = async () =>
    (await ofJournal(url, (journal) => journal.intents({ openOnly: true }))).some(({ attempts }) =>
      attempts.some(({ armed }) => armed !== undefined),
    )
  await until('an order in flight', async () => (await isOpen()) || undefined)
}

const records = (cluster: Cluster): number => Number(cluster.sql('SELECT max(seq) FROM perpd_record'))
const counted = { kills: 0, beforeReady: 0, seconds: 0 }
const ended = (machine: Running): boolean =>
  machine.child.exitCode !== null || machine.child.signalCode !== null

test('with a synchronous standby both machines follow a failover: who traded trades on, who waits takes over later, and the old primary that is back gets nothing', {
  timeout: 400_000,
}, async () => {
  const { primary, standby, one, two, url, shared, start } = await setUp(true)
  const first = start(one)
  await trades(first, url)
  const second = start(two)
  await said(second, 'journal.waiting')
  await inFlight(url)

  await primary.kill()
  // An operator's failover: the new primary has a demand of its own, and gets a standby.
  demandStandby(standby, 'third')
  standby.promote()
  clusters.push(await startStandby(standby, true, 'third'))
  await trades(first, url)
  expect([ended(first), ended(second), second.stdout().includes('daemon.ready')]).toEqual([
    false,
    false,
    false,
  ])
  // It looks at the standbys every ten seconds.
  const replication = async () => (await statusOf(one)).journal.server.replication
  await until('the new standby is seen', async () => (await replication())?.standbys === 1 || undefined)
  expect(await replication()).toMatchObject({ isSynchronous: true })

  primary.start()
  // Alone it acknowledges nothing to whoever waits for its standby; to others it does.
  primary.sql('SET synchronous_commit = local; CREATE TABLE accepted_by_the_old_one (n integer)')
  const kept = records(primary)
  await inFlight(url)
  first.child.kill('SIGKILL')
  await trades(second, url)
  expect(records(primary)).toBe(kept)

  second.child.kill('SIGTERM')
  expect(await second.ended, second.said()).toBe(0)
  const last = startMachine(one, {
    ...shared,
    strategies: 0,
    flags: [...(shared.flags ?? []), ...restFlags(one)],
  })
  await settle(last, () => readMachines(url))
  const report = await judge(readMachines(url), paper.control, counted)
  expect(report).toMatchObject({ receivedTwice: [], lost: [], open: [], discrepancies: [] })
  expect(report.unread).toBeLessThanOrEqual(report.armedUnseen)
})

test('without one, the machine that takes over after a failover tells what may be lost, and only reduces; what was lost is in the old primary', {
  timeout: 400_000,
}, async () => {
  const { primary, standby, one, two, url, start } = await setUp(false)
  const first = start(one)
  await trades(first, url)
  const second = start(two)
  await said(second, 'journal.waiting')
  // The standby gets nothing more: what is acknowledged from here on is lost with the primary.
  await until('the standby has a beginning', () => records(standby) > 10 || undefined)
  standby.stop('fast')
  await trades(first, url)
  await inFlight(url)
  await primary.kill()
  first.child.kill('SIGKILL')
  standby.start()
  const from = records(standby)
  standby.promote()

  await said(second, 'daemon.ready')
  const open = () =>
    ofJournal(url, async (journal) =>
      (await journal.intents({ openOnly: true })).map(({ intent }) => intent.intentId),
    )
  const before = await open()
  await until(
    'every order of before has ended',
    async () => (await open()).every((id) => !before.includes(id)) || undefined,
    { seen: second.said },
  )
  const { loss } = await ofJournal(url, (journal) => journal.account())
  expect(loss).toMatchObject({ quietUntilMs: expect.any(Number) })
  const after = standby
    .sql(`SELECT body FROM perpd_record WHERE seq > ${from} AND kind = 'intent.accepted' ORDER BY seq`)
    .split('\n')
    .filter(Boolean)
    .map((body) => JSON.parse(body).intent.kind)
  expect(after.filter((kind: string) => kind === 'increase')).toEqual([])
  expect(JSON.stringify(await statusOf(two))).toContain('lost-records')
  second.child.kill('SIGTERM')
  expect(await second.ended, second.said()).toBe(0)

  const { lost, receivedTwice } = await judge(readMachines(url), paper.control, counted)
  expect(receivedTwice).toEqual([])
  // The old primary knows each message that the new one does not.
  primary.start()
  const old = await judge(readMachines(primary.url()), paper.control, counted)
  expect(lost.filter((name) => old.lost.includes(name))).toEqual([])
})
