/** The worth that people see: right after a fill it is the last one whose lists belong together, and never a sum of two instants. */
import { afterEach, expect, test } from 'vitest'
import { usd } from '../../src/domain/units.ts'
import { createShownEquity } from '../../src/engine/shownEquity.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { engineOver } from '../support/engine.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'

test('a figure stands while what the lists hold has changed lately, or an order is on its way', () => {
  const tracker = createShownEquity(30_000)
  const take = (atMs: number, equity: number, inventory: string, isMoving = false) => {
    tracker.take({ equityUsd: usd(equity), inventory, isMoving, nowMs: atMs, monotonicMs: atMs })
    return tracker.shown()
  }
  expect(take(0, 1_000, 'wallet 1000')).toEqual({ equityUsd: usd(1_000), atMs: 0 })
  expect(take(5_000, 1_000, 'wallet 1000', true)?.atMs).toBe(0)
  // The position shows, and the wallet has not paid yet.
  expect(take(10_000, 1_200, 'wallet 1000, position 200')).toEqual({ equityUsd: usd(1_000), atMs: 0 })
  expect(take(15_000, 999, 'wallet 800, position 200')).toEqual({ equityUsd: usd(1_000), atMs: 0 })
  expect(take(44_000, 998, 'wallet 800, position 200')?.atMs).toBe(0)
  expect(take(45_000, 998, 'wallet 800, position 200')).toEqual({ equityUsd: usd(998), atMs: 45_000 })
})

let bench: KindsBench | undefined
let running: { abort(): void } | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

test('while a wallet shows the collateral of a fresh position too, the status keeps the figure of before', async () => {
  let held: string | undefined
  let isHeld = false
  bench = await kindsBench({
    lie: (url, text) => {
      if (!new URL(url).pathname.includes('/balances')) return undefined
      if (!isHeld) held = text
      return isHeld ? held : undefined
    },
  })
  const journal = createMemoryJournal()
  const { engine } = engineOver({ ...bench, journal, context: { ...bench.context, journal } }, {})
  running = engine
  await engine.start()
  await bench.clock.advance(60_000)
  const before = engine.status().equity?.equityUsd ?? 0n
  isHeld = true
  await bench.accept({
    kind: 'increase',
    marketToken: await bench.marketToken(ethSymbol),
    direction: 'long',
    sizeDeltaUsd: usd(500),
    leverageBps: 20_000,
    collateralToken: usdc,
    reason: 'by hand',
  })
  for (let at = 0; at < 25; at += 5) {
    await bench.clock.advance(5_000)
    const shown = engine.status().equity?.equityUsd ?? 0n
    expect(shown - before, `after ${at + 5} s`).toBeLessThan(usd(50))
  }
  isHeld = false
  await bench.clock.advance(90_000)
  const { equity, nowMs } = engine.status()
  expect(equity?.equityUsd ?? 0n).toBeLessThan(before)
  expect(nowMs - (equity?.equityAtMs ?? 0)).toBeLessThan(10_000)
})
