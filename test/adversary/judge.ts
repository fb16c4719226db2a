/**
 * The judge: what the venue's books and its chain show, held against what the settings allow while somebody lies. It asks
 * perpd nothing but whether it said that a kill is done.
 */

import { discrepancyLimits } from '../../src/account/watch/discrepancyRate.ts'
import type { Config } from '../../src/config/configTypes.ts'
import { ordersOfAccount } from '../../src/paper/prepare/positionRows.ts'
import type { Venue } from '../../src/paper/server/venue.ts'
import { tokenPrice } from '../../src/paper/state/venueState.ts'
import { hexKey, sameHex, ZERO_ADDRESS } from '../../src/protocol/address.ts'
import { absOf, bps, formatUsd, MAX_UINT256, type Usd } from '../../src/protocol/units.ts'
import type { Books } from './books.ts'
import { account } from './daemon.ts'
import type { LiarKind } from './lies.ts'

/** What was broken, by the books. */
export interface Violation {
  /** B: more was lost than the bound. X: more is held than the limits. M: a market that nobody trades. S: a message says what
   * nobody meant. L: risk was added after the day's loss. N: what is not there was closed again and again. K: a kill was done with something
   * left. F: perpd fell over. J: its journal was flooded. W: a kill has not closed
   * within the time that the story gives it. */
  readonly rule: 'B' | 'X' | 'M' | 'S' | 'L' | 'N' | 'K' | 'F' | 'J' | 'W'
  readonly text: string
}

/** What is judged by. */
export interface JudgeParts {
  readonly venue: Venue
  readonly books: Books
  readonly config: Config
  readonly kind: LiarKind
  /** Endpoints that are read. */
  readonly endpoints: number
  /** Markets that the strategies trade. */
  readonly traded: ReadonlySet<string>
  /** Most that a day may cost, USD. */
  readonly boundUsd: Usd
  readonly nowMs: () => number
}

/** A judge; `look` gives the first violation that it sees. */
export interface Judge {
  look(): Violation | undefined
  /** From now on an operator closes. */
  kill(): void
  /** How many discrepancies perpd wrote down. */
  wrote(discrepancies: number): Violation | undefined
  /** perpd said that its kill is done. */
  killDone(): Violation | undefined
  /** The furthest that the signed price of a market reduction lay on the bad side of the true one, bps. */
  worstReductionBps(): number
}

const increases: ReadonlySet<bigint> = new Set([2n, 3n, 8n])
const swaps: ReadonlySet<bigint> = new Set([0n, 1n])
/** Orders whose acceptable price the protocol's own clients leave open. */
const anyPrice: ReadonlySet<bigint> = new Set([6n, 8n])

/** Ms that a loss may take to be seen: finality, a minute and a quarter of readings, one look. */
const lossLagMs = 90_000

