/** The lanes by name: how a signed message gets to the chain. What is fixed about each is here, how it works is in `execution/lanes/shippedLanes.ts`. */

/** Public description of a lane for the rest of perpd. */
export interface LaneDescription {
  /** In words for people. */
  readonly label: string
  /** True if it hands in messages that the caller composed; otherwise a host builds every message. */
  readonly takesOwnMessages: boolean
  /** True if its host names the orders that a message created and reports their ends; otherwise it knows the transaction alone. */
  readonly followsOrders: boolean
  /** True if we choose the deadline of its messages; otherwise the host that prepares them chooses it. */
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

/** Name of the lane by which an attempt is sent. Records on disk hold these names. */
export type LaneName = keyof typeof descriptions

/** Every lane. */
export const laneNames = Object.keys(descriptions) as readonly LaneName[]

/** A lane by its name. One that this version does not know, from a newer one's journal, is held to the most evidence. */
export function describeLane(name: LaneName): LaneDescription {
  if (Object.hasOwn(descriptions, name)) return descriptions[name]
  return { label: `lane ${name}`, takesOwnMessages: false, followsOrders: true, signsOwnDeadline: false }
}
