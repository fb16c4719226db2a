/** The relay parameters, which the message carries as a hash alone: what they allow to be taken, and for how long. */
import type { Chain } from '../chains/chain.ts'
import type { RelayParams } from '../chains/relayRouter.ts'
import type { Findings } from './findings.ts'
import type { SigningPolicy } from './policy.ts'

/**
 * Refuses external calls and permits, pins chain, fee token and price provider, and bounds fee and deadline. `orders`: how
 * many orders the message creates; the relay pays the keeper for each, and is paid for each. `nowSeconds`: Unix seconds.
 */
export function checkRelayParams(
  findings: Findings,
  chain: Chain,
  relayParams: RelayParams,
  policy: SigningPolicy,
  orders: number,
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
  findings.fee('relayParams.fee.feeAmount', policy.maxRelayFee * BigInt(Math.max(1, orders)), fee.feeAmount)
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
