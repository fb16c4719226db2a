/** Updates and cancels of a message against the intent: exactly those that are meant: updates in their order, every field; cancels as a set. */

import { defined } from '../../base/defined.ts'
import type { Intent } from '../../domain/order/intent.ts'
import type { EditTerms } from '../../domain/order/orderTerms.ts'
import type { Batch, UpdateOrderParams } from '../../protocol/signing/relayRouter.ts'
import { MAX_UINT256, maxOf } from '../../protocol/units.ts'
import type { Differences } from '../context/differences.ts'
import { executionFeeLimit, executionFeeSpike, type SigningPolicy, widthFor } from '../context/policy.ts'
import { checkAcceptablePrice } from '../context/verifyPrice.ts'

/** Compares the two lists with the intended ones; both are empty for everything but edits, cancels and batches. */
export function checkChanges(
  differences: Differences,
  intent: Intent,
  batch: Pick<Batch, 'updateOrderParamsList' | 'cancelOrderKeys'>,
  policy: SigningPolicy,
): void {
  const { kind, terms } = intent
  const updates = kind === 'batch' ? (terms.batch?.updateOrderParamsList ?? []) : updatesOf(terms.edit)
  checkUpdates(differences, intent, updates, batch.updateOrderParamsList, policy)
  const keys = kind === 'batch' ? terms.batch?.cancelOrderKeys : terms.cancelOrderKeys
  // Cancels of one message are independent of each other: their order changes nothing.
  differences.sameKeys('message.cancelOrderKeys', keys ?? [], batch.cancelOrderKeys)
}

/**
 * An edit as the contract sees it. A waiting part is released by any update, so `validFromTime` is 0 (docs/reference/api-coverage.md
 * POST /orders/txns/edit/prepare).
 */
function updatesOf(edit: EditTerms | undefined): readonly UpdateOrderParams[] {
  if (edit === undefined) return []
  return [
    {
      key: edit.orderKey,
      sizeDeltaUsd: edit.sizeDeltaUsd,
      acceptablePrice: edit.acceptableContractPrice,
      triggerPrice: edit.triggerContractPrice,
      minOutputAmount: edit.minOutputAmount,
      validFromTime: 0n,
      autoCancel: edit.autoCancel,
      executionFeeIncrease: edit.executionFeeIncrease,
    },
  ]
}

function checkUpdates(
  differences: Differences,
  intent: Intent,
  expected: readonly UpdateOrderParams[],
  found: readonly UpdateOrderParams[],
  policy: SigningPolicy,
): void {
  const list = 'message.updateOrderParamsList'
  differences.same(`${list}.length`, expected.length, found.length)
  found.slice(expected.length).forEach(({ key, sizeDeltaUsd, triggerPrice }, extra) => {
    const text = `order ${key}, size ${sizeDeltaUsd}, trigger ${triggerPrice}`
    differences.add(`${list}[${expected.length + extra}]`, 'absent', text)
  })
  expected.forEach((meant, index) => {
    const update = found[index]
    if (update === undefined) return
    const at = `${list}[${index}]`
    differences.hex(`${at}.key`, meant.key, update.key)
    differences.same(`${at}.sizeDeltaUsd`, meant.sizeDeltaUsd, update.sizeDeltaUsd)
    const { acceptablePrice } = update
    checkAcceptable(
      differences,
      `${at}.acceptablePrice`,
      intent,
      meant.acceptablePrice,
      acceptablePrice,
      policy,
    )
    differences.same(`${at}.triggerPrice`, meant.triggerPrice, update.triggerPrice)
    differences.same(`${at}.minOutputAmount`, meant.minOutputAmount, update.minOutputAmount)
    differences.same(`${at}.validFromTime`, meant.validFromTime, update.validFromTime)
    differences.same(`${at}.autoCancel`, meant.autoCancel, update.autoCancel)
    checkIncrease(differences, `${at}.executionFeeIncrease`, intent, meant, update, policy)
  })
}

/**
 * Checks an acceptable price. One that was requested by name, or in a message that the caller composed, must stay unchanged. Otherwise the stored one
 * stays. A price that means "any" may be divided by the index token's unit, as the venue's client writes prices of updates. The price of a limit or
 * take-profit order may follow its new trigger.
 */
function checkAcceptable(
  differences: Differences,
  field: string,
  intent: Intent,
  meant: bigint,
  found: bigint,
  policy: SigningPolicy,
): void {
  const { edit, indexToken, orderType, triggerPrice, direction, priceImpactBps } = intent.terms
  const { decimals } = indexToken
  const isNamed = edit === undefined || edit.changed.includes('acceptable')
  const isAny = meant === MAX_UINT256 && found === MAX_UINT256 / 10n ** BigInt(decimals)
  const follows =
    found !== meant && triggerPrice !== undefined && (orderType === 'limit' || orderType === 'take-profit')
  if (isNamed || !(isAny || follows)) {
    differences.same(field, meant, found)
    return
  }
  if (isAny) return
  const buys = (direction === 'long') === (orderType === 'limit')
  checkAcceptablePrice(
    differences,
    field,
    {
      kind: 'around',
      center: triggerPrice ?? 0n,
      ...defined({ estimateBps: priceImpactBps }),
    },
    found,
    { buys, decimals },
    widthFor(policy, intent),
  )
}

/**
 * Checks the increase of the order's execution fee by an edit. The contract requires the whole fee anew at the gas price of the day
 * (`validateAndCapExecutionFee`). A host may therefore request more than we did, up to the fee that such an order may hold; the unused part is
 * returned. A message of the caller's own contains the caller's figure.
 */
function checkIncrease(
  differences: Differences,
  field: string,
  intent: Intent,
  meant: UpdateOrderParams,
  { executionFeeIncrease: found }: UpdateOrderParams,
  policy: SigningPolicy,
): void {
  if (intent.kind === 'batch') differences.same(field, meant.executionFeeIncrease, found)
  const held = intent.terms.edit?.executionFeeHeld ?? 0n
  const room = maxOf(0n, executionFeeLimit(policy, intent) - held)
  differences.fee(field, room, found, executionFeeSpike(policy, intent))
}
