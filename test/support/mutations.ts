/** Random messages around honest ones: random facts, and changes of any place of a message, wild ones and near ones. */
import fc from 'fast-check'
import { type Address, ZERO_ADDRESS, ZERO_HASH } from '../../src/protocol/address.ts'
import { usd } from '../../src/protocol/units.ts'
import { type Facts, MAX, nowSeconds, stranger, wordOf } from './honestOrders.ts'
import { account, ethMarket, usdc, weth } from './intents.ts'
import { changeNames, orderNames, type SceneName } from './messageScenes.ts'
import { btcMarket, secondEthMarket, type Whole, wbtc } from './wholeMessage.ts'

const thousandth = 10n ** 27n
const dollars = (from: number, to: number) =>
  fc.bigInt({ min: usd(from) / thousandth, max: usd(to) / thousandth }).map((value) => value * thousandth)

/** Facts of a scene: any size, price, side and slippage; a part is less than the whole. */
export const facts: fc.Arbitrary<Facts> = fc
  .record({
    direction: fc.constantFrom('long', 'short'),
    referencePrice: dollars(1, 100_000),
    slippageBps: fc.integer({ min: 0, max: 300 }),
    heldUsd: dollars(20, 1_000_000),
    partBps: fc.bigInt({ min: 1n, max: 9_999n }),
    leverage: fc.bigInt({ min: 1n, max: 50n }),
    amount: fc.bigInt({ min: 1_000_000n, max: 10n ** 11n }),
    isWhole: fc.boolean(),
    keepsLeverage: fc.boolean(),
    mayBeWhole: fc.boolean(),
    triggerBps: fc.integer({ min: 10, max: 5_000 }),
    impactBps: fc.option(fc.integer({ min: 0, max: 200 }), { nil: undefined }),
    estimateBps: fc.option(fc.integer({ min: -2_000, max: 100 }), { nil: undefined }),
    parts: fc.integer({ min: 2, max: 6 }),
    durationSeconds: fc.integer({ min: 2, max: 1_440 }).map((minutes) => minutes * 60),
    isNativeOut: fc.boolean(),
    orderType: fc.constantFrom(
      'limit',
      'stop-market',
      'take-profit',
      'stop-loss',
      'market increase',
      'market decrease',
    ),
  })
  .map(({ heldUsd, partBps, leverage, mayBeWhole, impactBps, estimateBps, ...rest }): Facts => {
    const sizeDeltaUsd = (heldUsd * partBps) / 10_000n
    const all = heldUsd / 10n ** 24n / leverage
    const share = (all * sizeDeltaUsd + heldUsd - 1n) / heldUsd + all / 50n
    return {
      ...rest,
      sizeDeltaUsd,
      held: { sizeInUsd: heldUsd, collateralAmount: all },
      taken: share < all ? share : all,
      ...(impactBps === undefined ? {} : { impactBps }),
      ...(estimateBps === undefined ? {} : { estimateBps }),
      ...(mayBeWhole ? { otherSizeDeltaUsd: heldUsd } : {}),
    }
  })

/** Any scene. */
export const names: fc.Arbitrary<SceneName> = fc.constantFrom(...orderNames, ...changeNames)

/** A change: of which place, to which of the values that could stand there. */
export interface Mutation {
  readonly place: number
  readonly value: number
  readonly shape: number
}

/** Up to three changes. */
export const mutations: fc.Arbitrary<readonly Mutation[]> = fc.array(
  fc.record({ place: fc.nat(), value: fc.nat(), shape: fc.nat(99) }),
  { maxLength: 3 },
)

type Path = readonly (string | number)[]

/** Every place of a message that holds a number, a flag, an address, a word, or a list of them. */
function placesOf(value: unknown, path: Path = []): readonly Path[] {
  if (Array.isArray(value)) {
    const inner = value.flatMap((each, index) => placesOf(each, [...path, index]))
    return [path, ...inner]
  }
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, each]) => placesOf(each, [...path, name]))
  return [path]
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, name) => (inner as Record<string | number, unknown>)[name], value)
}

function put(value: unknown, [name, ...rest]: Path, to: unknown): unknown {
  if (name === undefined) return to
  if (Array.isArray(value)) return value.map((each, index) => (index === name ? put(each, rest, to) : each))
  const fields = value as Record<string, unknown>
  return { ...fields, [name]: put(fields[name], rest, to) }
}

const addresses: readonly Address[] = [
  stranger,
  account,
  ZERO_ADDRESS,
  usdc,
  weth,
  wbtc,
  ethMarket,
  secondEthMarket,
  btcMarket,
]

