/** One created order against its rule, field by field; and the schedule of a twap over all its parts. */
import type { TwapTerms } from '../../domain/order/decision.ts'
import type { Intent } from '../../domain/order/intent.ts'
import { type Address, type Hex, sameHex, ZERO_ADDRESS, ZERO_HASH } from '../../protocol/address.ts'
import type { CreateOrderParams } from '../../protocol/batch.ts'
import { bps, MAX_UINT256, type Usd } from '../../protocol/units.ts'
import type { Differences } from '../context/differences.ts'
import { executionFeeLimit, executionFeeSpike, type SigningPolicy, widthFor } from '../context/policy.ts'
import { checkPath } from '../context/swapPath.ts'
import { checkAcceptablePrice } from '../context/verifyPrice.ts'
import { type MinOutputRule, type OrderRule, rulesOf, type SizeRule } from './orderRules.ts'

const listField = 'message.createOrderParamsList'
const maxDataListLength = 1
/** Largest shift of a twap's start from now, seconds: by the venue's clock, and by a slow prepare. */
const twapStartEarlySeconds = 120n
const twapStartLateSeconds = 60n

/**
 * Compares every created order with the intent: exactly the intended ones. The order itself, or the parts of a twap, come first and in their order;
 * its exits follow in any order, because type and trigger identify them. `nowSeconds`: Unix seconds.
 */
export function checkOrders(
  differences: Differences,
  intent: Intent,
  orders: readonly CreateOrderParams[],
  policy: SigningPolicy,
  nowSeconds: number,
): void {
  const { main, exits } = rulesOf(intent)
  const count = main.length + exits.length
  differences.same(`${listField}.length`, count, orders.length)
  orders.slice(count).forEach(({ orderType, addresses, numbers }, extra) => {
    const found = `type ${orderType}, size ${numbers.sizeDeltaUsd}, market ${addresses.market}, receiver ${addresses.receiver}`
    differences.add(`${listField}[${count + extra}]`, 'absent', found)
  })
  main.forEach((rule, index) => {
    const order = orders[index]
    if (order !== undefined) checkOrder(differences, `${listField}[${index}]`, intent, rule, order, policy)
  })
  const found = orders.slice(main.length, count)
  servedBy(exits, found).forEach((rule, index) => {
    const order = found[index]
    if (rule !== undefined && order !== undefined)
      checkOrder(differences, `${listField}[${main.length + index}]`, intent, rule, order, policy)
  })
  for (const [index, meant] of (intent.terms.batch?.createOrderParamsList ?? []).entries()) {
    const order = orders[index]
    if (order !== undefined) checkOwn(differences, `${listField}[${index}]`, meant, order)
  }
  const { twap } = intent.terms
  if (twap !== undefined) checkSchedule(differences, twap, orders, policy, nowSeconds)
}

/**
 * Returns the rule of each found exit: one of its type and trigger, each rule once. An exit that fits none is compared with the first remaining rule.
 */
function servedBy(
  rules: readonly OrderRule[],
  found: readonly CreateOrderParams[],
): readonly (OrderRule | undefined)[] {
  const left = [...rules]
  const take = (fits: (rule: OrderRule) => boolean): OrderRule | undefined => {
    const at = left.findIndex(fits)
    return at < 0 ? undefined : left.splice(at, 1)[0]
  }
  const exact = found.map(({ orderType, numbers }) =>
    take(
      (rule) =>
        BigInt(rule.orderType) === orderType &&
        rule.trigger === numbers.triggerPrice &&
        isMeantSize(rule.size, numbers.sizeDeltaUsd),
    ),
  )
  return exact.map((rule) => rule ?? take(() => true))
}

