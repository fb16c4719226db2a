import { expect, test } from 'vitest'
import { killRun } from './killRun.ts'

test.concurrent.each(['order-chain', 'relay'] as const)(
  'killed again and again under load with faults on (%s lane): nothing is sent twice, nothing is lost, every intent ends',
  { timeout: 400_000 },
  async (lane) => {
    const report = await killRun({ kills: 7, seed: 7, lane })
    expect(report).toMatchObject({ receivedTwice: [], lost: [], open: [], discrepancies: [] })
    expect(report.unread).toBeLessThanOrEqual(report.armedUnseen)
    expect(report.intents).toBeGreaterThan(0)
    expect(report.received).toBeGreaterThan(0)
  },
)
