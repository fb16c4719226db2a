/**
 * The wall between a strategy's code and ours. A kind of the user's own is TypeScript whose types are stripped, not
 * enforced: what it returns is looked at before anything is reckoned with it.
 */

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
    const { parts, durationSeconds } = value
    const isCount = Number.isSafeInteger(parts) && Number(parts) >= 2 && Number(parts) <= 30
    // The venue's unit is not documented; whole minutes mean the same in seconds and in minutes.
    const isMinutes =
      Number.isSafeInteger(durationSeconds) && Number(durationSeconds) % TWAP_STEP_SECONDS === 0
    return isCount && isMinutes && Number(durationSeconds) > 0
  },
  expected: 'an object with parts (2 to 30) and durationSeconds (a multiple of 60, above 0)',
}
const exits: FieldRule = {
  isGood: (value) =>
    Array.isArray(value) &&
    value.every(
      (exit: unknown) =>
        isObject(exit) &&
        (exit.type === 'take-profit' || exit.type === 'stop-loss') &&
        isBigint(exit.triggerPrice) &&
        (exit.shareBps === undefined || Number.isSafeInteger(exit.shareBps)),
    ),
  expected: 'a list of exits, each with type (take-profit or stop-loss), triggerPrice and perhaps shareBps',
}
const batch: FieldRule = {
  isGood: (value) =>
    isObject(value) &&
    ['createOrderParamsList', 'updateOrderParamsList', 'cancelOrderKeys'].every((name) =>
      Array.isArray(value[name]),
    ),
  expected: 'an object with createOrderParamsList, updateOrderParamsList and cancelOrderKeys',
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

function shown(value: unknown): string {
  const text = JSON.stringify(value, (_name, inner) => (typeof inner === 'bigint' ? `${inner}n` : inner))
  return typeof value === 'bigint' ? `${value}n` : (text ?? String(value))
}

/** What is wrong with a decision, in one sentence that names the field and the value; undefined when nothing is. */
export function decisionProblem(decision: unknown): string | undefined {
  if (!isObject(decision)) return `a decision is an object, not ${shown(decision)}`
  const wrong = (field: string, expected: string) =>
    `the decision's ${field} is ${shown(decision[field])}; expected ${expected}`
  if (decision.kind === 'flatten') {
    if (typeof decision.intentId !== 'string' || decision.intentId === '')
      return wrong('intentId', 'the id of an open order')
    return sentence.isGood(decision.reason) ? undefined : wrong('reason', sentence.expected)
  }
  const own =
    typeof decision.kind === 'string' && Object.hasOwn(fieldsOfKind, decision.kind)
      ? fieldsOfKind[decision.kind]
      : undefined
  if (own === undefined) return wrong('kind', oneOf(...Object.keys(fieldsOfKind), 'flatten').expected)
  const rules: Readonly<Record<string, FieldRule>> = {
    direction: oneOf('long', 'short'),
    marketToken: address,
    ...own,
    reason: sentence,
    ...fieldsOfType(decision),
  }
  for (const [field, { isGood, expected }] of Object.entries(rules)) {
    if (!isGood(decision[field])) return wrong(field, expected)
  }
  return undefined
}
