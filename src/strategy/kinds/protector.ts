/**
 * Protector: ensures that every position of the account, or of the markets named, has a stop-loss, and a take-profit if requested, whoever opened it.
 * It opens nothing.
 *
 * Resting orders count, whoever placed them, unless they froze. One order of a type for a position covers the uncovered part. That order grows and
 * shrinks with the position; it is never moved while the size stays. A stop never lies further than half way to the liquidation price, where it would
 * come too late. While the fate of its own order on a side is unknown, it places no second one there. perpd itself (`risk/orphans.ts`) and the venue
 * cancel the exits that a position leaves behind.
 */
import { defined, ifDefined } from '../../base/defined.ts'
import type { Decision, DecreaseDecision } from '../../domain/order/decision.ts'
import { marketOf } from '../../domain/snapshot.ts'
import { sameHex } from '../../protocol/address.ts'
import { executionSidePrice } from '../../protocol/market.ts'
import { lacksMarket } from '../../protocol/missing.ts'
import type { Order, Position } from '../../protocol/position.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { bps, formatUsd, maxOf, minOf, type Usd } from '../../protocol/units.ts'
import { bpsField, secondsField } from '../fields.ts'
import type { RestingOrder } from '../resting.ts'
import { defineStrategy, type StrategyView, z } from '../strategy.ts'

const schema = z.strictObject({
  stopBps: bpsField({ min: 10, max: 9000 })
    .default(500)
    .describe('distance from the entry price at which a position closes with a loss'),
  targetBps: bpsField({ min: 10, max: 9000 })
    .optional()
    .describe('distance from the entry price at which it closes with a profit; no take-profit when left out'),
  whenPast: z
    .enum(['from-price', 'close'])
    .default('from-price')
    .describe(
      'action when the price has already passed that point: measure from the current price, or close at once',
    ),
  graceSeconds: secondsField({ min: 0, max: 3600 })
    .default(20_000)
    .describe('time for the opener of the position to place its own exit first, seconds (20)'),
  toleranceBps: bpsField({ max: 5000 })
    .default(200)
    .describe('share of a position that may be uncovered or covered twice before it changes the order'),
})

/** Times from which a part of a position is uncovered, Unix ms, by its key and the type of the missing order. */
const memorySchema = z.strictObject({ sinceMs: z.record(z.string(), z.number()) })

type ExitType = 'stop-loss' | 'take-profit'
type View = StrategyView<z.output<typeof schema>>

/** On-chain types of exits (contract `Order`, `OrderType`). */
const exitTypes: Readonly<Record<ExitType, number>> = { 'take-profit': 5, 'stop-loss': 6 }

/** The kind `protector`. */
export const protector = defineStrategy({
  kind: 'protector',
  description: 'Places a stop-loss, and optionally a take-profit, for every position without one.',
  opensPositions: false,
  params: schema,
  memory: { version: 1, schema: memorySchema, first: { sinceMs: {} } },
  needs: (_params, symbols) => ({ symbols, allPositionMarkets: symbols.length === 0 }),
  decide(view, { sinceMs }: z.output<typeof memorySchema>) {
    const { symbols } = view.instance
    const watched =
      symbols.length === 0 ? view.positions() : symbols.flatMap((symbol) => view.positions(symbol))
    const types: readonly ExitType[] =
      view.params.targetBps === undefined ? ['stop-loss'] : ['stop-loss', 'take-profit']
    const decisions: Decision[] = []
    const uncovered: Record<string, number> = {}
    for (const position of watched) {
      if (position.sizeInUsd <= 0n) continue
      const wanted: Decision[] = []
      for (const type of types) {
        const judged = judge(view, position, type)
        if (judged === undefined) continue
        if (judged.missing) {
          const key = `${position.contractKey}:${type}`
          const { atMs } = view.snapshot
          const dueMs = atMs - view.params.graceSeconds
          const known = sinceMs[key] ?? atMs
          // Each refusal is written down with the memory: it is not asked again at once. A clock that was set back makes no wait longer.
          const since = isRefused(view, position) ? dueMs + RETRY_MS : Math.min(known, atMs + RETRY_MS)
          uncovered[key] = since
          if (since > dueMs) continue
        }
        wanted.push(...judged.decisions)
      }
      // A position that is closed now needs no waiting order.
      const closing = wanted.find(({ kind, ...rest }) => kind === 'decrease' && !('triggerPrice' in rest))
      decisions.push(...(closing === undefined ? wanted : [closing]))
    }
    return { decisions, memory: { sinceMs: uncovered } }
  },
})