function checkOrder(
  differences: Differences,
  at: string,
  intent: Intent,
  rule: OrderRule,
  order: CreateOrderParams,
  policy: SigningPolicy,
): void {
  const { account, terms } = intent
  const { addresses, numbers } = order
  differences.hex(`${at}.addresses.receiver`, account, addresses.receiver)
  if (!sameHex(addresses.cancellationReceiver, account)) {
    differences.hex(`${at}.addresses.cancellationReceiver`, ZERO_ADDRESS, addresses.cancellationReceiver)
  }
  differences.hex(`${at}.addresses.callbackContract`, ZERO_ADDRESS, addresses.callbackContract)
  differences.hex(`${at}.addresses.uiFeeReceiver`, ZERO_ADDRESS, addresses.uiFeeReceiver)
  differences.hex(`${at}.addresses.market`, rule.market, addresses.market)
  differences.hex(
    `${at}.addresses.initialCollateralToken`,
    rule.initialCollateralToken,
    addresses.initialCollateralToken,
  )
  checkSwapPath(differences, `${at}.addresses.swapPath`, rule, addresses.swapPath, policy)
  checkSize(differences, `${at}.numbers.sizeDeltaUsd`, rule.size, numbers.sizeDeltaUsd)
  checkCollateral(differences, `${at}.numbers.initialCollateralDeltaAmount`, rule, numbers)
  differences.same(`${at}.numbers.triggerPrice`, rule.trigger, numbers.triggerPrice)
  differences.fee(
    `${at}.numbers.executionFee`,
    executionFeeLimit(policy, intent),
    numbers.executionFee,
    executionFeeSpike(policy, intent),
  )
  differences.same(`${at}.numbers.callbackGasLimit`, 0n, numbers.callbackGasLimit)
  checkMinOutput(differences, `${at}.numbers.minOutputAmount`, rule.minOutput, numbers.minOutputAmount)
  if (rule.parts === 0) differences.same(`${at}.numbers.validFromTime`, 0n, numbers.validFromTime)
  checkAcceptablePrice(
    differences,
    `${at}.numbers.acceptablePrice`,
    rule.price,
    numbers.acceptablePrice,
    { buys: rule.buys, decimals: terms.indexToken.decimals },
    widthFor(policy, intent),
  )
  differences.same(`${at}.orderType`, BigInt(rule.orderType), order.orderType)
  differences.atMost(`${at}.decreasePositionSwapType`, rule.maxSwapType, order.decreasePositionSwapType)
  differences.same(`${at}.isLong`, rule.isLong, order.isLong)
  differences.same(
    `${at}.shouldUnwrapNativeToken`,
    rule.swap?.isNativeOut ?? false,
    order.shouldUnwrapNativeToken,
  )
  if (!rule.mayAutoCancel) differences.same(`${at}.autoCancel`, false, order.autoCancel)
  // Without the owner's code the order is the same for a little more; any other code is somebody else's.
  if (policy.referralCode === undefined || !sameHex(order.referralCode, policy.referralCode))
    differences.hex(`${at}.referralCode`, ZERO_HASH, order.referralCode)
  if (order.dataList.length > maxDataListLength) {
    differences.add(
      `${at}.dataList`,
      `at most ${maxDataListLength} entry`,
      `${order.dataList.length} entries`,
    )
  }
  const [metadata] = order.dataList
  if (metadata !== undefined && twapIdOf(metadata, rule.parts) === undefined) {
    const expected = rule.parts === 0 ? 'order metadata "gmxo:..."' : `metadata of ${rule.parts} twap parts`
    differences.add(`${at}.dataList[0]`, expected, metadata)
  }
}

/** Checks a message of the caller's own also in the fields that a rule only bounds: they must have the caller's values. */
function checkOwn(
  differences: Differences,
  at: string,
  meant: CreateOrderParams,
  { numbers, ...order }: CreateOrderParams,
): void {
  differences.same(`${at}.numbers.acceptablePrice`, meant.numbers.acceptablePrice, numbers.acceptablePrice)
  differences.same(`${at}.numbers.executionFee`, meant.numbers.executionFee, numbers.executionFee)
  differences.same(
    `${at}.decreasePositionSwapType`,
    meant.decreasePositionSwapType,
    order.decreasePositionSwapType,
  )
  differences.same(`${at}.autoCancel`, meant.autoCancel, order.autoCancel)
  differences.hex(`${at}.dataList`, meant.dataList.join(), order.dataList.join())
}

function isMeantSize({ asked, other, isAll }: SizeRule, found: Usd): boolean {
  return found === asked || found === other || (isAll && found === MAX_UINT256)
}

/**
 * A reduction that was to take all and takes less finds a position that has shrunk meanwhile: it is decided anew, and nobody
 * is to blame. Anything else is another size than was meant.
 */
function checkSize(differences: Differences, field: string, rule: SizeRule, found: Usd): void {
  differences.compared += 1
  if (isMeantSize(rule, found)) return
  const { asked, other, isAll, wholeUsd } = rule
  const meant = [asked, ...(other === undefined ? [] : [other]), ...(isAll ? [MAX_UINT256] : [])]
  const isShrunk = asked === wholeUsd && found > 0n && found < asked
  differences.add(field, meant.join(' or '), found.toString(), isShrunk ? 'POSITION_MOVED' : undefined)
}

/** On-chain type of a market decrease (`Order.OrderType`). */
const MARKET_DECREASE = 4

/** Distance above the bound at which a moved position still explains an amount of collateral, bps of the whole collateral. */
const movedCollateralBps = 500

