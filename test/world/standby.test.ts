/** Two daemons for one account, their journal on a real PostgreSQL: one trades and the other waits, and takes over when the first one dies or is stopped. */
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { openPostgresReader } from '../../src/journal/postgres/openPostgres.ts'
import { startCluster } from '../support/postgres.ts'
import { hastyVenue } from './killPoint.ts'
import { judge, ownKind, writeStrategies } from './killRun.ts'
import { daemonFlags, killLeftOver, perpd, type Running, scratch, startPaper, until } from './processes.ts'

afterEach(killLeftOver)

test('a standby takes over after a kill, a stop and a freeze; who was frozen ends, and nothing is sent twice', {
  timeout: 300_000,
}, async () => {
  const cluster = await startCluster()
  const [one, other] = [scratch(), scratch()]
  const paper = await startPaper(hastyVenue)
  const place = {
    url: new Secret(cluster.url()),
    account: 'pair',
    needsStandby: false,
    signatureLivesMs: 60_000,
  }
  const start = (folder: string): Running =>
    perpd([
      'run',
      ...daemonFlags(folder, paper.hosts).filter(
        (flag) => !/^--(strategies\.paths|paper\.keyFile)/.test(flag),
      ),
      ...writeStrategies(folder, ownKind, 3).map((path) => `--strategies.paths=${path}`),
      `--paper.keyFile=${join(one.path, 'key')}`,
      `--journal.url=${cluster.url()}`,
      ...['--journal.account=pair', '--journal.standby=true', '--risk.maxOrdersPerHour=100000'],
      ...['--risk.attemptsPerCause=10000', '--risk.executionFeesPerDay=1000'],
    ])
  const intents = async (): Promise<number> => {
    const journal = openPostgresReader(place)
    try {
      return (await journal.intents()).length
    } finally {
      await journal.close()
    }
  }
  const said = (daemon: Running, event: string) =>
    until(event, () => daemon.stdout().includes(`"event":"${event}"`) || undefined, { seen: daemon.said })
  const trades = async (daemon: Running): Promise<void> => {
    await said(daemon, 'daemon.ready')
    const before = await intents()
    await until('new orders', async () => (await intents()) > before + 1 || undefined, { seen: daemon.said })
  }
  try {
    const first = start(one.path)
    await trades(first)
    const second = start(other.path)
    await said(second, 'journal.waiting')
    expect(second.stdout()).toContain('"holder":"')
    const statusOf = async (folder: string) => {
      const asked = perpd(['status', '--json', `--control.tokenFile=${join(folder, 'control.token')}`])
      expect(await asked.ended, asked.said()).toBe(0)
      return JSON.parse(asked.stdout())
    }
    const { journal } = await statusOf(one.path)
    expect(journal.server).toMatchObject({ isHeld: true, replication: { standbys: 0 } })
    expect(await statusOf(other.path)).toMatchObject({
      state: 'waiting',
      code: 'JOURNAL_LOCKED',
      journal: { holder: journal.server.holder, epoch: journal.server.epoch },
    })
    expect(second.stdout()).not.toContain('daemon.ready')

    first.child.kill('SIGKILL')
    const killedMs = performance.now()
    await said(second, 'daemon.ready')
    const afterDeathMs = performance.now() - killedMs
    await trades(second)

    const third = start(one.path)
    await said(third, 'journal.waiting')
    const stoppedMs = performance.now()
    second.child.kill('SIGTERM')
    await said(third, 'daemon.ready')
    const afterStopMs = performance.now() - stoppedMs
    expect(await second.ended).toBe(0)
    await trades(third)

    const fourth = start(other.path)
    await said(fourth, 'journal.waiting')
    third.child.kill('SIGSTOP')
    await trades(fourth)
    third.child.kill('SIGCONT')
    expect(await third.ended, third.said()).toBe(1)
    expect(third.stdout()).toContain('Another perpd has taken over this journal.')
    fourth.child.kill('SIGTERM')
    expect(await fourth.ended).toBe(0)

    const report = await judge(openPostgresReader(place), paper.control, {
      kills: 1,
      beforeReady: 0,
      seconds: 0,
    })
    expect(report, JSON.stringify({ afterDeathMs, afterStopMs })).toMatchObject({
      receivedTwice: [],
      lost: [],
    })
  } finally {
    paper.child.kill('SIGTERM')
    await paper.ended
    for (const folder of [one, other]) folder.remove()
    cluster.remove()
  }
})
