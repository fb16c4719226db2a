/** What each tier simulates, by its name. */
import { coreTier } from './coreDaemon.ts'
import type { Tier } from './daemon.ts'
import { engineTier } from './engineDaemon.ts'
import { markets, shapes } from './intentsOf.ts'
import { randomOf } from './random.ts'
import type { TierName } from './seeds.ts'
import { createSharedStorage } from './sharedStorage.ts'
import { privateKey, shellTier, simulatedAccount, simulatedOwner } from './shellDaemon.ts'
import { createSqliteStorage } from './sqliteStorage.ts'
import { runWorld } from './world.ts'
import type { WorldOptions, WorldResult } from './worldTypes.ts'

const tiers: Readonly<Record<TierName, Tier>> = {
  core: coreTier,
  shell: shellTier,
  files: { ...shellTier, name: 'files', storage: createSqliteStorage },
  engine: engineTier,
  shared: { ...shellTier, name: 'shared', storage: createSharedStorage },
  'shared-engine': { ...engineTier, name: 'shared-engine', storage: createSharedStorage },
}

/**
 * A quarter of the worlds are narrow: few kinds of orders, on one side of one market, as a rule by one lane. Orders that can be
 * taken for one another are seldom where all kinds come on all sides, and that is what evidence has to tell apart.
 */
function narrowOf(seed: number): Partial<Pick<WorldOptions, 'shapes' | 'lanes' | 'side'>> {
  const random = randomOf(seed, 'narrow world')
  if (!random.chance(0.25)) return {}
  const few = Array.from({ length: random.int(1, 3) }, () => random.pick(shapes))
  return {
    shapes: few,
    ...(random.chance(0.7) ? { lanes: [random.pick(lanes)] } : {}),
    side: {
      market: random.pick(markets),
      direction: random.chance(0.5) ? 'long' : 'short',
    },
  }
}

const lanes = ['order-chain', 'relay'] as const

/** Runs one seed of a tier; with a scenario, a fixed story without faults. */
export function runSeed(
  tier: TierName,
  seed: number,
  options: Partial<
    Pick<
      WorldOptions,
      | 'keepsTrace'
      | 'scenario'
      | 'mode'
      | 'shapes'
      | 'isBefore'
      | 'hasPrices'
      | 'isLively'
      | 'isCrowded'
      | 'transcript'
    >
  > = {},
): Promise<WorldResult> {
  // Half of the worlds that sign for real do so with a session key of another account.
  const isDelegated =
    (tier === 'shell' || tier === 'files' || tier === 'shared') &&
    options.scenario === undefined &&
    randomOf(seed, 'key').chance(0.5)
  return runWorld({
    seed,
    tier: tiers[tier],
    account: isDelegated ? simulatedOwner : simulatedAccount,
    ...(isDelegated ? { delegate: simulatedAccount } : {}),
    secret: privateKey.slice(2),
    shapes,
    lanes,
    ...(options.scenario === undefined && options.shapes === undefined ? narrowOf(seed) : {}),
    ...options,
  })
}
