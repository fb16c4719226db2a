/**
 * What a message that is signed can do at most, judged from what was meant by a reckoning of its own: nothing of the verifier's
 * code or rules is used here.
 */

import type { Intent } from '../../src/domain/order/intent.ts'
import type { ExitTerms } from '../../src/domain/order/orderTerms.ts'
import { type Address, sameHex, ZERO_ADDRESS, ZERO_HASH } from '../../src/protocol/address.ts'
import type { CreateOrderParams } from '../../src/protocol/batch.ts'
import { type Batch, hashRelayParams, type RelayParams } from '../../src/protocol/signing/relayRouter.ts'

/** The two tokens of each market that is listed. */
export type Pools = readonly { readonly market: Address; readonly one: Address; readonly other: Address }[]

/** What may be spent at most, and how far prices may lie. */
export interface Limits {
  readonly executionFee: bigint
  /** Of an order; for each order of a message the relay's too. */
  readonly relayFee: bigint
  readonly toleranceBps: bigint
  /** How much of an estimated impact may widen that, whatever the estimate says. */
  readonly mostImpactBps: bigint
  readonly feeToken: Address
  readonly wrappedNative: Address
  readonly pools: Pools
  readonly nowSeconds: bigint
  readonly furthestSeconds: bigint
}

/** A message as it would be signed. */
export interface Message {
  readonly batch: Batch
  readonly relayParams: RelayParams
}

const ANY = 2n ** 256n - 1n
const BPS = 10_000n
const increases: ReadonlySet<bigint> = new Set([2n, 3n, 8n])
const decreases: ReadonlySet<bigint> = new Set([4n, 5n, 6n])
const swaps: ReadonlySet<bigint> = new Set([0n, 1n])

/** Every harm that the message could do; empty for one that does what was meant and no more. */
export function harmsOf(intent: Intent, message: Message, limits: Limits): readonly string[] {
  return [
    ...strangersPaid(intent, message, limits),
    ...exposureGrown(intent, message.batch),
    ...changesMade(intent, message.batch),
    ...badPrices(intent, message.batch, limits),
    ...costs(intent, message, limits),
    ...swapsElsewhere(intent, message.batch, limits),
  ]
}

/** Where a path leads, a market at a time; undefined where it leads nowhere. */
function walked(from: Address, path: readonly Address[], pools: Pools): Address | undefined {
  let token = from
  const left = [...pools]
  for (const market of path) {
    const at = left.findIndex((pool) => sameHex(pool.market, market))
    const [pool] = at < 0 ? [] : left.splice(at, 1)
    if (pool === undefined) return undefined
    if (sameHex(pool.one, token)) token = pool.other
    else if (sameHex(pool.other, token)) token = pool.one
    else return undefined
  }
  return token
}

function strangersPaid(
  { account }: Intent,
  { batch, relayParams }: Message,
  limits: Limits,
): readonly string[] {
  const harms: string[] = []
  for (const { addresses, numbers, referralCode } of batch.createOrderParamsList) {
    if (!sameHex(addresses.receiver, account)) harms.push('pays another receiver')
    if (![account, ZERO_ADDRESS].some((good) => sameHex(good, addresses.cancellationReceiver)))
      harms.push('pays back to another')
    if (!sameHex(addresses.uiFeeReceiver, ZERO_ADDRESS)) harms.push('pays a front end')
    if (!sameHex(addresses.callbackContract, ZERO_ADDRESS) || numbers.callbackGasLimit !== 0n)
      harms.push('calls a contract')
    if (referralCode !== ZERO_HASH) harms.push('names a referrer')
  }
  if (Object.values(relayParams.externalCalls).some((list) => list.length > 0))
    harms.push('makes external calls')
  if (relayParams.tokenPermits.length > 0) harms.push('permits spending')
  if (!sameHex(relayParams.fee.feeToken, limits.feeToken)) harms.push('pays the fee in another token')
  const end = walked(relayParams.fee.feeToken, relayParams.fee.feeSwapPath, limits.pools)
  if (end === undefined || !sameHex(end, limits.wrappedNative)) harms.push('swaps the fee to another token')
  if (batch.relayParams !== hashRelayParams(relayParams)) harms.push('signs other relay parameters')
  return harms
}

