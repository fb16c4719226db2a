/** The lanes by name: how a signed message gets to the chain. What is fixed about each is here, how it works is in `execution/lanes/shippedLanes.ts`. */

/** What the rest of perpd knows of a lane. */
export interface LaneDescription {
  /** In words for people. */
  readonly label: string
  /** Whether it hands in messages that the caller made himself; otherwise a host builds every message. */
  readonly takesOwnMessages: boolean
  /** Whether its host names the orders that a message created and says how they end; otherwise it knows the transaction alone. */
  readonly followsOrders: boolean
  /** Whether the deadline of its messages is ours; otherwise the host that prepares chooses it. */
  readonly signsOwnDeadline: boolean
}

const descriptions = {
  'order-chain': {
    label: 'order chain',
    takesOwnMessages: false,
    followsOrders: true,
    signsOwnDeadline: false,
  },
  relay: { label: 'relay lane', takesOwnMessages: true, followsOrders: false, signsOwnDeadline: true },
} as const satisfies Readonly<Record<string, LaneDescription>>

/** How an attempt is sent. Records on disk hold these names. */
export type LaneName = keyof typeof descriptions

/** Every lane. */
export const laneNames = Object.keys(descriptions) as readonly LaneName[]

/** A lane by its name. One that this version does not know, from a newer one's journal, is held to the most evidence. */
export function describeLane(name: LaneName): LaneDescription {
  if (Object.hasOwn(descriptions, name)) return descriptions[name]
  return { label: `lane ${name}`, takesOwnMessages: false, followsOrders: true, signsOwnDeadline: false }
}
