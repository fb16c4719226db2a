/** What rules reckon with: bounds by what a message does to risk, sides, and the parts of a twap. */
import type { Scene } from '../../support/messageScenes.ts'
import type { Changes } from '../../support/ruleCases.ts'

const adding = { executionFee: 10n ** 15n, toleranceBps: 100n, mostImpactBps: 150n }
const reducing = { executionFee: 5n * 10n ** 15n, toleranceBps: 200n, mostImpactBps: 1000n }

/** Whether the message of a scene adds risk. */
export function adds({ name, facts: { orderType } }: Scene): boolean {
  if (name === 'own order') return ['market increase', 'limit', 'stop-market'].includes(orderType)
  if (name === 'edit') return orderType === 'limit' || orderType === 'stop-market'
  return /increase|^stop entry|exit|swap|collateral-out/.test(name)
}

/** The bounds of the message of a scene. */
export const boundsOf = (scene: Scene) => (adds(scene) ? adding : reducing)

/** Whether an order fills upwards: increases of longs, decreases of shorts. */
export function buys({ name, facts: { direction, orderType } }: Scene): boolean {
  const text = name === 'own order' ? orderType : name
  return /increase|collateral-in|^limit|^stop-market|^stop entry/.test(text) === (direction === 'long')
}

/** How far a price may lie from its center besides slippage: the tolerance, and of the estimated impact what is allowed. */
export function reachOf(scene: Scene): {
  readonly tolerance: bigint
  readonly bad: bigint
  readonly good: bigint
} {
  const { toleranceBps, mostImpactBps } = boundsOf(scene)
  const estimate = BigInt(scene.facts.estimateBps ?? 0)
  const widening = (impact: bigint) => (impact < 0n ? 0n : impact > mostImpactBps ? mostImpactBps : impact)
  return { tolerance: toleranceBps, bad: widening(-estimate), good: widening(estimate) }
}

/** A number of one part of a twap. */
export const part =
  (name: 'sizeDeltaUsd' | 'initialCollateralDeltaAmount' | 'validFromTime') =>
  (index: number, value: bigint): Changes => ({
    [`part ${index} is ${value}`]: (whole) => ({
      ...whole,
      orders: whole.orders.map((each, at) =>
        at === index ? { ...each, numbers: { ...each.numbers, [name]: value } } : each,
      ),
    }),
  })
