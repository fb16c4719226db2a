/** Time passing in the venue: everything due happens at its own moment, with the prices of that moment. */

import { type Hex, hexKey } from '../../protocol/address.ts'
import { noteGasSpike } from '../blocks/rpcGas.ts'
import { landWithdrawal } from '../keeper/gmxAccount.ts'
import { executeOrder } from '../keeper/keeper.ts'
import { deleverage, isLiquidatableAt, liquidate } from '../keeper/keeperOrders.ts'
import { trimVenue } from '../keeper/memoryLimits.ts'
import { giveUpOperation, landOperation, sendAgain } from '../keeper/operations.ts'
import { cancelOrder } from '../keeper/orderEnds.ts'
import { quietUntil } from '../keeper/quietSpan.ts'
import { isLookedAt, takeTurn } from '../keeper/traders.ts'
import { isReady } from '../keeper/waitingOrders.ts'
import { sealHours } from '../pools/ledger.ts'
import { balancePools, nextPoolLook } from '../pools/swaps.ts'
import { isEnabled } from '../state/enabled.ts'
import { isOpenAt } from '../state/hours.ts'
import { isMarketOrder } from '../state/orderTypes.ts'
import type { DueWork } from '../state/venueRecords.ts'
import { followMarkets, schedule, type VenueState } from '../state/venueState.ts'
import { minePool } from './transactionPool.ts'

/** Most looks at triggers and liquidations in one catch-up; a longer gap is looked at in coarser steps. */
const MAX_LOOKS = 3600

/** Does all work that is due at the clock's time, in order of time. */
export function advanceVenue(venueState: VenueState): void {
  const nowMs = venueState.clock.now()
  noteGasSpike(
    venueState.blockChain,
    venueState.dataFaults.gasSpikePercent,
    (venueState.advancedToSeconds + 1) * 1000,
  )
  const nowSeconds = Math.floor(nowMs / 1000)
  const step = Math.max(1, Math.ceil((nowSeconds - venueState.advancedToSeconds) / MAX_LOOKS))
  while (venueState.advancedToSeconds < nowSeconds) {
    if (venueState.orders.size === 0 && venueState.positions.size === 0) {
      const next = venueState.due[0]?.atMs ?? Number.POSITIVE_INFINITY
      if (next > nowMs) {
        passTo(venueState, nowSeconds)
        break
      }
      passTo(venueState, Math.max(venueState.advancedToSeconds, Math.floor(next / 1000) - 1))
    }
    if (skipQuiet(venueState, nowSeconds, step)) continue
    const second = Math.min(nowSeconds, venueState.advancedToSeconds + step)
    runDue(venueState, second * 1000 - 1)
    passTo(venueState, second)
    lookAt(venueState, second - step, second)
    trimVenue(venueState)
  }
  runDue(venueState, nowMs)
  trimVenue(venueState)
}

/**
 * Passes over the looks up to `nowSeconds` and the next due work that would find nothing, and says whether there were any. A look is at
 * every `step` seconds and at `nowSeconds`: the looks after it are at the same seconds as without it.
 */
function skipQuiet(venueState: VenueState, nowSeconds: number, step: number): boolean {
  const from = venueState.advancedToSeconds
  const nextDueMs = venueState.due[0]?.atMs ?? Number.POSITIVE_INFINITY
  // A pool that is brought into balance may change what a look finds.
  const end = Math.min(nowSeconds, Math.floor(nextDueMs / 1000), nextPoolLook(from) - 1)
  const until = quietUntil(venueState, from, end)
  const second = until === nowSeconds ? until : from + Math.floor((until - from) / step) * step
  if (second <= from) return false
  passTo(venueState, second)
  venueState.blockChain.atMs = second * 1000
  return true
}

/** The venue has lived up to this second, with nothing left out that passing time alone brings. */
function passTo(venueState: VenueState, second: number): void {
  const before = venueState.advancedToSeconds
  venueState.advancedToSeconds = second
  followMarkets(venueState, second)
  sealHours(venueState, second)
  balancePools(venueState, before, second)
}

