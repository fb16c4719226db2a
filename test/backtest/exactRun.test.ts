/** Backtests in exact mode on candles that a test makes: what they come to is known, and the same run is the same bytes. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { candlePaths } from '../../src/backtest/runFiles.ts'
import { usualModel } from '../../src/backtest/runModel.ts'
import type { Emit } from '../../src/domain/event.ts'
import type { Decision } from '../../src/domain/order/decision.ts'
import { lastAttempt } from '../../src/domain/order/intent.ts'
import type { Direction } from '../../src/protocol/market.ts'
import { parseUnits, usd } from '../../src/protocol/units.ts'
import type { StrategyView } from '../../src/strategy/strategy.ts'
import { type Bar, market, runFor, startSeconds, strategyOf, testFolder, writeMinutes } from './runKit.ts'

/** Opens a long at the first turn, and closes it at a minute of the run; never when none is given. */
function holds(
  closesAtMinute = Number.POSITIVE_INFINITY,
  more: Partial<Decision> = {},
  symbol: string = market,
) {
  return (view: StrategyView): readonly Decision[] => {
    const row = view.market(symbol)
    if (row === undefined || view.openIntents.some(({ onlyExitsRest }) => onlyExitsRest !== true)) return []
    const { marketToken, shortToken } = row.market
    const minute = (view.snapshot.atMs / 1000 - startSeconds) / 60
    const { direction = 'long' } = more as { direction?: Direction }
    const base = { marketToken, direction, reason: 'as the test says' } as const
    const [held] = view.positions(symbol)
    if (held !== undefined)
      return minute >= closesAtMinute
        ? [{ kind: 'close', ...base, collateralToken: held.collateralToken }]
        : []
    if (minute >= 2) return []
    const open = {
      kind: 'increase',
      ...base,
      sizeDeltaUsd: usd(1000),
      leverageBps: 20_000,
      collateralToken: shortToken,
    }
    return [{ ...open, ...more } as Decision]
  }
}

const wave = (minute: number): Bar => {
  const at = (of: number): number => 2000 + Math.round(4000 * Math.sin(of / 9)) / 100
  const [open, close] = [at(minute), at(minute + 1)]
  return [open, Math.max(open, close) + 1, Math.min(open, close) - 1, close]
}

test('a strategy that never trades ends with what it had, to the unit', async () => {
  const folder = testFolder()
  const idle = await strategyOf(folder, 'idle', () => [])
  const { result, fills, tally } = await runFor(folder, writeMinutes(folder, 20, wave), 20, [idle])
  expect(fills).toEqual([])
  expect(result).toMatchObject({
    startUsd: usd(10_000),
    endUsd: usd(10_000),
    madeUsd: 0n,
    maxDrawdownUsd: 0n,
  })
  expect(result.balances).toEqual({ USDC: { start: 10_000_000_000n, end: 10_000_000_000n } })
  // A turn at each close of a minute, the first at the beginning.
  expect(tally.turns).toBe(21)
  const hold = (usd(10_000) * parseUnits(String(wave(20)[0]), 30)) / parseUnits('2000', 30)
  expect(tally.equity.at(-1)?.holdUsd).toBe(hold)
})

test('what was paid in, less what was paid out and what messages cost, is what is left of the dollars, to the unit', async () => {
  const folder = testFolder()
  const turns = await strategyOf(folder, 'turns', holds(12))
  const { result, fills, tally } = await runFor(folder, writeMinutes(folder, 20, wave), 20, [turns])
  expect(fills.map(({ action }) => action)).toEqual(['increase', 'decrease'])
  const paidIn = fills.reduce((sum, { collateralDelta }) => sum + collateralDelta, 0n)
  const sent = tally.intents.reduce((sum, state) => {
    const attempt = lastAttempt(state)
    return attempt?.phase === 'LANDED' ? sum + (attempt.armed?.relayFeeAmount ?? 0n) : sum
  }, 0n)
  expect(sent).toBeGreaterThan(0n)
  const { start = 0n, end } = result.balances.USDC ?? {}
  expect(end).toBe(start - paidIn - sent)
  const { positionFeesUsd, sendingUsd } = result.costs
  expect(positionFeesUsd).toBe(fills.reduce((sum, { positionFeeUsd }) => sum + positionFeeUsd, 0n))
  expect(sendingUsd).toBe(fills.reduce((sum, { sendingFeeUsd }) => sum + sendingFeeUsd, 0n))
})

