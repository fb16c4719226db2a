/**
 * Lies: what a host or an endpoint makes of an honest answer. A plan is a few of them; each says where, what and when, so that
 * a search can change one thing at a time and a plan can be written down as a test.
 */
import type { Random } from '../simulation/random.ts'

/** Routes of the application API whose answers decide something, as the end of their path. */
const apiRoutes = [
  '/markets',
  '/markets/values',
  '/markets/config',
  '/markets/tickers',
  '/markets/trading-capacity',
  '/tokens',
  '/tokens/info',
  '/positions',
  '/orders',
  '/trades',
  '/trades/search',
  '/balances/wallet',
  '/orders/txns/status',
] as const

/** Routes where a message is made to be signed. */
const prepareRoutes = [
  '/orders/txns/prepare',
  '/orders/txns/edit/prepare',
  '/orders/txns/cancel/prepare',
] as const

/** Routes of the oracle service. */
const oracleRoutes = ['/prices/tickers', '/markets/state'] as const

/** Methods of JSON-RPC. */
const rpcMethods = [
  'eth_getBlockByNumber',
  'eth_getLogs',
  'eth_call',
  'eth_gasPrice',
  'eth_feeHistory',
] as const

/** What is done to an answer. */
export type Change =
  /** Every list of the body is empty. */
  | { readonly op: 'hide' }
  /** A number of that name, wherever it stands, times `ppm` millionths; with `of`, on rows that name it alone. */
  | { readonly op: 'scale'; readonly field: string; readonly ppm: number; readonly of?: string }
  /** A value of that name, wherever it stands. */
  | {
      readonly op: 'set'
      readonly field: string
      readonly value: string | number | boolean
      readonly of?: string
    }
  /** Rows that name `of` take the named fields of those that name `from`. */
  | { readonly op: 'take'; readonly fields: readonly string[]; readonly of: string; readonly from: string }
  /** Each position or order is shown on the other side too, near to its liquidation. */
  | { readonly op: 'mirror' }
  /** Executed increases have liquidations of their whole size after them. */
  | { readonly op: 'liquidate' }
  /** A position that is not there, long or short, of this market. */
  | { readonly op: 'invent'; readonly symbol: string; readonly isLong: boolean; readonly sizeUsd: number }
  /** What the first answer said, again and again. */
  | { readonly op: 'freeze' }
  /** An answer is given again until it is this old: a list that follows the chain with a lag. */
  | { readonly op: 'lag'; readonly seconds: number }
  /** A body of this many rows, of which each is another. */
  | { readonly op: 'flood'; readonly rows: number }
  /** Nested this deep. */
  | { readonly op: 'bomb'; readonly depth: number }
  /** No answer at all; the request reaches nobody. */
  | { readonly op: 'hang' }
  /** An error of this status; the request reaches nobody. */
  | { readonly op: 'answer'; readonly status: number }
  /** A signed message is taken and never relayed. */
  | { readonly op: 'withhold' }
  /** The Date header, moved. */
  | { readonly op: 'date'; readonly seconds: number }
  /** A message to sign, of every type or of market orders alone, changed in all its copies; what is signed lands. */
  | {
      readonly op: 'message'
      readonly field: string
      readonly value?: string
      readonly ppm?: number
      readonly isMarket?: true
    }
  /** Of an endpoint: block times moved. */
  | { readonly op: 'blockTime'; readonly seconds: number }
  /** Of an endpoint: bits of the words that a call gives are turned. */
  | { readonly op: 'words'; readonly from: string; readonly to: string }

/** One lie. */
export interface Lie {
  /** The one liar whose it is, by kind and number: `oracle/1`; absent: all of them. */
  readonly host?: string
  /** End of the path, or the method of JSON-RPC. */
  readonly route: string
  readonly change: Change
  readonly fromMs: number
  readonly untilMs: number
  /** Of the answers that it could change, every n-th. */
  readonly every: number
}

/** What is told. */
export type Plan = readonly Lie[]

/** Who lies: one host of two by what it prepares, one host of two, both hosts, one endpoint of two, hosts and oracle, nobody. */
export type LiarKind = 'nobody' | 'prepare' | 'host' | 'hosts' | 'endpoint' | 'oracle'

