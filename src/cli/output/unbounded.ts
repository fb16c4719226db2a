/** Finds unlimited amounts, prices, counts and times in a message, so that its signer is warned. */
import type { Message } from '../../protocol/signing/messages.ts'
import type { PrimaryType } from '../../protocol/signing/messageTypes.ts'

/** From here on a number is as good as the largest one: no amount, price or count of the venue comes near it. */
const endless = 2n ** 128n
/** More actions than a key makes in years of trading; `perpd subaccount approve` writes no more at once. */
const mostActions = 1_000_000n
/** A little more than the year that `perpd subaccount approve` writes at most, seconds. */
const longestSeconds = 366 * 86_400

/** The protocol's order types (Order.OrderType). */
const swaps: readonly bigint[] = [0n, 1n]
const increases: readonly bigint[] = [2n, 3n, 8n]
/** MarketIncrease, LimitIncrease, MarketDecrease, LimitDecrease: types whose price is a bound; stops carry "any" by habit. */
const boundByPrice: readonly bigint[] = [2n, 3n, 4n, 5n]

/**
 * Everything that a message leaves open, one sentence each. Values that are none of their type are left out: the digest says
 * what is wrong with them.
 *
 * @param nowMs Unix time; ends are judged from it.
 */
export function unboundedParts(primaryType: PrimaryType, message: Message, nowMs: number): readonly string[] {
  switch (primaryType) {
    case 'SubaccountApproval':
      return approvalParts(message, nowMs)
    case 'BridgeOut':
      return [
        ...endlessParts(message, ['amount'], ''),
        ...(uintOf(message.minAmountOut) === 0n
          ? ['minAmountOut is 0: nothing has to arrive on the other chain']
          : []),
      ]
    case 'CreateOrder':
      return orderParts(message, '')
    case 'UpdateOrder':
      return updateParts(message.params, 'params.')
    case 'Batch':
      return [
        ...listOf(message.createOrderParamsList).flatMap((each, at) =>
          orderParts(each, `createOrderParamsList[${at}].`),
        ),
        ...listOf(message.updateOrderParamsList).flatMap((each, at) =>
          updateParts(each, `updateOrderParamsList[${at}].`),
        ),
      ]
    default:
      return []
  }
}

function approvalParts(message: Message, nowMs: number): readonly string[] {
  if (message.shouldAdd !== true) return []
  const parts: string[] = []
  const count = uintOf(message.maxAllowedCount)
  if (count !== undefined && count > mostActions) {
    parts.push(
      `maxAllowedCount is ${grouped(count)}: the key may make, change and cancel practically any number of orders`,
    )
  }
  for (const name of ['expiresAt', 'deadline'] as const) {
    const seconds = uintOf(message[name])
    if (seconds === undefined || seconds <= BigInt(Math.floor(nowMs / 1000) + longestSeconds)) continue
    const what = name === 'expiresAt' ? 'the key keeps its right' : 'the approval can be brought to the chain'
    parts.push(`${name} is ${grouped(seconds)}, more than a year away: ${what} until then`)
  }
  return parts
}

function orderParts(value: unknown, path: string): readonly string[] {
  const order = recordOf(value)
  const numbers = recordOf(order.numbers)
  const addresses = recordOf(order.addresses)
  const type = uintOf(order.orderType)
  if (type === undefined) return []
  const isIncrease = increases.includes(type)
  const names = isIncrease || swaps.includes(type) ? ['sizeDeltaUsd', 'initialCollateralDeltaAmount'] : []
  const parts = [...endlessParts(numbers, [...names, 'executionFee'], `${path}numbers.`)]
  const price = uintOf(numbers.acceptablePrice)
  const isHighestPrice = isIncrease === (order.isLong === true)
  if (
    boundByPrice.includes(type) &&
    price !== undefined &&
    (isHighestPrice ? price >= endless : price === 0n)
  )
    parts.push(`${path}numbers.acceptablePrice is ${isHighestPrice ? 'endless' : '0'}: any price is taken`)
  const isSwapped = swaps.includes(type) || listOf(addresses.swapPath).length > 0
  if (isSwapped && uintOf(numbers.minOutputAmount) === 0n)
    parts.push(`${path}numbers.minOutputAmount is 0: the swap may return nothing`)
  return parts
}

function updateParts(value: unknown, path: string): readonly string[] {
  return endlessParts(recordOf(value), ['executionFeeIncrease'], path)
}

function endlessParts(fields: Message, names: readonly string[], path: string): readonly string[] {
  return names.flatMap((name) => {
    const value = uintOf(fields[name])
    return value !== undefined && value >= endless
      ? [`${path}${name} is ${grouped(value)}: it has no end`]
      : []
  })
}

/** Tells whether a number is as good as the largest one. */
export function isEndless(value: bigint): boolean {
  return value >= endless
}

function uintOf(value: unknown): bigint | undefined {
  const isWhole = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
  const isText = typeof value === 'string' && /^(?:\d{1,78}|0x[0-9a-f]{1,64})$/i.test(value)
  return typeof value === 'bigint' || isWhole || isText ? BigInt(value) : undefined
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function recordOf(value: unknown): Message {
  return typeof value === 'object' && value !== null ? (value as Message) : {}
}

/** Digits in groups: 1,000,000,000,300. */
function grouped(value: bigint): string {
  return value.toLocaleString('en-US')
}