test('buy and hold where the price stands and then steps is the formula: tokens times the price, less what was paid for them and the costs', async () => {
  const folder = testFolder()
  const keeps = await strategyOf(folder, 'keeps', holds())
  const data = writeMinutes(folder, 20, (minute) => (minute < 10 ? 2000 : 2100))
  const { fills, tally } = await runFor(folder, data, 20, [keeps], {
    model: {
      delayMs: { least: 2000, most: 2000 },
      path: 'nearer first',
      impact: 'none',
      skewBps: 0,
      gasPriceGwei: '0',
    },
  })
  const [fill] = fills
  // Bought at the higher price of the spread, valued at the lower one.
  expect(fill).toMatchObject({ sizeDeltaUsd: usd(1000), price: parseUnits('2000.2', 30), impactUsd: 0n })
  const tokens = usd(1000) / parseUnits('2000.2', 12)
  const worth = (price: string): bigint => tokens * parseUnits(price, 12)
  const [before, after] = [9, 11].map((minute) =>
    tally.equity.find(({ second }) => second === startSeconds + minute * 60),
  )
  const moved = (after?.equityUsd ?? 0n) - (before?.equityUsd ?? 0n)
  // Relay and keeper gave back parts of their fees in the coin of the chain, which rose too.
  const { ETH = 0n, WETH = 0n } = tally.amounts
  const formula = worth('2099.79') - worth('1999.8') + (ETH + WETH) * parseUnits('100', 12)
  // What funding and borrowing took in two minutes is below a hundredth of a dollar.
  expect(moved).toBeLessThanOrEqual(formula)
  expect(formula - moved).toBeLessThan(usd(1) / 100n)
})

test('a stop in a gap fills at the next price, and nothing turns or executes where there is none', async () => {
  const folder = testFolder()
  const stop: Partial<Decision> = {
    tpsl: [{ type: 'stop-loss', triggerPrice: parseUnits('1950', 30) }],
  } as never
  const seen: number[] = []
  const long = holds(Number.POSITIVE_INFINITY, stop)
  const keeps = await strategyOf(folder, 'keeps', ((view: StrategyView) => {
    seen.push((view.snapshot.atMs / 1000 - startSeconds) / 60)
    return long(view)
  }) as never)
  const data = writeMinutes(folder, 30, (minute) => (minute < 8 ? 2000 : minute < 16 ? undefined : 1800))
  const { fills, manifest, result } = await runFor(folder, data, 30, [keeps])
  expect(manifest.inputs[0]?.gaps).toEqual([
    { fromSeconds: startSeconds + 480, toSeconds: startSeconds + 960 },
  ])
  expect(seen.filter((minute) => minute >= 8 && minute < 16)).toEqual([])
  expect(seen.filter((minute) => minute >= 16).length).toBeGreaterThan(10)
  const [, exit] = fills
  expect(exit?.action).toBe('decrease')
  expect((exit?.second ?? 0) - startSeconds).toBeGreaterThanOrEqual(960)
  // Not at the price of the stop: there was none between.
  expect(exit?.price).toBeLessThan(parseUnits('1801', 30))
  expect(result.ambiguousFills).toBe(0)
})

test('a stop that executes is heard of five seconds later, at whatever second, in a later segment of a run too', async () => {
  const folder = testFolder()
  // 615 seconds are a look's time where an order that rests is looked at each ten minutes.
  const cases = ['1995', '1940', '1902'].flatMap((stopped) => [
    { stopped, segmentSeconds: 840 },
    { stopped, segmentSeconds: 240 },
  ])
  for (const { stopped, segmentSeconds } of cases) {
    const stop = { tpsl: [{ type: 'stop-loss', triggerPrice: parseUnits(stopped, 30) }] } as never
    const keeps = await strategyOf(folder, 'keeps', holds(Number.POSITIVE_INFINITY, stop))
    const data = writeMinutes(folder, 14, (minute) => (minute === 10 ? [2000, 2000, 1900, 2000] : 2000))
    const heard: number[] = []
    const listen: Emit = (event) => {
      if (event.type === 'journal.committed') heard.push(event.record.atMs / 1000)
    }
    const out = `stop at ${stopped}, segments of ${segmentSeconds} s`
    const { fills } = await runFor(folder, data, 14, [keeps], { out, segmentSeconds, listen })
    const exit = fills[1]?.second ?? 0
    expect(
      heard.find((second) => second > exit),
      out,
    ).toBe(exit + 5)
  }
})

