/**
 * The builder's inputs next to the copy of an order or an update. They are in no hash and move nothing, but a host contradicts itself if they show
 * another token, amount or time than the signed one. Missing inputs are not required, and those without a counterpart (sizes in tokens, collateral
 * after fees, prices before slippage) are not compared.
 */
import type { OrderInputs, UpdateInputs } from '../../api/orders/batchCopy.ts'
import type { Intent } from '../../domain/order/intent.ts'
import { type Address, hexKey, sameHex, ZERO_ADDRESS } from '../../protocol/address.ts'
import type { CreateOrderParams, UpdateOrderParams } from '../../protocol/batch.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { MAX_UINT256 } from '../../protocol/units.ts'
import type { Differences } from '../context/differences.ts'

/** Collector of differences, and the intended content. */
interface Scene {
  readonly differences: Differences
  readonly chain: Chain
  readonly intent: Intent
}

/** On-chain order types that swap, and those that bring collateral into a position. */
const swaps: ReadonlySet<bigint> = new Set([0n, 1n])
const increases: ReadonlySet<bigint> = new Set([2n, 3n, 8n])

/** Compares the inputs of an order with its message and the intent. */
export function checkOrderInputs(
  scene: Scene,
  at: string,
  order: CreateOrderParams,
  { params, tokenTransfersParams: transfers }: OrderInputs,
): void {
  const { chain, intent } = scene
  const { terms } = intent
  const { addresses, numbers, orderType } = order
  const isSwap = swaps.has(orderType)
  const pays = isSwap || increases.has(orderType)
  const paid = pays ? numbers.initialCollateralDeltaAmount : 0n
  const payToken = pays ? addresses.initialCollateralToken : undefined
  compare(scene, `${at}.params`, params, {
    chainId: BigInt(chain.chainId),
    receiver: addresses.receiver,
    marketAddress: addresses.market,
    payTokenAddress: payToken,
    payTokenAmount: paid,
    receiveTokenAddress: isSwap ? terms.swap?.receiveToken.address : terms.collateralToken.address,
    swapPath: addresses.swapPath,
    orderType,
    executionFeeAmount: numbers.executionFee,
    validFromTime: numbers.validFromTime,
    autoCancel: order.autoCancel,
    ...(isSwap
      ? {}
      : {
          indexTokenAddress: terms.indexToken.address,
          collateralTokenAddress: terms.collateralToken.address,
          isLong: order.isLong,
          decreasePositionSwapType: order.decreasePositionSwapType,
          sizeDeltaUsd: numbers.sizeDeltaUsd,
        }),
  })
  if (!isSwap) checkTrigger(scene, `${at}.params.triggerPrice`, numbers.triggerPrice, params.triggerPrice)
  compare(scene, `${at}.tokenTransfersParams`, transfers, {
    isNativePayment: false,
    isNativeReceive: order.shouldUnwrapNativeToken,
    initialCollateralTokenAddress: addresses.initialCollateralToken,
    initialCollateralDeltaAmount: numbers.initialCollateralDeltaAmount,
    payTokenAddress: payToken,
    payTokenAmount: paid,
    swapPath: addresses.swapPath,
    value: numbers.executionFee,
  })
  if (transfers.tokenTransfers !== undefined) {
    const meant = [{ tokenAddress: ZERO_ADDRESS, amount: numbers.executionFee }]
    if (payToken !== undefined) meant.push({ tokenAddress: payToken, amount: paid })
    const field = `${at}.tokenTransfersParams.tokenTransfers`
    scene.differences.same(field, sumsOf(meant), sumsOf(transfers.tokenTransfers))
  }
}

/** Compares the inputs of an update with its message and the intent. */
export function checkUpdateInputs(
  scene: Scene,
  at: string,
  update: UpdateOrderParams,
  { params }: UpdateInputs,
): void {
  compare(scene, `${at}.params`, params, {
    chainId: BigInt(scene.chain.chainId),
    indexTokenAddress: scene.intent.terms.indexToken.address,
    orderKey: update.key,
    sizeDeltaUsd: update.sizeDeltaUsd,
    minOutputAmount: update.minOutputAmount,
    validFromTime: update.validFromTime,
    autoCancel: update.autoCancel,
    executionFeeTopUp: update.executionFeeIncrease,
  })
  checkTrigger(scene, `${at}.params.triggerPrice`, update.triggerPrice, params.triggerPrice)
}

type Comparable = bigint | boolean | Address | readonly Address[]

/** Each field that is shown and has a counterpart. */
function compare(
  scene: Scene,
  at: string,
  shown: Readonly<Record<string, unknown>>,
  meant: Readonly<Record<string, Comparable | undefined>>,
): void {
  const { differences, chain } = scene
  const { wrappedNative } = chain.contracts
  for (const [name, value] of Object.entries(meant)) {
    const found = shown[name]
    if (value === undefined || found === undefined) continue
    if (value === found) {
      differences.compared += 1
      continue
    }
    // The venue's client names the native token by the zero address where its wrapped form is meant.
    const isNative = found === ZERO_ADDRESS && typeof value === 'string' && sameHex(value, wrappedNative)
    if (!isNative) differences.hex(`${at}.${name}`, String(value), String(found))
  }
}

/** A trigger in USD with 30 decimals per whole token against its contract price, which the venue rounds down. */
function checkTrigger(
  { differences, intent }: Scene,
  field: string,
  meant: bigint,
  found: bigint | undefined,
): void {
  if (found === undefined) return
  const scale = 10n ** BigInt(intent.terms.indexToken.decimals)
  differences.same(field, meant, found === MAX_UINT256 ? found : found / scale)
}

/** The amount that is sent of each token, as one text; tokens of which 0 is sent are left out. */
function sumsOf(transfers: readonly { readonly tokenAddress: Address; readonly amount: bigint }[]): string {
  const sums = new Map<string, bigint>()
  for (const { tokenAddress, amount } of transfers)
    sums.set(hexKey(tokenAddress), (sums.get(hexKey(tokenAddress)) ?? 0n) + amount)
  const shown = [...sums]
    .filter(([, amount]) => amount > 0n)
    .map(([token, amount]) => `${amount} of ${token}`)
  return shown.sort().join(', ')
}