/** Makes a judge. */
export function createJudge(parts: JudgeParts): Judge {
  const { venue, books, config, kind, endpoints, traded, boundUsd, nowMs } = parts
  const { venueState } = venue
  const { limits, signing } = config
  const seen = new Set<string>()
  /** Whether what every host shows can be made up. */
  const isByAll = kind === 'hosts' || kind === 'oracle'
  // Without the chain hosts alone say what was realized: when all of them lie nothing is known of losses.
  const isBlind = endpoints === 0 && isByAll
  let wasKilled = false
  let lostSinceMs: number | undefined
  /** What landed prices left beyond slippage and tolerance, USD. */
  let leftAwayUsd = 0n
  /** Messages that close what is not there. */
  let closesOfNothing = 0
  let heldThenUsd = 0n
  let worstBps = 0

  const oraclePrice = (token: string): bigint => {
    const found = venueState.catalog.tokenByAddress.get(hexKey(token))
    if (found === undefined) return 0n
    const { min, max } = tokenPrice(venueState, found, Math.floor(venueState.clock.now() / 1000))
    return (min + max) / 2n
  }

  function messages(): Violation | undefined {
    for (const operation of venueState.operations.values()) {
      if (seen.has(operation.taskId)) continue
      seen.add(operation.taskId)
      const { batch, relayParams } = operation
      const said = (text: string): Violation => ({ rule: 'S', text })
      const calls = Object.values(relayParams.externalCalls).flat()
      if (calls.length > 0) return said('external calls were signed')
      if (relayParams.tokenPermits.length > 0) return said('a permit was signed')
      // What was decided before a loss shows may be signed a moment after.
      const isLate = lostSinceMs !== undefined && nowMs() - lostSinceMs > lossLagMs && !isBlind
      if (
        isLate &&
        batch.createOrderParamsList.some(({ orderType }) => increases.has(orderType) || swaps.has(orderType))
      )
        return { rule: 'L', text: `risk was added after a loss of ${formatUsd(books.realizedUsd)}` }
      for (const order of batch.createOrderParamsList) {
        const { addresses, numbers, orderType, isLong } = order
        if (!sameHex(addresses.receiver, account)) return said(`the receiver is ${addresses.receiver}`)
        if (!sameHex(addresses.callbackContract, ZERO_ADDRESS)) return said('a callback was signed')
        if (!sameHex(addresses.uiFeeReceiver, ZERO_ADDRESS)) return said('a fee receiver was signed')
        // The fee token is a dollar coin of 6 decimals, and habits sign one order a message.
        if (increases.has(orderType) && relayParams.fee.feeAmount > signing.maxRelayFeeUsd / 10n ** 24n)
          return said(`a relay fee of ${relayParams.fee.feeAmount}`)
        if (numbers.executionFee > signing.maxExecutionFee)
          return said(`an execution fee of ${numbers.executionFee}`)
        const market = venueState.marketByKey.get(hexKey(addresses.market))
        if (!swaps.has(orderType)) {
          // Elsewhere a position may be by hand, and is reduced: by an operator's kill whatever list shows it, by a guard when
          // every host has shown it for half a minute (docs/orders.md). A market order that reduces adds nothing to a position
          // that is there and is cancelled where none is, so a made-up one costs its fees, which B counts; N counts the tries.
          const isReducedElsewhere =
            (wasKilled || isByAll) && market !== undefined && !increases.has(orderType)
          if (market === undefined || !(isReducedElsewhere || traded.has(market.catalog.symbol)))
            return { rule: 'M', text: `an order on ${market?.catalog.symbol ?? addresses.market}` }
          if (kind !== 'oracle') {
            const wrong = priceProblem(orderType, isLong, numbers, market.indexToken.address)
            if (wrong !== undefined) return said(wrong)
            if (!wasKilled) leftAwayUsd += leftAway(orderType, isLong, numbers, market.indexToken.address)
          }
        }
        if (orderType === 4n && market !== undefined) {
          const price = oraclePrice(market.indexToken.address)
          const found = numbers.acceptablePrice
          const away = isLong ? price - found : found - price
          worstBps = Math.max(worstBps, Number((away * 10_000n) / price))
        }
        if (orderType === 4n && !books.sides().some(({ symbol }) => symbol === market?.catalog.symbol))
          closesOfNothing += 1
        if (increases.has(orderType)) {
          if (numbers.sizeDeltaUsd > limits.maxOrderSizeUsd)
            return said(`an order of ${formatUsd(numbers.sizeDeltaUsd)}`)
          const paidUsd = numbers.initialCollateralDeltaAmount * oraclePrice(addresses.initialCollateralToken)
          // Habits ask for twice the collateral at least; prices of tokens may be 2 % off, and fees are on top.
          if (paidUsd > (numbers.sizeDeltaUsd * 6n) / 10n)
            return said(`${formatUsd(paidUsd)} paid for ${formatUsd(numbers.sizeDeltaUsd)}`)
        }
        if (swaps.has(orderType) && kind !== 'oracle') {
          const last = addresses.swapPath.at(-1) ?? ''
          const pool = venueState.marketByKey.get(hexKey(last))
          const paidUsd = numbers.initialCollateralDeltaAmount * oraclePrice(addresses.initialCollateralToken)
          if (paidUsd > limits.maxOrderSizeUsd + limits.maxOrderSizeUsd / 20n)
            return said(`a swap of ${formatUsd(paidUsd)}`)
          const outs = pool === undefined ? [] : [pool.longToken.address, pool.shortToken.address]
          const least = outs
            .filter((token) => !sameHex(token, addresses.initialCollateralToken))
            .map((token) => numbers.minOutputAmount * oraclePrice(token))
          const worst = least.reduce((sum, usd) => (usd > sum ? usd : sum), 0n)
          if (worst < bps(paidUsd, 10_000 - 600))
            return said(`a swap of ${formatUsd(paidUsd)} for ${formatUsd(worst)} at least`)
        }
      }
      for (const { key, acceptablePrice, triggerPrice } of batch.updateOrderParamsList) {
        const type = venueState.orders.get(key)?.params.orderType
        if (type === undefined || anyPrice.has(type) || swaps.has(type)) continue
        const isNear = absOf(acceptablePrice - triggerPrice) <= bps(triggerPrice, 2_000)
        if (acceptablePrice === MAX_UINT256 || !isNear)
          return said(`an edit at ${acceptablePrice}, its trigger is ${triggerPrice}`)
      }
    }
    const { priceImpactPerDayUsd } = signing
    if (priceImpactPerDayUsd !== undefined && leftAwayUsd > priceImpactPerDayUsd)
      return {
        rule: 'B',
        text: `prices left ${formatUsd(leftAwayUsd)}; ${formatUsd(priceImpactPerDayUsd)} a day are the limit`,
      }
    // One may have been on its way when its position was closed by another.
    if (closesOfNothing > 3)
      return { rule: 'N', text: `${closesOfNothing} closes of positions that are not there` }
    return undefined
  }

  /** What an acceptable price leaves beyond slippage and tolerance, USD, less what a price moves in a second. */
  function leftAway(
    orderType: bigint,
    isLong: boolean,
    { acceptablePrice, sizeDeltaUsd }: { readonly acceptablePrice: bigint; readonly sizeDeltaUsd: bigint },
    indexToken: string,
  ): Usd {
    if (orderType !== 2n && orderType !== 4n) return 0n
    const reference = oraclePrice(indexToken)
    const adds = increases.has(orderType)
    const tolerance = adds ? signing.priceToleranceBps : signing.reducingPriceToleranceBps
    const free = bps(reference, limits.maxSlippageBps + tolerance + 10)
    const beyond = adds === isLong ? acceptablePrice - reference - free : reference - free - acceptablePrice
    return beyond <= 0n ? 0n : (sizeDeltaUsd * beyond) / reference
  }

  function priceProblem(
    orderType: bigint,
    isLong: boolean,
    { acceptablePrice, triggerPrice }: { readonly acceptablePrice: bigint; readonly triggerPrice: bigint },
    indexToken: string,
  ): string | undefined {
    if (anyPrice.has(orderType)) return undefined
    const adds = increases.has(orderType)
    const reference = orderType === 2n || orderType === 4n ? oraclePrice(indexToken) : triggerPrice
    const wide = adds
      ? signing.priceToleranceBps + signing.maxPriceImpactBps
      : signing.reducingPriceToleranceBps + signing.reducingMaxPriceImpactBps
    // A second of the price's own moves.
    const most = limits.maxSlippageBps + wide + 60
    const buys = adds === isLong
    const bad = buys
      ? acceptablePrice > reference + bps(reference, most)
      : acceptablePrice < reference - bps(reference, most)
    return bad ? `type ${orderType} at ${acceptablePrice}, the oracle is at ${reference}` : undefined
  }

  function held(): Violation | undefined {
    const sides = books.sides()
    const total = sides.reduce((sum, { sizeUsd }) => sum + sizeUsd, 0n)
    for (const { symbol, direction, sizeUsd } of sides) {
      if (!traded.has(symbol)) return { rule: 'M', text: `${symbol} ${direction} is held` }
      if (sizeUsd > limits.maxPositionSizeUsd)
        return { rule: 'X', text: `${symbol} ${direction} ${formatUsd(sizeUsd)} is held` }
    }
    if (total > limits.maxTotalExposureUsd) return { rule: 'X', text: `${formatUsd(total)} is held in all` }
    const lossLimit = limits.maxDailyLossUsd ?? 0n
    if (books.realizedUsd >= lossLimit) {
      lostSinceMs ??= nowMs()
      if (nowMs() - lostSinceMs < lossLagMs) heldThenUsd = total
      else if (total > heldThenUsd + 10n ** 30n && !isBlind)
        return {
          rule: 'L',
          text: `${formatUsd(total)} is held after a loss of ${formatUsd(books.realizedUsd)}`,
        }
      else if (total < heldThenUsd) heldThenUsd = total
    }
    return undefined
  }

  return {
    worstReductionBps: () => worstBps,
    look() {
      const found = messages() ?? held()
      if (found !== undefined) return found
      if (books.worstPaidUsd > boundUsd)
        return {
          rule: 'B',
          text: `${formatUsd(books.worstPaidUsd)} was paid; ${formatUsd(boundUsd)} is the bound`,
        }
      return undefined
    },
    kill() {
      wasKilled = true
    },
    wrote(discrepancies) {
      if (discrepancies <= discrepancyLimits.perHour) return undefined
      return { rule: 'J', text: `${discrepancies} discrepancies were written` }
    },
    killDone() {
      const orders = ordersOfAccount(venueState, account).length
      const sides = books.sides()
      if (orders + sides.length === 0) return undefined
      return { rule: 'K', text: `a kill is done with ${orders} orders, ${books.text()}` }
    },
  }
}
