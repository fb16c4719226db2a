/**
 * Effect of prepare's warnings on an order, by code (docs/reference/api-coverage.md A10: the client shows them before it signs; they block nothing by
 * themselves). The venue cannot vouch for an order that it warns of. An order that adds risk is therefore made smaller or dropped; one that reduces
 * risk is signed unless policy says otherwise.
 */
import { defined, ifDefined } from '../../base/defined.ts'
import { mulDivUp, type Usd } from '../../protocol/units.ts'
import type { Intent, IntentRisk } from './intent.ts'
import type { OrderTerms, Sizing } from './orderTerms.ts'
import { type JudgedWarning, type Shrunk, type WarningAction, warningActions } from './warnedFacts.ts'

/** Policy for warnings, by `CODE` or by `CODE.REASON`, which takes precedence. */
export interface WarningPolicy {
  /** Actions for orders that add risk. A code that is not listed drops them, unless `isPartial`. */
  readonly adding: ReadonlyMap<string, WarningAction>
  /** Codes for which decreases and payments into a position are dropped too. Closes and cancels never are. */
  readonly droppingReductions: ReadonlySet<string>
  /** True for a strategy's policy: codes that it does not list follow the account's. */
  readonly isPartial?: boolean
}

/** Default policy where nothing else is configured; docs/reference/configuration.md has the reasons. */
export const defaultWarningPolicy: WarningPolicy = {
  adding: new Map<string, WarningAction>([
    ['INSUFFICIENT_LIQUIDITY', 'shrink'],
    ['TRADING_CAPACITY_UNAVAILABLE', 'drop'],
  ]),
  droppingReductions: new Set(),
}

/** A warning as it came. */
export interface Warning {
  readonly code: string
  readonly message: string
  readonly details?: unknown
}

/** The stricter of two actions. */
export function stricter(one: WarningAction, other: WarningAction): WarningAction {
  return warningActions.indexOf(one) >= warningActions.indexOf(other) ? one : other
}

/**
 * Returns each warning with the joint action of the policies: the strictest counts, and a code that none of them names drops an order that adds risk.
 * A close and a cancel are signed whatever the warning: to hold one back is the greater risk.
 */
export function judgeWarnings(
  policies: readonly WarningPolicy[],
  intent: IntentRisk,
  warnings: readonly Warning[],
): readonly JudgedWarning[] {
  const judged = warnings.map(({ code, message, details }): JudgedWarning => {
    const reason = reasonOf(details)
    const action = strictestOf(policies.map((policy) => actionOf(policy, intent, code, reason)))
    return { ...kept({ code, message }), ...defined({ reason: ifDefined(reason, short) }), action }
  })
  if (judged.length <= MOST_KEPT) return judged
  const rest = judged.slice(MOST_KEPT - 1)
  const more = {
    code: 'WARNING',
    message: `and ${rest.length} more`,
    action: strictestOf(rest.map(({ action }) => action)),
  }
  return [...judged.slice(0, MOST_KEPT - 1), more]
}

/** The strictest of some actions; none of them: `sign`. */
export function strictestOf(actions: readonly WarningAction[]): WarningAction {
  return actions.reduce(stricter, 'sign' as WarningAction)
}

/** Most warnings that are persisted of one prepare, and most characters of one: a host's inventions must not fill log and journal. */
export const MOST_KEPT = 20
const MOST_CODE = 64
const MOST_MESSAGE = 500

/** A warning as it is kept. */
export function kept({ code, message }: Warning): { readonly code: string; readonly message: string } {
  return { code: short(code), message: message.slice(0, MOST_MESSAGE) }
}

function short(text: string): string {
  return text.slice(0, MOST_CODE)
}

/** Tells whether an intent adds risk: grows a position, pays into a swap, or takes collateral out. */
export function isAdding({ kind, reservationUsd }: IntentRisk): boolean {
  return kind === 'increase' || kind === 'swap' || kind === 'collateral-out' || reservationUsd > 0n
}

function actionOf(
  { adding, droppingReductions, isPartial }: WarningPolicy,
  intent: IntentRisk,
  code: string,
  reason: string | undefined,
): WarningAction {
  const names = reason === undefined ? [code] : [`${code}.${reason}`, code]
  if (intent.kind === 'close' || intent.kind === 'cancel') return 'sign'
  if (!isAdding(intent)) return names.some((name) => droppingReductions.has(name)) ? 'drop' : 'sign'
  const named = names.find((name) => adding.has(name))
  if (named !== undefined) return adding.get(named) ?? 'drop'
  return isPartial === true ? 'sign' : 'drop'
}

function reasonOf(details: unknown): string | undefined {
  const reason =
    typeof details === 'object' && details !== null && 'reason' in details ? details.reason : undefined
  return typeof reason === 'string' && reason !== '' ? reason : undefined
}

/**
 * An increase with the size `toUsd`, which must lie between 0 and its own: collateral, exits and reservation shrink with it,
 * rounded up, so that its leverage does not rise. `by` names the cut. Throws RangeError for any other size.
 */
export function shrunkTo({ terms, sizing, reservationUsd }: Intent, toUsd: Usd, by: string): Shrunk {
  const fromUsd = terms.sizeDeltaUsd
  if (toUsd <= 0n || toUsd >= fromUsd)
    throw new RangeError(`an order of ${fromUsd} cannot shrink to ${toUsd}`)
  const up = (amount: bigint): bigint => mulDivUp(amount, toUsd, fromUsd)
  const { tpsl } = terms
  const smaller: OrderTerms = {
    ...terms,
    sizeDeltaUsd: toUsd,
    collateralDelta: up(terms.collateralDelta),
    ...defined({ tpsl: tpsl?.map((exit) => ({ ...exit, sizeDeltaUsd: up(exit.sizeDeltaUsd) })) }),
  }
  const cut: Sizing['cuts'][number] = { by, toUsd }
  return {
    terms: smaller,
    sizing: { ...sizing, sizeDeltaUsd: toUsd, cuts: [...sizing.cuts, cut] },
    reservationUsd: up(reservationUsd),
  }
}
