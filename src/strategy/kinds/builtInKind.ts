/**
 * The built-in kinds by name, each loaded when a strategy file names it: a run has a few kinds, and all together are a tenth of what it would
 * load.
 */
import type { Strategy } from '../strategy.ts'
import { guard } from './guard.ts'

const loaders: Readonly<Record<string, () => Promise<Strategy>>> = {
  'approval-keeper': async () => (await import('./approvalKeeper.ts')).approvalKeeper,
  breakout: async () => (await import('./breakout.ts')).breakout,
  carry: async () => (await import('./carry.ts')).carry,
  claimer: async () => (await import('./claimer.ts')).claimer,
  'collateral-keeper': async () => (await import('./collateralKeeper.ts')).collateralKeeper,
  grid: async () => (await import('./grid.ts')).grid,
  // Warnings of orders by hand ask it anyway.
  guard: async () => guard,
  'hedged-carry': async () => (await import('./hedgedCarry.ts')).hedgedCarry,
  'impact-capture': async () => (await import('./impactCapture.ts')).impactCapture,
  ladder: async () => (await import('./ladder.ts')).ladder,
  'mean-reversion': async () => (await import('./meanReversion.ts')).meanReversion,
  'order-janitor': async () => (await import('./orderJanitor.ts')).orderJanitor,
  protector: async () => (await import('./protector.ts')).protector,
  rebalancer: async () => (await import('./rebalancer.ts')).rebalancer,
  rotation: async () => (await import('./rotation.ts')).rotation,
  signal: async () => (await import('./signal.ts')).signal,
  'target-exposure': async () => (await import('./targetExposure.ts')).targetExposure,
  trend: async () => (await import('./trend.ts')).trend,
}

/** Names that `kind:` in a strategy file may have without a path. */
export const builtInNames: readonly string[] = Object.keys(loaders)

const loaded = new Map<string, Strategy>()

/** Returns the built-in kind of that name, or undefined; one that was loaded before is given at once. */
export function builtInKind(name: string): Strategy | undefined | Promise<Strategy> {
  const known = loaded.get(name)
  if (known !== undefined || !Object.hasOwn(loaders, name)) return known
  return loaders[name]?.().then((kind) => {
    loaded.set(name, kind)
    return kind
  })
}
