/** Two daemons for one account, their journal on a real PostgreSQL: one trades and the other waits, and takes over when the first one dies or is stopped. */
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { startCluster } from '../support/postgres.ts'
import { hastyVenue } from './killPoint.ts'
import { judge } from './killRun.ts'
import { readMachines, said, startMachine, statusOf, trades } from './machines.ts'
import { killLeftOver, scratch, startPaper } from './processes.ts'

afterEach(killLeftOver)

test('a standby takes over after a kill, a stop and a freeze; who was frozen ends, and nothing is sent twice', {
  timeout: 300_000,
}, async () => {
  const cluster = await startCluster()
  const [one, other] = [scratch(), scratch()]
  const paper = await startPaper(hastyVenue)
  const url = cluster.url()
  const shared = { hosts: paper.hosts, url, keyFile: join(one.path, 'key') }
  const start = (folder: string) => startMachine(folder, shared)
  try {
    const first = start(one.path)
    await trades(first, url)
    const second = start(other.path)
    await said(second, 'journal.waiting')
    expect(second.stdout()).toContain('"holder":"')
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
    // The time that reading took is told without the wait: the beat stood still for 7 s, and a beat is 2 s old at most.
    const [, resumed = 'NaN'] = /"event":"daemon\.resumed".*"latency_ms":(\d+)/.exec(second.stdout()) ?? []
    expect(Number(resumed)).toBeLessThan(afterDeathMs - 5_000)
    await trades(second, url)

    const third = start(one.path)
    await said(third, 'journal.waiting')
    const stoppedMs = performance.now()
    second.child.kill('SIGTERM')
    await said(third, 'daemon.ready')
    const afterStopMs = performance.now() - stoppedMs
    expect(await second.ended).toBe(0)
    await trades(third, url)

    const fourth = start(other.path)
    await said(fourth, 'journal.waiting')
    third.child.kill('SIGSTOP')
    await trades(fourth, url)
    third.child.kill('SIGCONT')
    expect(await third.ended, third.said()).toBe(1)
    expect(third.stdout()).toContain('Another perpd has taken over this journal.')
    fourth.child.kill('SIGTERM')
    expect(await fourth.ended).toBe(0)

    const report = await judge(readMachines(url), paper.control, {
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