/** Numbers near one, and those that mean something elsewhere in the message or to its bounds. */
function numbersNear(found: bigint, whole: Whole): readonly bigint[] {
  const { held, sizeDeltaUsd, collateralDelta, referencePrice, otherSizeDeltaUsd, mostOutputUsd } =
    whole.intent.terms
  const { maxExecutionFee, maxRelayFee, reducing } = whole.policy
  const some = [
    found + 1n,
    found - 1n,
    found * 2n,
    found / 2n,
    (found * 101n) / 100n,
    (found * 99n) / 100n,
    (found * 103n) / 100n,
    (found * 97n) / 100n,
    found * 10n,
    0n,
    1n,
    2n,
    4n,
    MAX,
    MAX / 10n ** 18n,
    sizeDeltaUsd,
    collateralDelta,
    referencePrice / 10n ** 18n,
    maxExecutionFee,
    maxExecutionFee + 1n,
    maxRelayFee,
    maxRelayFee * BigInt(whole.orders.length) + 1n,
    BigInt(nowSeconds) + 60n,
    ...(reducing === undefined ? [] : [reducing.maxExecutionFee, reducing.maxRelayFee]),
    ...(held === undefined
      ? []
      : [held.sizeInUsd, held.collateralAmount, held.sizeInUsd - 1n, held.collateralAmount + 1n]),
    ...(otherSizeDeltaUsd === undefined ? [] : [otherSizeDeltaUsd]),
    ...(mostOutputUsd === undefined ? [] : [mostOutputUsd]),
  ]
  return some.filter((value) => value >= 0n && value <= MAX)
}

const otherKey = wordOf(9)
/** What nobody asked for, by the list that it could stand in. */
const strange: Readonly<Record<string, readonly unknown[]>> = {
  sendTokens: [usdc],
  sendAmounts: [1n],
  externalCallTargets: [stranger],
  externalCallDataList: ['0x12'],
  refundTokens: [usdc],
  refundReceivers: [account],
  tokenPermits: [
    {
      owner: account,
      spender: stranger,
      value: 1n,
      deadline: 1n,
      v: 27,
      r: ZERO_HASH,
      s: ZERO_HASH,
      token: usdc,
    },
  ],
  tokens: [wbtc],
  providers: [stranger],
  data: ['0x12'],
  cancels: [otherKey],
  updates: [
    {
      key: otherKey,
      sizeDeltaUsd: 1n,
      acceptablePrice: 0n,
      triggerPrice: 1n,
      minOutputAmount: 0n,
      validFromTime: 0n,
      autoCancel: false,
      executionFeeIncrease: 0n,
    },
  ],
}

function listsNear(found: readonly unknown[], name: string | number | undefined): readonly unknown[] {
  const pools = [ethMarket, secondEthMarket, btcMarket]
  if (name === 'swapPath' || name === 'feeSwapPath')
    return [
      [],
      [secondEthMarket],
      [btcMarket],
      [ethMarket, secondEthMarket],
      pools,
      [...pools].reverse(),
      [stranger],
    ]
  if (name === 'dataList') return [[], [wordOf()], [wordOf(3, '1a2b')], [ZERO_HASH], [...found, ...found]]
  const [first] = found
  return [
    [],
    found.slice(1),
    found.slice(0, -1),
    [...found].reverse(),
    [...found, ...found.slice(0, 1)],
    [...found.slice(1), ...(first === undefined ? [] : [first])],
    ...(name !== undefined && Object.hasOwn(strange, name)
      ? [strange[name], [...found, ...(strange[name] ?? [])]]
      : []),
  ]
}

const capped = (value: bigint): bigint => (value > MAX ? MAX : value)

