/** The faults of test/simulation/PROOFS.md. Each seed has about half of them, chosen by chance, so that combinations differ. */
import type { Random } from './random.ts'

/** Names of the faults; what each does stands where it is provoked. */
export const faultNames = [
  'request-lost',
  'response-lost',
  'not-sent',
  '5xx-before',
  '5xx-after',
  '429',
  'backend-unavailable',
  'late-processing',
  'slow-answers',
  'not-found-then-found',
  'status-lies',
  'status-unknown',
  'host-down',
  'host-forgets',
  'indexer-lag',
  'prepare-refused',
  'prepare-hostile',
  'body-malformed',
  'doubled-request',
  'relay-drop',
  'relay-late',
  'relay-edge',
  'relay-revert',
  'relay-bundle',
  'third-party-replay',
  'foreign-use',
  'reorg',
  'rpc-error',
  'rpc-lag',
  'rpc-fork',
  'rpc-blind',
  'rpc-liar',
  'rpc-pool',
  'rpc-elsewhere',
  'rpc-range-limit',
  'rpc-status',
  'rpc-html',
  'rpc-closed',
  'rpc-refuses',
  'rpc-truncated',
  'rpc-slow',
  'rpc-pruned',
  'rpc-order',
  'rpc-ids',
  'rpc-numbers',
  'rpc-strange-log',
  'rpc-removed',
  'keeper-cancel',
  'keeper-freeze',
  'keeper-slow',
  'manual-trade',
  'liquidation',
  'clock-jump',
  'clock-skew',
  'crash',
  'crash-in-recovery',
  'pause',
  'lease-lost',
  'power-cut',
  'disk-full',
  'old-backup',
  'bit-flip',
  'operator-stop',
  'operator-word',
  'settings-change',
  'repeated-decision',
] as const

/** Faults that came later: drawn beside the others, so that a seed's others stay what they were. */
export const laterFaultNames = ['rpc-behind', 'rpc-time'] as const

/** One of them. */
export type FaultName = (typeof faultNames)[number] | (typeof laterFaultNames)[number]

/** The faults of one world, and how often each really came. */
export interface Faults {
  isOn(name: FaultName): boolean
  /** Draws whether it comes now, and counts it; never after `stop`. */
  comes(name: FaultName, probability: number): boolean
  /** Counts one that the world provoked by itself. */
  count(name: FaultName): void
  /** The quiet phase begins. */
  stop(): void
  readonly isQuiet: boolean
  readonly counts: ReadonlyMap<FaultName, number>
}

/** How often a fault comes against what is usual. */
export type Weights = ReadonlyMap<FaultName, number>

/**
 * In a quarter of the worlds each fault has a weight of its own: some come four times as often, and others seldom enough to
 * leave time for what follows from them.
 */
export function chooseWeights(random: Random): Weights {
  if (!random.chance(0.25)) return new Map()
  return new Map(faultNames.map((name) => [name, random.pick([0.25, 1, 1, 4])]))
}

/** Chooses the faults of a seed; with `none` there are none, ever. Without `later` none of the later ones comes. */
export function chooseFaults(
  random: Random,
  none: boolean,
  excluded: ReadonlySet<FaultName>,
  weights: Weights = new Map(),
  later?: Random,
): Faults {
  const on = new Set<FaultName>(
    faultNames.filter((name) => random.chance(0.5) && !excluded.has(name) && !none),
  )
  for (const name of laterFaultNames)
    if (later?.chance(0.3) === true && !excluded.has(name) && !none) on.add(name)
  const counts = new Map<FaultName, number>()
  let isQuiet = none
  const count = (name: FaultName) => void counts.set(name, (counts.get(name) ?? 0) + 1)
  return {
    get isQuiet() {
      return isQuiet
    },
    counts,
    count,
    isOn: (name) => !isQuiet && on.has(name),
    comes(name, probability) {
      if (isQuiet || !on.has(name)) return false
      const isNow = random.chance(probability * (weights.get(name) ?? 1))
      if (isNow) count(name)
      return isNow
    },
    stop() {
      isQuiet = true
    },
  }
}