/** What an order may be at most. */
interface Allowed {
  readonly kind: 'increase' | 'decrease'
  readonly type: bigint
  readonly sizeUsd: bigint
  /** Whether more than that size, up to all there is, says the same. */
  readonly isAll: boolean
  readonly amount: bigint
  readonly trigger: bigint
}

const typeOf = { market: 2n, limit: 3n, 'stop-market': 8n, twap: 3n } as const
const typeOfDecrease = { market: 4n, 'take-profit': 5n, 'stop-loss': 6n, twap: 5n } as const

/** Orders that the intent means, in its order; exits last. */
function allowedOf({ kind, terms }: Intent): readonly Allowed[] {
  const { orderType, direction, held, triggerPrice, otherSizeDeltaUsd } = terms
  const parts = BigInt(terms.twap?.parts ?? 1)
  const contract = (price: bigint) => price / 10n ** BigInt(terms.indexToken.decimals)
  const main = (allowed: Omit<Allowed, 'trigger'>): readonly Allowed[] => {
    const up = (direction === 'long') === (allowed.kind === 'increase')
    const trigger = terms.twap === undefined ? contract(triggerPrice ?? 0n) : up ? ANY : 0n
    return Array.from({ length: Number(parts) }, () => ({ ...allowed, trigger }))
  }
  switch (kind) {
    case 'increase':
      return [
        ...main({
          kind: 'increase',
          type: typeOf[orderType as keyof typeof typeOf],
          sizeUsd: terms.sizeDeltaUsd / parts,
          isAll: false,
          amount: terms.collateralDelta / parts,
        }),
        ...(terms.tpsl ?? []).map((exit) => allowedExit(exit, terms, contract)),
      ]
    case 'decrease':
    case 'close': {
      if (held === undefined) throw new TypeError('a reduction of nothing')
      const isWhole = terms.sizeDeltaUsd >= held.sizeInUsd || otherSizeDeltaUsd === held.sizeInUsd
      const most = terms.sizeDeltaUsd >= held.sizeInUsd ? held.collateralAmount : terms.collateralDelta
      return main({
        kind: 'decrease',
        type: typeOfDecrease[orderType as keyof typeof typeOfDecrease],
        sizeUsd: (isWhole ? held.sizeInUsd : terms.sizeDeltaUsd) / parts,
        isAll:
          terms.sizeDeltaUsd >= held.sizeInUsd && (orderType === 'take-profit' || orderType === 'stop-loss'),
        amount: (isWhole ? held.collateralAmount : most) / parts,
      })
    }
    case 'collateral-in':
      return main({ kind: 'increase', type: 2n, sizeUsd: 0n, isAll: false, amount: terms.collateralDelta })
    case 'collateral-out':
      return main({ kind: 'decrease', type: 4n, sizeUsd: 0n, isAll: false, amount: terms.collateralDelta })
    case 'batch':
      return (terms.batch?.createOrderParamsList ?? []).map(({ orderType: type, numbers }) => ({
        kind: increases.has(type) ? 'increase' : 'decrease',
        type,
        sizeUsd: numbers.sizeDeltaUsd,
        isAll: false,
        amount: numbers.initialCollateralDeltaAmount,
        trigger: numbers.triggerPrice,
      }))
    default:
      return []
  }
}

function allowedExit(
  { type, triggerPrice, sizeDeltaUsd }: ExitTerms,
  terms: Intent['terms'],
  contract: (price: bigint) => bigint,
): Allowed {
  const wholeUsd = (terms.held?.sizeInUsd ?? 0n) + terms.sizeDeltaUsd
  const all = (terms.held?.collateralAmount ?? 0n) + terms.collateralDelta
  const isAll = sizeDeltaUsd >= wholeUsd
  // Its share, a unit of rounding, and 2 % of all of it.
  const share = (all * sizeDeltaUsd) / wholeUsd + 1n + all / 50n
  return {
    kind: 'decrease',
    type: type === 'take-profit' ? 5n : 6n,
    sizeUsd: sizeDeltaUsd,
    isAll,
    amount: isAll ? all : share,
    trigger: contract(triggerPrice),
  }
}

