/** What each tier simulates, by its name. */
import { coreTier } from './coreDaemon.ts'
import type { Tier } from './daemon.ts'
import { engineTier } from './engineDaemon.ts'
import { shapes } from './intentsOf.ts'
import type { TierName } from './seeds.ts'
import { privateKey, shellTier, simulatedAccount } from './shellDaemon.ts'
import { createSqliteStorage } from './sqliteStorage.ts'
import { runWorld } from './world.ts'
import type { Mode, Scenario, WorldResult } from './worldTypes.ts'

const tiers: Readonly<Record<TierName, Tier>> = {
  core: coreTier,
  shell: shellTier,
  files: { ...shellTier, name: 'files', storage: createSqliteStorage },
  engine: engineTier,
}

/** Runs one seed of a tier; with a scenario, a fixed story without faults. */
export function runSeed(
  tier: TierName,
  seed: number,
  options: { readonly keepsTrace?: boolean; readonly scenario?: Scenario; readonly mode?: Mode } = {},
): Promise<WorldResult> {
  return runWorld({
    seed,
    tier: tiers[tier],
    account: simulatedAccount,
    secret: privateKey.slice(2),
    shapes,
    lanes: ['order-chain', 'relay'],
    ...options,
  })
}
