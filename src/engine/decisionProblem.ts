/**
 * The wall between a strategy's code and ours. A kind of the user's own is TypeScript whose types are stripped, not
 * enforced: what it returns is looked at before anything is reckoned with it, or said of it. Nothing that is not known is
 * left out in silence: `stopLoss: 5` beside a good increase would be a position without its stop.
 */
import { didYouMean } from '../strategy/didYouMean.ts'

/** What is wrong with what a strategy returned. */
export interface DecisionProblem {
  /** One clause that names the field and the value. */
  readonly reason: string
  /** The field of the decision that is wrong; absent when it is no decision at all. */
  readonly field?: string
  /** The same for every value that is wrong in the same way. */
  readonly cause: string
}

/** What a field must be: its test, and how a sentence says it. */
interface FieldRule {
  readonly isGood: (value: unknown) => boolean
  readonly expected: string
}

const hexOf = (bytes: number) => new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`)
const addressPattern = hexOf(20)
const keyPattern = hexOf(32)
const isBigint = (value: unknown) => typeof value === 'bigint'
const isKey = (value: unknown) => typeof value === 'string' && keyPattern.test(value)
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const hasOnly = (value: object, fields: readonly string[]) =>
  Object.keys(value).every((name) => fields.includes(name))
const oneOf = (...values: readonly unknown[]): FieldRule => ({
  isGood: (value) => values.includes(value),
  expected: values.length === 1 ? String(values[0]) : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`,
})

const address: FieldRule = {
  isGood: (value) => typeof value === 'string' && addressPattern.test(value),
  expected: 'an address',
}
const sizeUsd: FieldRule = { isGood: isBigint, expected: 'a bigint, USD with 30 decimals' }
const priceUsd: FieldRule = { isGood: isBigint, expected: 'a bigint, USD with 30 decimals per whole token' }
const amount: FieldRule = { isGood: isBigint, expected: "a bigint, in the token's smallest unit" }
const flag: FieldRule = { isGood: (value) => typeof value === 'boolean', expected: 'true or false' }
const leverage: FieldRule = {
  isGood: Number.isSafeInteger,
  expected: 'whole basis points, 10000 = 1x',
}
const orderKey: FieldRule = { isGood: isKey, expected: 'an order key, 32 bytes in hex' }
const orderKeys: FieldRule = {
  isGood: (value) => Array.isArray(value) && value.every(isKey),
  expected: 'a list of order keys, 32 bytes in hex each',
}
/** Durations of a twap are whole minutes, s. */
const TWAP_STEP_SECONDS = 60

const twap: FieldRule = {
  isGood: (value) => {
    if (!isObject(value)) return false
    if (!hasOnly(value, ['parts', 'durationSeconds'])) return false
    const { parts, durationSeconds } = value
    const isCount = Number.isSafeInteger(parts) && Number(parts) >= 2 && Number(parts) <= 30
    // The venue's unit is not documented; whole minutes mean the same in seconds and in minutes.
    const isMinutes =
      Number.isSafeInteger(durationSeconds) && Number(durationSeconds) % TWAP_STEP_SECONDS === 0
    return isCount && isMinutes && Number(durationSeconds) > 0
  },
  expected: 'an object with parts (2 to 30) and durationSeconds (a multiple of 60, above 0)',
}
const exitFields = ['type', 'triggerPrice', 'shareBps']
const exits: FieldRule = {
  isGood: (value) =>
    Array.isArray(value) &&
    value.every(
      (exit: unknown) =>
        isObject(exit) &&
        hasOnly(exit, exitFields) &&
        (exit.type === 'take-profit' || exit.type === 'stop-loss') &&
        isBigint(exit.triggerPrice) &&
        (exit.shareBps === undefined || Number.isSafeInteger(exit.shareBps)),
    ),
  expected:
    'a list of exits, each with type (take-profit or stop-loss), triggerPrice and perhaps shareBps, and nothing else',
}
const batchLists = ['createOrderParamsList', 'updateOrderParamsList', 'cancelOrderKeys']
const batch: FieldRule = {
  isGood: (value) =>
    isObject(value) && hasOnly(value, batchLists) && batchLists.every((name) => Array.isArray(value[name])),
  expected: 'an object with createOrderParamsList, updateOrderParamsList and cancelOrderKeys',
}
/** They are written to the journal as JSON, which has no bigint and no NaN. */
const facts: FieldRule = {
  isGood: (value) =>
    isObject(value) &&
    Object.values(value).every(
      (fact) => typeof fact === 'string' || typeof fact === 'boolean' || Number.isFinite(fact),
    ),
  expected:
    'an object of texts, finite numbers and true or false (formatUsd(price) makes a text of an amount)',
}
const optional = (rule: FieldRule): FieldRule => ({
  ...rule,
  isGood: (value) => value === undefined || rule.isGood(value),
})

