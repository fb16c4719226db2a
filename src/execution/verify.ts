/**
 * Prepared to Verified: the payload says what the intent says, field by field, or nothing is signed.
 *
 * The venue proposes a message; this file decides. Types and primary type are our own, the domain is pinned to the
 * chain's router, `relayParams` is hashed again from the payload, and every field of the one order is compared with the
 * terms. All differences are reported at once, because the list is what tells an attack from a bug (security document,
 * section 2).
 */

import type { Prepared } from '../api/orders.ts'
import type { Chain } from '../chains/chain.ts'
import {
  type Batch,
  batchTypes,
  type CreateOrderParams,
  digestOf,
  domainSeparator,
  hashRelayParams,
  type RelayParams,
  relayRouterDomainName,
  relayRouterDomainVersion,
} from '../chains/relayRouter.ts'
import { type Address, type Hex, sameHex, ZERO_ADDRESS, ZERO_HASH } from '../domain/address.ts'
import type { Difference } from '../domain/event.ts'
import type { Intent } from '../domain/intent.ts'
import { expectedOf } from '../domain/machine/expected.ts'
import { bps, contractPriceOf, formatUnits } from '../domain/units.ts'

/** What may be signed at all, besides what the intent says. */
export interface SigningPolicy {
  /** Nearest and furthest deadline from now, seconds. */
  readonly minDeadlineSeconds: number
  readonly maxDeadlineSeconds: number
  /** Highest execution fee, in the native token's base units. */
  readonly maxExecutionFee: bigint
  /** Highest relay fee, in base units of the chain's fee token. */
  readonly maxRelayFee: bigint
  /** How far beyond the slippage the acceptable price may lie from our own oracle read, bps: price drift and impact. */
  readonly priceToleranceBps: number
  /** Lower-cased market tokens that a relay fee may be swapped through. */
  readonly feeSwapMarkets: ReadonlySet<string>
}

declare const verifiedBrand: unique symbol

/** A payload that says what the intent says. Made by `verify` alone; `sign` takes nothing else. */
export interface Verified {
  readonly [verifiedBrand]: true
  readonly intent: Intent
  readonly prepared: Prepared
  readonly batch: Batch
  readonly relayParams: RelayParams
  readonly router: Address
  readonly chainId: number
  /** Computed here, from our own types and the pinned domain. */
  readonly digest: Hex
  readonly deadlineSeconds: number
}

/** Why a payload is not signed. */
export interface Rejection {
  readonly kind: 'rejected'
  /**
   * What moves by itself is told apart from poison: the price (`PRICE_OUT_OF_BOUNDS`), a fee in a gas spike
   * (`FEE_ABOVE_LIMIT`, up to ten times the limit), the position under a reduction (`POSITION_MOVED`). Anything else is
   * `TYPED_DATA_MISMATCH`.
   */
  readonly code: 'TYPED_DATA_MISMATCH' | 'PRICE_OUT_OF_BOUNDS' | 'FEE_ABOVE_LIMIT' | 'POSITION_MOVED'
  readonly differences: readonly Difference[]
}

const maxDataListLength = 1
const separators = new Map<string, Hex>()

function separatorOf(chainId: number, router: Address): Hex {
  const key = `${chainId}:${router}`
  const known = separators.get(key)
  if (known !== undefined) return known
  const separator = domainSeparator(chainId, router)
  separators.set(key, separator)
  return separator
}

/** Collects differences; `path` names the place inside the payload. */
class Findings {
  readonly list: Difference[] = []
  /** The first difference of a kind that moves by itself. */
  benign: Exclude<Rejection['code'], 'TYPED_DATA_MISMATCH'> | undefined
  isPoison = false

  add(field: string, expected: string, found: string, benign?: typeof this.benign): void {
    this.list.push({ field, expected, found })
    this.benign ??= benign
    if (benign === undefined) this.isPoison = true
  }

  same(
    field: string,
    expected: bigint | boolean | string | number,
    found: bigint | boolean | string | number,
  ): void {
    if (expected !== found) this.add(field, String(expected), String(found))
  }

