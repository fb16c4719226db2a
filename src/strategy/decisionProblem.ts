/**
 * Boundary between a strategy's code and ours. A kind of the user's own is TypeScript whose types are stripped, not enforced: its return value is
 * checked before anything computes with it or reports it. No unknown field is silently ignored: `stopLoss: 5` in an otherwise good increase would be
 * a position without its stop.
 */

import { isObject } from '../base/isObject.ts'
import { strategyDecision } from './strategyDecision.ts'
import { checkOf, pathText, shown } from './valueFault.ts'

/** Fault in a strategy's return value. */
export interface DecisionProblem {
  /** One clause that names the field and the value. */
  readonly reason: string
  /** Path of the value that is wrong, `tpsl[0].triggerPrice`; absent when it is no decision at all. */
  readonly field?: string
  /** The same for every value that is wrong in the same way. */
  readonly cause: string
}

/** Names that other programs have for a field of ours, in small letters. */
const otherNames: Readonly<Record<string, string>> = {
  stoploss: "tpsl: [{ type: 'stop-loss', triggerPrice }]",
  stop: "tpsl: [{ type: 'stop-loss', triggerPrice }]",
  sl: "tpsl: [{ type: 'stop-loss', triggerPrice }]",
  takeprofit: "tpsl: [{ type: 'take-profit', triggerPrice }]",
  tp: "tpsl: [{ type: 'take-profit', triggerPrice }]",
  exits: 'tpsl',
  size: 'sizeDeltaUsd',
  sizeusd: 'sizeDeltaUsd',
  usd: 'sizeDeltaUsd',
  leverage: 'leverageBps',
  collateral: 'collateralToken',
  market: 'marketToken',
  symbol: 'marketToken',
  side: 'direction',
  islong: 'direction',
  price: 'triggerPrice',
  limitprice: 'triggerPrice',
  type: 'orderType',
  comment: 'reason',
}

const isPromise = (value: unknown) => isObject(value) && typeof value.then === 'function'

const check = checkOf(strategyDecision, otherNameOf)

/** Most decisions of one turn: a faulty loop must not hold up everybody else's. */
const MOST_DECISIONS = 200

/** Returns the fault of `decide`'s return value as a whole; undefined when it is a list of a sensible length. */
export function returnedProblem(returned: unknown): DecisionProblem | undefined {
  const wrong = (what: string, hint: string): DecisionProblem => ({
    reason: `decide returned ${what}; expected a list of decisions (${hint})`,
    cause: `returned ${typeof returned}`,
  })
  if (Array.isArray(returned)) {
    if (returned.length <= MOST_DECISIONS) return undefined
    return {
      reason: `decide returned ${returned.length} decisions; the most in one turn is ${MOST_DECISIONS}`,
      cause: 'too many',
    }
  }
  if (isPromise(returned)) return wrong('a promise', 'decide must not be async')
  if (returned === undefined) return wrong('undefined', '[] means no decision')
  return wrong(shown(returned), 'put a single one in a list too')
}

/** Returns the fault of a decision; undefined when there is none. */
export function decisionProblem(decision: unknown): DecisionProblem | undefined {
  if (!isObject(decision)) {
    return { reason: `a decision must be an object, not ${shown(decision)}`, cause: `a ${typeof decision}` }
  }
  const fault = check(decision)
  if (fault === undefined) return undefined
  const { kind } = decision
  return {
    reason: `the decision's ${pathText(fault.path)} ${fault.clause}`,
    field: pathText(fault.path),
    cause: `${typeof kind === 'string' ? kind.slice(0, 40) : typeof kind} ${pathText(fault.path, true)}`,
  }
}

/** The field that is meant by a name of another program; undefined when the kind has no such field. */
function otherNameOf(name: string, known: readonly string[]): string | undefined {
  const bare = name.toLowerCase().replaceAll('_', '')
  const meant = Object.hasOwn(otherNames, bare) ? otherNames[bare] : undefined
  return meant !== undefined && known.includes(meant.split(':')[0] ?? '') ? meant : undefined
}