function exposureGrown(intent: Intent, { createOrderParamsList: orders }: Batch): readonly string[] {
  const { kind, terms } = intent
  const allowed = [...allowedOf(intent)]
  if (kind === 'swap') return []
  const harms =
    orders.length === allowed.length ? [] : [`creates ${orders.length} orders, meant ${allowed.length}`]
  const isLong = terms.direction === 'long'
  orders.forEach((order, index) => {
    const { addresses, numbers, orderType } = order
    const at = `order ${index}`
    if (!sameHex(addresses.market, terms.marketToken)) harms.push(`${at} is on another market`)
    if (order.isLong !== isLong) harms.push(`${at} is on the other side`)
    const own = terms.batch?.createOrderParamsList[index]
    const token = own?.addresses.initialCollateralToken ?? terms.collateralToken.address
    if (!sameHex(addresses.initialCollateralToken, token)) harms.push(`${at} is of another collateral`)
    if (addresses.swapPath.length > 0) harms.push(`${at} swaps on its way`)
    if (order.decreasePositionSwapType > 1n) harms.push(`${at} pays out in the other token`)
    const fits = allowed.findIndex(
      (each) =>
        each.type === orderType &&
        each.trigger === numbers.triggerPrice &&
        (numbers.sizeDeltaUsd <= each.sizeUsd || (each.isAll && numbers.sizeDeltaUsd === ANY)) &&
        (numbers.initialCollateralDeltaAmount <= each.amount || paysOutAll(intent, order)),
    )
    if (fits < 0) {
      harms.push(`${at} (type ${orderType}, size ${numbers.sizeDeltaUsd}) is none that was meant`)
      return
    }
    allowed.splice(fits, 1)
    harms.push(...partsOf(intent, order, at))
  })
  for (const each of allowed) if (orders.length > 0) harms.push(`an order of type ${each.type} is missing`)
  return harms
}

/**
 * Whether it closes the whole position as it is: the contract then pays out the collateral that there is and sets what the order
 * names to 0 (DecreasePositionUtils.decreasePosition), so that no amount in it does harm. A market order executes at once;
 * one that waits may find more than was sized, and closes it all only by the largest size.
 */
function paysOutAll({ terms: { held } }: Intent, { orderType, numbers }: CreateOrderParams): boolean {
  const { sizeDeltaUsd } = numbers
  return sizeDeltaUsd === ANY || (orderType === 4n && held !== undefined && sizeDeltaUsd === held.sizeInUsd)
}

/** A part that takes more than a part, or turns to the whole though nothing says that it may; less than was meant. */
function partsOf(
  { kind, terms }: Intent,
  { numbers, orderType }: CreateOrderParams,
  at: string,
): readonly string[] {
  const { held, otherSizeDeltaUsd, sizeDeltaUsd, twap } = terms
  const { sizeDeltaUsd: found, initialCollateralDeltaAmount: taken } = numbers
  if (kind === 'increase' && increases.has(orderType)) {
    const parts = BigInt(twap?.parts ?? 1)
    // It pays what was meant, no less: less collateral behind the same size is more risk.
    return taken < terms.collateralDelta / parts || found < sizeDeltaUsd / parts
      ? [`${at} says less than was meant`]
      : []
  }
  if ((kind !== 'decrease' && kind !== 'close') || twap !== undefined || held === undefined) return []
  const harms: string[] = []
  const sizes = [sizeDeltaUsd, ...(otherSizeDeltaUsd === undefined ? [] : [otherSizeDeltaUsd])]
  const isAll = sizeDeltaUsd >= held.sizeInUsd && found === ANY
  if (!sizes.includes(found) && !isAll) harms.push(`${at} is of a size that was not meant`)
  if (found < held.sizeInUsd && taken > terms.collateralDelta)
    harms.push(`${at} takes more out than a part may`)
  if (!terms.keepLeverage && found < held.sizeInUsd && taken > 0n) harms.push(`${at} takes collateral out`)
  return harms
}

