/** Computes the fee offered to the relay for revoking a delegated key's right. */
import type { Api } from '../../api/client.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { feeTokenAmount, usualFeesOf } from '../../daemon/runSettings.ts'
import type { ChainReader } from '../../domain/machine/chainReader.ts'
import { createFees } from '../../execution/context/feeEstimates.ts'
import { createGasWatch } from '../../execution/context/gasWatch.ts'
import { createNativePrice } from '../../execution/context/nativePrice.ts'
import { ownRelayFee } from '../../execution/lanes/relayParams.ts'
import { ZERO_HASH } from '../../protocol/address.ts'
import { chainGas } from '../../protocol/chains/gas.ts'
import { maxOf, type TokenAmount } from '../../protocol/units.ts'

/** Readings are waited for a second each time. */
const tries = 3

/**
 * The relay's fee for a removal, in the chain's fee token: `signing.relayFeeUsd`, and no less than what the chain's gas price
 * needs by the protocol's formula where an endpoint tells it. The router is asked for a little more gas to cancel an order than
 * to remove a key, so a removal is counted as one.
 */
export async function removalFeeOf(
  config: Config,
  api: Api,
  reader: ChainReader | undefined,
): Promise<TokenAmount> {
  const { chain } = config.venue
  const usual = ownRelayFee(
    chain,
    { createOrderParamsList: [] },
    feeTokenAmount(config, config.signing.relayFeeUsd),
  )
  if (reader?.gasPrices === undefined) return usual.fee.feeAmount
  const fees = createFees({
    chain,
    clock: systemClock,
    usual: usualFeesOf(config),
    gas: createGasWatch(chainGas[chain.name], reader.gasPrices, systemClock),
    nativePrice: createNativePrice(api, chain, systemClock),
  })
  const batch = { createOrderParamsList: [], updateOrderParamsList: [], cancelOrderKeys: [ZERO_HASH] }
  let needed: TokenAmount | undefined
  for (let n = 0; n < tries && needed === undefined; n += 1) {
    await fees.refresh(0)
    needed = fees.ownFeeAmount({ batch, relayParams: usual })
  }
  return maxOf(usual.fee.feeAmount, needed ?? 0n)
}
