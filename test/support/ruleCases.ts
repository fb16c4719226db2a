/** What a rule's test is made of: cases of one scene, each a change of its honest message. */
import type { CreateOrderParams, UpdateOrderParams } from '../../src/protocol/batch.ts'
import type { Direction } from '../../src/protocol/market.ts'
import { usd } from '../../src/protocol/units.ts'
import type { Facts } from './honestOrders.ts'
import { changeNames, orderNames, type Scene, type SceneName, sceneOf } from './messageScenes.ts'
import type { Whole } from './wholeMessage.ts'

/** A change of a message. */
export type Change = (whole: Whole) => Whole
/** Changes by what they are. */
export type Changes = Readonly<Record<string, Change>>

/** What a rule says of a scene. `moved`: refused with the row's code; `harmful`: refused as tampering. */
export interface RuleCases {
  readonly signed?: Changes
  readonly moved?: Changes
  readonly harmful?: Changes
}

/** The cases of a rule in a scene. */
export type Rule = (scene: Scene) => RuleCases

/** Facts of the scenes: $500 more or less at $1,800, of a position of $1,000 on 400.000003 dollars. */
const baseFacts: Facts = {
  direction: 'long',
  referencePrice: usd(1800),
  slippageBps: 100,
  sizeDeltaUsd: usd('500.000000000000000000000000000001'),
  amount: 100_000_000n,
  held: { sizeInUsd: usd(1000), collateralAmount: 400_000_003n },
  isWhole: false,
  keepsLeverage: false,
  taken: 208_000_002n,
  triggerBps: 500,
  parts: 3,
  durationSeconds: 600,
  isNativeOut: false,
  orderType: 'limit',
}

/** Estimates of price impacts: within what may widen a bound, beyond it, and in our favour. */
const estimates: readonly Partial<Facts>[] = [
  { estimateBps: -35 },
  { estimateBps: -10_000 },
  { estimateBps: 20 },
]

/** What differs between the scenes of a name, besides the direction. */
function variantsOf(name: SceneName): readonly Partial<Facts>[] {
  switch (name) {
    case 'market increase':
    case 'stop entry':
    case 'close':
      return [{}, ...estimates]
    case 'limit increase':
      return [{}, { impactBps: 30 }, { impactBps: 30, estimateBps: -35 }, ...estimates]
    case 'market decrease':
    case 'kept-leverage decrease':
      return [{}, { isWhole: true }, { otherSizeDeltaUsd: baseFacts.held.sizeInUsd }]
    case 'take-profit':
      return [{}, { impactBps: 30 }, { isWhole: true }, { keepsLeverage: true }, ...estimates]
    case 'stop-loss':
      return [{}, { isWhole: true }, { keepsLeverage: true }, ...estimates]
    case 'take-profit exit':
    case 'stop-loss exit':
      return [
        {},
        ...estimates,
        { isWhole: true },
        { isWhole: true, held: { sizeInUsd: 0n, collateralAmount: 0n } },
      ]
    case 'twap decrease':
      return [{}, { isWhole: true }, { taken: 0n }]
    case 'swap':
      return [{}, { isNativeOut: true }]
    case 'own order':
      return [
        { orderType: 'market increase' },
        { orderType: 'market decrease' },
        ...(['limit', 'stop-market', 'take-profit', 'stop-loss'] as const).map((orderType) => ({
          orderType,
        })),
      ]
    case 'edit':
      return [
        ...(['limit', 'stop-market', 'take-profit', 'stop-loss'] as const).map((orderType) => ({
          orderType,
        })),
        ...estimates.flatMap((one) =>
          (['limit', 'take-profit'] as const).map((orderType) => ({ ...one, orderType })),
        ),
      ]
    case 'own update':
      return (['limit', 'stop-market', 'take-profit', 'stop-loss'] as const).map((orderType) => ({
        orderType,
      }))
    default:
      return [{}]
  }
}