function checkCollateral(
  differences: Differences,
  field: string,
  { collateral, size, orderType }: OrderRule,
  { initialCollateralDeltaAmount: found, sizeDeltaUsd }: CreateOrderParams['numbers'],
): void {
  if (collateral.kind === 'exact') {
    differences.same(field, collateral.amount, found)
    return
  }
  const { part, all, wholeUsd } = collateral
  const isWhole = wholeUsd !== undefined && (sizeDeltaUsd === wholeUsd || sizeDeltaUsd === MAX_UINT256)
  // An order that closes everything pays out all the collateral that there is, and no more. A waiting order may find the position grown: only the
  // largest uint256 closes all of that.
  if (isWhole && (orderType === MARKET_DECREASE || sizeDeltaUsd === MAX_UINT256)) {
    differences.compared += 1
    return
  }
  // A whole position that has shrunk since it was sized is still whole; a part that sizing made the whole is a part.
  const wasWhole = size.asked === wholeUsd && sizeDeltaUsd !== size.other
  const most = isWhole || wasWhole ? all : part
  const hasShrunk = wasWhole && !isWhole
  const isMove = hasShrunk || (most > 0n && found <= most + bps(all, movedCollateralBps))
  differences.atMost(field, most, found, isMove ? 'POSITION_MOVED' : undefined)
}

/**
 * Checks a swap's path: listed markets, each once, from the paid token to the requested token. Its least output is in the token of the last market,
 * so a path that ends elsewhere protects nothing. Nothing else swaps.
 */
function checkSwapPath(
  differences: Differences,
  field: string,
  rule: OrderRule,
  path: readonly Address[],
  policy: SigningPolicy,
): void {
  if (rule.swap === undefined) {
    differences.empty(field, path)
    return
  }
  checkPath(differences, field, path, {
    from: rule.initialCollateralToken,
    to: rule.swap.receiveToken.address,
    markets: policy.swapMarkets,
  })
}

/** A decrease's is USD, a swap's the token received. Above the most the order could only ever be cancelled, at our cost. */
function checkMinOutput(differences: Differences, field: string, rule: MinOutputRule, found: bigint): void {
  if (rule.kind === 'none') {
    differences.same(field, 0n, found)
    return
  }
  const { least, most } = rule
  if (found >= least && found <= most) return
  const isMove = found < least && found >= least - least / 5n
  differences.add(
    field,
    `between ${least} and ${most}`,
    found.toString(),
    isMove ? 'PRICE_OUT_OF_BOUNDS' : undefined,
  )
}

/**
 * `gmxo:1:<parts>:<twapId>:<source>:<jit>:<express>`, right-padded with zero bytes (docs/reference/api-coverage.md POST
 * /orders/txns/prepare). The twap id, four zeros for an order that is no part; undefined when the word says anything else.
 */
function twapIdOf(word: Hex, parts: number): string | undefined {
  const text = Buffer.from(word.slice(2), 'hex').toString('latin1').replace(/\0+$/, '')
  const found = /^gmxo:1:(\d{1,2}):([0-9a-f]{1,4}):\d{2}:[01]:[01]$/i.exec(text)
  if (found?.[1] !== String(parts)) return undefined
  const twapId = found[2] ?? ''
  return parts > 0 || /^0+$/.test(twapId) ? twapId : undefined
}

/**
 * Part i is due `duration / (parts - 1) * i` seconds after the first, which is due now (docs/reference/api-coverage.md POST
 * /orders/txns/prepare); the venue divides in floating point, so a second either way is left. All parts carry one twap id.
 */
function checkSchedule(
  differences: Differences,
  { parts, durationSeconds }: TwapTerms,
  orders: readonly CreateOrderParams[],
  { unsureSeconds = 0, askedAgoSeconds = 0 }: SigningPolicy,
  nowSeconds: number,
): void {
  const start = orders[0]?.numbers.validFromTime ?? 0n
  const earliest = BigInt(Math.floor(nowSeconds)) - twapStartEarlySeconds
  const latest = BigInt(Math.floor(nowSeconds + unsureSeconds)) + twapStartLateSeconds
  if (start < earliest || start > latest) {
    differences.add(
      `${listField}[0].numbers.validFromTime`,
      `between ${earliest} and ${latest}`,
      start.toString(),
      start < earliest && start >= earliest - BigInt(Math.ceil(askedAgoSeconds))
        ? 'OFFER_EXPIRED'
        : undefined,
    )
  }
  const ids = orders.map(({ dataList }) => (dataList[0] === undefined ? '' : twapIdOf(dataList[0], parts)))
  const id = ids.find((each) => each !== '') ?? ''
  orders.slice(0, parts).forEach(({ numbers }, index) => {
    const due = start + (BigInt(durationSeconds) * BigInt(index)) / BigInt(parts - 1)
    const found = numbers.validFromTime
    if (found < due - 1n || found > due + 1n)
      differences.add(`${listField}[${index}].numbers.validFromTime`, due.toString(), found.toString())
    const own = ids[index] ?? ''
    if (own !== id) {
      const field = `${listField}[${index}].dataList${own === '' ? '' : '[0]'}`
      differences.add(field, `twap ${id}`, own === '' ? 'no metadata' : `twap ${own}`)
    }
  })
}
