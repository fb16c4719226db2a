/** The lanes that perpd ships, by name. A further one is its file, a line here, and its description in `domain/order/laneTable.ts`. */
import type { LaneName } from '../../domain/order/laneTable.ts'
import type { Lane, Lanes } from './lane.ts'
import { refused } from './notMade.ts'
import { orderChainLane } from './orderChainLane.ts'
import { relayLane } from './relayLane.ts'

/** Every lane that a configuration can name. */
export const shippedLanes = {
  'order-chain': orderChainLane,
  relay: relayLane,
} as const satisfies Readonly<Record<LaneName, Lane>>

/** The lane of a name. One that is not known, from a newer version's journal, signs and sends nothing and knows nothing. */
export function laneOf(lanes: Lanes, name: string): Lane {
  return (Object.hasOwn(lanes, name) ? lanes[name] : undefined) ?? unknownLane(name)
}

function unknownLane(name: string): Lane {
  const reason = `this version of perpd has no lane ${name}: the version that accepted the order has it`
  return {
    async make(context) {
      return refused(context, 'LANE_UNKNOWN', reason, { lane: name })
    },
    async send() {
      throw new TypeError(`submit: no lane ${name}`)
    },
    async ask(_, { armed: { host } }) {
      return { kind: 'silent', host, reason }
    },
  }
}
