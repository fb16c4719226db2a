/**
 * The wall between a strategy's code and ours. A kind of the user's own is TypeScript whose types are stripped, not
 * enforced: what it returns is looked at before anything is reckoned with it.
 */

const kinds: ReadonlySet<unknown> = new Set(['increase', 'decrease', 'close'])
const directions: ReadonlySet<unknown> = new Set(['long', 'short'])

function isAddress(value: unknown): boolean {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value)
}

function shown(value: unknown): string {
  return typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? String(value))
}

/** What is wrong with a decision, in one sentence that names the field and the value; undefined when nothing is. */
export function decisionProblem(decision: unknown): string | undefined {
  if (typeof decision !== 'object' || decision === null)
    return `a decision is an object, not ${shown(decision)}`
  const { kind, direction, marketToken, collateralToken, reason, sizeDeltaUsd, leverageBps, keepLeverage } =
    decision as Record<string, unknown>
  const wrong = (field: string, value: unknown, expected: string) =>
    `the decision's ${field} is ${shown(value)}; expected ${expected}`
  if (!kinds.has(kind)) return wrong('kind', kind, 'increase, decrease or close')
  if (!directions.has(direction)) return wrong('direction', direction, 'long or short')
  if (!isAddress(marketToken)) return wrong('marketToken', marketToken, 'an address')
  if (!isAddress(collateralToken)) return wrong('collateralToken', collateralToken, 'an address')
  if (typeof reason !== 'string' || reason === '') return wrong('reason', reason, 'a sentence')
  if (kind !== 'close' && typeof sizeDeltaUsd !== 'bigint') {
    return wrong('sizeDeltaUsd', sizeDeltaUsd, 'a bigint, USD with 30 decimals')
  }
  if (kind === 'increase' && !Number.isSafeInteger(leverageBps)) {
    return wrong('leverageBps', leverageBps, 'whole basis points, 10000 = 1x')
  }
  if (kind === 'decrease' && typeof keepLeverage !== 'boolean') {
    return wrong('keepLeverage', keepLeverage, 'true or false')
  }
  return undefined
}
