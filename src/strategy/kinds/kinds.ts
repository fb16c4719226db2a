/** The built-in kinds by name. */
import type { Strategy } from '../strategy.ts'
import { approvalKeeper } from './approvalKeeper.ts'
import { breakout } from './breakout.ts'
import { carry } from './carry.ts'
import { claimer } from './claimer.ts'
import { collateralKeeper } from './collateralKeeper.ts'
import { grid } from './grid.ts'
import { guard } from './guard.ts'
import { hedgedCarry } from './hedgedCarry.ts'
import { impactCapture } from './impactCapture.ts'
import { ladder } from './ladder.ts'
import { meanReversion } from './meanReversion.ts'
import { orderJanitor } from './orderJanitor.ts'
import { protector } from './protector.ts'
import { rebalancer } from './rebalancer.ts'
import { rotation } from './rotation.ts'
import { signal } from './signal.ts'
import { targetExposure } from './targetExposure.ts'
import { trend } from './trend.ts'

/** Kinds that `kind:` in a strategy file may name without a path. */
export const builtInKinds: Readonly<Record<string, Strategy>> = {
  'approval-keeper': approvalKeeper,
  breakout,
  carry,
  claimer,
  'collateral-keeper': collateralKeeper,
  grid,
  guard,
  'hedged-carry': hedgedCarry,
  'impact-capture': impactCapture,
  ladder,
  'mean-reversion': meanReversion,
  'order-janitor': orderJanitor,
  protector,
  rebalancer,
  rotation,
  signal,
  'target-exposure': targetExposure,
  trend,
}
