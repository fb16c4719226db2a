/**
 * Order janitor: cancels resting orders that nobody needs any more, whoever placed them: entries that wait for too long or too far from the
 * price, and exits whose position is gone. It opens and edits nothing.
 *
 * It names only what perpd lets it cancel (`risk/exposure/tidying.ts`): never an exit of a position that is there, and never one on a side where
 * something that opens rests or is under way. An order that a strategy places anew after each cancel costs a message each time: give
 * `unreachableBps` and `staleAfterSeconds` more room than the strategies of the account use.
 */
import type { CancelDecision } from '../../domain/order/decision.ts'
import { isFresh, marketOf } from '../../domain/snapshot.ts'
import { type Hex, hexKey, sameHex } from '../../protocol/address.ts'
import { lacksMarket } from '../../protocol/missing.ts'
import { isIncreaseOrder, type Order } from '../../protocol/position.ts'
import { absOf, bps, priceOfContractPrice } from '../../protocol/units.ts'
import { bpsField, secondsField } from '../fields.ts'
import { defineStrategy, type Strategy, type StrategyView, z } from '../strategy.ts'

const schema = z
  .strictObject({
    staleAfterSeconds: secondsField({ min: 300, max: 31_536_000 })
      .optional()
      .describe(
        'age from which an entry that rests is cancelled, since its newest change, seconds; never when left out',
      ),
    unreachableBps: bpsField({ min: 100, max: 9_000 })
      .optional()
      .describe(
        'way from the price to the trigger from which an entry is cancelled, basis points; never when left out',
      ),
    orphans: z.boolean().default(true).describe('whether exits whose position is gone are cancelled'),
    graceSeconds: secondsField({ min: 60, max: 86_400 })
      .default(300_000)
      .describe('time that an order is left alone after its newest change, seconds (300)'),
  })
  .refine(
    (params) =>
      params.orphans || params.staleAfterSeconds !== undefined || params.unreachableBps !== undefined,
    'at least one of staleAfterSeconds, unreachableBps and orphans',
  )

type View = StrategyView<z.output<typeof schema>>

/** Lists that are older say nothing of what is gone, ms. */
const MOST_AGE_MS = 30_000
/** Resting orders that a cancel is for: limit and stop-market increases, take-profits and stop-losses (contract `Order`). */
const restingTypes: ReadonlySet<number> = new Set([3, 5, 6, 8])
/** Most orders of one message. */
const CANCEL_MOST = 20

const kind = defineStrategy({
  kind: 'order-janitor',
  description: 'Cancels resting orders that are stale, out of reach, or left without their position.',
  opensPositions: false,
  params: schema,
  needs: (_params, symbols) => ({ symbols, allPositionMarkets: symbols.length === 0 }),
  decide(view) {
    const { snapshot, instance } = view
    if (
      !isFresh(snapshot, snapshot.orders, MOST_AGE_MS) ||
      !isFresh(snapshot, snapshot.positions, MOST_AGE_MS)
    )
      return []
    const sides = new Map<
      string,
      { readonly first: Order; readonly orderKeys: Hex[]; readonly why: Set<string> }
    >()
    for (const order of snapshot.orders.value) {
      const symbol = marketOf(snapshot, order.marketToken)?.market.symbol
      if (instance.symbols.length > 0 && (symbol === undefined || !instance.symbols.includes(symbol)))
        continue
      // The parts of a twap wait for their time, at any price.
      const isWaiting = restingTypes.has(order.orderType) && order.validFromSeconds === 0
      const why = isWaiting ? reasonOf(view, order) : undefined
      if (why === undefined) continue
      const key = `${hexKey(order.marketToken)}:${order.direction}`
      const side = sides.get(key) ?? { first: order, orderKeys: [], why: new Set() }
      if (side.orderKeys.length < CANCEL_MOST) side.orderKeys.push(order.orderKey)
      side.why.add(why)
      sides.set(key, side)
    }
    return [...sides.values()].map(
      ({ first: { marketToken, direction }, orderKeys, why }): CancelDecision => ({
        kind: 'cancel',
        marketToken,
        direction,
        orderKeys,
        reason: `${orderKeys.length === 1 ? 'An order rests' : `${orderKeys.length} orders rest`} that nobody needs: ${[...why].join('; ')}.`,
        facts: { orders: orderKeys.length },
      }),
    )
  },
})

/** The kind `order-janitor`. */
export const orderJanitor: Strategy<z.output<typeof schema>> = { ...kind, tidiesOrders: true }

/** Why an order is to go, one clause; undefined: it stays. */
function reasonOf({ snapshot, params }: View, order: Order): string | undefined {
  const ageMs = snapshot.atMs - order.updatedAtSeconds * 1_000
  if (ageMs < params.graceSeconds) return undefined
  if (!isIncreaseOrder(order)) return params.orphans ? orphanReason(snapshot, order) : undefined
  const { staleAfterSeconds, unreachableBps } = params
  if (staleAfterSeconds !== undefined && ageMs >= staleAfterSeconds)
    return `an entry has not changed for ${Math.floor(ageMs / 3_600_000)} h`
  const market = marketOf(snapshot, order.marketToken)
  const price = market?.oraclePrice
  if (unreachableBps === undefined || market === undefined || price === undefined) return undefined
  if (!isFresh(snapshot, price, MOST_AGE_MS)) return undefined
  const trigger = priceOfContractPrice(order.triggerContractPrice, market.indexToken.decimals)
  const { medianPrice } = price.value
  return absOf(trigger - medianPrice) > bps(medianPrice, unreachableBps)
    ? `an entry waits more than ${unreachableBps} bps from the price`
    : undefined
}

/** Neither a position, nor an entry that rests, of either collateral: what risk counts besides may still refuse. */
function orphanReason(snapshot: View['snapshot'], order: Order): string | undefined {
  const isHere = (row: { readonly marketToken: string; readonly direction: string }) =>
    sameHex(row.marketToken, order.marketToken) && row.direction === order.direction
  if (lacksMarket(snapshot.positions.missing, order.marketToken)) return undefined
  const hasPosition = snapshot.positions.value.some((row) => isHere(row) && row.sizeInUsd > 0n)
  const hasEntry = snapshot.orders.value.some((row) => isHere(row) && isIncreaseOrder(row))
  return hasPosition || hasEntry ? undefined : 'an exit has no position left'
}