function changesMade({ kind, terms }: Intent, batch: Batch): readonly string[] {
  const harms: string[] = []
  const { edit } = terms
  const meant = kind === 'batch' ? (terms.batch?.updateOrderParamsList ?? []) : []
  const keys = edit === undefined ? meant.map(({ key }) => key) : [edit.orderKey]
  if (batch.updateOrderParamsList.map(({ key }) => key).join() !== keys.join())
    harms.push('changes other orders')
  batch.updateOrderParamsList.forEach((update, index) => {
    const own = meant[index]
    const sizeUsd = own?.sizeDeltaUsd ?? edit?.sizeDeltaUsd
    const trigger = own?.triggerPrice ?? edit?.triggerContractPrice
    const flag = own?.autoCancel ?? edit?.autoCancel
    if (update.sizeDeltaUsd !== sizeUsd) harms.push('gives an order another size')
    if (update.triggerPrice !== trigger) harms.push('gives an order another trigger')
    if (update.autoCancel !== flag) harms.push('gives an order another flag')
    if (update.minOutputAmount !== (own?.minOutputAmount ?? edit?.minOutputAmount))
      harms.push('gives an order another least output')
  })
  const cancels = kind === 'batch' ? terms.batch?.cancelOrderKeys : terms.cancelOrderKeys
  // Cancels do not depend on each other: their order in a message changes nothing.
  if ([...batch.cancelOrderKeys].sort().join() !== [...(cancels ?? [])].sort().join())
    harms.push('cancels other orders')
  return harms
}

function badPrices(
  intent: Intent,
  { createOrderParamsList, updateOrderParamsList }: Batch,
  limits: Limits,
): readonly string[] {
  const { kind, terms } = intent
  const { indexToken, direction, slippageBps, acceptablePriceImpactBps } = terms
  const unit = 10n ** BigInt(indexToken.decimals)
  const slip = BigInt(slippageBps)
  const harms: string[] = []

  /** Whether a price is no worse than the bound around a center, a unit of rounding apart; and one that can execute. */
  const isGood = (
    buys: boolean,
    found: bigint,
    center: bigint,
    tolerance: bigint,
    impactBps: number | undefined,
  ): boolean => {
    const estimate = BigInt(impactBps ?? 0)
    const widening = (impact: bigint): bigint =>
      impact < 0n ? 0n : impact > limits.mostImpactBps ? limits.mostImpactBps : impact
    const [bad, good] = [tolerance + widening(-estimate), tolerance + widening(estimate)]
    const above = center * (BPS + (buys ? bad : good)) * (BPS + slip)
    const below = center * (BPS - (buys ? good : bad) - slip)
    if (buys) return (found - 2n) * BPS * BPS <= above && (found + 2n) * BPS >= below
    return (found + 2n) * BPS >= below && (found - 2n) * BPS * BPS <= above
  }

  createOrderParamsList.forEach((order, index) => {
    const { orderType, numbers } = order
    if (swaps.has(orderType) || (increases.has(orderType) && numbers.sizeDeltaUsd === 0n)) return
    const buys = order.isLong === increases.has(orderType)
    const own = terms.batch?.createOrderParamsList[index]
    if (own !== undefined && own.numbers.acceptablePrice !== numbers.acceptablePrice)
      harms.push(`order ${index} has a price that was not written`)
    const isStop = orderType === 6n || orderType === 8n
    const isAny = numbers.acceptablePrice === (buys ? ANY : 0n)
    if (isAny && (isStop || terms.twap !== undefined)) return
    const isTriggered = isStop || orderType === 3n || orderType === 5n
    const center = isTriggered ? numbers.triggerPrice : terms.referencePrice / unit
    // An impact that was named is of the main order alone.
    const isMain = kind !== 'increase' || increases.has(orderType)
    const named = isMain && !isStop && isTriggered ? acceptablePriceImpactBps : undefined
    const tolerance = named === undefined ? limits.toleranceBps : BigInt(named)
    const exit = terms.tpsl?.find(({ triggerPrice }) => triggerPrice / unit === numbers.triggerPrice)
    const estimate =
      named !== undefined || own !== undefined ? undefined : (isMain ? terms : exit)?.priceImpactBps
    if (!isGood(buys, numbers.acceptablePrice, center, tolerance, estimate))
      harms.push(
        `order ${index} ${buys ? 'buys up to' : 'sells down to'} ${numbers.acceptablePrice}, around ${center}`,
      )
  })

  updateOrderParamsList.forEach((update, index) => {
    const own = terms.batch?.updateOrderParamsList[index]
    const stored = own?.acceptablePrice ?? terms.edit?.acceptableContractPrice
    if (update.acceptablePrice === stored) return
    const isOpening = terms.orderType === 'limit' || terms.orderType === 'stop-market'
    const buys = (direction === 'long') === isOpening
    const isDivided = stored === ANY && update.acceptablePrice === ANY / unit
    const follows = terms.orderType === 'limit' || terms.orderType === 'take-profit'
    if (
      own === undefined &&
      (isDivided ||
        (follows &&
          isGood(
            buys,
            update.acceptablePrice,
            update.triggerPrice,
            limits.toleranceBps,
            terms.priceImpactBps,
          )))
    )
      return
    harms.push(`update ${index} gives an order the price ${update.acceptablePrice}`)
  })
  return harms
}

