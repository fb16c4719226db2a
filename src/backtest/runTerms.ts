/** Terms that affect the decisions of a run, and the world that a trial invents around it. */
import type { Clock } from '../base/clock.ts'
import type { Trader } from '../daemon/trader.ts'
import type { Emit } from '../domain/event.ts'
import type { ScenarioStep } from '../paper/server/scenario.ts'
import type { VenueSettings } from '../paper/state/settings.ts'
import type { VenueState } from '../paper/state/venueState.ts'
import type { Scheduler } from './lab/scheduler.ts'
import type { RunManifest, RunStrategy, TradingTimes } from './runFiles.ts'
import type { ModelChoice } from './runModel.ts'

/** Terms that a run is lived by: of the manifest what decides anything. */
export interface RunTerms
  extends Pick<RunManifest, 'mode' | 'fromSeconds' | 'toSeconds' | 'seed' | 'segmentSeconds' | 'balances'> {
  readonly model: ModelChoice
  readonly strategies: readonly Pick<RunStrategy, 'markets' | 'turnSeconds'>[]
  readonly inputs: readonly (TradingTimes & { readonly periodSeconds: number })[]
}

/** The made-up part of a run: what history does not do by itself. */
export interface MadeUp {
  /** Settings of the venue beyond those of the model. */
  readonly venue?: Partial<VenueSettings>
  /** Faults of the venue at times after the beginning. */
  readonly scenario?: readonly ScenarioStep[]
  /** Called before the daemon starts. */
  readonly begin?: (world: RunWorld) => void
  readonly listen?: Emit
}

/** A run that is about to begin. */
export interface RunWorld {
  readonly venueState: VenueState
  readonly trader: Pick<Trader, 'signal'>
  readonly scheduler: Pick<Scheduler, 'after'>
  readonly clock: Clock
  readonly fatal: (error: unknown) => void
}