type Row = Record<string, unknown>

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The same value with `change` made of every row in it, innermost first. */
function everyRow(value: unknown, change: (row: Row) => Row): unknown {
  if (Array.isArray(value)) return value.map((each) => everyRow(each, change))
  if (!isRow(value)) return value
  return change(Object.fromEntries(Object.entries(value).map(([key, each]) => [key, everyRow(each, change)])))
}

/** The same value with every list of rows in it changed. */
function everyList(value: unknown, change: (rows: readonly Row[]) => readonly unknown[]): unknown {
  if (Array.isArray(value)) return value.every(isRow) ? change(value) : value
  if (!isRow(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, everyList(each, change)]))
}

const names = (row: Row, of: string | undefined): boolean =>
  of === undefined ||
  Object.values(row).some((value) => typeof value === 'string' && value.toLowerCase() === of.toLowerCase())

function scaled(value: unknown, ppm: number): unknown {
  if (typeof value === 'bigint') return (value * BigInt(ppm)) / 1_000_000n
  if (typeof value === 'number')
    return Number.isInteger(value) ? Math.round((value * ppm) / 1e6) : (value * ppm) / 1e6
  if (typeof value !== 'string') return value
  if (/^-?\d+$/.test(value)) return String((BigInt(value) * BigInt(ppm)) / 1_000_000n)
  return value
}

/** A change that is made of the rows of a body; undefined where it needs more than the body. */
export function changedBody(body: unknown, change: Change): unknown {
  switch (change.op) {
    case 'hide':
      return everyList(body, () => [])
    case 'scale':
      return everyRow(body, (row) =>
        change.field in row && names(row, change.of)
          ? { ...row, [change.field]: scaled(row[change.field], change.ppm) }
          : row,
      )
    case 'set':
      return everyRow(body, (row) =>
        change.field in row && names(row, change.of) ? { ...row, [change.field]: change.value } : row,
      )
    case 'take':
      return everyList(body, (rows) => {
        const from = rows.find((row) => names(row, change.from))
        if (from === undefined) return rows
        const taken = Object.fromEntries(
          change.fields.filter((field) => field in from).map((field) => [field, from[field]]),
        )
        return rows.map((row) => (names(row, change.of) && row !== from ? { ...row, ...taken } : row))
      })
    case 'mirror':
      return everyList(body, (rows) => [...rows, ...rows.map(mirrored)])
    case 'liquidate':
      return everyList(body, (rows) => [
        ...rows
          .filter(({ eventName, orderType }) => eventName === 'OrderExecuted' && orderType === 2)
          .map((row) => ({
            ...row,
            id: `${String(row.id)}-made-up`,
            orderType: 7,
            orderKey: `0x${'77'.repeat(32)}`,
          })),
        ...rows,
      ])
    case 'flood':
      return everyList(body, (rows) => {
        const [row] = rows
        if (row === undefined) return rows
        return Array.from({ length: change.rows }, (_, at) => ({
          ...row,
          id: `${String(row.id)}-${at}`,
          key: `0x${at.toString(16).padStart(64, '0')}`,
          orderKey: `0x${at.toString(16).padStart(64, '0')}`,
        }))
      })
    default:
      return body
  }
}

function mirrored(row: Row): Row {
  const key =
    typeof row.key === 'string' ? row.key.replace(/(true|false)$/, String(row.isLong !== true)) : row.key
  return { ...row, isLong: row.isLong !== true, key, liquidationPrice: row.markPrice }
}

