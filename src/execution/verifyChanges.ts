/** Updates and cancels of a message against the intent: exactly those that are meant, in their order, every field. */

import type { Batch, UpdateOrderParams } from '../chains/relayRouter.ts'
import type { Hex } from '../domain/address.ts'
import type { EditTerms, Intent } from '../domain/intent.ts'
import type { Findings } from './findings.ts'
import type { SigningPolicy } from './policy.ts'

/** Compares the two lists with what the intent means; both are empty for everything but edits, cancels and batches. */
export function checkChanges(
  findings: Findings,
  { kind, terms }: Intent,
  batch: Pick<Batch, 'updateOrderParamsList' | 'cancelOrderKeys'>,
  policy: SigningPolicy,
): void {
  const updates = kind === 'batch' ? (terms.batch?.updateOrderParamsList ?? []) : updatesOf(terms.edit)
  checkUpdates(findings, updates, batch.updateOrderParamsList, policy)
  const keys = kind === 'batch' ? terms.batch?.cancelOrderKeys : terms.cancelOrderKeys
  checkCancels(findings, keys ?? [], batch.cancelOrderKeys)
}

/** An edit as the contract sees it. A waiting part is released by any update, so `validFromTime` is 0 (wire: orders, 8). */
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
  findings: Findings,
  expected: readonly UpdateOrderParams[],
  found: readonly UpdateOrderParams[],
  policy: SigningPolicy,
): void {
  const list = 'message.updateOrderParamsList'
  findings.same(`${list}.length`, expected.length, found.length)
  found.slice(expected.length).forEach(({ key, sizeDeltaUsd, triggerPrice }, extra) => {
    const text = `order ${key}, size ${sizeDeltaUsd}, trigger ${triggerPrice}`
    findings.add(`${list}[${expected.length + extra}]`, 'absent', text)
  })
  expected.forEach((meant, index) => {
    const update = found[index]
    if (update === undefined) return
    const at = `${list}[${index}]`
    findings.hex(`${at}.key`, meant.key, update.key)
    findings.same(`${at}.sizeDeltaUsd`, meant.sizeDeltaUsd, update.sizeDeltaUsd)
    findings.same(`${at}.acceptablePrice`, meant.acceptablePrice, update.acceptablePrice)
    findings.same(`${at}.triggerPrice`, meant.triggerPrice, update.triggerPrice)
    findings.same(`${at}.minOutputAmount`, meant.minOutputAmount, update.minOutputAmount)
    findings.same(`${at}.validFromTime`, meant.validFromTime, update.validFromTime)
    findings.same(`${at}.autoCancel`, meant.autoCancel, update.autoCancel)
    findings.same(`${at}.executionFeeIncrease`, meant.executionFeeIncrease, update.executionFeeIncrease)
    findings.fee(`${at}.executionFeeIncrease`, policy.maxExecutionFee, update.executionFeeIncrease)
  })
}

function checkCancels(findings: Findings, expected: readonly Hex[], found: readonly Hex[]): void {
  const list = 'message.cancelOrderKeys'
  findings.same(`${list}.length`, expected.length, found.length)
  found.slice(expected.length).forEach((key, extra) => {
    findings.add(`${list}[${expected.length + extra}]`, 'absent', key)
  })
  expected.forEach((key, index) => {
    const other = found[index]
    if (other !== undefined) findings.hex(`${list}[${index}]`, key, other)
  })
}