function costs({ terms }: Intent, { batch, relayParams }: Message, limits: Limits): readonly string[] {
  const harms: string[] = []
  const orders = batch.createOrderParamsList
  const count = BigInt(orders.length)
  const paid = orders.reduce((sum, { numbers }) => sum + numbers.executionFee, 0n)
  if (paid > limits.executionFee * count) harms.push(`execution fees of ${paid}`)
  const least = count === 0n ? 1n : count
  if (relayParams.fee.feeAmount > limits.relayFee * least) harms.push(`a fee of ${relayParams.fee.feeAmount}`)
  for (const { executionFeeIncrease } of batch.updateOrderParamsList)
    if (executionFeeIncrease > limits.executionFee)
      harms.push(`a higher execution fee by ${executionFeeIncrease}`)
  const ahead = relayParams.deadline - limits.nowSeconds
  if (ahead < 0n || ahead > limits.furthestSeconds) harms.push(`good until ${relayParams.deadline}`)
  const lastStart = limits.nowSeconds + BigInt(terms.twap?.durationSeconds ?? 0) + 62n
  for (const { numbers } of orders) {
    const isLate = terms.twap === undefined ? numbers.validFromTime !== 0n : numbers.validFromTime > lastStart
    if (isLate) harms.push(`waits until ${numbers.validFromTime}`)
  }
  const { twap } = terms
  const start = orders[0]?.numbers.validFromTime ?? 0n
  orders.forEach(({ numbers }, index) => {
    if (twap === undefined || twap.parts < 2) return
    const share = (BigInt(twap.durationSeconds) * BigInt(index)) / BigInt(twap.parts - 1)
    const early = start + share - numbers.validFromTime
    if (early > 2n || early < -2n) harms.push(`part ${index} is due at ${numbers.validFromTime}`)
  })
  return harms
}

function swapsElsewhere({ kind, terms }: Intent, batch: Batch, { pools }: Limits): readonly string[] {
  const { swap } = terms
  const orders = batch.createOrderParamsList
  if (kind !== 'swap') {
    return orders.flatMap(({ orderType, shouldUnwrapNativeToken }) => [
      ...(increases.has(orderType) || decreases.has(orderType)
        ? []
        : [`an order of type ${orderType} rides along`]),
      ...(shouldUnwrapNativeToken ? ['pays out the native token'] : []),
    ])
  }
  const [order, ...others] = orders
  if (order === undefined || others.length > 0 || swap === undefined) return [`${orders.length} swaps`]
  const harms: string[] = []
  const { addresses, numbers } = order
  if (order.orderType !== 0n) harms.push('is no swap')
  if (!sameHex(addresses.initialCollateralToken, terms.collateralToken.address))
    harms.push('pays another token')
  if (numbers.initialCollateralDeltaAmount !== terms.collateralDelta) harms.push('pays another amount')
  const end = walked(terms.collateralToken.address, addresses.swapPath, pools)
  if (end === undefined || !sameHex(end, swap.receiveToken.address)) harms.push('ends in another token')
  if (numbers.minOutputAmount < swap.minOutputAmount) harms.push('may give less than the least')
  if (order.shouldUnwrapNativeToken && !swap.isNativeOut) harms.push('gives the native token')
  return harms
}
