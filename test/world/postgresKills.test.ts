/** The real daemon whose journal is a real PostgreSQL, killed with SIGKILL at random moments under load and with faults on; the venue's record judges. */
import { expect, test } from 'vitest'
import { startCluster } from '../support/postgres.ts'
import { killRun } from './killRun.ts'

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
