/**
 * Limits that change: tighter values take effect at once, looser ones by an operator's confirmation or a restart. The journal persists the limits in
 * force after each change, so that a start reports its changes against the previous run.
 */

import type { HasLimits, HasReadLimits, HasTrading } from '../account/accountParts.ts'
import type { ConfiguredLimits } from '../account/limitsInForce.ts'
import { formOf, limitWritten, unitsOf, writtenLimits } from '../account/limitValue.ts'
import {
  type AppliedChange,
  changeText,
  deskRows,
  type LimitRow,
  limitRows,
  waitingLimits,
} from '../account/liveLimits.ts'
import { recordLimits } from '../account/recordedLimits.ts'
import { BaseError, reasonOf } from '../base/errors.ts'
import type { Commander } from '../domain/accountRecords/tradingState.ts'
import { isTighter, limitRow, limitSetting } from '../domain/limits/limits.ts'
import type { HasEmit } from '../execution/context/executionParts.ts'
import { type OperatorAnswer, type Refusal, refusal } from './operatorAnswer.ts'

type LimitsContext = HasEmit & HasLimits & HasReadLimits & HasTrading

type Configured = Awaited<ReturnType<NonNullable<LimitsContext['readLimits']>>>

/** Returns the limits in force, and the account's budgets of the desk's. */
function rowsInForce({ limits }: LimitsContext): readonly LimitRow[] {
  return [...limitRows(limits.current()), ...deskRows(limits.desk())]
}

/** Reads the present configuration, or returns the reason why it cannot be used. */
async function readConfigured({
  readLimits,
}: LimitsContext): Promise<Configured | Extract<OperatorAnswer, { readonly ok: false }>> {
  if (readLimits === undefined)
    return { ok: false, code: 'LIMITS_FIXED', reason: 'this run cannot reload limits' }
  try {
    return await readLimits()
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    const reason = `the configuration is invalid, nothing was changed: ${reasonOf(error)}`
    return { ok: false, code: 'CONFIG_INVALID', reason }
  }
}

/** Returns the limits in force and those configured otherwise; nothing changes, and nothing is written. */
export async function previewLimits(context: LimitsContext): Promise<OperatorAnswer> {
  const next = await readConfigured(context)
  const { limits } = context
  if ('ok' in next) {
    // The limits in force are known even if the files cannot be used.
    if (next.code !== 'CONFIG_INVALID') return next
    const statement = next.reason.replaceAll(/\s*\n\s*/g, ' ').replace(/\.$/, '')
    return { ok: true, statement, limits: rowsInForce(context), waiting: [] }
  }
  const waiting = waitingLimits(limits.compare(next, true))
  const count = `${waiting.length} ${waiting.length === 1 ? 'limit is' : 'limits are'}`
  const statement =
    waiting.length === 0
      ? sameText
      : `${count} configured differently from those in force; nothing was changed`
  return {
    ok: true,
    statement: `${statement}${restText(next)}`,
    limits: rowsInForce(context),
    waiting,
  }
}

const sameText = 'the limits in force are the configured ones'

function restText({ waiting = [] }: Configured): string {
  if (waiting.length === 0) return ''
  return `; other changes need a restart: ${waiting.join(', ')}`
}

/** Reads the configuration anew and applies it, as far as it may. Throws what the journal throws. */
export async function changeLimits(
  context: LimitsContext,
  isConfirmed: boolean,
  commander: Commander,
): Promise<OperatorAnswer> {
  const next = await readConfigured(context)
  return 'ok' in next ? next : await takeLimits(context, next, commander, isConfirmed)
}

/** Applies limits, as far as it may: looser ones only when confirmed. Throws what the journal throws. */
async function takeLimits(
  context: LimitsContext,
  next: Configured,
  commander: Commander,
  isConfirmed = false,
): Promise<OperatorAnswer> {
  const { limits, trading, emit } = context
  const changes = limits.compare(next, isConfirmed)
  const rest = restText(next)
  if (changes.length === 0) {
    return {
      ok: true,
      statement: `${sameText}${rest}`,
      limits: rowsInForce(context),
    }
  }
  const statement = `${statementOf(changes)}${rest}`
  await trading.accountJournal.write({
    kind: 'operator.command',
    command: 'limits.changed',
    detail: statement,
    ...commander,
  })
  limits.replace(next, isConfirmed)
  const isChanged = changes.some(({ isApplied }) => isApplied)
  if (isChanged) emit({ type: 'limits.changed', statement, by: commander.by })
  await recordLimits(context, commander)
  return { ok: true, statement, limits: rowsInForce(context), ...(isChanged ? { isChanged } : {}) }
}

/** Over a restart the files win. */
const untilText = 'it lasts until a restart, which reads the files; to make it permanent, change the files'

/** A limit of the account that is to be tighter. */
interface Tightening {
  /** Its name under `risk`, or the code's: `maxLeverage`. */
  readonly limit: string
  /** As it is written under `risk`: `2500` dollars, `2.5` times, `300` basis points. */
  readonly value: string
  readonly isPreview?: boolean
}

/** Puts the tighter value in force, or shows its effect. Throws what the journal throws. */
export async function tightenLimit(
  context: LimitsContext,
  { limit, value, isPreview = false }: Tightening,
  commander: Commander,
): Promise<OperatorAnswer> {
  const current = context.limits.current()
  const next = tightened(current, limit, value.trim())
  if ('ok' in next) return next
  if (!isPreview) {
    const answer = await takeLimits(context, next, commander)
    return answer.ok ? { ...answer, statement: `${answer.statement}; ${untilText}` } : answer
  }
  const waiting = waitingLimits(context.limits.compare(next, true))
  return { ok: true, statement: `it would apply from the next decision on; ${untilText}`, waiting }
}

function tightened(current: ConfiguredLimits, written: string, text: string): ConfiguredLimits | Refusal {
  const name = limitWritten(written)
  if (name === undefined) {
    return refusal(
      'LIMIT_UNKNOWN',
      `no limit of the account is called ${written}; there are ${writtenLimits.join(', ')}`,
    )
  }
  const value = unitsOf(name, text)
  if (value === undefined) {
    return refusal('LIMIT_VALUE', `${text} is not a value of ${limitSetting(name)}: expected ${formOf(name)}`)
  }
  const now = current.account[name]
  if (now !== undefined && BigInt(now) === BigInt(value)) {
    return refusal('LIMIT_SAME', `${limitSetting(name)} is already ${text}; nothing was changed`)
  }
  const { tighter } = limitRow(name) ?? { tighter: 'less' as const }
  if (!isTighter(tighter, value, now)) {
    return refusal(
      'LIMIT_LOOSER',
      `${text} is looser than the limit in force: set risk.${limitSetting(name)} in the configuration, then perpd limits apply --confirm, or restart`,
    )
  }
  return { ...current, account: { ...current.account, [name]: value } }
}

function statementOf(changes: readonly AppliedChange[]): string {
  const applied = changes.filter((change) => change.isApplied).map(changeText)
  const waiting = changes.filter((change) => !change.isApplied).map(changeText)
  return [
    applied.length === 0 ? 'nothing is tighter' : `in force: ${applied.join(', ')}`,
    ...(waiting.length === 0
      ? []
      : [`looser, so they need a restart or perpd limits apply --confirm: ${waiting.join(', ')}`]),
  ].join('; ')
}