  hex(field: string, expected: string, found: string): void {
    if (!sameHex(expected, found)) this.add(field, expected, found)
  }

  atMost(field: string, limit: bigint, found: bigint, benign?: typeof this.benign): void {
    if (found > limit) this.add(field, `at most ${limit}`, found.toString(), benign)
  }

  /** A fee above its limit is a gas spike; one above ten times the limit is not. */
  fee(field: string, limit: bigint, found: bigint): void {
    this.atMost(field, limit, found, found <= 10n * limit ? 'FEE_ABOVE_LIMIT' : undefined)
  }

  empty(field: string, found: readonly unknown[]): void {
    if (found.length > 0) this.add(field, 'empty', `${found.length} entries`)
  }
}

/**
 * Compares a prepared payload with its intent. `nowSeconds` is the chain's or the host's time as well as we know it.
 * Returns what may be signed, or every difference.
 */
export function verify(
  chain: Chain,
  intent: Intent,
  prepared: Prepared,
  policy: SigningPolicy,
  nowSeconds: number,
): Verified | Rejection {
  const findings = new Findings()
  const { typedData, relayParams } = prepared
  const { batch } = typedData
  const router = chain.contracts.gelatoRelayRouter
  findings.same('mode', 'express', prepared.mode)
  checkEnvelope(findings, chain, prepared)
  checkRelayParams(findings, chain, relayParams, policy, nowSeconds)
  findings.hex('message.relayParams', hashRelayParams(relayParams), batch.relayParams)
  // The host's own offer may end before the deadline; half of the deadline's margin must be left to hand it in.
  const minOfferSeconds = policy.minDeadlineSeconds / 2
  if (prepared.expiresAtSeconds !== undefined && prepared.expiresAtSeconds < nowSeconds + minOfferSeconds) {
    findings.add('expiresAt', `at least ${minOfferSeconds} s ahead`, String(prepared.expiresAtSeconds))
  }
  findings.hex('message.account', ZERO_ADDRESS, batch.account)
  findings.hex('message.subaccountApproval', ZERO_HASH, batch.subaccountApproval)
  findings.same('message.createOrderParamsList.length', 1, batch.createOrderParamsList.length)
  findings.empty('message.updateOrderParamsList', batch.updateOrderParamsList)
  findings.empty('message.cancelOrderKeys', batch.cancelOrderKeys)
  const [order] = batch.createOrderParamsList
  if (order !== undefined) checkOrder(findings, intent, order, policy)
  if (findings.list.length > 0) {
    return {
      kind: 'rejected',
      code: findings.isPoison ? 'TYPED_DATA_MISMATCH' : (findings.benign ?? 'TYPED_DATA_MISMATCH'),
      differences: findings.list,
    }
  }
  const verified: Omit<Verified, typeof verifiedBrand> = {
    intent,
    prepared,
    batch,
    relayParams,
    router,
    chainId: chain.chainId,
    digest: digestOf(separatorOf(chain.chainId, router), batch),
    deadlineSeconds: Number(relayParams.deadline),
  }
  return verified as Verified
}

function checkEnvelope(findings: Findings, chain: Chain, prepared: Prepared): void {
  const { domain, primaryType, types } = prepared.typedData
  findings.same('typedData.domain.name', relayRouterDomainName, domain.name)
  findings.same('typedData.domain.version', relayRouterDomainVersion, domain.version)
  findings.same('typedData.domain.chainId', chain.chainId, domain.chainId)
  findings.hex(
    'typedData.domain.verifyingContract',
    chain.contracts.gelatoRelayRouter,
    domain.verifyingContract,
  )
  if (prepared.relayRouterAddress !== undefined) {
    findings.hex('relayRouterAddress', chain.contracts.gelatoRelayRouter, prepared.relayRouterAddress)
  }
  findings.same('typedData.primaryType', 'Batch', primaryType)
  // We hash with our own types; a venue that lists others means something else than we do.
  const ours: Readonly<Record<string, readonly { name: string; type: string }[]>> = batchTypes
  const names = new Set([...Object.keys(ours), ...Object.keys(types)])
  for (const name of names) {
    if (name === 'EIP712Domain') continue
    const expected = Object.hasOwn(ours, name) ? fieldsText(ours[name]) : 'absent'
    const found = Object.hasOwn(types, name) ? fieldsText(types[name]) : 'absent'
    findings.same(`typedData.types.${name}`, expected, found)
  }
}

