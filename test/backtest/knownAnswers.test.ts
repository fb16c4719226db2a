/** Strategies whose result on a constructed path is known before the run: a mirror on a mirrored path, and a grid on a sine. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { usualModel } from '../../src/backtest/runModel.ts'
import type { Decision } from '../../src/domain/order/decision.ts'
import type { Direction } from '../../src/protocol/market.ts'
import { parseUnits, type Usd, usd } from '../../src/protocol/units.ts'
import { loadStrategies } from '../../src/strategy/files/load.ts'
import type { StrategyView } from '../../src/strategy/strategy.ts'
import { type Bar, market, runFor, startSeconds, strategyOf, testFolder, writeMinutes } from './runKit.ts'

/** Opens a side at the first turn, and closes it at the tenth minute. */
const holds =
  (direction: Direction) =>
  (view: StrategyView): readonly Decision[] => {
    const row = view.market(market)
    if (row === undefined || view.isBusy()) return []
    const { marketToken, shortToken } = row.market
    const minute = (view.snapshot.atMs / 1000 - startSeconds) / 60
    const base = { marketToken, direction, collateralToken: shortToken, reason: 'as the test says' }
    if (view.ownPositions(market).length > 0) return minute >= 10 ? [{ kind: 'close', ...base }] : []
    if (minute >= 2) return []
    return [{ kind: 'increase', ...base, sizeDeltaUsd: usd(1000), leverageBps: 20_000 } as Decision]
  }

const absolute = (amount: bigint): bigint => (amount < 0n ? -amount : amount)

test('a strategy and its mirror on a mirrored path differ by costs alone', async () => {
  const folder = testFolder()
  const model = { ...usualModel, impact: 'none' as const, skewBps: 0, delayMs: { least: 2_000, most: 2_000 } }
  const price = (minute: number): number => (minute < 5 ? 2000 : 2100)
  async function run(direction: Direction, of: (price: number) => number) {
    const out = direction
    const data = writeMinutes(folder, 16, (minute) => of(price(minute)))
    const keeps = await strategyOf(folder, direction, holds(direction))
    return await runFor(folder, data, 16, [keeps], { out, model })
  }
  const long = await run('long', (each) => each)
  const short = await run('short', (each) => 4000 - each)
  // A hundredth of a percent of spread on each side: a long buys above the price and sells below it, a short the other way round.
  const at = (text: string): Usd => parseUnits(text, 30)
  const longPnl = (usd(1000) * at('2099.79')) / at('2000.2') - usd(1000)
  const shortPnl = usd(1000) - (usd(1000) * at('1900.19')) / at('1999.8')
  const [ofLong, ofShort] = [long, short].map(({ fills }) => fills[1]?.pnlUsd ?? 0n)
  // Tokens of a position are whole units of 18 decimals.
  const dust = usd(1) / 10n ** 12n
  expect(absolute((ofLong ?? 0n) - longPnl)).toBeLessThan(dust)
  expect(absolute((ofShort ?? 0n) - shortPnl)).toBeLessThan(dust)
  for (const { result, fills } of [long, short]) {
    expect(fills).toHaveLength(2)
    const costs = Object.values(result.costs).reduce((sum, each) => sum + each, 0n)
    // What relay and keeper returned is in the coin of the chain, which moved by 5 %: a cent at most.
    expect(absolute(result.madeUsd + costs - (fills[1]?.pnlUsd ?? 0n))).toBeLessThan(usd(2) / 100n)
  }
})

test('a grid on a sine buys each time at its line and takes its profit each time above, once a wave', {
  timeout: 300_000,
}, async () => {
  const folder = testFolder()
  const text = readFileSync(resolve(import.meta.dirname, '../../strategies/eth-grid.yaml'), 'utf8')
  const path = join(folder, 'grid.yaml')
  writeFileSync(path, text)
  const { strategies } = await loadStrategies([path], { takesDisabled: true })
  const waves = 3
  const data = writeMinutes(folder, waves * 60 + 20, (minute): Bar => {
    const at = (of: number): number => 2010 + Math.round(2500 * Math.sin((2 * Math.PI * of) / 60)) / 100
    const [open, close] = [at(minute), at(minute + 1)]
    return [open, Math.max(open, close), Math.min(open, close), close]
  })
  const { fills, result } = await runFor(folder, data, waves * 60 + 20, strategies)
  expect(fills.map(({ action }) => action)).toEqual(Array(waves).fill(['increase', 'decrease']).flat())
  // The line of 2000 alone is reached: the next one below lies at 1980, the low of the wave at 1985.
  for (const { action, price } of fills) {
    if (action === 'increase') expect([price > at(1985), price < at(2002)]).toEqual([true, true])
    else expect([price > at(2018), price < at(2036)]).toEqual([true, true])
  }
  expect([result.trades, result.maxDrawdownBps < 100]).toEqual([waves, true])
  for (const { pnlUsd } of fills.filter(({ action }) => action === 'decrease'))
    expect(pnlUsd).toBeGreaterThan(usd(1))

  function at(dollars: number): Usd {
    return parseUnits(String(dollars), 30)
  }
})
