/** Parts that the routes of a venue share. */
import type { SubmitEntry } from '../state/submitRecord.ts'
import type { VenueState } from '../state/venueState.ts'
import type { Peer } from './peer.ts'
import type { StateLog } from './stateLog.ts'
import type { Faults } from './venueFaults.ts'

/** Everything the routes share. */
export interface VenueParts {
  readonly venueState: VenueState
  readonly peers: readonly Peer[]
  readonly faults: Faults
  /** Submits as they arrived, oldest first. */
  readonly record: SubmitEntry[]
  /** Keeps what must survive a kill; absent without a state file. */
  readonly log: StateLog | undefined
}

/** Thrown into the server when the connection is to be cut without an answer. */
export class ConnectionCut extends Error {
  constructor() {
    super('connection cut by a fault')
    this.name = 'ConnectionCut'
  }
}
