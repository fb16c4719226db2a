/** The books of the paper world: they survive a restart, stay bounded, and are the same for the same seed. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HOURS_KEPT, ledgerOf } from '../../src/paper/pools/ledger.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { ethMarket, manualClock, startVenue, usd } from './support.ts'

const reads = [
  '/yield/gm-pools?period=7d&includeComponents=true',
  `/rates?period=1d&address=${ethMarket}`,
  '/stats/summary',
  '/stats/timeseries?metric=volume.perps&groupBy=none',
  '/pairs',
  '/buyback/weekly-stats',
  '/performance/annualized?period=30d',
]

test('the books survive a restart: every read says the same before and after', async () => {
  const stateFile = join(mkdtempSync(join(tmpdir(), 'perpd-ledger-')), 'world.json')
  const clock = manualClock()
  const first = await startVenue({ clock, stateFile })
  // `startVenue` moves a clock of its own; this one is moved by hand.
  const prepared = await first.prepare({
    size: usd(25_000),
    collateralToPay: { amount: '5000000000', token: 'USDC' },
  })
  await first.submit(prepared.body)
  clock.move(2500)
  await first.status(prepared.body.requestId)
  clock.move(3 * 3_600_000)
  const before = []
  for (const path of reads) before.push((await first.get(path)).body)
  await first.close()
  const second = await startVenue({ clock, stateFile })
  const after = []
  for (const path of reads) after.push((await second.get(path)).body)
  expect(after).toEqual(before)
  await second.close()
})

test('the same seed and clock give the same answers byte for byte', async () => {
  const answers = async (seed: number): Promise<string[]> => {
    const clock = manualClock()
    const venue = createVenue({ clock, chain: chains.arbitrum, seed })
    clock.move(2 * 3_600_000)
    const texts: string[] = []
    for (const path of [...reads, '/jit/liquidity_history?period=1h', '/pairs/solana']) {
      texts.push(await (await venue.fetch(new Request(`http://paper${venue.paths.api[0]}${path}`))).text())
    }
    return texts
  }
  const one = await answers(5)
  expect(await answers(5)).toEqual(one)
  expect(await answers(6)).not.toEqual(one)
})

test('finished hours are kept one by one for eight days, then as days', () => {
  const clock = manualClock()
  const { venueState, advance } = createVenue({ clock, chain: chains.arbitrum, seed: 5 })
  for (let day = 0; day < 20; day += 1) {
    clock.move(86_400_000)
    advance()
  }
  for (const { hours, days } of ledgerOf(venueState).byMarket.values()) {
    expect(hours.length).toBeLessThanOrEqual(HOURS_KEPT)
    expect(hours.length).toBeGreaterThan(HOURS_KEPT - 24)
    expect(days.reduce((sum, row) => sum + row.span, 0) + hours.length).toBe(20 * 24)
  }
})
