/**
 * Boundary between a strategy's code and ours. A kind of the user's own is TypeScript whose types are stripped, not enforced: its return value is
 * checked before anything computes with it or reports it. No unknown field is silently ignored: `stopLoss: 5` in an otherwise good increase would be
 * a position without its stop.
 */

import { isObject } from '../base/isObject.ts'
import { untidyCauses } from '../domain/order/decision.ts'
import {
  bigintOf,
  type FieldRule,
  listOf,
  objectOf,
  oneOf,
  optional,
  pathText,
  recordOf,
  rule,
  shown,
} from './fieldRule.ts'
import { preparedFields, taskDecisionFields } from './taskDecisionRule.ts'

/** Fault in a strategy's return value. */
export interface DecisionProblem {
  /** One clause that names the field and the value. */
  readonly reason: string
  /** Path of the value that is wrong, `tpsl[0].triggerPrice`; absent when it is no decision at all. */
  readonly field?: string
  /** The same for every value that is wrong in the same way. */
  readonly cause: string
}

const hexOf = (bytes: number) => new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`)
const addressPattern = hexOf(20)
const keyPattern = hexOf(32)

const address = rule((value) => typeof value === 'string' && addressPattern.test(value), 'an address')
const inDollars = (decimal: string) => `usd('${decimal}')`
const sizeUsd = bigintOf('USD with 30 decimals', inDollars)
const priceUsd = bigintOf('USD with 30 decimals per whole token', inDollars)
const amount = bigintOf(
  "in the token's smallest unit",
  (decimal) => `parseUnits('${decimal}', token.decimals)`,
)
const flag = rule((value) => typeof value === 'boolean', 'true or false')
const leverage = rule(Number.isSafeInteger, 'whole basis points, 10000 = 1x')
const orderKey = rule(
  (value) => typeof value === 'string' && keyPattern.test(value),
  'an order key, 32 bytes in hex',
)
/** Durations of a twap are whole minutes, s. */
const TWAP_STEP_SECONDS = 60

const twap = objectOf('twap', {
  parts: rule(
    (value) => Number.isSafeInteger(value) && Number(value) >= 2 && Number(value) <= 30,
    'a whole number from 2 to 30',
  ),
  // The venue's unit is not documented; whole minutes mean the same in seconds and in minutes.
  durationSeconds: rule(
    (value) => Number.isSafeInteger(value) && Number(value) > 0 && Number(value) % TWAP_STEP_SECONDS === 0,
    'whole seconds, a multiple of 60 above 0',
  ),
})
const exit = objectOf(
  'an exit',
  {
    type: oneOf('take-profit', 'stop-loss'),
    triggerPrice: priceUsd,
    shareBps: optional(rule(Number.isSafeInteger, 'whole basis points of the size, 10000 = all of it')),
  },
  otherNameOf,
)
const list = rule(Array.isArray, 'a list')
const batch = objectOf('batch', {
  createOrderParamsList: list,
  updateOrderParamsList: list,
  cancelOrderKeys: list,
})
/** They are written to the journal as JSON, which has no bigint and no NaN. */
const facts = recordOf(
  'an object of texts, finite numbers and true or false',
  rule(
    (fact) => typeof fact === 'string' || typeof fact === 'boolean' || Number.isFinite(fact),
    'a text, a finite number, true or false (formatUsd(price) makes a text of an amount)',
  ),
)

/** Fields of each kind besides market, direction and reason. */
const fieldsOfKind: Readonly<Record<string, Readonly<Record<string, FieldRule>>>> = {
  increase: {
    collateralToken: address,
    sizeDeltaUsd: sizeUsd,
    leverageBps: leverage,
    orderType: optional(oneOf('market', 'limit', 'stop-market', 'twap')),
    tpsl: optional(listOf('exits', exit)),
    expectedEdgeBps: optional(
      rule(
        (value) => Number.isSafeInteger(value) && Number(value) >= 0,
        'whole basis points of the size, 0 or more',
      ),
    ),
  },
  decrease: {
    collateralToken: address,
    sizeDeltaUsd: sizeUsd,
    keepLeverage: flag,
    orderType: optional(oneOf('market', 'take-profit', 'stop-loss', 'twap')),
  },
  close: { collateralToken: address },
  swap: { payAmount: amount },
  edit: { orderKey, sizeDeltaUsd: optional(sizeUsd), triggerPrice: optional(priceUsd) },
  cancel: { orderKeys: listOf('order keys', orderKey) },
  'collateral-in': { collateralToken: address, amount },
  'collateral-out': { collateralToken: address, amount },
  'report-order': {
    orderKey,
    cause: oneOf(...untidyCauses),
    isOver: flag,
  },
  batch: { batch },
}

const sentence = rule((value) => typeof value === 'string' && value !== '', 'a sentence')
const openOrder = rule((value) => typeof value === 'string' && value !== '', 'the id of an open order')
const absent = rule((value) => value === undefined, 'nothing for this order type')

/** Returns the required and the forbidden fields of an order type. */
function fieldsOfType(decision: Readonly<Record<string, unknown>>): Readonly<Record<string, FieldRule>> {
  if (decision.kind !== 'increase' && decision.kind !== 'decrease') return {}
  const { orderType = 'market' } = decision
  return {
    triggerPrice: orderType === 'market' || orderType === 'twap' ? absent : priceUsd,
    twap: orderType === 'twap' ? twap : absent,
    ...(orderType === 'twap' ? { tpsl: absent } : {}),
  }
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
  const { kind } = decision
  const kinds = oneOf(
    ...Object.keys(fieldsOfKind),
    'unwind',
    ...Object.keys(taskDecisionFields),
    ...Object.keys(preparedFields),
  )
  const rules = typeof kind === 'string' ? rulesOf(kind, decision) : undefined
  const whole =
    rules === undefined ? undefined : objectOf(`kind ${kind}`, { kind: kinds, ...rules }, otherNameOf)
  const fault = whole === undefined ? kinds.faultOf(kind) : whole.faultOf(decision)
  if (fault === undefined) return undefined
  const path = whole === undefined ? ['kind'] : fault.path
  return {
    reason: `the decision's ${pathText(path)} ${fault.clause}`,
    field: pathText(path),
    cause: `${typeof kind === 'string' ? kind.slice(0, 40) : typeof kind} ${pathText(path, true)}`,
  }
}

/** The field that is meant by a name of another program; undefined when the kind has no such field. */
function otherNameOf(name: string, known: readonly string[]): string | undefined {
  const bare = name.toLowerCase().replaceAll('_', '')
  const meant = Object.hasOwn(otherNames, bare) ? otherNames[bare] : undefined
  return meant !== undefined && known.includes(meant.split(':')[0] ?? '') ? meant : undefined
}

/** Every field that a decision of a kind may have, with its rule; undefined when there is no such kind. */
function rulesOf(
  kind: string,
  decision: Readonly<Record<string, unknown>>,
): Readonly<Record<string, FieldRule>> | undefined {
  const explained = { reason: sentence, facts: optional(facts) }
  if (kind === 'unwind') return { intentId: openOrder, ...explained }
  if (Object.hasOwn(preparedFields, kind)) return { ...preparedFields[kind], ...explained }
  if (Object.hasOwn(taskDecisionFields, kind)) return { ...taskDecisionFields[kind], ...explained }
  if (!Object.hasOwn(fieldsOfKind, kind)) return undefined
  return {
    direction: oneOf('long', 'short'),
    marketToken: address,
    ...fieldsOfKind[kind],
    ...explained,
    ...fieldsOfType(decision),
  }
}