const fieldsOf: Readonly<Record<string, readonly string[]>> = {
  '/markets': ['isListed', 'minPositionSizeUsd', 'minCollateralUsd', 'maxLeverage', 'minCollateralFactor'],
  '/markets/values': [
    'longInterestUsd',
    'shortInterestUsd',
    'positionImpactPoolAmount',
    'longPoolAmount',
    'virtualInventoryForPositions',
  ],
  '/markets/config': [
    'positionImpactFactorPositive',
    'positionImpactFactorNegative',
    'positionImpactExponentFactor',
    'maxPositionImpactFactorNegative',
    'isDisabled',
  ],
  '/markets/tickers': [
    'minPrice',
    'maxPrice',
    'markPrice',
    'longInterestUsd',
    'shortInterestUsd',
    'availableLiquidityLong',
    'availableLiquidityShort',
  ],
  '/markets/trading-capacity': ['availableLiquidity', 'baseAvailableLiquidity', 'jitAvailableLiquidity'],
  '/tokens': ['decimals', 'isStable', 'isNative', 'isSynthetic'],
  '/tokens/info': ['decimals', 'isStable', 'isNative', 'minPrice', 'maxPrice'],
  '/positions': [
    'sizeInUsd',
    'sizeInTokens',
    'collateralAmount',
    'liquidationPrice',
    'markPrice',
    'netValue',
    'pnl',
    'leverage',
    'isLong',
    'increasedAtTime',
  ],
  '/orders': [
    'sizeDeltaUsd',
    'triggerPrice',
    'acceptablePrice',
    'executionFee',
    'initialCollateralDeltaAmount',
    'isLong',
  ],
  '/trades': ['sizeDeltaUsd', 'pnlUsd', 'isLong', 'timestamp', 'executionPrice', 'positionFeeAmount'],
  '/trades/search': ['sizeDeltaUsd', 'pnlUsd', 'isLong', 'timestamp', 'executionPrice', 'positionFeeAmount'],
  '/balances/wallet': ['balance', 'decimals'],
  '/prices/tickers': ['minPrice', 'maxPrice', 'medianPrice', 'updatedAt', 'timestamp'],
  '/markets/state': [],
}

const messageFields = [
  'sizeDeltaUsd',
  'initialCollateralDeltaAmount',
  'acceptablePrice',
  'triggerPrice',
  'executionFee',
  'minOutputAmount',
  'feeAmount',
  'deadline',
  'callbackGasLimit',
  'validFromTime',
] as const
const addressFields = [
  'receiver',
  'cancellationReceiver',
  'callbackContract',
  'uiFeeReceiver',
  'market',
  'initialCollateralToken',
] as const

const factors = [
  0, 1, 100_000, 500_000, 900_000, 970_000, 985_000, 995_000, 1_005_000, 1_015_000, 1_030_000, 1_100_000,
  2_000_000, 4_900_000, 10_000_000, 1_000_000_000, 1_000_000_000_000,
] as const

const stranger = '0x00000000000000000000000000000000DeaDBeef'

/** Words of chance for the search. */
export interface Vocabulary {
  readonly symbols: readonly string[]
  readonly spanMs: number
}

/** A lie of chance that this kind of liar can tell. */
function randomLie(kind: LiarKind, random: Random, { symbols, spanMs }: Vocabulary): Lie {
  const fromMs = random.chance(0.4) ? 0 : random.int(0, spanMs)
  const timing = {
    fromMs,
    untilMs: random.chance(0.7) ? spanMs : random.int(fromMs, spanMs),
    every: random.pick([1, 1, 1, 1, 2, 3, 4]),
  }
  if (kind === 'endpoint') return { ...timing, ...rpcLie(random) }
  const isMessage = kind === 'prepare' || random.chance(0.15)
  if (isMessage) return { ...timing, route: random.pick(prepareRoutes), change: messageChange(random) }
  const isOracle = kind === 'oracle' && random.chance(0.5)
  const route = isOracle ? random.pick(oracleRoutes) : random.pick(apiRoutes)
  return { ...timing, route, change: rowChange(route, random, symbols) }
}

function messageChange(random: Random): Change {
  if (random.chance(0.25)) return { op: 'message', field: random.pick(addressFields), value: stranger }
  const field = random.pick(messageFields)
  return random.chance(0.15)
    ? { op: 'message', field, value: random.pick(['0', '1', String(2n ** 256n - 1n)]) }
    : { op: 'message', field, ppm: random.pick(factors) }
}