/** Pause after a refusal, ms. */
const RETRY_MS = 15_000

/** Tells whether its request on a side in the previous turn was denied. */
function isRefused({ events }: View, { marketToken, direction }: Position): boolean {
  return events.some(
    (event) =>
      event.kind === 'denied' &&
      event.direction === direction &&
      event.marketToken !== undefined &&
      sameHex(event.marketToken, marketToken),
  )
}

/** Necessary decisions about one type of exit of a position; `missing`: it has too little of it, and its opener may still place it. */
interface Judged {
  readonly missing: boolean
  readonly decisions: readonly Decision[]
}

/** Undefined: all is as it should be, or nothing may be done now. */
function judge(view: View, position: Position, type: ExitType): Judged | undefined {
  const { snapshot, params } = view
  const isHere = (order: { readonly marketToken: string; readonly direction: string }) =>
    sameHex(order.marketToken, position.marketToken) && order.direction === position.direction
  const resting = view.restingOrders.filter(
    (order) =>
      isHere(order) && order.orderType === type && sameHex(order.collateralToken, position.collateralToken),
  )
  const shown = new Set(view.restingOrders.map(({ intentId }) => intentId))
  // An order in flight, unknown, or resting and not listed yet may cover this position. Its collateral is unknown.
  const isOnTheWay = view.openIntents.some(
    (open) => isHere(open) && !shown.has(open.intentId) && (open.orderType === type || open.kind === 'close'),
  )
  if (isOnTheWay || resting.some(({ isChanging }) => isChanging)) return undefined
  // A list that lacks a row may hide an exit of somebody else.
  if (lacksMarket(snapshot.orders.missing, position.marketToken)) return undefined
  const [own, ...more] = resting
  if (more.length > 0) return { missing: false, decisions: [cancelOf(position, type, more)] }
  const othersUsd = coverOf(snapshot.orders.value, position, type, resting)
  const leftUsd = maxOf(0n, position.sizeInUsd - othersUsd)
  const tolerated = bps(position.sizeInUsd, params.toleranceBps)
  if (own === undefined) {
    const least = marketOf(snapshot, position.marketToken)?.market.minPositionSizeUsd ?? 0n
    if (leftUsd <= tolerated || leftUsd < maxOf(1n, least)) return undefined
    return { missing: true, decisions: placement(view, position, type, leftUsd) }
  }
  const isLow = leftUsd > own.sizeDeltaUsd + tolerated
  const isHigh = own.sizeDeltaUsd > position.sizeInUsd + tolerated
  if (!isLow && !isHigh && !own.isFrozen) return undefined
  const wantedUsd = isLow || isHigh ? (leftUsd > 0n ? leftUsd : position.sizeInUsd) : own.sizeDeltaUsd
  return { missing: false, decisions: [editOf(view, position, own, wantedUsd)] }
}

/** Returns the size of a position that others' exits cover, USD. A frozen exit may stay frozen, and covers nothing. */
function coverOf(
  orders: readonly Order[],
  position: Position,
  type: ExitType,
  own: readonly RestingOrder[],
): Usd {
  return orders
    .filter(
      (order) =>
        order.orderType === exitTypes[type] &&
        !order.isFrozen &&
        order.direction === position.direction &&
        sameHex(order.marketToken, position.marketToken) &&
        sameHex(order.initialCollateralToken, position.collateralToken) &&
        !own.some(({ orderKey }) => sameHex(orderKey, order.orderKey)),
    )
    .reduce((sum, { sizeDeltaUsd }) => sum + sizeDeltaUsd, 0n)
}

