/** Costs of the account's own newest orders: how much of what sending cost came back, and how far beyond their triggers stops filled. Pure. */
import { type IntentState, isOpen, lastAttempt } from '../domain/order/intent.ts'
import { sameHex } from '../protocol/address.ts'
import {
  absOf,
  BPS_ONE,
  formatUnits,
  maxOf,
  minOf,
  mulDiv,
  parseUnits,
  USD_DECIMALS,
  type Usd,
} from '../protocol/units.ts'

/** Newest own orders that are looked at. */
export const LOOKED_AT = 500

/** Distance beyond its trigger at which a stop fills while no own stop has filled on the market, bps. */
const FIRST_BEYOND_BPS = 10

/** Returns how far beyond their triggers the own stops of a market filled, bps, as the middle of them; 0.1 % before the first. */
export function stopBeyondBps(states: readonly IntentState[], marketToken: string): number {
  const distances = states.flatMap(({ intent: { terms }, attempts }) => {
    if (!sameHex(terms.marketToken, marketToken)) return []
    const stops = (terms.tpsl ?? []).filter(({ type }) => type === 'stop-loss')
    const children = attempts.at(-1)?.children ?? []
    return children.flatMap(({ role, settlement }) => {
      const isOwn = role === 'main' && terms.orderType === 'stop-loss'
      const trigger = isOwn ? terms.triggerPrice : stops.length === 1 ? stops[0]?.triggerPrice : undefined
      const price = settlement?.executionPrice
      if ((!isOwn && role !== 'stop-loss') || trigger === undefined || price === undefined) return []
      const isWorse = terms.direction === 'long' ? price < trigger : price > trigger
      return [isWorse ? Number(mulDiv(absOf(price - trigger), BigInt(BPS_ONE), trigger)) : 0]
    })
  })
  return middleOf(distances) ?? FIRST_BEYOND_BPS
}

/** Returns the part of what sending cost that came back, bps of it, as the middle of the landed ones that show it; undefined while none does. */
export function comesBackBps(states: readonly IntentState[], feeTokenDecimals: number): number | undefined {
  const shares = states.flatMap((state) => {
    const attempt = lastAttempt(state)
    const paid = attempt?.armed?.relayFeeAmount ?? 0n
    if (attempt === undefined || attempt.phase !== 'LANDED' || isOpen(state) || paid <= 0n) return []
    const paidUsd = parseUnits(formatUnits(paid, feeTokenDecimals), USD_DECIMALS)
    const backs = [
      attempt.feeReturnedUsd,
      ...attempt.children.map(({ settlement }) => settlement?.executionFeeReturnedUsd),
    ]
    const backUsd = backs.reduce<Usd>((sum, back) => sum + (back ?? 0n), 0n)
    if (backs.every((back) => back === undefined)) return []
    return [Number(mulDiv(minOf(maxOf(0n, backUsd), paidUsd), BigInt(BPS_ONE), paidUsd))]
  })
  return middleOf(shares)
}

/** The middle of some numbers, the lower of two; undefined of none. */
function middleOf(values: readonly number[]): number | undefined {
  return values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) / 2)]
}
