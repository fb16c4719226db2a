/** Following intents: its inputs, and its interface. Made by `follow.ts`. */
import type { HostAnswer, Observation } from '../../domain/machine/observation.ts'
import type { IntentState } from '../../domain/order/intent.ts'
import type { Order } from '../../protocol/position.ts'
import type { Reading } from '../../protocol/reading.ts'
import type { Lanes } from '../lanes/lane.ts'

/** Parts of the order manager that following needs. */
export interface FollowOptions {
  readonly lanes: Lanes
  /** The open intents of now, by id. */
  readonly open: () => ReadonlyMap<string, { readonly state: IntentState | undefined }>
  /** Notes a host's statement. */
  readonly heard: (intentId: string, answer: HostAnswer) => void
  /** Has an observation judged; resolves when its proof is written. */
  readonly observed: (intentId: string, observation: Observation) => Promise<void>
  readonly signal: AbortSignal
}

/** Follows intents. What its functions reject with is a fault of the journal or a mistake of ours. */
export interface Follower {
  /** Follows an intent whose newest attempt was armed, until it closes. To be called once an intent. */
  follow(intentId: string): Promise<void>
  /** Something was written of an intent: more may follow soon. */
  markActive(intentId: string): void
  /** Something else than a record says that an order of the intent moved, or is about to. May be said over and over. */
  pollSoon(intentId: string): void
  /** A list of the account's resting orders was read. */
  sawOrders(list: Reading<readonly Order[]>): void
  /** Looks once at every intent that is open. */
  pollAll(): Promise<void>
  /** Runs as long as the process; does nothing without chain endpoints. */
  run(): Promise<void>
}
