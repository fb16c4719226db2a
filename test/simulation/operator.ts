/** An operator who says how orders ended, rightly or wrongly: to a running daemon, or to the journal of one that is down. */
import { step } from '../../src/domain/machine/step.ts'
import { type IntentState, isOpen, isUnresolved, lastAttempt } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import type { Daemon } from './daemon.ts'
import type { Random } from './random.ts'
import type { Truth } from './truth.ts'

/** Whether perpd takes a word on it: it was signed, and nothing has ended it. */
export function mayBeResolved(state: IntentState): boolean {
  const attempt = lastAttempt(state)
  return isOpen(state) && attempt !== undefined && (isUnresolved(attempt) || attempt.phase === 'LANDED')
}

function wordFor(states: readonly IntentState[], truth: Truth, random: Random) {
  const open = states.filter(mayBeResolved)
  if (open.length === 0) return undefined
  const state = random.pick(open)
  const fate = truth.fateOf(state.intent.intentId)
  const isKnown = fate === 'dead' || fate === 'executed' || fate === 'cancelled'
  const as = isKnown && random.chance(0.5) ? fate : random.pick(['dead', 'executed', 'cancelled'] as const)
  return { state, as }
}

/** Says it to the running daemon. */
export function giveWord(daemon: Daemon | undefined, truth: Truth, random: Random): void {
  const word = wordFor(daemon?.states() ?? [], truth, random)
  if (word !== undefined) daemon?.command?.(word.state.intent.intentId, word.as)
}

/** The record of a word on one of the open intents of a journal, or undefined when none waits for one. */
export function wordOn(
  open: readonly IntentState[],
  truth: Truth,
  random: Random,
  nowMs: number,
): JournalRecord | undefined {
  const word = wordFor(open, truth, random)
  if (word === undefined) return undefined
  const rules = { source: 'api', trustVenue: false, deadlineMarginMs: 0 } as const
  return step(word.state, { type: 'resolved', nowMs, as: word.as, by: 'operator' }, rules).record
}
