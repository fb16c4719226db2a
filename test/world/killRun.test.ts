/** Random kills of one daemon, by lanes; of a change one of the two lanes. */
import { expect, test } from 'vitest'
import { ofShare, shareOfChange } from '../gate/depth.ts'
import { killRun } from './killRun.ts'

const lanes = ofShare(['order-chain', 'relay'] as const, shareOfChange(2))

test.concurrent.each(lanes)(
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