/** Every scene: each name, both directions, all its variants. */
export const scenes: readonly Scene[] = [...orderNames, ...changeNames].flatMap((name) =>
  (['long', 'short'] as const satisfies readonly Direction[]).flatMap((direction) =>
    variantsOf(name).map((facts) => sceneOf(name, { ...baseFacts, ...facts, direction })),
  ),
)

/** A scene in words, for what a test says of it. */
export function textOf({ name, facts }: Scene): string {
  const {
    direction,
    isWhole,
    keepsLeverage,
    impactBps,
    isNativeOut,
    otherSizeDeltaUsd,
    orderType,
    estimateBps,
  } = facts
  const marks = [
    direction,
    ...(isWhole ? ['whole'] : []),
    ...(keepsLeverage ? ['kept'] : []),
    ...(impactBps === undefined ? [] : ['named impact']),
    ...(estimateBps === undefined ? [] : [`estimate of ${estimateBps} bps`]),
    ...(isNativeOut ? ['native'] : []),
    ...(otherSizeDeltaUsd === undefined ? [] : ['may be whole']),
    ...(name === 'own order' || name === 'own update' || name === 'edit' ? [orderType] : []),
  ]
  return `${name} (${marks.join(', ')})`
}

/** Changes the order of the scene. */
export function order({ at }: Scene, change: (order: CreateOrderParams) => CreateOrderParams): Change {
  return (whole) => ({
    ...whole,
    orders: whole.orders.map((each, index) => (index === at ? change(each) : each)),
  })
}

/** Changes addresses, numbers, or other fields of the scene's order. */
export const addresses = (scene: Scene, fields: Partial<CreateOrderParams['addresses']>): Change =>
  order(scene, (each) => ({ ...each, addresses: { ...each.addresses, ...fields } }))
export const numbers = (scene: Scene, fields: Partial<CreateOrderParams['numbers']>): Change =>
  order(scene, (each) => ({ ...each, numbers: { ...each.numbers, ...fields } }))
export const top = (scene: Scene, fields: Partial<CreateOrderParams>): Change =>
  order(scene, (each) => ({ ...each, ...fields }))

/** Changes the one update. */
export const update =
  (fields: Partial<UpdateOrderParams>): Change =>
  (whole) => ({
    ...whole,
    updates: whole.updates.map((each) => ({ ...each, ...fields })),
  })

/** The order of the scene, and its update. */
export function orderIn({ orders, at }: Scene): CreateOrderParams {
  const found = orders[at]
  if (found === undefined) throw new TypeError('the scene creates no order')
  return found
}
export function updateIn({ updates }: Scene): UpdateOrderParams {
  const found = updates[0]
  if (found === undefined) throw new TypeError('the scene updates no order')
  return found
}

/** Nothing is changed. */
export const asItIs: Changes = { 'as it is': (whole) => whole }

/** A number that may be one thing alone: signed as it is, not one unit more or less. */
export function exactly(value: bigint, change: (value: bigint) => Change): RuleCases {
  return {
    signed: asItIs,
    harmful: {
      'one more': change(value + 1n),
      ...(value === 0n ? {} : { 'one less': change(value - 1n), none: change(0n) }),
      'ten times as much': change(value === 0n ? 10n ** 30n : 10n * value),
    },
  }
}

/** A flag that may be one thing alone. */
export function onlyFlag(value: boolean, change: (value: boolean) => Change): RuleCases {
  return { signed: asItIs, harmful: { 'the other': change(!value) } }
}

/** A number that may be anything up to a bound: of what moves by itself, more up to another. */
export function upTo(most: bigint, change: (value: bigint) => Change, movedTo?: bigint): RuleCases {
  const moves = movedTo !== undefined && movedTo > most
  return {
    signed: { none: change(0n), 'all of it': change(most) },
    ...(moves ? { moved: { 'one more': change(most + 1n), 'as far as it moves': change(movedTo) } } : {}),
    harmful: {
      [moves ? 'further than it moves' : 'one more']: change((moves ? movedTo : most) + 1n),
      'far more': change((moves ? movedTo : most) * 2n + 10n ** 9n),
    },
  }
}