function runDue(venueState: VenueState, untilMs: number): void {
  for (;;) {
    const work = venueState.due[0]
    if (work === undefined || work.atMs > untilMs) return
    venueState.due.shift()
    venueState.blockChain.atMs = work.atMs
    doWork(venueState, work)
  }
}

function doWork(venueState: VenueState, work: DueWork): void {
  const { atMs } = work
  followMarkets(venueState, Math.floor(atMs / 1000))
  if (work.kind === 'land') landOperation(venueState, work.taskId, atMs)
  else if (work.kind === 'give-up') giveUpOperation(venueState, work.taskId, atMs)
  else if (work.kind === 'send-again') sendAgain(venueState, work.taskId, 'relayer', atMs)
  else if (work.kind === 'replay') sendAgain(venueState, work.taskId, 'stranger', atMs)
  else if (work.kind === 'withdraw') landWithdrawal(venueState, work.key, atMs)
  else if (work.kind === 'turn') takeTurn(venueState, work.trader, work.turn, atMs)
  else if (work.kind === 'mine') minePool(venueState, atMs)
  else executeWhenOpen(venueState, work.orderKey, atMs)
}

/** Longest that a market order waits at a look for its market to open, ms. */
const OPENING_LOOK_MS = 60_000

/**
 * The keeper executes a market order. It has no price of a closed market, so its market orders wait for the opening; but no
 * price may be younger than an order's expiration allows, and an order that waited longer stays until its owner cancels it.
 */
function executeWhenOpen(venueState: VenueState, orderKey: Hex, atMs: number): void {
  const order = venueState.orders.get(hexKey(orderKey))
  if (order === undefined) return
  const seconds = Math.floor(atMs / 1000)
  const isOfPopulation = venueState.traders.has(order.account)
  if (seconds - order.updatedAtSeconds > venueState.chain.requestExpirationSeconds) {
    if (isOfPopulation) cancelOrder(venueState, order, 'USER_INITIATED_CANCEL', atMs)
  } else if (isOpenAt(venueState, order.params.addresses.market, seconds)) {
    executeOrder(venueState, orderKey, atMs)
  } else {
    schedule(venueState, { atMs: atMs + OPENING_LOOK_MS, kind: 'execute', orderKey })
    return
  }
  // Nobody asks how an order of the population ended.
  if (isOfPopulation) venueState.outcomes.delete(hexKey(orderKey))
}

/** Seconds between looks at whether traders' profit outgrows a pool. */
const ADL_LOOK_SECONDS = 10

/** Triggers, liquidations and deleveraging at one second, the look before being at another. */
function lookAt(venueState: VenueState, before: number, second: number): void {
  venueState.blockChain.atMs = second * 1000
  for (const order of [...venueState.orders.values()]) {
    if (!isMarketOrder(Number(order.params.orderType)) && isReady(venueState, order, second)) {
      executeOrder(venueState, order.key, second * 1000)
    }
  }
  for (const record of [...venueState.positions.values()]) {
    if (!isLookedAt(venueState, record.account, before, second)) continue
    if (!isOpenAt(venueState, record.marketKey, second) || !isEnabled(venueState, record.marketKey)) continue
    if (isLiquidatableAt(venueState, record, second)) liquidate(venueState, record, second)
  }
  if (Math.floor(second / ADL_LOOK_SECONDS) === Math.floor(before / ADL_LOOK_SECONDS)) return
  const held = new Set<string>()
  for (const { marketKey, state } of venueState.positions.values()) held.add(`${state.side}:${marketKey}`)
  for (const market of venueState.markets) {
    for (const side of ['long', 'short'] as const) {
      if (held.has(`${side}:${market.key}`)) deleverage(venueState, market, side, second)
    }
  }
}
