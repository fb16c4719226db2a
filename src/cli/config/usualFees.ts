/** What fees are taken for on each chain before anything landed. */
import type { ChainName } from '../../chains/chain.ts'
import { NATIVE_DECIMALS, parseUnits, type TokenAmount, type Usd, usd } from '../../domain/units.ts'
import type { RawConfig } from './schema.ts'

/** Least that fees are taken for on each chain: one order's execution fee in native token, and its whole fee in USD. */
const usualFees: Readonly<Record<ChainName, { readonly execution: string; readonly wholeUsd: string }>> = {
  arbitrum: { execution: '0.0002', wholeUsd: '1' },
  avalanche: { execution: '0.05', wholeUsd: '1' },
  megaeth: { execution: '0.00002', wholeUsd: '0.1' },
}

/** The fees that are usual: as configured, or for 0 the chain's own. Native token, smallest unit; USD. */
export function usualFeesOf(
  chain: ChainName,
  signing: RawConfig['signing'],
): { readonly usualExecutionFee: TokenAmount; readonly usualRelayFeeUsd: Usd } {
  const execution = parseUnits(String(signing.usualExecutionFee), NATIVE_DECIMALS)
  const wholeUsd = usd(String(signing.usualRelayFeeUsd))
  const usual = usualFees[chain]
  return {
    usualExecutionFee: execution > 0n ? execution : parseUnits(usual.execution, NATIVE_DECIMALS),
    usualRelayFeeUsd: wholeUsd > 0n ? wholeUsd : usd(usual.wholeUsd),
  }
}
