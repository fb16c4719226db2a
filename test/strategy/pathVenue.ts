/**
 * The venue of a path: it takes admitted intents, fills what is at the market at once and what rests when its price comes, and
 * keeps of each intent what perpd would know. A stop fills at the price that was seen past it, so that a gap costs what it does.
 */

import { noTrackRecord, type TrackRecord } from '../../src/books/trackRecord.ts'
import type { OwnEvent } from '../../src/domain/memory/ownEvent.ts'
import type { Child, ChildRole, Intent, IntentState } from '../../src/domain/order/intent.ts'
import { type Hex, hexKey, sameHex } from '../../src/protocol/address.ts'
import { executionSidePrice } from '../../src/protocol/market.ts'
import type { Order } from '../../src/protocol/position.ts'
import { contractPriceOf, maxOf, minOf, priceOfContractPrice, type Usd } from '../../src/protocol/units.ts'
import type { FillResult, Held, HeldKey, PathAccount } from './pathAccount.ts'
import { createPathIntents } from './pathIntents.ts'
import { type PathMarket, type PathToken, spread } from './pathMarkets.ts'

/** Kind of fill: the order's own, an exit's, or the venue's liquidation. */
type Fill = 'opened' | 'reduced' | 'take-profit' | 'stop-loss' | 'liquidated'

/** An order that rests, and what it is of. */
interface Resting {
  order: Order
  readonly key: HeldKey
  readonly intentId: string
  readonly keepsLeverage: boolean
}

/** A moment of the path's prices. */
export interface PathMoment {
  readonly atSeconds: number
  readonly price: (token: PathToken) => Usd
}

const accountOf = '0x1111111111111111111111111111111111111111'
/** On-chain order types (contract `Order`, `OrderType`). */
const orderTypes = { limit: 3, 'take-profit': 5, 'stop-loss': 6, 'stop-market': 8 } as const
const isExit = ({ orderType }: Pick<Order, 'orderType'>) => orderType === 5 || orderType === 6

/** The venue. */
export interface PathVenue {
  /** Open intents of the strategy. */
  open(): readonly IntentState[]
  orders(): readonly Order[]
  /** Takes an admitted intent. */
  take(intent: Intent, moment: PathMoment): void
  /** Fills resting orders and liquidates positions by the prices of a moment. */
  pass(moment: PathMoment): void
  /** Returns the events since the last call. */
  takeEvents(): readonly OwnEvent[]
  track(): TrackRecord
}