function fieldsText(fields: readonly { readonly name: string; readonly type: string }[] | undefined): string {
  return (fields ?? []).map(({ name, type }) => `${type} ${name}`).join(',')
}

function checkRelayParams(
  findings: Findings,
  chain: Chain,
  relayParams: RelayParams,
  policy: SigningPolicy,
  nowSeconds: number,
): void {
  const { externalCalls, oracleParams, fee } = relayParams
  for (const [name, list] of Object.entries(externalCalls))
    findings.empty(`relayParams.externalCalls.${name}`, list)
  findings.empty('relayParams.tokenPermits', relayParams.tokenPermits)
  findings.same('relayParams.desChainId', BigInt(chain.chainId), relayParams.desChainId)
  const earliest = BigInt(Math.floor(nowSeconds) + policy.minDeadlineSeconds)
  const latest = BigInt(Math.floor(nowSeconds) + policy.maxDeadlineSeconds)
  if (relayParams.deadline < earliest || relayParams.deadline > latest) {
    findings.add('relayParams.deadline', `between ${earliest} and ${latest}`, relayParams.deadline.toString())
  }
  findings.hex('relayParams.fee.feeToken', chain.feeToken.address, fee.feeToken)
  findings.fee('relayParams.fee.feeAmount', policy.maxRelayFee, fee.feeAmount)
  if (fee.feeSwapPath.length > 3)
    findings.add('relayParams.fee.feeSwapPath', 'at most 3 markets', `${fee.feeSwapPath.length}`)
  fee.feeSwapPath.forEach((market, index) => {
    if (!policy.feeSwapMarkets.has(market.toLowerCase())) {
      findings.add(`relayParams.fee.feeSwapPath[${index}]`, 'a listed market', market)
    }
  })
  // Prices are needed for the fee's swap alone, and only from the protocol's own feed.
  const counts = new Set([
    oracleParams.tokens.length,
    oracleParams.providers.length,
    oracleParams.data.length,
  ])
  if (counts.size !== 1)
    findings.add('relayParams.oracleParams', 'lists of one length', [...counts].join(', '))
  oracleParams.providers.forEach((provider, index) => {
    findings.hex(
      `relayParams.oracleParams.providers[${index}]`,
      chain.contracts.chainlinkPriceFeedProvider,
      provider,
    )
  })
  oracleParams.data.forEach((data, index) => {
    findings.hex(`relayParams.oracleParams.data[${index}]`, '0x', data)
  })
}

