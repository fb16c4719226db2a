/** Orders that wait for a price: their triggers, on the side where they wait, and the exits that come with an increase. */
import type { DecreaseDecision, ExitRequest, IncreaseDecision } from '../../domain/order/decision.ts'
import type { Denial } from '../../domain/order/intent.ts'
import type { ExitTerms, OrderKind } from '../../domain/order/orderTerms.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import type { Direction, Token } from '../../protocol/market.ts'
import { formatExactPrice, formatPrice } from '../../protocol/priceText.ts'
import {
  BPS_ONE,
  bps,
  contractPriceOf,
  formatDollars,
  priceOfContractPrice,
  type Usd,
} from '../../protocol/units.ts'

/**
 * Most exits of one increase: six auto-cancelled orders a position are the least that any chain allows
 * (docs/reference/api-coverage.md POST /orders/txns/prepare).
 */
const MAX_EXITS = 5

type TriggerKind = Exclude<OrderKind, 'market' | 'twap'>

/** Orders that fire when the price falls to their trigger, on a long; on a short it is the other way round. */
const triggersBelow: ReadonlySet<OrderKind> = new Set<OrderKind>(['limit', 'stop-loss'])

function isTriggerKind(orderType: OrderKind): orderType is TriggerKind {
  return orderType !== 'market' && orderType !== 'twap'
}

/**
 * The trigger of an order as the contract can hold it, USD per whole index token, rounded down to its precision; undefined
 * for an order without one.
 *
 * Refuses with TRIGGER_NOT_POSITIVE, and with TRIGGER_WOULD_FIRE when the price is already there: such an order would fill
 * at once, which is a market order's to do.
 */
export function triggerOf(
  orderType: OrderKind,
  { triggerPrice, direction }: Pick<IncreaseDecision | DecreaseDecision, 'triggerPrice' | 'direction'>,
  price: Usd,
  view: { readonly indexToken: Token },
): Usd | undefined | Denial {
  if (!isTriggerKind(orderType)) return undefined
  return placed(orderType, triggerPrice ?? 0n, direction, price, view)
}

/** The same for a trigger that is requested separately. */
export function placed(
  orderType: TriggerKind,
  wanted: Usd,
  direction: Direction,
  price: Usd,
  { indexToken: { decimals, symbol } }: { readonly indexToken: Token },
): Usd | Denial {
  const triggerPrice = wanted <= 0n ? 0n : priceOfContractPrice(contractPriceOf(wanted, decimals), decimals)
  if (triggerPrice <= 0n) {
    return {
      code: 'TRIGGER_NOT_POSITIVE',
      reason: `A ${orderType} order needs a trigger price above zero.`,
      wanted: formatExactPrice(wanted),
    }
  }
  const isBelow = triggersBelow.has(orderType) === (direction === 'long')
  if (isBelow ? triggerPrice < price : triggerPrice > price) return triggerPrice
  return {
    code: 'TRIGGER_WOULD_FIRE',
    reason: `The trigger of a ${orderType} order of a ${direction} on ${symbol} is ${isBelow ? 'below' : 'above'} the price that it waits at; this one would fire at once.`,
    wanted: formatExactPrice(triggerPrice),
    allowed: `${isBelow ? 'below' : 'above'} ${formatPrice(price)}`,
  }
}

/**
 * The exits of an increase that was admitted with `sizeDeltaUsd` and opens at about `entryPrice`; undefined when it decisions
 * for none. A take-profit lies on the winning side of the entry, a stop-loss on the losing one.
 *
 * Refuses with EXITS_WITH_TWAP, TOO_MANY_EXITS, EXIT_TOO_SMALL, and the codes of `triggerOf`.
 */
export function exitsOf(
  { tpsl, direction, twap }: IncreaseDecision,
  sizeDeltaUsd: Usd,
  entryPrice: Usd,
  view: MarketView,
): readonly ExitTerms[] | undefined | Denial {
  if (tpsl === undefined || tpsl.length === 0) return undefined
  if (twap !== undefined) {
    return {
      code: 'EXITS_WITH_TWAP',
      reason: 'An increase in parts (twap) cannot carry exits, and the strategy file requires them (exit).',
      wanted: `${twap.parts} parts with ${tpsl.length} exits`,
      allowed: 'an order in one piece, or a file without exit',
    }
  }
  if (tpsl.length > MAX_EXITS) {
    return {
      code: 'TOO_MANY_EXITS',
      reason: 'The increase has too many exits.',
      wanted: `${tpsl.length} exits`,
      allowed: `${MAX_EXITS} exits`,
    }
  }
  const exits: ExitTerms[] = []
  for (const wish of tpsl) {
    const triggerPrice = placed(wish.type, wish.triggerPrice, direction, entryPrice, view)
    if (typeof triggerPrice === 'object') return triggerPrice
    const shareUsd = shareOf(wish, sizeDeltaUsd)
    if (shareUsd <= 0n) {
      return {
        code: 'EXIT_TOO_SMALL',
        reason: `A ${wish.type} must close a part of the order.`,
        wanted: `${wish.shareBps ?? BPS_ONE} bps of ${formatDollars(sizeDeltaUsd)}`,
      }
    }
    exits.push({ type: wish.type, triggerPrice, sizeDeltaUsd: shareUsd })
  }
  return exits
}

function shareOf({ shareBps }: ExitRequest, sizeDeltaUsd: Usd): Usd {
  return shareBps === undefined ? sizeDeltaUsd : bps(sizeDeltaUsd, Math.min(shareBps, BPS_ONE))
}
