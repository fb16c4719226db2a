/**
 * Follows open intents until they close. With chain endpoints one chain poller queries the chain for all of them, and hosts are queried in parallel:
 * their answers are hints for the chain poller, and for the operator. Without endpoints only hosts are queried (`apiFollower.ts`).
 */
import type { ChainReader } from '../../domain/machine/chainReader.ts'
import type { HostAnswer } from '../../domain/machine/observation.ts'
import { type IntentState, isOpen, lastAttempt } from '../../domain/order/intent.ts'
import type { ExecutionContext } from '../context/executionContext.ts'
import { apiFollower } from './apiFollower.ts'
import { chainObservation, queryOf } from './chainObservation.ts'
import { createChainPoller, type Watched } from './chainPoller.ts'
import type { Follower, FollowOptions } from './follower.ts'
import { queryStatus } from './observe.ts'

/** Longest pause between two questions to a host whose word is a hint only, ms. */
const HINT_PAUSE_MAX_MS = 60_000
const GROWTH = 1.25
/** Time that a start waits for hosts' answers before it looks at the chain, ms. */
const FIRST_ANSWERS_MS = 2_000

/** Makes the follower. */
export function createFollower(context: ExecutionContext, options: FollowOptions): Follower {
  const { chainReader, rules } = context
  return rules.source === 'api' || chainReader === undefined
    ? apiFollower(context, options)
    : chainFollower(context, chainReader, options)
}

function chainFollower(
  context: ExecutionContext,
  reader: ChainReader,
  { lanes, open, heard, observed, signal }: FollowOptions,
): Follower {
  const { clock, settings } = context
  /** Latest answers of hosts, by intent. */
  const answers = new Map<string, HostAnswer>()
  /** Ends the pause of an order that is followed. */
  const pauses = new Map<string, AbortController>()
  const poller = createChainPoller({
    reader,
    clock,
    settings,
    signal,
    watched,
    async take(intentId, view) {
      const state = open().get(intentId)?.state
      if (state === undefined) return
      await observed(intentId, chainObservation(context, state, view, answers.get(intentId)))
    },
  })

  const watchedOf = createWatched()

  function watched(): readonly Watched[] {
    return [...open()].flatMap(([intentId, { state }]) =>
      state === undefined ? [] : [watchedOf(intentId, state, answers.get(intentId))],
    )
  }

  async function queryHost(intentId: string): Promise<void> {
    const state = open().get(intentId)?.state
    if (!isAskable(state)) return
    const answer = await queryStatus(context, lanes, state)
    if (signal.aborted || !open().has(intentId)) return
    const before = answers.get(intentId)
    // Silence is no word: the last one stands, with its hints.
    if (before?.kind !== 'status' || answer.kind === 'status') answers.set(intentId, answer)
    heard(intentId, answer)
    if (answer.kind === 'status' && !isSameStatus(before, answer)) poller.markActive(intentId)
  }

  signal.addEventListener(
    'abort',
    () => {
      for (const pause of pauses.values()) pause.abort()
    },
    { once: true },
  )
  return {
    async follow(intentId) {
      poller.markActive(intentId)
      const pause = new AbortController()
      pauses.set(intentId, pause)
      let waitMs = settings.statusPollMs
      const again = (): number | undefined => {
        if (signal.aborted || !open().has(intentId) || isAskable(open().get(intentId)?.state))
          return undefined
        waitMs = Math.min(waitMs * GROWTH, HINT_PAUSE_MAX_MS)
        return waitMs
      }
      try {
        while (!signal.aborted && open().has(intentId)) {
          await clock.sleep(waitMs, pause.signal, again)
          if (signal.aborted || !open().has(intentId)) return
          await queryHost(intentId)
          waitMs = Math.min(waitMs * GROWTH, HINT_PAUSE_MAX_MS)
        }
      } finally {
        pauses.delete(intentId)
        answers.delete(intentId)
      }
    },
    markActive(intentId) {
      const state = open().get(intentId)?.state
      // The chain closes most orders while their hosts are not asked: the pause, of up to a minute, ends with the order.
      if (state !== undefined && !isOpen(state)) pauses.get(intentId)?.abort()
      poller.markActive(intentId)
    },
    pollSoon: (intentId) => poller.markActive(intentId),
    // The chain shows all of them in one look.
    sawOrders() {},
    async pollAll() {
      // Hosts' statements only name the end of a dead intent: a start does not wait long for them.
      const asked = Promise.all([...open().keys()].map(queryHost))
      await Promise.race([asked, clock.sleep(FIRST_ANSWERS_MS, signal)])
      await poller.poll()
    },
    run: () => poller.run(),
  }
}

/** Makes what is watched of a state, once for as long as its host says the same. */
function createWatched(): (intentId: string, state: IntentState, answer: HostAnswer | undefined) => Watched {
  const made = new WeakMap<
    IntentState,
    { readonly answer: HostAnswer | undefined; readonly watched: Watched }
  >()
  return (intentId, state, answer) => {
    const known = made.get(state)
    if (known !== undefined && known.answer === answer) return known.watched
    const watched = { intentId, state, query: queryOf(state, answer) }
    made.set(state, { answer, watched })
    return watched
  }
}

/** Tells whether a host can say anything of an intent: once it landed the chain shows everything, and no host can add to it. */
function isAskable(state: IntentState | undefined): state is IntentState {
  const attempt = state && lastAttempt(state)
  return attempt?.armed !== undefined && attempt.phase !== 'LANDED'
}

function isSameStatus(before: HostAnswer | undefined, now: Extract<HostAnswer, { kind: 'status' }>): boolean {
  return before?.kind === 'status' && before.status === now.status && before.txHash === now.txHash
}