function checkOrder(
  findings: Findings,
  intent: Intent,
  order: CreateOrderParams,
  policy: SigningPolicy,
): void {
  const at = 'message.createOrderParamsList[0]'
  const { terms, kind, account } = intent
  const { addresses, numbers } = order
  findings.hex(`${at}.addresses.receiver`, account, addresses.receiver)
  if (!sameHex(addresses.cancellationReceiver, account)) {
    findings.hex(`${at}.addresses.cancellationReceiver`, ZERO_ADDRESS, addresses.cancellationReceiver)
  }
  findings.hex(`${at}.addresses.callbackContract`, ZERO_ADDRESS, addresses.callbackContract)
  findings.hex(`${at}.addresses.uiFeeReceiver`, ZERO_ADDRESS, addresses.uiFeeReceiver)
  findings.hex(`${at}.addresses.market`, terms.marketToken, addresses.market)
  findings.hex(
    `${at}.addresses.initialCollateralToken`,
    terms.collateralToken.address,
    addresses.initialCollateralToken,
  )
  findings.empty(`${at}.addresses.swapPath`, addresses.swapPath)
  findings.same(`${at}.numbers.sizeDeltaUsd`, terms.sizeDeltaUsd, numbers.sizeDeltaUsd)
  if (kind === 'increase') {
    findings.same(
      `${at}.numbers.initialCollateralDeltaAmount`,
      terms.collateralDelta,
      numbers.initialCollateralDeltaAmount,
    )
  } else {
    findings.atMost(
      `${at}.numbers.initialCollateralDeltaAmount`,
      terms.collateralDelta,
      numbers.initialCollateralDeltaAmount,
      terms.keepLeverage ? 'POSITION_MOVED' : undefined,
    )
  }
  findings.same(`${at}.numbers.triggerPrice`, 0n, numbers.triggerPrice)
  findings.fee(`${at}.numbers.executionFee`, policy.maxExecutionFee, numbers.executionFee)
  findings.same(`${at}.numbers.callbackGasLimit`, 0n, numbers.callbackGasLimit)
  findings.same(`${at}.numbers.minOutputAmount`, 0n, numbers.minOutputAmount)
  findings.same(`${at}.numbers.validFromTime`, 0n, numbers.validFromTime)
  checkAcceptablePrice(findings, `${at}.numbers.acceptablePrice`, intent, numbers.acceptablePrice, policy)
  const [expected] = expectedOf(intent).orders
  findings.same(`${at}.orderType`, BigInt(expected?.orderType ?? -1), order.orderType)
  // 1 turns profit into the collateral token, which is what we ask to receive; 2 would pay out in the other token.
  const swapTypeLimit = kind === 'increase' ? 0n : 1n
  findings.atMost(`${at}.decreasePositionSwapType`, swapTypeLimit, order.decreasePositionSwapType)
  findings.same(`${at}.isLong`, terms.direction === 'long', order.isLong)
  findings.same(`${at}.shouldUnwrapNativeToken`, false, order.shouldUnwrapNativeToken)
  findings.same(`${at}.autoCancel`, false, order.autoCancel)
  findings.hex(`${at}.referralCode`, ZERO_HASH, order.referralCode)
  if (order.dataList.length > maxDataListLength) {
    findings.add(`${at}.dataList`, `at most ${maxDataListLength} entry`, `${order.dataList.length} entries`)
  }
  const [metadata] = order.dataList
  if (metadata !== undefined && !isOrderMetadata(metadata))
    findings.add(`${at}.dataList[0]`, 'order metadata "gmxo:..."', metadata)
}

/** `gmxo:1:<parts>:<twapId>:<source>:<jit>:<express>`, right-padded with zero bytes (wire: orders, section 7). */
function isOrderMetadata(word: Hex): boolean {
  const text = Buffer.from(word.slice(2), 'hex').toString('latin1').replace(/\0+$/, '')
  return /^gmxo:1:0:0{1,4}:\d{2}:[01]:[01]$/.test(text)
}

/**
 * A market order's acceptable price lies within slippage and tolerance of our own oracle read, on both sides: beyond it
 * on the bad side we would overpay; far on the good side the order could only ever be cancelled, at our cost.
 */
function checkAcceptablePrice(
  findings: Findings,
  field: string,
  intent: Intent,
  found: bigint,
  policy: SigningPolicy,
): void {
  const { terms, kind } = intent
  const { decimals } = terms.indexToken
  const reference = terms.referencePrice
  const buys = (terms.direction === 'long') === (kind === 'increase')
  const outer = terms.slippageBps + policy.priceToleranceBps
  const lowest = contractPriceOf(
    reference - bps(reference, buys ? policy.priceToleranceBps : outer),
    decimals,
  )
  const highest = contractPriceOf(
    reference + bps(reference, buys ? outer : policy.priceToleranceBps),
    decimals,
  )
  if (found < lowest || found > highest) {
    const price = (value: bigint) => formatUnits(value, 30 - decimals)
    const expected = `between ${price(lowest)} and ${price(highest)} USD`
    // Markets move by a few percent between two reads, not to any price at all.
    const center = contractPriceOf(reference, decimals)
    const isMove = found >= center - center / 5n && found <= center + center / 5n
    findings.add(field, expected, `${price(found)} USD`, isMove ? 'PRICE_OUT_OF_BOUNDS' : undefined)
  }
}