function placement(
  view: View,
  position: Position,
  type: ExitType,
  sizeDeltaUsd: Usd,
): readonly DecreaseDecision[] {
  const { marketToken, direction, collateralToken, entryPrice } = position
  const price = priceNow(view, position)
  const fromEntry = entryPrice === undefined ? undefined : triggerFrom(entryPrice, position, type, view)
  const isPast = fromEntry === undefined || !waits(fromEntry, price, position, type)
  const triggerPrice = isPast ? triggerFrom(price, position, type, view) : fromEntry
  const base = { kind: 'decrease', marketToken, direction, collateralToken, sizeDeltaUsd } as const
  const facts = {
    price: formatPrice(price),
    ...defined({ entry: ifDefined(entryPrice, formatPrice) }),
    sizeUsd: formatUsd(position.sizeInUsd),
  }
  if (isPast && fromEntry !== undefined && view.params.whenPast === 'close') {
    const reason = `The price is past ${formatPrice(fromEntry)}, where the ${type} of the ${direction} position belongs.`
    return [{ ...base, keepLeverage: false, facts, reason }]
  }
  if (!waits(triggerPrice, price, position, type)) return []
  return [
    {
      ...base,
      orderType: type,
      triggerPrice,
      // The collateral stays with the rest, if there is any.
      keepLeverage: false,
      facts: { ...facts, trigger: formatPrice(triggerPrice) },
      reason: `${formatUsd(sizeDeltaUsd)} of the ${direction} position has no ${type}.`,
    },
  ]
}

function editOf(view: View, position: Position, own: RestingOrder, sizeDeltaUsd: Usd): Decision {
  const { marketToken, direction, entryPrice } = position
  const type = own.orderType as ExitType
  const trigger = entryPrice === undefined ? undefined : triggerFrom(entryPrice, position, type, view)
  // An increase moved the entry. If the price has already passed the new place, the old one is better than none.
  const isMoved =
    !own.isFrozen && trigger !== undefined && waits(trigger, priceNow(view, position), position, type)
  return {
    kind: 'edit',
    marketToken,
    direction,
    orderKey: own.orderKey,
    sizeDeltaUsd,
    ...defined({ triggerPrice: isMoved ? trigger : undefined }),
    reason: own.isFrozen
      ? `The ${type} of the ${direction} position is frozen; the protector retries it.`
      : `The ${type} covers ${formatUsd(own.sizeDeltaUsd)}; its share of the ${direction} position is ${formatUsd(sizeDeltaUsd)}.`,
    facts: { sizeUsd: formatUsd(position.sizeInUsd) },
  }
}

function cancelOf(
  { marketToken, direction }: Position,
  type: ExitType,
  orders: readonly RestingOrder[],
): Decision {
  return {
    kind: 'cancel',
    marketToken,
    direction,
    orderKeys: orders.map(({ orderKey }) => orderKey),
    reason: `The ${direction} position has more than one ${type} of this instance.`,
  }
}

/** Price at which a reduction executes, USD per whole index token. */
function priceNow({ snapshot }: View, position: Position): Usd {
  const oracle = marketOf(snapshot, position.marketToken)?.oraclePrice?.value
  return oracle === undefined
    ? position.markPrice
    : executionSidePrice(oracle, position.direction, 'decrease')
}

/** Returns the place of an exit, counted from a price; a stop at most half way to the liquidation price. */
function triggerFrom(from: Usd, position: Position, type: ExitType, { params }: View): Usd {
  const { direction, liquidationPrice } = position
  const isLong = direction === 'long'
  if (type === 'take-profit') return from + bps(from, (params.targetBps ?? 0) * (isLong ? 1 : -1))
  const stop = from + bps(from, isLong ? -params.stopBps : params.stopBps)
  if (liquidationPrice === undefined) return stop
  const middle = (from + liquidationPrice) / 2n
  return isLong ? maxOf(stop, middle) : minOf(stop, middle)
}

/** Tells whether an exit at a trigger would wait there, and not fire at once. */
function waits(trigger: Usd, price: Usd, { direction }: Position, type: ExitType): boolean {
  const isBelow = (type === 'stop-loss') === (direction === 'long')
  return trigger > 0n && (isBelow ? trigger < price : trigger > price)
}
