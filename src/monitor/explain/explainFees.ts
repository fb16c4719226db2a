/** Explains the assumed fees of an order, the signed fees, and the part that keepers kept: lines of `perpd explain`. Pure. */
import { executionFeePaid } from '../../domain/accountRecords/spend.ts'
import { type ArmedFacts, type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import { formatDollars, formatUnits, NATIVE_DECIMALS } from '../../protocol/units.ts'

/** The token that whole fees are in. */
export interface FeeToken {
  readonly symbol: string
  readonly decimals: number
}

const sources: Readonly<Record<NonNullable<ArmedFacts['feeEstimate']>['source'], string>> = {
  chain: "by the chain's gas price",
  landed: 'by what landed before',
  usual: 'as configured',
}

/** The fees of the newest attempt that was signed; nothing before. */
export function feeLines(state: IntentState, feeToken: FeeToken): string[] {
  const attempt = lastAttempt(state)
  const armed = attempt?.armed
  if (armed === undefined) return []
  const both = (execution: bigint, whole: bigint) =>
    `execution ${native(execution)}, whole ${formatUnits(whole, feeToken.decimals)} ${feeToken.symbol}`
  const { feeEstimate } = armed
  const paid = executionFeePaid(attempt)
  return [
    ...(feeEstimate === undefined
      ? []
      : [
          `estimated fees: ${both(feeEstimate.executionFee, feeEstimate.relayFee)}, ${sources[feeEstimate.source]}`,
        ]),
    `signed fees: ${both(armed.executionFee, armed.relayFeeAmount)}`,
    ...(paid === undefined
      ? []
      : [`paid: keepers kept ${native(paid)}${returned(armed.executionFee - paid)}`]),
    ...(attempt?.feeReturnedUsd === undefined
      ? []
      : [`the relay returned ${formatDollars(attempt.feeReturnedUsd)} of the whole fee, in wrapped native`]),
  ]
}

/** An edit may have topped the fee up: then what was kept says nothing about what came back of this message's. */
function returned(rest: bigint): string {
  return rest < 0n ? '' : `; ${native(rest)} of it was returned`
}

function native(amount: bigint): string {
  return `${formatUnits(amount, NATIVE_DECIMALS)} native`
}
