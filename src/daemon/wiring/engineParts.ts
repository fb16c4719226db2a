/** Parts from which an engine is made. */
import type {
  HasEngineSettings,
  HasPrepareClaim,
  HasPrepareRenewal,
  HasReadLimits,
  HasSubaccount,
  HasTrading,
} from '../../account/accountParts.ts'
import type { ConfiguredLimits } from '../../account/limitsInForce.ts'
import type { WarningPolicy } from '../../domain/order/warning.ts'
import type { TakeTurn } from '../../engine/callKind.ts'
import type { Ending } from '../../engine/phase.ts'
import type { ExecutionContext } from '../../execution/context/executionContext.ts'
import type { MarketData } from '../../market/marketData.ts'
import type { EngineLabels } from '../../operator/port/statusReport.ts'
import type { StrategyFiles } from '../../operator/reloadStrategies.ts'
import type { Market } from '../../protocol/market.ts'
import type { LoadedStrategy } from '../../strategy/files/load.ts'

/** Parts that the caller gives, and closes after the engine has stopped. */
export interface EngineParts
  extends HasEngineSettings,
    HasPrepareClaim,
    HasPrepareRenewal,
    HasReadLimits,
    HasSubaccount,
    HasTrading {
  /** Parts of the road; the engine itself gives it admission and policies. */
  readonly execution: Omit<ExecutionContext, 'admission' | 'warningPolicies' | 'api' | 'chain'>
  /** Data of the chain's markets, which other accounts may share. */
  readonly market: MarketData
  /** Strategies that run from the start. */
  readonly strategies: readonly LoadedStrategy[]
  /** The account's policy of the venue's warnings, which a strategy's file may make stricter; absent: the defaults. */
  readonly warnings?: WarningPolicy
  /** Reader of strategy files; absent: they stay as they are. */
  readonly strategyFiles?: StrategyFiles
  /** As they are configured. */
  readonly limits: ConfiguredLimits
  readonly labels: EngineLabels
  /** The end of its life; absent: `abort` alone brings it about. */
  readonly ending?: Ending
  /** Receives the venue's markets once, before the first tick; an error ends the start. */
  readonly onMarkets?: (markets: readonly Market[]) => void
  /** Receives each turn that a kind answered; absent: turns are not recorded. */
  readonly recordTurn?: TakeTurn
}
