/** Real daemons whose journal is a real PostgreSQL, killed and frozen at random moments under load and with faults on; the venue's record judges. */
import { afterEach, expect, test } from 'vitest'
import { startCluster } from '../support/postgres.ts'
import { eventRun } from './eventRun.ts'
import { killRun } from './killRun.ts'
import { killLeftOver } from './processes.ts'

afterEach(killLeftOver)

test('five kills of a daemon with its journal on a server lose no order and send none twice', {
  timeout: 400_000,
}, async () => {
  const cluster = await startCluster()
  try {
    const report = await killRun({ kills: 5, seed: 39, journalUrl: cluster.url() })
    expect(report).toMatchObject({ kills: 5, receivedTwice: [], lost: [], open: [], discrepancies: [] })
    expect(report.unread).toBeLessThanOrEqual(report.armedUnseen)
    expect(report.intents).toBeGreaterThan(4)
  } finally {
    cluster.remove()
  }
})

test('three daemons of one account lose no order and send none twice, whatever is killed, frozen, restarted and failed over', {
  timeout: 1_200_000,
}, async () => {
  const report = await eventRun({ events: 24, seed: 39 })
  expect(report).toMatchObject({ receivedTwice: [], lost: [], open: [], discrepancies: [] })
  expect(report.events.failover).toBe(1)
  expect(report.unread).toBeLessThanOrEqual(report.armedUnseen)
  // The first taking, and one after the failover at the least: how many kills meet the holder is the moment's.
  expect(report.epochs).toBeGreaterThan(1)
})
