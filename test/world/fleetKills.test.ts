/** A fleet of real daemons on a real PostgreSQL, killed, frozen, moved and drained at random moments with faults on; the venue's record judges. */
import { afterEach, expect, test } from 'vitest'
import { fleetRun } from './fleetRun.ts'
import { killLeftOver } from './processes.ts'

afterEach(killLeftOver)

test('three nodes of five accounts lose no order and send none twice, whatever is killed, frozen, restarted, moved and drained', {
  timeout: 1_200_000,
}, async () => {
  const report = await fleetRun({ events: 15, seed: 39, accounts: 5 })
  expect(report).toMatchObject({ accounts: 5, armedTwice: [], receivedTwice: [], lost: [], open: [] })
  expect(report.epochs).toBeGreaterThan(5)
})
