/** One limit of the account made tighter while perpd runs. What is looser is refused: that is the files' to say. */
import {
  limitRows as allLimits,
  isTighter,
  type LimitName,
  limitRow,
  limitSetting,
} from '../../domain/account/limits.ts'
import { NATIVE_DECIMALS, parseUnits, USD_DECIMALS } from '../../protocol/units.ts'
import { type ConfiguredLimits, waitingLimits } from '../context/liveLimits.ts'
import { type LimitsContext, takeLimits } from './changeLimits.ts'
import { type Refusal, refusal } from './manualAnswers.ts'
import type { Commander, OperatorAnswer } from './operatorCommand.ts'

/** Makes one limit of the account tighter, at once and until a restart. A preview changes nothing. */
export interface TightenCommand {
  readonly type: 'tighten'
  /** Its name under `risk`, or the code's: `maxLeverage`. */
  readonly limit: string
  /** As it is written under `risk`: `2500` dollars, `2.5` times, `300` basis points. */
  readonly value: string
  readonly isPreview?: boolean
}

/** Over a restart the files win. */
const untilText = 'it holds until a restart, when the files count: what shall stay tight belongs into them'

/** Puts the tighter value in force, or says what it would be. Throws what the journal throws. */
export async function tightenLimit(
  context: LimitsContext,
  { limit, value, isPreview = false }: TightenCommand,
  commander: Commander,
): Promise<OperatorAnswer> {
  const current = context.limits.current()
  const next = tightened(current, limit.trim().replace(/^risk\./, ''), value.trim())
  if ('ok' in next) return next
  if (!isPreview) {
    const answer = await takeLimits(context, next, commander)
    return answer.ok ? { ...answer, statement: `${answer.statement}; ${untilText}` } : answer
  }
  const waiting = waitingLimits(context.limits.compare(next, true))
  return { ok: true, statement: `it would hold from the next decision on; ${untilText}`, waiting }
}

function tightened(current: ConfiguredLimits, written: string, text: string): ConfiguredLimits | Refusal {
  const name = allLimits
    .map(([each]) => each)
    .find((each) => each === written || limitSetting(each) === written)
  if (name === undefined) {
    const known = allLimits.map(([each]) => limitSetting(each)).join(', ')
    return refusal('LIMIT_UNKNOWN', `no limit of the account is called ${written}; there are ${known}`)
  }
  const value = unitsOf(name, text)
  if (value === undefined) {
    return refusal('LIMIT_VALUE', `${text} is no value of ${limitSetting(name)}: expected ${formOf(name)}`)
  }
  const now = current.account[name]
  if (now !== undefined && BigInt(now) === BigInt(value)) {
    return refusal('LIMIT_SAME', `${limitSetting(name)} is ${text} already; nothing is changed`)
  }
  const { tighter } = limitRow(name) ?? { tighter: 'less' as const }
  if (!isTighter(tighter, value, now)) {
    return refusal(
      'LIMIT_LOOSER',
      `${text} is looser than what is in force: set risk.${limitSetting(name)} in the configuration, then perpd limits apply --confirm, or restart`,
    )
  }
  return { ...current, account: { ...current.account, [name]: value } }
}

/** A value as the code holds it; undefined: it is none, or out of its bounds. 0 is no limit, and so is none that is tighter. */
function unitsOf(name: LimitName, text: string): bigint | number | undefined {
  const { unit, bounds = [1, 1_000_000_000] } = limitRow(name) ?? { unit: 'count' as const }
  const [places, isAmount] =
    unit === 'usd'
      ? [USD_DECIMALS, true]
      : unit === 'native'
        ? [NATIVE_DECIMALS, true]
        : [unit === 'times' ? 4 : 0, false]
  const [, whole, fraction = ''] = /^(\d{1,15})(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined || fraction.length > places) return undefined
  const units = parseUnits(text, places)
  if (isAmount) return units > 0n ? units : undefined
  const [least, most] = unit === 'times' ? [10_000, 2_000_000] : [Math.max(1, bounds[0]), bounds[1]]
  return units >= BigInt(least) && units <= BigInt(most) ? Number(units) : undefined
}

/** What a value looks like. */
function formOf(name: LimitName): string {
  const { unit, bounds = [1, 1_000_000_000] } = limitRow(name) ?? { unit: 'count' as const }
  const [least, most] = [Math.max(1, bounds[0]), bounds[1]]
  switch (unit) {
    case 'usd':
      return 'dollars above zero, as 2500 or 0.5'
    case 'native':
      return 'an amount of the native token above zero, as 0.01'
    case 'times':
      return 'a leverage from 1 to 200, as 5 or 2.5'
    default:
      return `a whole number from ${least} to ${most}${unit === 'count' ? '' : ` ${unit}`}`
  }
}
