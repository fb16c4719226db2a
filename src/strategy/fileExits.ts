/** Present values of a strategy file's exits: distances in average true ranges use the market's own candles. Pure. */
import {
  type ExitSettings,
  needsRange,
  type PricedExits,
  pricedBy,
  withoutItsRange,
} from '../domain/order/exitSettings.ts'
import type { MarketView } from '../domain/snapshot.ts'
import type { Usd } from '../protocol/units.ts'
import { closedFigures } from './closedFigures.ts'
import { priceOfLevel } from './levels.ts'
import type { CandleNeed, Needs } from './strategy.ts'

/** Wilder's range of n candles is one of many more: so many times as many are read. */
const RANGE_TIMES = 3

/** Returns the needs of a kind, with the candles that the file's exits need besides. */
export function withExitNeeds(
  needs: Needs,
  exits: ExitSettings | undefined,
  symbols: readonly string[],
): Needs {
  if (exits === undefined || !needsRange(exits)) return needs
  const { period, candles } = exits.range
  const limit = candles * RANGE_TIMES + 1
  const known = needs.candles ?? []
  const wider = known.map((need) =>
    need.period === period && symbols.includes(need.symbol) && need.limit < limit ? { ...need, limit } : need,
  )
  const more = symbols
    .filter((symbol) => !known.some((need) => need.symbol === symbol && need.period === period))
    .map((symbol): CandleNeed => ({ symbol, period, limit }))
  return { ...needs, candles: [...wider, ...more] }
}

/** The exits with distances that are known; undefined while a range that they need is not. `atMs`: Unix ms. */
export function exitsNow(
  exits: ExitSettings,
  view: MarketView | undefined,
  atMs: number,
): PricedExits | undefined {
  return pricedBy(exits, needsRange(exits) ? rangeOf(exits, view, atMs) : undefined)
}

/** The exits that a running perpd keeps now: while the range is not known, all that do not count in it. */
export function keptExitsNow(...[exits, view, atMs]: Parameters<typeof exitsNow>): PricedExits {
  return exitsNow(exits, view, atMs) ?? withoutItsRange(exits)
}

function rangeOf(
  { range: { period, candles: length } }: ExitSettings,
  view: MarketView | undefined,
  atMs: number,
): Usd | undefined {
  const read = [view?.candles, ...(view?.moreCandles ?? [])].find((each) => each?.value.period === period)
  const level = read === undefined ? undefined : closedFigures(read.value, atMs).atr(length)
  return level === undefined || !(level > 0) ? undefined : priceOfLevel(level)
}
