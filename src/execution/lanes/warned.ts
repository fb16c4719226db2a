/**
 * Prepare's warnings, before anything is signed: they are shown and journaled, and the policy's action is taken. An order that shrinks is prepared
 * again at a size that is read and judged anew, inside the same intent; it may only ever get smaller.
 */
import { liquidityShortfall } from '../../api/orders/capacityFacts.ts'
import type { Prepared } from '../../api/orders/expressOrders.ts'
import { defined } from '../../base/defined.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import type { Intent } from '../../domain/order/intent.ts'
import type { JudgedWarning, Shrunk, WarnedFacts } from '../../domain/order/warnedFacts.ts'
import { defaultWarningPolicy, judgeWarnings, shrunkTo, strictestOf } from '../../domain/order/warning.ts'
import { formatDollars, minOf, type Usd } from '../../protocol/units.ts'
import type { ExecutionContext } from '../context/executionContext.ts'

/** Largest number of times that one intent may be made smaller: the venue's capacity can shrink once more during the next prepare. */
const MOST_SHRINKS = 2

/** Log that the caller provides for the warnings of one attempt. */
export interface WarningLog {
  /** Number of times that the intent was made smaller before, in this process or an earlier one. */
  readonly shrinks: number
  /** Makes it durable; false when perpd stops and nothing may continue. */
  write(warned: WarnedFacts): Promise<boolean>
}

/** Next step for an order with warnings. */
export type AfterWarning =
  | { readonly kind: 'sign' }
  /** Prepare this instead. */
  | { readonly kind: 'shrink'; readonly intent: Intent }
  | { readonly kind: 'drop'; readonly reason: string }
  | { readonly kind: 'stop' }

/** Judges, shows and journals the venue's warnings. Never throws because of the venue or the network. */
export async function heedWarnings(
  context: ExecutionContext,
  intent: Intent,
  prepared: Prepared,
  log: WarningLog,
): Promise<AfterWarning> {
  const { host, requestId, validationWarnings } = prepared
  if (validationWarnings.length === 0) return { kind: 'sign' }
  const policies = context.warningPolicies?.(intent.strategy) ?? [defaultWarningPolicy]
  const warnings = judgeWarnings(policies, intent, validationWarnings)
  const wanted = strictestOf(warnings.map((each) => each.action))
  const smaller = wanted === 'shrink' ? await smallerOf(context, intent, prepared, warnings, log) : undefined
  const shrunk = typeof smaller === 'object' ? smaller : undefined
  const reason = typeof smaller === 'string' ? smaller : undefined
  const action = reason === undefined ? wanted : 'drop'
  const said = { host, requestId, warnings, action, ...defined({ reason }) }
  const toUsd = shrunk?.terms.sizeDeltaUsd
  context.emit({ type: 'order.warned', intent, ...said, ...defined({ toUsd }) })
  if (!(await log.write({ ...said, ...defined({ shrunk }) }))) return { kind: 'stop' }
  if (shrunk !== undefined) return { kind: 'shrink', intent: { ...intent, ...shrunk } }
  if (action === 'sign') return { kind: 'sign' }
  const why = reason === undefined ? '' : `; ${reason}`
  return { kind: 'drop', reason: `the venue warned: ${textOf(warnings)}${why}` }
}

/** The intent made smaller, or why it cannot be. */
async function smallerOf(
  { admission }: ExecutionContext,
  intent: Intent,
  { validationWarnings }: Prepared,
  warnings: readonly JudgedWarning[],
  { shrinks }: WarningLog,
): Promise<Shrunk | string> {
  const { sizeDeltaUsd } = intent.terms
  if (intent.kind !== 'increase' || admission === undefined) return 'perpd shrinks increases only'
  if (shrinks >= MOST_SHRINKS) return `it shrank ${shrinks} times before`
  const told = validationWarnings.flatMap((each) => {
    const capacity = liquidityShortfall(each)?.capacity
    if (capacity === undefined) return []
    return capacity.jitDataStatus === 'available'
      ? capacity.availableLiquidity
      : capacity.baseAvailableLiquidity
  })
  let toUsd: Usd
  try {
    const sized = await admission.resize(intent, minOf(sizeDeltaUsd, ...told))
    if (typeof sized !== 'bigint') return `no smaller order is possible: ${sized.reason} [${sized.code}]`
    toUsd = sized
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    return `the capacity could not be reread: ${reasonOf(error)}`
  }
  if (toUsd >= sizeDeltaUsd) return `our own reading shows capacity for all of ${formatDollars(sizeDeltaUsd)}`
  if (toUsd <= 0n) return 'no capacity is left'
  const by = warnings.find(({ action }) => action === 'shrink')?.code ?? 'warning'
  return shrunkTo(intent, toUsd, by)
}

function textOf(warnings: readonly JudgedWarning[]): string {
  return warnings.map(({ code, message }) => `${code} (${message})`).join('; ')
}
