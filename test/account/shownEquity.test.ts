/** The worth that people see: right after a fill it is the last one whose lists belong together, and never a sum of two instants. */
import { afterEach, expect, test } from 'vitest'
import { z } from 'zod'
import { createShownEquity, createShownPeak, limitEquityOf } from '../../src/account/equity/shownEquity.ts'
import { equityAge, sinceText, transfersText } from '../../src/cli/results/statusParts.ts'
import type { Event } from '../../src/domain/event.ts'
import { isOpened } from '../../src/domain/order/orderLegs.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { shownOf } from '../../src/operator/port/engineStatus.ts'
import { absOf, usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { engineOver } from '../support/engine.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'

test('a figure stands while what the lists hold has changed lately, or an order is on its way', () => {
  const tracker = createShownEquity(30_000)
  const take = (atMs: number, equity: number, inventory: string, isMoving = false) => {
    tracker.take({ equityUsd: usd(equity), inventory, isMoving, nowMs: atMs, monotonicMs: atMs })
    return tracker.shown()
  }
  expect(take(0, 1_000, 'wallet 1000')).toEqual({ equityUsd: usd(1_000), atMs: 0, isSettling: false })
  expect(take(5_000, 1_000, 'wallet 1000', true)?.atMs).toBe(0)
  // The position shows, and the wallet has not paid yet.
  const before = { equityUsd: usd(1_000), atMs: 0, isSettling: true }
  expect(take(10_000, 1_200, 'wallet 1000, position 200')).toEqual(before)
  expect(take(15_000, 999, 'wallet 800, position 200')).toEqual(before)
  expect(take(44_000, 998, 'wallet 800, position 200')?.atMs).toBe(0)
  expect(take(45_000, 998, 'wallet 800, position 200')).toEqual({
    equityUsd: usd(998),
    atMs: 45_000,
    isSettling: false,
  })
})

let bench: KindsBench | undefined
let running: { abort(): void } | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

test('a limit takes the figure of lists that belong together, and less where the breakers see less', () => {
  const shown = { equityUsd: usd(1_000), atMs: 5 }
  expect(limitEquityOf(shown, usd(1_098))).toEqual(shown)
  expect(limitEquityOf(shown, usd(1_000))).toEqual(shown)
  expect(limitEquityOf(shown, usd(900))).toEqual({ equityUsd: usd(900) })
  expect(limitEquityOf(shown, undefined)).toBeUndefined()
  expect(limitEquityOf(undefined, usd(900))).toBeUndefined()
})

test('no figure is shown above its peak, and the peak does not fall with the figure', () => {
  const mark = { equityUsd: usd(900), peakUsd: usd(1_000), dayStartMs: 0, dayStartUsd: usd(990) }
  const peak = createShownPeak()
  expect(shownOf(mark, { equityUsd: usd(1_020), atMs: 7, isSettling: true }, peak)).toEqual({
    ...mark,
    equityUsd: usd(1_020),
    peakUsd: usd(1_020),
    isEquitySettling: true,
    equityAtMs: 7,
  })
  expect(shownOf(mark, { equityUsd: usd(950) }, peak).peakUsd).toBe(usd(1_020))
  expect(shownOf({ ...mark, peakUsd: usd(1_030) }, {}, peak).peakUsd).toBe(usd(1_030))
  expect(shownOf(mark, {}, peak).peakUsd).toBe(usd(1_030))
  // An operator accepted the loss.
  peak.forget()
  expect(shownOf(mark, { equityUsd: usd(950) }, peak).peakUsd).toBe(usd(1_000))
})

test('a figure of before the account moved says its age from the first second', () => {
  expect(equityAge({ equityAtMs: 1_000, isEquitySettling: false }, 6_000)).toBe('')
  expect(equityAge({ equityAtMs: 1_000, isEquitySettling: true }, 6_000)).toBe(
    ' (5 s old: lists are settling)',
  )
  expect(equityAge({ equityAtMs: 1_000, isEquitySettling: false }, 61_000)).toContain('1 min 0 s old')
  expect(equityAge({ isEquitySettling: true }, 6_000)).toContain('lists of different moments')
})

test('what was deposited or withdrawn today is told beside the result that it is not in', () => {
  expect(transfersText({})).toBe('')
  expect(transfersText({ dayTransfersUsd: usd(250).toString() })).toBe(', $250.00 deposited')
  expect(transfersText({ dayTransfersUsd: usd(-250).toString() })).toBe(', $250.00 withdrawn')
})

test('a result of the day says since when it is counted where the first reading is younger than the day', () => {
  const dayStartMs = Date.UTC(2026, 10, 20)
  const nowMs = dayStartMs + 80_000_000
  expect(sinceText({ dayStartMs }, nowMs)).toBe('since 00:00 UTC')
  expect(sinceText({ dayStartMs, dayFirstAtMs: dayStartMs + 4_000 }, nowMs)).toBe('since 00:00 UTC')
  const noon = { dayStartMs, dayFirstAtMs: dayStartMs + 43_265_000 }
  expect(sinceText(noon, nowMs)).toBe('since 12:01 UTC, the first reading')
  // Of the day before, until the first reading of this one.
  expect(sinceText(noon, nowMs + 86_400_000)).toBe('since 2026-11-20 12:01 UTC, the first reading')
})

test('the peak that is shown is the same after a kill, and the day goes on from its first reading', async () => {
  bench = await kindsBench({
    path: [
      [0, 1_800],
      [100, 1_800],
      [130, 1_812],
      [140, 1_760],
      [900, 1_760],
    ],
  })
  const { journal } = bench
  const first = engineOver({ ...bench, journal }, {}).engine
  running = first
  await first.start()
  await bench.clock.advance(10_000)
  const opened = first.status().equity
  expect(opened?.dayFirstAtMs).toBeGreaterThan(opened?.dayStartMs ?? 0)
  await bench.accept({
    kind: 'increase',
    marketToken: await bench.marketToken(ethSymbol),
    direction: 'long',
    sizeDeltaUsd: usd(500),
    leverageBps: 20_000,
    collateralToken: usdc,
    reason: 'by hand',
  })
  await bench.clock.advance(150_000)
  const before = first.status().equity
  expect(before?.peakUsd ?? 0n).toBeGreaterThan((before?.equityUsd ?? 0n) + usd(5))
  // Killed: nothing is written any more.
  first.abort()
  await bench.clock.advance(1_000)
  const second = engineOver({ ...bench, journal }, {}).engine
  running = second
  const cents = (amount = 0n) => amount / 10n ** 28n
  expect(cents(second.status().equity?.peakUsd)).toBe(cents(before?.peakUsd))
  await second.start()
  await bench.clock.advance(20_000)
  const after = second.status().equity
  expect(cents(after?.peakUsd)).toBe(cents(before?.peakUsd))
  expect(after?.dayFirstAtMs).toBe(opened?.dayFirstAtMs)
})

/** Asks for a thousand times the account at every turn. */
const greedy: LoadedStrategy = {
  name: 'greedy',
  path: 'greedy.yaml',
  limits: {},
  symbolPlaces: [],
  onRemove: 'keep' as const,
  written: {},
  symbols: [ethSymbol],
  cadenceMs: 5_000,
  needs: { symbols: [ethSymbol] },
  params: {},
  instance: { name: 'greedy', symbols: [ethSymbol] },
  strategy: {
    kind: 'greedy',
    description: '',
    opensPositions: true,
    params: z.unknown(),
    needs: () => ({ symbols: [ethSymbol] }),
    decide: (view) => [
      {
        kind: 'increase',
        marketToken: view.market(ethSymbol)?.market.marketToken ?? '0x',
        direction: 'long',
        sizeDeltaUsd: usd(1_000_000_000),
        leverageBps: 10_000,
        collateralToken: usdc,
        reason: 'more',
      },
    ],
  },
}

/** The equity of every refusal, as it is said, in dollars. */
function saidEquities(events: readonly Event[]): readonly number[] {
  return events.flatMap((event) => {
    if (event.type !== 'decision.denied' || event.denial.code !== 'WISH_ABOVE_EQUITY') return []
    const [, dollars = ''] = /the equity \(\$([\d,.]+)/.exec(event.denial.reason) ?? []
    return [Number(dollars.replaceAll(',', ''))]
  })
}

test('while a wallet shows the collateral of a fresh position too, status and limits keep the figure of before', async () => {
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
  const { engine, events } = engineOver(
    { ...bench, journal, context: { ...bench.context, journal } },
    { strategies: [greedy], limits: { greedy: { maxWishEquityBps: 500_000 } } },
  )
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
    expect(engine.status().equity, `after ${at + 5} s`).toMatchObject({ isEquitySettling: true })
  }
  const dollars = Number(before / 10n ** 30n)
  const said = saidEquities(events)
  expect(said.length).toBeGreaterThan(10)
  for (const each of said) expect(Math.abs(each - dollars)).toBeLessThan(50)
  isHeld = false
  await bench.clock.advance(90_000)
  const { equity, nowMs } = engine.status()
  expect(equity?.equityUsd ?? 0n).toBeLessThan(before)
  expect(nowMs - (equity?.equityAtMs ?? 0)).toBeLessThan(10_000)
  expect(equity?.isEquitySettling).toBe(false)
  // The fill cost something, and what was shown before stays the peak.
  expect(equity?.peakUsd ?? 0n).toBeGreaterThanOrEqual(before)
})

test('right after a start the collateral of an order under way is counted once', async () => {
  bench = await kindsBench()
  const { journal } = bench
  await bench.clock.advance(60_000)
  const intent = await bench.accept({
    kind: 'increase',
    marketToken: await bench.marketToken(ethSymbol),
    direction: 'long',
    sizeDeltaUsd: usd(500),
    leverageBps: 20_000,
    collateralToken: usdc,
    reason: 'by hand',
  })
  for (let at = 0; at < 20 && !isOpened(bench.story(intent.intentId)); at += 1)
    await bench.clock.advance(1_000)
  const { engine, events } = engineOver(
    { ...bench, journal },
    { strategies: [greedy], limits: { greedy: { maxWishEquityBps: 500_000 } } },
  )
  running = engine
  await engine.start()
  await bench.clock.advance(1_000)
  const first = engine.status().equity
  await bench.clock.advance(120_000)
  const settled = engine.status().equity?.equityUsd ?? 0n
  expect(absOf((first?.equityUsd ?? 0n) - settled)).toBeLessThan(usd(50))
  expect(first?.equityAtMs).toBeUndefined()
  const dollars = Number(settled / 10n ** 30n)
  const said = saidEquities(events)
  expect(said.length).toBeGreaterThan(10)
  for (const each of said) expect(Math.abs(each - dollars)).toBeLessThan(50)
})
