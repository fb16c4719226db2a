/** What a world is made of, and what it leaves. */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import type { Intent, Outcome } from '../../src/domain/order/intent.ts'
import type { Address } from '../../src/protocol/address.ts'
import type { Direction } from '../../src/protocol/market.ts'
import type { ModelChain } from './chainModel.ts'
import type { Tier } from './daemon.ts'
import type { ExitStory } from './exitStory.ts'
import type { Shape } from './intentsOf.ts'
import type { Transcript } from './transcript.ts'
import type { Violation } from './truth.ts'
import type { VenueModel } from './venueModel.ts'

/** What is simulated. */
export interface WorldOptions {
  readonly seed: number
  readonly tier: Tier
  /** The account that is traded. */
  readonly account: Address
  /** The key that signs for it, when it is not its own: a session key that the chain knows. */
  readonly delegate?: Address
  /** Hex of the key: it must not show in records or events. */
  readonly secret?: string
  /** Shapes that the tier can carry out. */
  readonly shapes: readonly Shape[]
  readonly lanes: readonly Intent['lane'][]
  /** All decisions are for this side; absent: each for one of its own. */
  readonly side?: { readonly market: Address; readonly direction: Direction }
  /** A fixed story instead of a random one: no faults, and crashes where it says. */
  readonly scenario?: Scenario
  readonly keepsTrace?: boolean
  /** Told of what leaves the daemon and of what it keeps. */
  readonly transcript?: Transcript
  /** Where evidence comes from; absent: by chance. */
  readonly mode?: Mode
  /** Without the faults that came later: a seed tells the story that it once told. */
  readonly isBefore?: boolean
  /** False: strategies have no files and markets no walk, as before there were any; absent: they have. */
  readonly hasPrices?: boolean
  /** True: few faults, and much that is filled; absent: so in half of the worlds that have prices. */
  readonly isLively?: boolean
  /**
   * True: a lively world of three strategies that hold something on one side all the time, with files that come and go. Of all worlds such
   * a mixture comes in few, and in the few that run at each change all that it showed is mended.
   */
  readonly isCrowded?: boolean
}

/** A fixed story for the enumeration of crash points. */
export interface Scenario {
  readonly name: string
  readonly mode: Mode
  readonly shapes: readonly Shape[]
  readonly lane: Intent['lane']
  /** Boundary of the first process, the second, ...: where each ends. */
  readonly crashes: readonly number[]
  /** Boundary of the first process where it is frozen while a second one takes over, and how long it is frozen, ms. */
  readonly takeover?: { readonly at: number; readonly goesOnMs: number }
  /** What the whole daemon does in it; absent in stories of the other tiers, which are offered `shapes`. */
  readonly exits?: ExitStory
  /** Faults that come always: each at its first chance. */
  readonly setup?: (world: {
    readonly venue: VenueModel
    readonly chain: ModelChain
    readonly timeline: Timeline
  }) => void
}

/** Where evidence comes from: one endpoint, two, own lists on a live chain, or a venue that is trusted. */
export type Mode = 'chain-1' | 'chain-2' | 'api' | 'venue'

/** What became of a world. */
export interface WorldResult {
  readonly seed: number
  readonly tier: string
  readonly mode: Mode
  readonly violation: Violation | undefined
  readonly traceHash: string
  readonly simulatedMs: number
  readonly events: number
  readonly crashes: number
  readonly boundaries: readonly number[]
  readonly intents: number
  readonly outcomes: Readonly<Partial<Record<Outcome | 'OPEN' | 'RESOLVED', number>>>
  readonly faults: Readonly<Record<string, number>>
  readonly trace: readonly string[]
}
