/** The relay parameters, which the message carries only as a hash: the payments that they allow, and their time. */
import { hexKey, sameHex } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import type { RelayParams } from '../../protocol/signing/relayRouter.ts'
import type { Differences } from '../context/differences.ts'
import { type Bounded, relayFeeLimit, relayFeeSpike, type SigningPolicy } from '../context/policy.ts'
import { checkPath } from '../context/swapPath.ts'

/**
 * Refuses external calls and permits, pins chain, fee token and price provider, and bounds fee and deadline. `orders`: how
 * many orders the message creates: the fee pays the keeper for each, and the relay's gas. `nowSeconds`: Unix seconds.
 */
export function checkRelayParams(
  differences: Differences,
  chain: Chain,
  relayParams: RelayParams,
  intent: Bounded,
  policy: SigningPolicy,
  orders: number,
  nowSeconds: number,
): void {
  const { externalCalls, oracleParams, fee } = relayParams
  for (const [name, list] of Object.entries(externalCalls))
    differences.empty(`relayParams.externalCalls.${name}`, list)
  differences.empty('relayParams.tokenPermits', relayParams.tokenPermits)
  differences.same('relayParams.desChainId', BigInt(chain.chainId), relayParams.desChainId)
  const earliest = BigInt(Math.floor(nowSeconds) + policy.minDeadlineSeconds)
  const latest = BigInt(Math.floor(nowSeconds + (policy.unsureSeconds ?? 0)) + policy.maxDeadlineSeconds)
  if (relayParams.deadline < earliest || relayParams.deadline > latest) {
    const wasGood = relayParams.deadline >= earliest - BigInt(Math.ceil(policy.askedAgoSeconds ?? 0))
    const isLate = relayParams.deadline < earliest && wasGood
    differences.add(
      'relayParams.deadline',
      `between ${earliest} and ${latest}`,
      relayParams.deadline.toString(),
      isLate ? 'OFFER_EXPIRED' : undefined,
    )
  }
  differences.hex('relayParams.fee.feeToken', chain.feeToken.address, fee.feeToken)
  const paid = BigInt(Math.max(1, orders))
  differences.fee(
    'relayParams.fee.feeAmount',
    relayFeeLimit(policy, intent) * paid,
    fee.feeAmount,
    relayFeeSpike(policy, intent) * paid,
  )
  // A fee in the wrapped native token needs no swap; any other needs one, or the relay reverts.
  const swaps = !sameHex(fee.feeToken, chain.contracts.wrappedNative)
  const path = fee.feeSwapPath
  if (!swaps) differences.empty('relayParams.fee.feeSwapPath', path)
  else if (!isPinned(chain, fee)) {
    const { wrappedNative } = chain.contracts
    checkPath(differences, 'relayParams.fee.feeSwapPath', path, {
      from: fee.feeToken,
      to: wrappedNative,
      markets: policy.swapMarkets,
    })
  }
  // Prices are needed for the fee's swap alone, and only from the protocol's own feed; of a fee that needs none, the venue's
  // client still lists its token, once.
  checkOracleTokens(differences, chain, relayParams, policy)
  const counts = new Set([
    oracleParams.tokens.length,
    oracleParams.providers.length,
    oracleParams.data.length,
  ])
  if (counts.size !== 1)
    differences.add('relayParams.oracleParams', 'lists of one length', [...counts].join(', '))
  oracleParams.providers.forEach((provider, index) => {
    differences.hex(
      `relayParams.oracleParams.providers[${index}]`,
      chain.contracts.chainlinkPriceFeedProvider,
      provider,
    )
  })
  oracleParams.data.forEach((data, index) => {
    differences.hex(`relayParams.oracleParams.data[${index}]`, '0x', data)
  })
}

/** The chain's own way from its fee token to the wrapped native one needs no list. */
function isPinned({ feeToken, feeSwapPath }: Chain, fee: RelayParams['fee']): boolean {
  return (
    sameHex(fee.feeToken, feeToken.address) &&
    fee.feeSwapPath.length === feeSwapPath.length &&
    fee.feeSwapPath.every((market, index) => sameHex(market, feeSwapPath[index] ?? ''))
  )
}

/** Checks the oracle tokens: each once, and only tokens on the fee's path: its input, its output, and those of the markets on it. */
function checkOracleTokens(
  differences: Differences,
  { contracts }: Chain,
  { fee, oracleParams: { tokens } }: RelayParams,
  { swapMarkets }: SigningPolicy,
): void {
  const pools = fee.feeSwapPath.flatMap((market) => {
    const pool = swapMarkets.get(hexKey(market))
    return pool === undefined ? [] : [pool.indexToken, pool.longToken, pool.shortToken]
  })
  const priced = new Set([fee.feeToken, contracts.wrappedNative, ...pools].map(hexKey))
  tokens.forEach((token, index) => {
    const isFirst = tokens.findIndex((each) => sameHex(each, token)) === index
    if (!priced.has(hexKey(token)) || !isFirst)
      differences.add(`relayParams.oracleParams.tokens[${index}]`, "a token of the fee's swap, once", token)
  })
}
