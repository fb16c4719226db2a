/** The price of an exit that an operator places by price or by percent of the entry price. Pure. */
import { typedPercentBps } from '../base/typedNumber.ts'
import type { ExitType } from '../domain/exitKeeper.ts'
import { awayFrom } from '../domain/order/exitSettings.ts'
import type { Direction } from '../protocol/market.ts'
import { type Usd, usd } from '../protocol/units.ts'

/**
 * USD per whole index token. A percent lies on the losing side of the entry price for a stop-loss, and on the winning one for a take-profit.
 *
 * @param typed `exitPlace` of the body's fields
 */
export function priceOfPlace(typed: string, entryPrice: Usd, direction: Direction, type: ExitType): Usd {
  if (!typed.endsWith('%')) return usd(typed)
  const distance = { bps: typedPercentBps(typed) ?? 0 }
  return awayFrom(entryPrice, distance, direction, type === 'stop-loss' ? 'losing' : 'winning')
}