function rowChange(route: string, random: Random, symbols: readonly string[]): Change {
  const die = random.int(1, 20)
  if (die === 1) return { op: 'freeze' }
  if (die === 2) return { op: 'date', seconds: random.int(-3_600, 3_600) }
  if (die === 3) return { op: 'bomb', depth: random.pick([10, 60, 300, 5_000]) }
  if (die === 4) return { op: 'flood', rows: random.pick([2, 40, 400]) }
  if (die === 5 && route === '/markets') {
    const fields = random.pick([
      ['symbol'],
      ['indexTokenAddress', 'marketTokenAddress'],
      ['longTokenAddress'],
      ['marketTokenAddress'],
    ])
    return {
      op: 'take',
      fields,
      of: random.pick(symbols),
      from: random.pick([...symbols, 'kPEPE/USD [WETH-USDC]']),
    }
  }
  if (route === '/positions' && die <= 12) {
    return random.pick<Change>([
      { op: 'hide' },
      { op: 'mirror' },
      {
        op: 'invent',
        symbol: random.pick(symbols),
        isLong: random.chance(0.5),
        sizeUsd: random.pick([50, 500, 5_000]),
      },
    ])
  }
  if (route.startsWith('/trades') && die <= 10)
    return random.pick<Change>([{ op: 'hide' }, { op: 'liquidate' }])
  if (route === '/orders/txns/status') {
    const words = [
      'prepared',
      'relay_pending',
      'relay_failed',
      'relay_reverted',
      'created',
      'executed',
      'cancelled',
    ]
    return { op: 'set', field: 'status', value: random.pick(words) }
  }
  if (route === '/markets/state')
    return { op: 'set', field: 'status', value: random.pick(['open', 'closed', 'unknown']) }
  const fields = fieldsOf[route] ?? []
  if (fields.length === 0 || die === 6) return { op: 'hide' }
  const field = random.pick(fields)
  if (field.startsWith('is')) return { op: 'set', field, value: random.chance(0.5) }
  if (field === 'decimals') return { op: 'set', field, value: random.pick([0, 2, 4, 8, 14, 17, 18, 22, 30]) }
  return { op: 'scale', field, ppm: random.chance(0.05) ? -1_000_000 : random.pick(factors) }
}

function rpcLie(random: Random): Pick<Lie, 'route' | 'change'> {
  const route = random.pick(rpcMethods)
  switch (route) {
    case 'eth_getBlockByNumber':
      return {
        route,
        change: {
          op: 'blockTime',
          seconds: random.pick([-7_200, -600, -150, -20, 20, 150, 600, 7_200, 100_000]),
        },
      }
    case 'eth_getLogs':
      return {
        route,
        change: random.pick<Change>([
          { op: 'hide' },
          { op: 'words', from: '1', to: '2' },
          { op: 'set', field: 'blockHash', value: `0x${'ab'.repeat(32)}` },
          { op: 'set', field: 'removed', value: true },
        ]),
      }
    case 'eth_call':
      return {
        route,
        change: { op: 'words', from: random.pick(['0', '1']), to: random.pick(['0', '1', '2', 'f']) },
      }
    default:
      return {
        route,
        change: { op: 'words', from: random.pick(['1', '2', '3']), to: random.pick(['0', 'f']) },
      }
  }
}

/** One thing of a lie changed. */
function mutatedLie(lie: Lie, kind: LiarKind, random: Random, words: Vocabulary): Lie {
  const fresh = randomLie(kind, random, words)
  switch (random.int(1, 4)) {
    case 1:
      return { ...lie, fromMs: fresh.fromMs, untilMs: fresh.untilMs }
    case 2:
      return { ...lie, every: fresh.every }
    case 3: {
      const { change } = lie
      if (change.op === 'scale') return { ...lie, change: { ...change, ppm: random.pick(factors) } }
      if (change.op === 'message' && change.ppm !== undefined)
        return { ...lie, change: { ...change, ppm: random.pick(factors) } }
      return { ...lie, change: fresh.route === lie.route ? fresh.change : change }
    }
    default:
      return fresh
  }
}

/** A plan of chance: one to four lies. */
export function randomPlan(kind: LiarKind, random: Random, words: Vocabulary): Plan {
  if (kind === 'nobody') return []
  return Array.from({ length: random.int(1, 4) }, () => randomLie(kind, random, words))
}

/** A plan like another: one lie changed, added or left out. */
export function mutatedPlan(plan: Plan, kind: LiarKind, random: Random, words: Vocabulary): Plan {
  if (kind === 'nobody') return []
  const at = random.int(0, Math.max(0, plan.length - 1))
  const die = random.int(1, 4)
  if (plan.length === 0 || (die === 1 && plan.length < 6)) return [...plan, randomLie(kind, random, words)]
  if (die === 2 && plan.length > 1) return plan.filter((_, index) => index !== at)
  return plan.map((lie, index) => (index === at ? mutatedLie(lie, kind, random, words) : lie))
}
