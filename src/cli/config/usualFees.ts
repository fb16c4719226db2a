/** What fees are taken for on each chain before anything landed. */
import type { ChainName } from '../../chains/chain.ts'
import { NATIVE_DECIMALS, parseUnits, type TokenAmount, type Usd, usd } from '../../domain/units.ts'

/** Least that fees are taken for on each chain: one order's execution fee in native token, and its whole fee in USD. */
const usualFees: Readonly<Record<ChainName, { readonly execution: string; readonly wholeUsd: string }>> = {
  arbitrum: { execution: '0.0002', wholeUsd: '1' },
  avalanche: { execution: '0.05', wholeUsd: '1' },
  megaeth: { execution: '0.00002', wholeUsd: '0.1' },
}

/** Native token, smallest unit; USD. */
interface UsualFees {
  readonly usualExecutionFee: TokenAmount
  readonly usualRelayFeeUsd: Usd
}

/** The fees that are usual: as configured, or for 0 the chain's own. Native token, smallest unit; USD. */
export function usualFeesOf(chain: ChainName, { usualExecutionFee, usualRelayFeeUsd }: UsualFees): UsualFees {
  const usual = usualFees[chain]
  return {
    usualExecutionFee:
      usualExecutionFee > 0n ? usualExecutionFee : parseUnits(usual.execution, NATIVE_DECIMALS),
    usualRelayFeeUsd: usualRelayFeeUsd > 0n ? usualRelayFeeUsd : usd(usual.wholeUsd),
  }
}