/** Fields of each kind besides market, direction and reason. */
const fieldsOfKind: Readonly<Record<string, Readonly<Record<string, FieldRule>>>> = {
  increase: {
    collateralToken: address,
    sizeDeltaUsd: sizeUsd,
    leverageBps: leverage,
    orderType: optional(oneOf('market', 'limit', 'stop-market', 'twap')),
    tpsl: optional(exits),
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
  cancel: { orderKeys },
  'collateral-in': { collateralToken: address, amount },
  'collateral-out': { collateralToken: address, amount },
  batch: { batch },
}

const sentence: FieldRule = {
  isGood: (value) => typeof value === 'string' && value !== '',
  expected: 'a sentence',
}
const openOrder: FieldRule = {
  isGood: (value) => typeof value === 'string' && value !== '',
  expected: 'the id of an open order',
}
const absent: FieldRule = { isGood: (value) => value === undefined, expected: 'nothing for this order type' }

/** What an order type needs, and what it has no place for. */
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

function shown(value: unknown): string {
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number' || typeof value === 'function') return cut(String(value))
  try {
    const text = JSON.stringify(value, (_name, inner) =>
      typeof inner === 'bigint'
        ? `${inner}n`
        : typeof inner === 'number' && !Number.isFinite(inner)
          ? String(inner)
          : inner,
    )
    return cut(text ?? String(value))
  } catch {
    // It holds itself, or something that gives nothing to show.
    return 'an object that cannot be shown'
  }
}

const isPromise = (value: unknown) => isObject(value) && typeof value.then === 'function'

function cut(text: string): string {
  return text.length > 120 ? `${text.slice(0, 119)}…` : text
}

/** Most decisions of one turn: what a loop that went wrong makes does not hold up everybody else's. */
const MOST_DECISIONS = 200

/** What is wrong with what `decide` returned as a whole; undefined when it is a list of a sensible length. */
export function returnedProblem(returned: unknown): DecisionProblem | undefined {
  const wrong = (what: string, hint: string): DecisionProblem => ({
    reason: `decide returned ${what}; expected a list of decisions (${hint})`,
    cause: `returned ${typeof returned}`,
  })
  if (Array.isArray(returned)) {
    if (returned.length <= MOST_DECISIONS) return undefined
    return {
      reason: `decide returned ${returned.length} decisions; at most ${MOST_DECISIONS} are taken of one turn`,
      cause: 'too many',
    }
  }
  if (isPromise(returned)) return wrong('a promise', 'decide is not async, and awaits nothing')
  if (returned === undefined) return wrong('undefined', '[] asks for nothing')
  return wrong(shown(returned), 'a single one stands in a list too')
}

/** What is wrong with a decision; undefined when nothing is. */
export function decisionProblem(decision: unknown): DecisionProblem | undefined {
  if (!isObject(decision)) {
    return { reason: `a decision is an object, not ${shown(decision)}`, cause: `a ${typeof decision}` }
  }
  const wrong = (field: string, expected: string): DecisionProblem => ({
    reason: `the decision's ${field} is ${shown(decision[field])}; expected ${expected}`,
    field,
    cause: `${String(decision.kind).slice(0, 40)} ${field}`,
  })
  const { kind } = decision
  const rules = typeof kind === 'string' ? rulesOf(kind, decision) : undefined
  if (rules === undefined) return wrong('kind', oneOf(...Object.keys(fieldsOfKind), 'flatten').expected)
  const known = ['kind', ...Object.keys(rules)]
  const stranger = Object.keys(decision).find((name) => !known.includes(name))
  if (stranger !== undefined) {
    const near = otherNameOf(stranger, known) ?? didYouMean(stranger, known)
    const hint = near === undefined ? `its fields are ${known.join(', ')}` : `did you mean ${near}?`
    return {
      reason: `the decision's ${stranger} is not a field of kind ${kind}; ${hint}`,
      field: stranger,
      cause: `${String(kind)} ${stranger}`,
    }
  }
  for (const [field, { isGood, expected }] of Object.entries(rules)) {
    if (!isGood(decision[field])) return wrong(field, expected)
  }
  return undefined
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
  if (kind === 'flatten') return { intentId: openOrder, ...explained }
  if (!Object.hasOwn(fieldsOfKind, kind)) return undefined
  return {
    direction: oneOf('long', 'short'),
    marketToken: address,
    ...fieldsOfKind[kind],
    ...explained,
    ...fieldsOfType(decision),
  }
}