test('stop and target within one candle: the stop fills, or the way inside it decides where that is asked for; the fill is counted as ambiguous', async () => {
  const folder = testFolder()
  const exits = [
    { type: 'stop-loss', triggerPrice: parseUnits('1970', 30) },
    { type: 'take-profit', triggerPrice: parseUnits('2030', 30) },
  ]
  const both = await strategyOf(folder, 'both', holds(Number.POSITIVE_INFINITY, { tpsl: exits } as never))
  const wide = (first: 'high' | 'low'): Bar =>
    first === 'high' ? [2000, 2035, 1960, 2000] : [2000, 2040, 1965, 2000]
  for (const first of ['high', 'low'] as const) {
    const data = writeMinutes(folder, 12, (minute) => (minute === 6 ? wide(first) : 2000))
    for (const path of candlePaths) {
      const model = { ...usualModel, path }
      const { fills, result } = await runFor(folder, data, 12, [both], { out: `${first} ${path}`, model })
      expect(result.ambiguousFills, first).toBe(1)
      const price = fills[1]?.price ?? 0n
      const isTarget = path === 'nearer first' && first === 'high'
      expect(price > parseUnits('2000', 30), `${first} ${path}`).toBe(isTarget)
    }
  }
})

test('the same run is the same bytes, and one that was stopped and resumed is the run that was not', async () => {
  const folder = testFolder()
  const data = writeMinutes(folder, 40, wave)
  const turns = await strategyOf(folder, 'turns', holds(25))
  const wish = { segmentSeconds: 900 }
  const whole = await runFor(folder, data, 40, [turns], { ...wish, out: 'whole' })
  expect(whole.fills.map(({ action }) => action)).toEqual(['increase', 'decrease'])
  const stopped = runFor(folder, data, 40, [turns], {
    ...wish,
    out: 'other',
    told(second) {
      if (second > startSeconds + 900) throw new Error('stopped')
    },
  })
  await expect(stopped).rejects.toThrow('stopped')
  const resumed = await runFor(folder, data, 40, [turns], { ...wish, out: 'other' })
  for (const name of ['manifest', 'fills', 'equity', 'candles', 'result'] as const)
    expect(resumed.file(name), name).toBe(whole.file(name))
  expect(resumed.tally.intents).toEqual(whole.tally.intents)
})

test('reads that go to the venue directly give the bytes that the client gives by its whole way', async () => {
  const folder = testFolder()
  const turns = await strategyOf(folder, 'turns', holds(12))
  const data = writeMinutes(folder, 20, wave)
  const [direct, whole] = [
    await runFor(folder, data, 20, [turns], { out: 'direct' }),
    await runFor(folder, data, 20, [turns], { out: 'whole', readsDirectly: false }),
  ]
  expect(direct.fills).toHaveLength(2)
  for (const name of ['fills', 'equity', 'result'] as const) expect(direct.file(name)).toBe(whole.file(name))
  // The evidence of each order is the same too: blocks, transactions, and when the daemon heard of them.
  expect(direct.tally.intents).toEqual(whole.tally.intents)
})

test('the order of instances that trade changes nothing where they do not compete for capacity', async () => {
  const folder = testFolder()
  const btc = 'BTC/USD [BTC-USDC]'
  const minutes = Array.from({ length: 140 }, (_unused, at) => at - 120)
  const lines = minutes.flatMap((minute) => {
    const [open, high, low, close] = wave(minute)
    const second = startSeconds + minute * 60
    return [
      [second, open, high, low, close, 'ETH'].join(','),
      [second, ...[open, high, low, close].map((price) => 20 * price), 'BTC'].join(','),
    ]
  })
  const data = join(folder, 'both.csv')
  writeFileSync(data, ['timestamp,open,high,low,close,symbol', ...lines, ''].join('\n'))
  const one = await strategyOf(folder, 'one', holds(12))
  const other = await strategyOf(folder, 'two', holds(9, { direction: 'short' }, btc), { market: btc })
  const two = { ...other, needs: { symbols: [btc] } }
  // Who is asked first gets the first of the drawn delays: here all are alike.
  const model = { ...usualModel, delayMs: { least: 3_000, most: 3_000 } }
  const first = await runFor(folder, data, 20, [one, two], { out: 'first', model })
  const second = await runFor(folder, data, 20, [two, one], { out: 'second', model })
  const sorted = (run: typeof first) => run.file('fills').split('\n').toSorted()
  expect(first.fills).toHaveLength(4)
  expect(sorted(second)).toEqual(sorted(first))
  expect(second.file('equity')).toBe(first.file('equity'))
  expect(second.result.balances).toEqual(first.result.balances)
})
