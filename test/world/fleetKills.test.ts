/** A fleet of real daemons on a real PostgreSQL, killed, frozen, moved and drained at random moments with faults on; the venue's record judges. */
import { afterEach, expect, test } from 'vitest'
import { fleetRun } from './fleetRun.ts'
import { killLeftOver } from './processes.ts'

afterEach(killLeftOver)

test('three nodes of twelve accounts lose no order and send none twice, whatever is killed, frozen, restarted, failed over, moved and drained', {
  timeout: 1_200_000,
}, async () => {
  const report = await fleetRun({ events: 60, seed: 39, accounts: 12 })
  expect(report).toMatchObject({ accounts: 12, armedTwice: [], receivedTwice: [], lost: [], open: [] })
  expect(report.epochs).toBeGreaterThan(12)
})
