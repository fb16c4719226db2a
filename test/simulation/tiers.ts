/** What each tier simulates, by its name. */
import { coreTier } from './coreDaemon.ts'
import type { Tier } from './daemon.ts'
import { engineTier } from './engineDaemon.ts'
import { shapes } from './intentsOf.ts'
import { randomOf } from './random.ts'
import type { TierName } from './seeds.ts'
import { privateKey, shellTier, simulatedAccount, simulatedOwner } from './shellDaemon.ts'
import { createSqliteStorage } from './sqliteStorage.ts'
import { runWorld } from './world.ts'
import type { WorldOptions, WorldResult } from './worldTypes.ts'

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
  options: Partial<Pick<WorldOptions, 'keepsTrace' | 'scenario' | 'mode' | 'shapes'>> = {},
): Promise<WorldResult> {
  // Half of the worlds that sign for real do so with a session key of another account.
  const isDelegated =
    (tier === 'shell' || tier === 'files') &&
    options.scenario === undefined &&
    randomOf(seed, 'key').chance(0.5)
  return runWorld({
    seed,
    tier: tiers[tier],
    account: isDelegated ? simulatedOwner : simulatedAccount,
    ...(isDelegated ? { delegate: simulatedAccount } : {}),
    secret: privateKey.slice(2),
    shapes,
    lanes: ['order-chain', 'relay'],
    ...options,
  })
}
