/** What a whole daemon signs, held against what was decided (I9). */
import type { SignRequest } from '../../src/domain/signer.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { MAX_UINT256 } from '../../src/protocol/units.ts'
import type { DaemonParts } from './daemon.ts'
import { keptIn, type SignedMessage } from './httpVenue.ts'
import type { Truth } from './truth.ts'

/** Nothing is signed that does not say what was decided. Gives what was signed. */
export function checkSigned(
  parts: Pick<DaemonParts, 'truth' | 'journal'>,
  { claim, digest, typedData }: SignRequest,
  signature: Hex,
): SignedMessage {
  const { journal } = parts
  const truth: Truth = parts.truth
  const intentId = claim?.intentId ?? ''
  const intent = journal.recentIntent(intentId)?.intent
  if (intent === undefined) truth.fail('I9', 'a message was signed that nobody decided')
  const { account, kind, terms } = intent
  const { createOrderParamsList, cancelOrderKeys } = typedData.message as {
    readonly createOrderParamsList: readonly {
      readonly addresses: { readonly receiver: string; readonly market: string }
      readonly numbers: { readonly sizeDeltaUsd: bigint }
      readonly isLong: boolean
      readonly orderType: bigint
    }[]
    readonly cancelOrderKeys: readonly string[]
  }
  for (const { addresses, numbers, isLong, orderType } of createOrderParamsList) {
    if (addresses.receiver.toLowerCase() !== account.toLowerCase())
      truth.fail('I9', `${intentId} pays ${addresses.receiver}`)
    // What waits to close all is cut to the position, so the largest number says the same; a part may become the whole.
    const heldUsd = terms.held?.sizeInUsd ?? 0n
    const meansAll =
      kind === 'increase'
        ? terms.tpsl?.some((exit) => exit.sizeDeltaUsd >= heldUsd + terms.sizeDeltaUsd) === true
        : terms.sizeDeltaUsd >= heldUsd
    const waits = orderType === 5n || orderType === 6n
    const isAll = meansAll && waits && numbers.sizeDeltaUsd === MAX_UINT256
    const isWhole = numbers.sizeDeltaUsd === terms.otherSizeDeltaUsd
    if (numbers.sizeDeltaUsd > terms.sizeDeltaUsd && !isAll && !isWhole)
      truth.fail('I9', `${intentId} signs ${numbers.sizeDeltaUsd} of ${terms.sizeDeltaUsd}`)
    if (
      addresses.market.toLowerCase() !== terms.marketToken.toLowerCase() ||
      isLong !== (terms.direction === 'long')
    )
      truth.fail('I9', `${intentId} trades ${addresses.market}`)
  }
  if (cancelOrderKeys.join() !== (kind === 'cancel' ? (terms.cancelOrderKeys ?? []) : []).join())
    truth.fail('I9', `${intentId} cancels more than was decided`)
  if (typedData.domain.verifyingContract.toLowerCase() !== arbitrum.contracts.gelatoRelayRouter.toLowerCase())
    truth.fail('I9', `${intentId} signs for ${typedData.domain.verifyingContract}`)
  const sizesUsd = createOrderParamsList.map(({ numbers }) => numbers.sizeDeltaUsd)
  return { digest, signature, intentId, sizesUsd, ...keptIn(typedData.message) }
}
