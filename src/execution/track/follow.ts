/**
 * Follows open intents until they close. With chain endpoints one chain poller asks the chain for all of them, and hosts
 * are asked beside it: their words are hints for the chain poller, and for the operator. Without endpoints each intent
 * asks for itself.
 */
import type { HostAnswer, Observation } from '../../domain/machine/observation.ts'
import { type IntentState, lastAttempt } from '../../domain/order/intent.ts'
import type { ExecutionContext } from '../context/executionContext.ts'
import type { Lanes } from '../lanes/lane.ts'
import { chainObservation, queryOf } from './chainObservation.ts'
import { createChainPoller } from './chainPoller.ts'
import { observe, queryStatus } from './observe.ts'

/** Longest pause between two questions to a host whose word is a hint only, ms. */
const HINT_PAUSE_MAX_MS = 60_000
const GROWTH = 1.25
/** How long a start waits for the words of hosts before it looks at the chain, ms. */
const FIRST_ANSWERS_MS = 2_000

/** What following needs of the order manager. */
export interface FollowOptions {
  readonly lanes: Lanes
  /** The open intents of now, by id. */
  readonly open: () => ReadonlyMap<string, { readonly state: IntentState | undefined }>
  /** Notes what a host said. */
  readonly heard: (intentId: string, answer: HostAnswer) => void
  /** Has an observation judged; resolves when what it proves is written. */
  readonly observed: (intentId: string, observation: Observation) => Promise<void>
  readonly signal: AbortSignal
}

/** Follows intents. What its functions reject with is a fault of the journal or a mistake of ours. */
export interface Follower {
  /** Follows an intent whose newest attempt was armed, until it closes. To be called once an intent. */
  follow(intentId: string): Promise<void>
  /** Something was written of an intent: more may follow soon. */
  markActive(intentId: string): void
  /** Looks once at every intent that is open. */
  pollAll(): Promise<void>
  /** Runs as long as the process; does nothing without chain endpoints. */
  run(): Promise<void>
}

/** Makes the follower. */
export function createFollower(context: ExecutionContext, options: FollowOptions): Follower {
  const { chainReader, rules } = context
  return rules.source === 'api' || chainReader === undefined
    ? apiFollower(context, options)
    : chainFollower(context, chainReader, options)
}

function apiFollower(
  context: ExecutionContext,
  { lanes, open, heard, observed, signal }: FollowOptions,
): Follower {
  const { clock, settings } = context
  async function poll(intentId: string): Promise<void> {
    const state = open().get(intentId)?.state
    if (state === undefined || lastAttempt(state)?.armed === undefined) return
    const observation = await observe(context, lanes, state)
    if (signal.aborted || !open().has(intentId)) return
    heard(intentId, observation.answer)
    await observed(intentId, observation)
  }
  return {
    async follow(intentId) {
      let waitMs = settings.statusPollMs
      while (!signal.aborted && open().has(intentId)) {
        await clock.sleep(waitMs, signal)
        if (signal.aborted || !open().has(intentId)) return
        await poll(intentId)
        waitMs = Math.min(waitMs * GROWTH, settings.statusPollMaxMs)
      }
    },
    markActive() {},
    async pollAll() {
      await Promise.all([...open().keys()].map(poll))
    },
    async run() {},
  }
}

function chainFollower(
  context: ExecutionContext,
  reader: NonNullable<ExecutionContext['chainReader']>,
  { lanes, open, heard, observed, signal }: FollowOptions,
): Follower {
  const { clock, settings } = context
  /** What hosts said last, by intent. */
  const answers = new Map<string, HostAnswer>()
  const poller = createChainPoller({
    reader,
    clock,
    settings,
    signal,
    watched: () =>
      [...open()].flatMap(([intentId, { state }]) =>
        state === undefined ? [] : [{ intentId, state, query: queryOf(state, answers.get(intentId)) }],
      ),
    async take(intentId, view) {
      const state = open().get(intentId)?.state
      if (state === undefined) return
      await observed(intentId, chainObservation(context, state, view, answers.get(intentId)))
    },
  })

  async function queryHost(intentId: string): Promise<void> {
    const state = open().get(intentId)?.state
    // Once it landed the chain shows everything, and no host can add to it.
    if (state === undefined || lastAttempt(state)?.armed === undefined || hasLanded(state)) return
    const answer = await queryStatus(context, lanes, state)
    if (signal.aborted || !open().has(intentId)) return
    const before = answers.get(intentId)
    // Silence is no word: the last one stands, with its hints.
    if (before?.kind !== 'status' || answer.kind === 'status') answers.set(intentId, answer)
    heard(intentId, answer)
    if (answer.kind === 'status' && !isSameStatus(before, answer)) poller.markActive(intentId)
  }

  return {
    async follow(intentId) {
      poller.markActive(intentId)
      let waitMs = settings.statusPollMs
      try {
        while (!signal.aborted && open().has(intentId)) {
          await clock.sleep(waitMs, signal)
          if (signal.aborted || !open().has(intentId)) return
          await queryHost(intentId)
          waitMs = Math.min(waitMs * GROWTH, HINT_PAUSE_MAX_MS)
        }
      } finally {
        answers.delete(intentId)
      }
    },
    markActive: (intentId) => poller.markActive(intentId),
    async pollAll() {
      // Hosts' words name the end of what died, and nothing more: a start does not wait long for them.
      const asked = Promise.all([...open().keys()].map(queryHost))
      await Promise.race([asked, clock.sleep(FIRST_ANSWERS_MS, signal)])
      await poller.poll()
    },
    run: () => poller.run(),
  }
}

function hasLanded(state: IntentState): boolean {
  return lastAttempt(state)?.phase === 'LANDED'
}

function isSameStatus(before: HostAnswer | undefined, now: Extract<HostAnswer, { kind: 'status' }>): boolean {
  return before?.kind === 'status' && before.status === now.status && before.txHash === now.txHash
}