/** Changes that a venue makes by itself, and two places that change together. */
const shapes: readonly ((whole: Whole, value: number) => Whole)[] = [
  // The price, a little off, on every order.
  (whole, value) => ({
    ...whole,
    orders: whole.orders.map((each) => ({
      ...each,
      numbers: {
        ...each.numbers,
        acceptablePrice: capped((each.numbers.acceptablePrice * BigInt(9_700 + (value % 600))) / 10_000n),
      },
    })),
  }),
  // The fees of another gas price.
  (whole, value) => {
    const times = BigInt(1 + (value % 60))
    const { fee } = whole.relayParams
    return {
      ...whole,
      orders: whole.orders.map((each) => ({
        ...each,
        numbers: { ...each.numbers, executionFee: capped(each.numbers.executionFee * times) },
      })),
      relayParams: { ...whole.relayParams, fee: { ...fee, feeAmount: capped(fee.feeAmount * times) } },
    }
  },
  // The whole position with all of its collateral.
  (whole) => {
    const { held } = whole.intent.terms
    if (held === undefined) return whole
    const { sizeInUsd: sizeDeltaUsd, collateralAmount: initialCollateralDeltaAmount } = held
    return {
      ...whole,
      orders: whole.orders.map((each) => ({
        ...each,
        numbers: { ...each.numbers, sizeDeltaUsd, initialCollateralDeltaAmount },
      })),
    }
  },
  // The triggers of two exits, the other way round.
  (whole) => {
    const [main, one, two, ...rest] = whole.orders
    if (main === undefined || one === undefined || two === undefined) return whole
    const swapped = [
      { ...one, numbers: { ...one.numbers, triggerPrice: two.numbers.triggerPrice } },
      { ...two, numbers: { ...two.numbers, triggerPrice: one.numbers.triggerPrice } },
    ]
    return { ...whole, orders: [main, ...swapped, ...rest] }
  },
  // Exits in another order, with all sizes any.
  (whole, value) => {
    const [main, ...exits] = whole.orders
    if (main === undefined) return whole
    const any = exits.map((each) =>
      value % 2 === 0 ? each : { ...each, numbers: { ...each.numbers, sizeDeltaUsd: MAX } },
    )
    return { ...whole, orders: [main, ...any.reverse()] }
  },
  // All parts at another time.
  (whole, value) => ({
    ...whole,
    orders: whole.orders.map((each) => ({
      ...each,
      numbers: { ...each.numbers, validFromTime: capped(each.numbers.validFromTime + BigInt(value % 90)) },
    })),
  }),
  // Another way of the same swap, of an order or of the fee.
  (whole, value) => {
    const ways: readonly (readonly Address[])[] = [
      [secondEthMarket],
      [btcMarket],
      [ethMarket, secondEthMarket],
      [ethMarket, secondEthMarket, ethMarket],
    ]
    const way = ways[value % ways.length] ?? []
    const { fee } = whole.relayParams
    if (value % 3 === 0)
      return { ...whole, relayParams: { ...whole.relayParams, fee: { ...fee, feeSwapPath: way } } }
    return {
      ...whole,
      orders: whole.orders.map((each) => ({ ...each, addresses: { ...each.addresses, swapPath: way } })),
    }
  },
  // One order paid out otherwise, unwrapped, or ended with its position.
  (whole, value) => ({
    ...whole,
    orders: whole.orders.map((each, index) =>
      index === value % whole.orders.length
        ? {
            ...each,
            decreasePositionSwapType: BigInt(value % 3),
            shouldUnwrapNativeToken:
              value % 5 === 0 ? !each.shouldUnwrapNativeToken : each.shouldUnwrapNativeToken,
            autoCancel: value % 7 === 0 ? !each.autoCancel : each.autoCancel,
          }
        : each,
    ),
  }),
  // One order at another time.
  (whole, value) => ({
    ...whole,
    orders: whole.orders.map((each, index) => {
      const { validFromTime } = each.numbers
      const later = capped(validFromTime + BigInt(value % 240))
      const other = value % 2 === 0 ? later : validFromTime / 2n
      return index === value % whole.orders.length
        ? { ...each, numbers: { ...each.numbers, validFromTime: other } }
        : each
    }),
  }),
  // One order with other collateral behind it, or more of it taken out.
  (whole, value) => ({
    ...whole,
    orders: whole.orders.map((each, index) => {
      const { held, collateralDelta } = whole.intent.terms
      const all = (held?.collateralAmount ?? 0n) + collateralDelta
      const other = (all * BigInt(value % 110)) / 100n
      return index === value % whole.orders.length
        ? { ...each, numbers: { ...each.numbers, initialCollateralDeltaAmount: other } }
        : each
    }),
  }),
  // Any price, of either side, on one order.
  (whole, value) => ({
    ...whole,
    orders: whole.orders.map((each, index) =>
      index === value % whole.orders.length
        ? { ...each, numbers: { ...each.numbers, acceptablePrice: value % 2 === 0 ? 0n : MAX } }
        : each,
    ),
  }),
  // Any size on one order.
  (whole, value) => ({
    ...whole,
    orders: whole.orders.map((each, index) =>
      index === value % whole.orders.length
        ? { ...each, numbers: { ...each.numbers, sizeDeltaUsd: MAX } }
        : each,
    ),
  }),
  // A deadline of its own.
  (whole, value) => ({
    ...whole,
    relayParams: { ...whole.relayParams, deadline: BigInt(nowSeconds + (value % 5_000)) },
  }),
]

/** The message with the change. */
export function mutated(whole: Whole, { place, value, shape }: Mutation): Whole {
  if (shape < 40) return (shapes[shape % shapes.length] ?? ((same) => same))(whole, value)
  const { orders, updates, cancels, relayParams } = whole
  const parts = { orders, updates, cancels, relayParams, batch: {} }
  const places = placesOf(parts)
  const path = places[place % places.length] ?? []
  const found = at(parts, path)
  const name = path.at(-1)
  const choices: readonly unknown[] =
    typeof found === 'bigint'
      ? numbersNear(found, whole)
      : typeof found === 'boolean'
        ? [!found]
        : Array.isArray(found)
          ? listsNear(found, name)
          : typeof found === 'string'
            ? found.length === 42
              ? addresses
              : [ZERO_HASH, wordOf(), `0x${'12'.repeat(32)}`]
            : [found]
  const changed = put(parts, path, choices[value % choices.length]) as typeof parts
  return { ...whole, ...changed, batch: whole.batch }
}
