/**
 * The trading state while the daemon runs: holds are put on and lifted here, each durable before it is told. What the
 * state is for one strategy is asked by admission, and once more right before anything is signed.
 */
import { addsRisk } from '../domain/decision.ts'
import type { Emit } from '../domain/event.ts'
import type { Denial, Intent } from '../domain/intent.ts'
import { holdKey, holdsOn, strictest, type TradingHold, type TradingScope } from '../domain/trading.ts'
import type { AccountBook } from './accountBook.ts'

/** Stands where a strategy's name stands in what an operator has made; no file can have this name. */
export const OPERATOR = '@operator'

/** The trading state and its keeper. */
export interface Trading {
  readonly book: AccountBook
  /** All holds, oldest first. */
  holds(): readonly TradingHold[]
  /** The strictest hold on a strategy, or on the whole daemon without a name; undefined when trading is active. */
  holdOn(strategy?: string): TradingHold | undefined
  /** Puts a hold on, or changes the one of its scope and cause. The same hold again changes nothing. */
  put(hold: Omit<TradingHold, 'sinceMs'>): Promise<void>
  /** Lifts a hold. */
  lift(hold: TradingHold, by: string, reason: string): Promise<void>
  /** Why an accepted intent may not be signed any more, or undefined. No hold reaches an operator's ways out. */
  veto(intent: Intent): Denial | undefined
}

/** The trading state over the account's records. */
export function createTrading({ book, emit }: { readonly book: AccountBook; readonly emit: Emit }): Trading {
  const holds = () => {
    const quiet = book.quietHold()
    return [...(quiet === undefined ? [] : [quiet]), ...book.state().trading.holds]
  }
  // One change at a time: each is judged by what the one before it left.
  let turn: Promise<unknown> = Promise.resolve()
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const next = turn.then(work)
    turn = next.catch(() => undefined)
    return next
  }
  const holdOn = (strategy?: string) => strictest(holdsOn(holds(), strategy))
  return {
    book,
    holds,
    holdOn,
    put: (hold) =>
      inTurn(async () => {
        const before = holds().find((each) => holdKey(each) === holdKey(hold))
        if (before?.state === hold.state) return
        await book.write({ kind: 'trading.state', ...hold })
        emit({ type: 'trading.state', scope: hold.scope, state: hold.state, reason: told(hold) })
      }),
    lift: (hold, by, reason) =>
      inTurn(async () => {
        const { scope, cause, lifts } = hold
        if (!holds().some((each) => holdKey(each) === holdKey(hold))) return
        const afterSeq = book.newestSeq()
        await book.write({
          kind: 'trading.state',
          scope,
          cause,
          state: 'active',
          reason,
          by,
          lifts,
          afterSeq,
        })
        const left = strictest(holds().filter((each) => each.scope === scope))
        const still = left === undefined ? '' : `; still ${left.state}: ${left.reason}`
        emit({
          type: 'trading.state',
          scope,
          state: left?.state ?? 'active',
          reason: `${cause} is released by ${by}: ${reason}${still}`,
        })
      }),
    veto(intent) {
      const unwanted = book.state().flattens?.get(intent.intentId)
      if (unwanted !== undefined) {
        return {
          code: 'NOT_WANTED',
          reason: `it was to be unwound before it was signed: ${unwanted.by} says ${unwanted.reason}`,
        }
      }
      if (intent.strategy === OPERATOR && !addsRisk(intent.decision)) return undefined
      const hold = holdOn(intent.strategy)
      if (hold === undefined || (hold.state === 'reducing' && !addsRisk(intent.decision))) return undefined
      const code = hold.state === 'halted' ? 'TRADING_HALTED' : 'TRADING_REDUCING'
      return { code, reason: `trading is ${hold.state} before it was signed: ${hold.reason}` }
    },
  }
}

/** What lifts a hold, for people, with the command of its scope. */
export function liftText({ lifts, scope }: Pick<TradingHold, 'lifts' | 'scope'>): string {
  switch (lifts) {
    case 'itself':
      return 'it is released when the cause ends'
    case 'operator':
      return `an operator releases it: ${liftCommand(scope)}`
    case 'next-day':
      return `the next day (UTC) releases it, or an operator: ${liftCommand(scope)}`
  }
}

/** The command that lifts what an operator may lift of a scope. Of the account's holds it is the daemon's. */
export function liftCommand(scope: TradingScope): string {
  const name = scope.startsWith('strategy:') ? scope.slice('strategy:'.length) : undefined
  return `perpd trading active${name === undefined ? '' : ` --scope ${name}`}`
}

function told(hold: Omit<TradingHold, 'sinceMs'>): string {
  const { cause, by, reason } = hold
  return `${cause}, by ${by}: ${reason}; ${liftText(hold)}`
}
