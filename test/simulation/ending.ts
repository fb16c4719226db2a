/** What must hold of the daemon while a world runs and when it is over: I5, I14, L1, L3 and L4. */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import { foldRecords } from '../../src/domain/machine/fold.ts'
import { worstCase } from '../../src/domain/machine/intentExposure.ts'
import { type IntentState, isOpen, lastAttempt } from '../../src/domain/order/intent.ts'
import type { ModelChain } from './chainModel.ts'
import type { FaultName, Faults } from './faults.ts'
import type { Processes } from './processes.ts'
import type { Settings } from './settings.ts'
import type { Storage } from './storage.ts'
import type { Truth } from './truth.ts'
import type { VenueModel } from './venueModel.ts'
import type { WorldOptions } from './worldTypes.ts'

/** What is judged. */
export interface EndingParts {
  readonly options: WorldOptions
  readonly settings: () => Settings
  readonly processes: Processes
  readonly truth: Truth
  readonly chain: ModelChain
  readonly venue: VenueModel
  readonly faults: Faults
  readonly timeline: Timeline
  readonly disk: Storage
  /** Lets everything run that waits for nothing but its turn. */
  readonly drain: () => Promise<void>
  readonly trace: readonly string[]
}

/** The judgement of a world's daemon. */
export interface Ending {
  /** I5: the live state is the fold of the journal. */
  checkLive(): Promise<void>
  /** Everything provable is closed; the operator closes the rest. */
  finish(): Promise<void>
  /** When nothing is open nothing runs, and the key shows nowhere. */
  checkRest(): Promise<void>
  /** Orders that the operator closed. */
  readonly resolved: number
}

/** Makes the judgement of a world. */
export function createEnding(parts: EndingParts): Ending {
  const { options, settings, processes, venue, faults, timeline, disk, trace } = parts
  const truth: Truth = parts.truth
  let resolved = 0

  async function checkFold(state: IntentState): Promise<void> {
    const { intentId } = state.intent
    if (disk.server !== undefined) {
      const all = disk.server.records(intentId)
      // It may not have heard of the newest yet.
      const isFold = all.some(
        (_record, index) => textOf(foldRecords(all.slice(0, index + 1))) === textOf(state),
      )
      if (!isFold) truth.fail('I5', `${intentId}: the live state is no fold of the journal`)
      return
    }
    const records = (await processes.journal?.records(intentId)) ?? []
    const folded = foldRecords(records.map(({ record }) => record))
    if (textOf(folded) !== textOf(state)) truth.fail('I5', `${intentId}: the live state is not the fold`)
  }

  /** L1: what can be proven is closed; the rest waits for the operator, who looks it up on the chain. */
  function checkClosable(state: IntentState, isDoubtful: boolean): void {
    const { intentId } = state.intent
    const fate = truth.fateOf(intentId)
    const isLost = fate === 'dead' || fate === 'never-left' || fate === 'void'
    const { mode } = settings()
    // Orders that no record explains may be the lost one's, for all that lists show.
    const isByHand = ['manual-trade', 'liquidation', 'operator-word'].some((name) =>
      faults.counts.has(name as FaultName),
    )
    const isOperators =
      mode === 'api'
        ? isLost || isDoubtful || state.intent.lane === 'relay'
        : mode === 'venue'
          ? isDoubtful || fate === 'void' || state.intent.lane === 'relay' || (isLost && isByHand)
          : false
    if (isOperators) {
      resolve(state)
      return
    }
    const phase = lastAttempt(state)?.phase ?? 'ACCEPTED'
    truth.fail('L1', `${intentId} is ${phase} and does not close; in truth it is ${fate}`)
  }

  /** Whether a host still knows of the attempt. */
  function hasWord(state: IntentState): boolean {
    const attempt = lastAttempt(state)
    const armed = attempt?.armed
    if (armed === undefined) return true
    if (armed.requestId === undefined) return attempt?.send?.taskId !== undefined
    return venue.peer(armed.host).records.has(armed.requestId)
  }

  function resolve(state: IntentState): void {
    resolved += 1
    const fate = truth.fateOf(state.intent.intentId)
    const as =
      fate === 'executed' || fate === 'partial' ? 'executed' : fate === 'cancelled' ? 'cancelled' : 'dead'
    processes.daemon?.resolve(state.intent.intentId, as)
  }

  return {
    get resolved() {
      return resolved
    },
    async checkLive() {
      for (const state of processes.daemon?.states() ?? []) await checkFold(state)
    },
    async finish() {
      const { daemon, journal } = processes
      if (daemon === undefined || journal === undefined || !processes.isAlive)
        truth.fail('L1', 'the daemon is down after the faults stopped')
      for (const state of daemon.states()) await checkFold(state)
      truth.finish(journal.recentIntents())
      const open = daemon.states()
      // Without a chain, an order that its host forgot may be anybody's: what looks like it waits for the operator as well.
      const isDoubtful = settings().rules.source === 'api' && open.some((state) => !hasWord(state))
      for (const state of open) checkClosable(state, isDoubtful)
      const left = daemon.states().filter(isOpen)
      if (left.length === 0 && worstCase(journal.openIntents()) !== 0n)
        truth.fail('L3', 'a reservation is held by nothing')
    },
    async checkRest() {
      const { secret } = options
      // The engine counts timers when nothing is asked of anybody, which may be a minute later, and what followed an order pauses for
      // half a minute after its end; strategies that run may open more meanwhile. A timer that is really left is there at any
      // later time too, so it is looked for when nothing was open for a minute and a half.
      const latestMs = timeline.nowMs + 300_000
      let untilMs = timeline.nowMs + 90_000
      while (timeline.runNext(untilMs)) {
        await parts.drain()
        const isOpenNow = (processes.daemon?.states() ?? []).length > 0
        if (isOpenNow) untilMs = Math.min(timeline.nowMs + 90_000, latestMs)
      }
      const { daemon } = processes
      if (daemon !== undefined && daemon.states().length === 0 && daemon.timers > 1)
        truth.fail('L4', `${daemon.timers} timers are left and nothing is open`)
      daemon?.finish?.()
      if (secret !== undefined && (disk.contains(secret) || trace.some((line) => line.includes(secret))))
        truth.fail('I14', 'the key stands in the journal or in an event')
    },
  }
}

function textOf(state: IntentState | undefined): string {
  return (
    JSON.stringify(state, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)) ?? ''
  )
}