/** Makes one over an account, for markets by lower-cased market token. */
export function createPathVenue(account: PathAccount, markets: ReadonlyMap<string, PathMarket>): PathVenue {
  const { intents, begin, endChild, close, takeEvents } = createPathIntents()
  const resting = new Map<string, Resting>()
  let track = noTrackRecord
  let orderNumber = 0

  const newKey = (): Hex => `0x${(++orderNumber).toString(16).padStart(64, '0')}`

  function keyOf({ terms }: Intent): HeldKey {
    const market = markets.get(hexKey(terms.marketToken))
    if (market === undefined) throw new TypeError(`no market ${terms.marketToken} on this path`)
    const { long, short } = market
    const isLong = sameHex(terms.collateralToken.address, long.token.address)
    return { market, direction: terms.direction, collateral: isLong ? long : short }
  }

  function told(result: FillResult, key: HeldKey, what: Fill, atSeconds: number): void {
    const { marketToken } = key.market
    const resultUsd = track.resultUsd + result.pnlUsd - result.feeUsd
    const isStop = what === 'stop-loss' || what === 'liquidated'
    const isFlat = what !== 'opened' && account.find(key) === undefined
    track = {
      ...track,
      resultUsd,
      peakUsd: maxOf(track.peakUsd, resultUsd),
      stopsMs: isStop ? [...track.stopsMs, atSeconds * 1000] : track.stopsMs,
      exitsMs: isFlat ? new Map(track.exitsMs).set(hexKey(marketToken), atSeconds * 1000) : track.exitsMs,
    }
  }

  function rest(
    intent: Intent,
    orderKey: Hex,
    kind: keyof typeof orderTypes,
    triggerPrice: Usd,
    sizeDeltaUsd: Usd,
    atSeconds: number,
  ): void {
    const key = keyOf(intent)
    const { terms, kind: intentKind } = intent
    const isOpening = kind === 'limit' || kind === 'stop-market'
    const trigger = contractPriceOf(triggerPrice, key.market.index.token.decimals)
    const order: Order = {
      orderKey,
      account: accountOf,
      receiver: accountOf,
      marketToken: terms.marketToken,
      initialCollateralToken: terms.collateralToken.address,
      orderType: orderTypes[kind],
      direction: terms.direction,
      sizeDeltaUsd,
      initialCollateralDeltaAmount: isOpening || intentKind === 'decrease' ? terms.collateralDelta : 0n,
      triggerContractPrice: trigger,
      acceptableContractPrice: trigger,
      isFrozen: false,
      updatedAtSeconds: atSeconds,
      validFromSeconds: 0,
      autoCancel: !isOpening,
      minOutputAmount: 0n,
      executionFee: 0n,
    }
    resting.set(orderKey, { order, key, intentId: intent.intentId, keepsLeverage: terms.keepLeverage })
  }

  /** Ends the exits of a closed position, except those whose own order still waits to open. */
  function endExits(key: HeldKey, moment: PathMoment): void {
    if (account.find(key) !== undefined) return
    for (const [orderKey, each] of [...resting]) {
      const isSame =
        each.key.market === key.market &&
        each.key.direction === key.direction &&
        each.key.collateral === key.collateral
      const waits = [...resting.values()].some(
        (other) => other.intentId === each.intentId && !isExit(other.order),
      )
      if (!isSame || !isExit(each.order) || waits) continue
      resting.delete(orderKey)
      endChild(each.intentId, each.order.orderKey, 'CANCELLED', moment.atSeconds)
    }
  }

  function reduceNow(
    intentId: string,
    orderKey: Hex,
    held: Held,
    sizeUsd: Usd,
    keepsLeverage: boolean,
    price: Usd,
    what: Fill,
    moment: PathMoment,
  ): void {
    const result = account.reduce(held, sizeUsd, keepsLeverage, price, moment.atSeconds)
    told(result, held, what, moment.atSeconds)
    endChild(intentId, orderKey, 'EXECUTED', moment.atSeconds, { ...result, price, adds: false })
    endExits(held, moment)
  }

  function openNow(intent: Intent, orderKey: Hex, sizeUsd: Usd, price: Usd, moment: PathMoment): void {
    const key = keyOf(intent)
    const result = account.increase(key, sizeUsd, intent.terms.collateralDelta, price, moment.atSeconds)
    told(result, key, 'opened', moment.atSeconds)
    endChild(intent.intentId, orderKey, 'EXECUTED', moment.atSeconds, { ...result, price, adds: true })
  }

  function takeIncrease(intent: Intent, moment: PathMoment): void {
    const { terms } = intent
    const { atSeconds } = moment
    const main = newKey()
    const exits = (terms.tpsl ?? []).map((exit) => ({ exit, orderKey: newKey() }))
    const child = (orderKey: Hex, role: ChildRole, index: number): Child => ({
      index,
      orderKey,
      role,
      phase: 'OPEN',
    })
    begin(
      intent,
      [child(main, 'main', 0), ...exits.map(({ exit, orderKey }, at) => child(orderKey, exit.type, at + 1))],
      atSeconds,
    )
    for (const { exit, orderKey } of exits)
      rest(intent, orderKey, exit.type, exit.triggerPrice, exit.sizeDeltaUsd, atSeconds)
    if (
      terms.triggerPrice !== undefined &&
      (terms.orderType === 'limit' || terms.orderType === 'stop-market')
    ) {
      rest(intent, main, terms.orderType, terms.triggerPrice, terms.sizeDeltaUsd, atSeconds)
      return
    }
    const prices = spread(moment.price(keyOf(intent).market.index))
    openNow(intent, main, terms.sizeDeltaUsd, executionSidePrice(prices, terms.direction, 'increase'), moment)
  }

  function takeReduction(intent: Intent, moment: PathMoment): void {
    const { terms } = intent
    const orderKey = newKey()
    begin(intent, [{ index: 0, orderKey, role: 'main', phase: 'OPEN' }], moment.atSeconds)
    if (
      terms.triggerPrice !== undefined &&
      (terms.orderType === 'take-profit' || terms.orderType === 'stop-loss')
    ) {
      rest(intent, orderKey, terms.orderType, terms.triggerPrice, terms.sizeDeltaUsd, moment.atSeconds)
      return
    }
    const key = keyOf(intent)
    const held = account.find(key)
    // Another of the same turn closed it.
    if (held === undefined) {
      endChild(intent.intentId, orderKey, 'CANCELLED', moment.atSeconds)
      return
    }
    const price = executionSidePrice(spread(moment.price(key.market.index)), terms.direction, 'decrease')
    reduceNow(
      intent.intentId,
      orderKey,
      held,
      terms.sizeDeltaUsd,
      terms.keepLeverage,
      price,
      'reduced',
      moment,
    )
  }

  function cancelOrder(orderKey: Hex, moment: PathMoment): void {
    const found = resting.get(orderKey)
    resting.delete(orderKey)
    if (found !== undefined) endChild(found.intentId, orderKey, 'CANCELLED', moment.atSeconds)
  }

  function takeEdit({ terms: { edit } }: Intent, updatedAtSeconds: number): void {
    const found = edit && resting.get(edit.orderKey)
    if (edit === undefined || found === undefined) return
    const { sizeDeltaUsd, triggerContractPrice, acceptableContractPrice, autoCancel } = edit
    found.order = {
      ...found.order,
      sizeDeltaUsd,
      triggerContractPrice,
      acceptableContractPrice,
      autoCancel,
      updatedAtSeconds,
    }
  }

  /** The price that a resting order fills at, seen at a price; undefined while it waits. */
  function fillPriceOf({ order, key }: Resting, price: Usd): Usd | undefined {
    const trigger = priceOfContractPrice(order.triggerContractPrice, key.market.index.token.decimals)
    const isLong = order.direction === 'long'
    const isBelow = (order.orderType === 3 || order.orderType === 6) === isLong
    if (isBelow ? price > trigger : price < trigger) return undefined
    const isStop = order.orderType === 6 || order.orderType === 8
    if (!isStop) return trigger
    return isBelow ? minOf(price, trigger) : maxOf(price, trigger)
  }

  function passOrder(each: Resting, moment: PathMoment): void {
    const { order, key, intentId, keepsLeverage } = each
    const price = fillPriceOf(each, moment.price(key.market.index))
    if (price === undefined) return
    const intent = intents.get(intentId)?.intent
    if (intent === undefined) return
    if (!isExit(order)) {
      resting.delete(order.orderKey)
      openNow(intent, order.orderKey, order.sizeDeltaUsd, price, moment)
      return
    }
    const held = account.find(key)
    if (held === undefined) return
    resting.delete(order.orderKey)
    const what = order.orderType === 5 ? 'take-profit' : 'stop-loss'
    reduceNow(intentId, order.orderKey, held, order.sizeDeltaUsd, keepsLeverage, price, what, moment)
  }

  return {
    open: () => [...intents.values()],
    orders: () => [...resting.values()].map(({ order }) => order),
    take(intent, moment) {
      const { terms, kind } = intent
      if (kind === 'increase') return takeIncrease(intent, moment)
      if (kind === 'decrease' || kind === 'close') return takeReduction(intent, moment)
      if (kind === 'cancel') for (const orderKey of terms.cancelOrderKeys ?? []) cancelOrder(orderKey, moment)
      if (kind === 'edit') takeEdit(intent, moment.atSeconds)
      const held = account.find(keyOf(intent))
      if (kind === 'collateral-in' && held) account.moveCollateral(held, terms.collateralDelta)
      if (kind === 'collateral-out' && held) account.moveCollateral(held, -terms.collateralDelta)
      if (kind === 'swap' && terms.swap !== undefined) {
        const { long, short } = keyOf(intent).market
        const [pay, receive] = terms.direction === 'long' ? [short, long] : [long, short]
        account.move(pay, -terms.collateralDelta)
        account.move(receive, terms.swap.minOutputAmount)
      }
      close(intent, 'EXECUTED', moment.atSeconds)
    },
    pass(moment) {
      for (const each of [...resting.values()]) if (resting.has(each.order.orderKey)) passOrder(each, moment)
      for (const held of [...account.held]) {
        const end = account.liquidationPrice(held)
        const price = moment.price(held.market.index)
        if (end === undefined || (held.direction === 'long' ? price > end : price < end)) continue
        told(account.liquidate(held), held, 'liquidated', moment.atSeconds)
        endExits(held, moment)
      }
    },
    takeEvents,
    track: () => track,
  }
}
