/** Time passing in the world: everything due happens at its own moment, with the prices of that moment. */

import { positionKeyOf } from '../chains/relayRouter.ts'
import { type Hex, hexKey } from '../domain/address.ts'
import { isEnabled } from './enabled.ts'
import { landWithdrawal } from './gmxAccount.ts'
import { isOpenAt } from './hours.ts'
import { executeOrder } from './keeper.ts'
import { deleverage, isLiquidatableAt, liquidate } from './keeperOrders.ts'
import { sealHours } from './ledger.ts'
import { trimWorld } from './limits.ts'
import { giveUpOperation, landOperation, sendAgain } from './operations.ts'
import { cancelOrder } from './orderEnds.ts'
import { isMarketOrder, isTriggered, orderTypes } from './orderTypes.ts'
import { noteGasSpike } from './rpcGas.ts'
import { minePool } from './rpcSendPool.ts'
import { isLookedAt, takeTurn } from './traders.ts'
import { schedule, tokenPrice, type World } from './world.ts'
import type { DueWork, OrderRecord } from './worldRecords.ts'

/** Most looks at triggers and liquidations in one catch-up; a longer gap is looked at in coarser steps. */
const MAX_LOOKS = 3600

/** Does all work that is due at the clock's time, in order of time. */
export function advanceWorld(world: World): void {
  const nowMs = world.clock.now()
  noteGasSpike(world.blockChain, world.dataFaults.gasSpikePercent, (world.advancedToSeconds + 1) * 1000)
  const nowSeconds = Math.floor(nowMs / 1000)
  const step = Math.max(1, Math.ceil((nowSeconds - world.advancedToSeconds) / MAX_LOOKS))
  while (world.advancedToSeconds < nowSeconds) {
    if (world.orders.size === 0 && world.positions.size === 0) {
      const next = world.due[0]?.atMs ?? Number.POSITIVE_INFINITY
      if (next > nowMs) {
        world.advancedToSeconds = nowSeconds
        sealHours(world, nowSeconds)
        break
      }
      world.advancedToSeconds = Math.max(world.advancedToSeconds, Math.floor(next / 1000) - 1)
    }
    const second = Math.min(nowSeconds, world.advancedToSeconds + step)
    runDue(world, second * 1000 - 1)
    world.advancedToSeconds = second
    sealHours(world, second)
    lookAt(world, second - step, second)
    trimWorld(world)
  }
  runDue(world, nowMs)
  trimWorld(world)
}

function runDue(world: World, untilMs: number): void {
  for (;;) {
    const work = world.due[0]
    if (work === undefined || work.atMs > untilMs) return
    world.due.shift()
    world.blockChain.atMs = work.atMs
    doWork(world, work)
  }
}

function doWork(world: World, work: DueWork): void {
  const { atMs } = work
  if (work.kind === 'land') landOperation(world, work.taskId, atMs)
  else if (work.kind === 'give-up') giveUpOperation(world, work.taskId, atMs)
  else if (work.kind === 'send-again') sendAgain(world, work.taskId, 'relayer', atMs)
  else if (work.kind === 'replay') sendAgain(world, work.taskId, 'stranger', atMs)
  else if (work.kind === 'withdraw') landWithdrawal(world, work.key, atMs)
  else if (work.kind === 'turn') takeTurn(world, work.trader, work.turn, atMs)
  else if (work.kind === 'mine') minePool(world, atMs)
  else executeWhenOpen(world, work.orderKey, atMs)
}

/** Longest that a market order waits at a look for its market to open, ms. */
const OPENING_LOOK_MS = 60_000

/**
 * The keeper executes a market order. It has no price of a closed market, so its market orders wait for the opening; but no
 * price may be younger than an order's expiration allows, and an order that waited longer stays until its owner cancels it.
 */
function executeWhenOpen(world: World, orderKey: Hex, atMs: number): void {
  const order = world.orders.get(hexKey(orderKey))
  if (order === undefined) return
  const seconds = Math.floor(atMs / 1000)
  const isOfPopulation = world.traders.has(order.account)
  if (seconds - order.updatedAtSeconds > world.chain.requestExpirationSeconds) {
    if (isOfPopulation) cancelOrder(world, order, 'USER_INITIATED_CANCEL', atMs)
  } else if (isOpenAt(world, order.params.addresses.market, seconds)) {
    executeOrder(world, orderKey, atMs)
  } else {
    schedule(world, { atMs: atMs + OPENING_LOOK_MS, kind: 'execute', orderKey })
    return
  }
  // Nobody asks how an order of the population ended.
  if (isOfPopulation) world.outcomes.delete(hexKey(orderKey))
}

/** Seconds between looks at whether traders' profit outgrows a pool. */
const ADL_LOOK_SECONDS = 10

/** Triggers, liquidations and deleveraging at one second, the look before being at another. */
function lookAt(world: World, before: number, second: number): void {
  world.blockChain.atMs = second * 1000
  for (const order of [...world.orders.values()]) {
    if (!isMarketOrder(Number(order.params.orderType)) && isReady(world, order, second)) {
      executeOrder(world, order.key, second * 1000)
    }
  }
  for (const record of [...world.positions.values()]) {
    if (!isLookedAt(world, record.account, before, second)) continue
    if (!isOpenAt(world, record.marketKey, second) || !isEnabled(world, record.marketKey)) continue
    if (isLiquidatableAt(world, record, second)) liquidate(world, record, second)
  }
  if (Math.floor(second / ADL_LOOK_SECONDS) === Math.floor(before / ADL_LOOK_SECONDS)) return
  const held = new Set<string>()
  for (const { marketKey, state } of world.positions.values()) held.add(`${state.side}:${marketKey}`)
  for (const market of world.markets) {
    for (const side of ['long', 'short'] as const) {
      if (held.has(`${side}:${market.key}`)) deleverage(world, market, side, second)
    }
  }
}

function isReady(world: World, order: OrderRecord, second: number): boolean {
  const { numbers, addresses, isLong } = order.params
  const type = Number(order.params.orderType)
  if (order.isFrozen || BigInt(second) < numbers.validFromTime) return false
  if (type === orderTypes.limitSwap) return true
  const market = world.marketByKey.get(hexKey(addresses.market))
  if (market === undefined || market.settings.isSpotOnly) return true
  if (!isOpenAt(world, market.key, second)) return false
  const needsPosition = type === orderTypes.limitDecrease || type === orderTypes.stopLossDecrease
  if (needsPosition) {
    const key = positionKeyOf(order.account, addresses.market, addresses.initialCollateralToken, isLong)
    if (!world.positions.has(key)) return false
  }
  return isTriggered(type, isLong, numbers.triggerPrice, tokenPrice(world, market.indexToken, second))
}
