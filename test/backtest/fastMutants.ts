/** Faults planted in fast mode alone, as patches of the source text: the comparison with exact must find each of them. None of them is anywhere in the product. */
import type { Patched } from '../simulation/mutantSource.ts'

/** One fault; `cases` are tried in order. */
export interface FastMutant extends Patched {
  readonly cases: readonly number[]
}

const turns = 'src/backtest/fast/quietTurns.ts'
const watched = 'src/backtest/fast/watchedTurns.ts'
const windows = 'src/backtest/fast/candleWindows.ts'
const snapshot = 'src/backtest/fast/laterSnapshot.ts'
const life = 'src/backtest/fast/quietLife.ts'
const fees = 'src/paper/math/positionFees.ts'

/** A trend with exits that often trades. */
const trend = [12]
const breakout = [13]

function one(
  name: string,
  cases: readonly number[],
  file: string,
  find: string,
  replace: string,
): FastMutant {
  return { name, cases, patches: [{ file, find, replace }] }
}

/** All of them. */
export const fastMutants: readonly FastMutant[] = [
  one(
    'the position fee is charged once, when a position opens',
    breakout,
    fees,
    'const positionFeeAmount = fac(size, feeFactor) / price',
    'const positionFeeAmount = position.sizeInUsd > size ? 0n : fac(position.sizeInUsd === size ? 0n : size, feeFactor) / price',
  ),
  one(
    'funding counts from a minute before',
    trend,
    'src/paper/math/funding.ts',
    'const dt = state.fundingUpdatedAtSeconds === 0 ? 0 : nowSeconds - state.fundingUpdatedAtSeconds',
    'const dt = state.fundingUpdatedAtSeconds === 0 ? 0 : nowSeconds - state.fundingUpdatedAtSeconds + 60',
  ),
  one(
    'nobody pays for borrowing',
    trend,
    fees,
    'const borrowingFeeAmount = borrowingFeeUsd / price',
    'const borrowingFeeAmount = 0n * borrowingFeeUsd * price',
  ),
  one(
    'the target comes before the stop',
    [12, 8, 10, 2],
    'src/paper/catalog/historyPrices.ts',
    "const isHighFirst = way === 'high first' || (way !== 'low first' && most - first < first - least)",
    "const isHighFirst = way === 'low first' || (way !== 'high first' && most - first >= first - least)",
  ),
  one(
    'an order executes at once',
    breakout,
    'src/paper/keeper/relayBatch.ts',
    'const wait = Math.max(1, Math.round(delayMs - relayDelayMs))',
    'const wait = Math.min(1, Math.round(delayMs - relayDelayMs))',
  ),
  one(
    'the open interest is skewed to the other side',
    trend,
    'src/paper/state/seedMarkets.ts',
    "(side === 'long' ? venue.skewBps : -venue.skewBps)",
    "(side === 'short' ? venue.skewBps : -venue.skewBps)",
  ),
  one(
    'payouts lose a unit',
    breakout,
    'src/paper/keeper/settle.ts',
    'addTo(receiver.balances, paid, amount)',
    'addTo(receiver.balances, paid, amount - 1n)',
  ),
  one(
    'the keeper returns nothing of its fee',
    breakout,
    'src/paper/keeper/executionFees.ts',
    'const left = executionFee - paid',
    'const left = executionFee - paid - (executionFee - paid)',
  ),
  one(
    'the running candle counts as closed',
    trend,
    'src/strategy/closedCandles.ts',
    '(candle.timestampSeconds + periodSeconds[period]) * 1000 <= nowMs)',
    'candle.timestampSeconds * 1000 <= nowMs)',
  ),
  one(
    'a kind is not asked at the turns that pass',
    trend,
    watched,
    'if (last === undefined) return false\n      const { view, memory } = last',
    'if (last !== undefined) return true\n      const { view, memory } = last as never as LastTurn',
  ),
  one(
    'a kind is shown the candles of ten minutes before',
    trend,
    windows,
    'const range = prices.rangeOf(key, fromSecond, toSecond)',
    'const range = prices.rangeOf(key, fromSecond - 600, toSecond - 600)',
  ),
  // One candle less makes no difference where turns and candles are equally long: the turn after the next is asked too, and sees what the next would.
  one(
    'a kind is not shown the two newest closed candles',
    [12, 13, 10, 4, 8],
    windows,
    'finished.slice(from, from + limit - 1)',
    'finished.slice(from, from + limit - 3)',
  ),
  one(
    'a kind is shown the price of the turn before',
    [12, 4, 2, 6],
    snapshot,
    'second: Math.floor((read.atMs + afterMs) / 1000),',
    'second: Math.floor((read.atMs + afterMs) / 1000) - 60,',
  ),
  one(
    'a kind is shown the time of its last turn',
    trend,
    snapshot,
    '    atMs: read.atMs + afterMs,\n    markets,',
    '    atMs: read.atMs,\n    markets,',
  ),
  one(
    'a resting order is passed over',
    [12, 10],
    turns,
    'if (isExposed && quietUntil(venueState, fromSecond, second) < second) return false',
    'if (isExposed && quietUntil(venueState, fromSecond, second) < 0) return false',
  ),
  one(
    'what is to come after turns that passed comes a second late',
    breakout,
    'src/backtest/lab/timeline.ts',
    'for (const entry of heap) entry.atMs += ms',
    'for (const entry of heap) entry.atMs += ms + 1_000',
  ),
  one(
    'an exit is not shrunk when a keeper cut its position',
    [166, 147, 169, 316],
    'src/engine/maintainExits.ts',
    'return syncExits({ ...facts, settledMs: aheadStamps.settledMs }).map(keyed)',
    "return syncExits({ ...facts, settledMs: aheadStamps.settledMs }).filter(({ kind }) => kind !== 'edit').map(keyed)",
  ),
  one(
    'exits that follow the price stand still',
    [160, 115, 37, 19],
    turns,
    'return plan !== undefined && (exitsHereOf(plan).length > 0 || needsRange(plan))',
    'return plan !== undefined && exitsHereOf(plan).length > 9 && needsRange(plan)',
  ),
  one(
    'an exit that was denied is not tried again while turns pass',
    [357],
    life,
    "event.type === 'journal.committed' || event.type === 'decision.denied'",
    "event.type === 'journal.committed'",
  ),
  one(
    'turns that pass are not counted',
    breakout,
    life,
    'passed(lengths.reduce((sum, turnSeconds) => sum + gridSeconds / turnSeconds, 0))',
    'passed(0)',
  ),
  one(
    'no equity is noted while turns pass',
    breakout,
    life,
    'if (stop === nextPoint) points.note(stop)',
    'if (stop < 0) points.note(stop)',
  ),
  one(
    'an execution is heard of when the daemon asks',
    [12, 10, 24],
    'src/backtest/lab/executionWatch.ts',
    '      executed()\n',
    '      if (trade < 0) executed()\n',
  ),
  one(
    'turns pass over an execution that was not yet heard of',
    [1_007, 1_012],
    life,
    'if (venueState.counters.trade === heardTrades) return',
    'if (venueState.counters.trade >= heardTrades) return',
  ),
  one(
    'an execution between two looks is heard of at a later one',
    [1_007],
    'src/backtest/lab/executionWatch.ts',
    'cancel = scheduler.after(0, look)\n      return',
    'cancel = () => undefined',
  ),
]
