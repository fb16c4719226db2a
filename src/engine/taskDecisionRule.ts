/** Field rules for a strategy's decision about a task, a renewal or a claim (docs/own-kinds.md). Pure. */
import { bigintOf, type FieldRule, listOf, objectOf, oneOf, optional, rule } from './fieldRule.ts'

const inDollars = (decimal: string) => `usd('${decimal}')`
const usdAmount = bigintOf('USD with 30 decimals', inDollars)
const price = bigintOf('USD with 30 decimals per whole token', inDollars)
const address = rule((value) => typeof value === 'string' && /^0x[0-9a-fA-F]{40}$/.test(value), 'an address')
const whole = (least: number, most: number): FieldRule =>
  rule(
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    `a whole number from ${least} to ${most}`,
  )
const distance = optional(whole(1, 9_999))
const share = optional(whole(1, 10_000))
const leverage = rule(Number.isSafeInteger, 'whole basis points, 10000 = 1x')
const minutes = whole(1, 10_080)
const seconds = optional(whole(10, 86_400))
const budget = optional(
  objectOf('budget', {
    orders: optional(whole(1, 1_000)),
    feesUsd: optional(usdAmount),
    minutes: optional(minutes),
  }),
)
const side = { marketToken: address, direction: oneOf('long', 'short'), collateralToken: address, budget }
const action = optional(oneOf('increase', 'decrease'))

const fieldsOfTask: Readonly<Record<string, Readonly<Record<string, FieldRule>>>> = {
  twap: {
    ...side,
    ...{ action, sizeUsd: usdAmount, leverageBps: optional(leverage), parts: whole(2, 200), minutes },
    ...{ shareBps: share, worstPrice: optional(price), route: optional(oneOf('auto', 'own')) },
  },
  accumulate: {
    ...side,
    ...{ targetUsd: usdAmount, leverageBps: leverage, worstPrice: price, shareBps: share },
    ...{ everySeconds: seconds, leastUsd: optional(usdAmount) },
  },
  ladder: {
    ...side,
    ...{ sizeUsd: usdAmount, leverageBps: leverage, rungs: whole(2, 50) },
    ...{ growthBps: optional(whole(1_000, 50_000)), stepBps: distance, everySeconds: seconds },
    ...{ takeProfitBps: distance, stopLossBps: distance },
  },
  chase: {
    ...side,
    ...{ action, sizeUsd: usdAmount, leverageBps: optional(leverage), worstPrice: price, minutes },
    ...{ offsetBps: distance, stepBps: distance, everySeconds: seconds },
  },
  bracket: {
    ...side,
    ...{ sizeUsd: usdAmount, leverageBps: leverage, entryPrice: optional(price) },
    ...{ takeProfit: optional(price), stopLoss: price },
  },
  rebalance: {
    ...{ budget, totalUsd: usdAmount, leverageBps: leverage, bandBps: distance, shareBps: share },
    leastUsd: optional(usdAmount),
    weights: listOf(
      'weights',
      objectOf('a weight', {
        marketToken: address,
        collateralToken: address,
        weightBps: whole(-10_000, 10_000),
      }),
    ),
  },
}

const task: FieldRule = {
  faultOf(value) {
    const kind = (value as { readonly kind?: unknown } | undefined)?.kind
    const kinds = oneOf(...Object.keys(fieldsOfTask))
    const own = typeof kind === 'string' && Object.hasOwn(fieldsOfTask, kind) ? fieldsOfTask[kind] : undefined
    return own === undefined
      ? objectOf('a task', { kind: kinds }).faultOf({ kind })
      : objectOf(`task ${String(kind)}`, { kind: kinds, ...own }).faultOf(value)
  },
}
const label = rule(
  (value) => typeof value === 'string' && /^[A-Za-z0-9._-]{1,40}$/.test(value),
  '1 to 40 letters, digits, dots, dashes or underscores',
)

/** Fields of the kinds besides reason and facts. */
export const taskDecisionFields: Readonly<Record<string, Readonly<Record<string, FieldRule>>>> = {
  'start-task': { label, task },
  'stop-task': { label },
}

/** The same of decisions that have something prepared for the owner. */
export const preparedFields: Readonly<Record<string, Readonly<Record<string, FieldRule>>>> = {
  'prepare-approval': { actions: whole(1, 1_000_000), days: whole(1, 365) },
  'prepare-claim': { aboveUsd: usdAmount },
}
