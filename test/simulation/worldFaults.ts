/** Faults that a world cannot have, or is not to have. */
import { type FaultName, laterFaultNames } from './faults.ts'
import type { Mode, WorldOptions } from './worldTypes.ts'

/** How long strategies of a lively world decide, ms. */
export const livelySpanMs = 240_000

const withoutChain: readonly FaultName[] = [
  'reorg',
  'rpc-error',
  'rpc-lag',
  'rpc-fork',
  'rpc-blind',
  'rpc-liar',
  'rpc-behind',
  'rpc-time',
]
/** What a lively world is without: then more is filled, and so more becomes of what follows a fill. */
const calmFaults: readonly FaultName[] = [
  'clock-jump',
  'clock-skew',
  'request-lost',
  'response-lost',
  'not-sent',
  '5xx-before',
  '5xx-after',
  '429',
  'backend-unavailable',
  'late-processing',
  'slow-answers',
  'host-down',
  'host-forgets',
  'prepare-refused',
  'prepare-hostile',
  'body-malformed',
  'relay-drop',
  'relay-late',
  'relay-revert',
  'foreign-use',
  'manual-trade',
  'liquidation',
  'operator-word',
  'operator-stop',
  'old-backup',
  'bit-flip',
  'pause',
  'keeper-slow',
  'rpc-error',
  'rpc-blind',
  'rpc-behind',
  'rpc-time',
]
/** What a calm world of tasks has of these all the same: nobody knows what became of a message, or whose the journal is. */
const taskFaults: ReadonlySet<FaultName> = new Set([
  'request-lost',
  'response-lost',
  'late-processing',
  'relay-late',
  'pause',
  'operator-stop',
])
const trustedVenue: readonly FaultName[] = [
  'status-lies',
  'indexer-lag',
  'foreign-use',
  'clock-skew',
  'relay-edge',
]

/** The faults that none of its seeds chooses. */
export function excludedFaults(world: {
  readonly options: WorldOptions
  readonly mode: Mode
  readonly hasChain: boolean
  /** Its endpoints may come and go. */
  readonly mayChange: boolean
  readonly isLively: boolean
  /** Its tasks are to be filled. */
  readonly isCalm: boolean
}): ReadonlySet<FaultName> {
  const { options, mode, hasChain, mayChange, isLively, isCalm } = world
  return new Set<FaultName>([
    ...(isLively ? calmFaults : []),
    ...(isCalm ? calmFaults.filter((name) => !taskFaults.has(name)) : []),
    ...(hasChain ? [] : withoutChain),
    ...(mode === 'venue' ? trustedVenue : []),
    // Such a message names its account: nobody else can sign it.
    ...(options.delegate === undefined ? [] : (['foreign-use'] as const)),
    ...(mode === 'chain-2' && !mayChange ? [] : (['rpc-liar'] as const)),
    ...(options.isBefore === true ? laterFaultNames : []),
    ...(mayChange ? (['reorg'] as const) : (['settings-change'] as const)),
  ])
}
