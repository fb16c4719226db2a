/**
 * Deals the limits of the desk out to the accounts of a process: it looks at each account every two seconds, and gives each the budgets of its next decisions.
 * Where accounts wait for leases, other processes may have some of them: each account has a fixed equal share then, wherever it runs.
 */
import type { DeskUse } from '../../account/watch/deskUse.ts'
import type { MonotonicClock, Timer } from '../../base/clock.ts'
import { BaseError } from '../../base/errors.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import type { Emit } from '../../domain/event.ts'
import { type DeskBudgets, type DeskLimits, deskSetting } from '../../domain/limits/deskBudgets.ts'
import { type DeskLimitName, deskLimitRows } from '../../domain/limits/limits.ts'
import { type AccountLook, dealBudgets, noDeal } from '../../risk/dealBudgets.ts'

/** Parts of a dealer. */
export interface DeskDealerParts {
  /** Limits that are set; at least one. */
  readonly limits: DeskLimits
  /** Names of all accounts that the configuration has, those that do not run here included. */
  readonly accounts: readonly string[]
  /** True: each account has an equal share, always. */
  readonly isFixed: boolean
  readonly clock: MonotonicClock & Timer
}

/** Deals limits out. */
export interface DeskDealer {
  /** Returns the budgets of an account, as they are at each call. */
  readonly budgetsOf: (account: string) => () => DeskBudgets
  /** Hears the events of an account: one whose budget kept it from an increase asks for more. */
  readonly hear: (account: string) => Emit
  /** Looks at an account from now on; the returned function ends that, when it admits nothing any more. */
  readonly add: (account: string, look: () => Promise<DeskUse | undefined>) => () => void
  /** Learns that an account did not open. */
  readonly failed: (account: string) => void
  /** Looks at all accounts once, and deals. Rejects with mistakes of ours alone. */
  readonly round: () => Promise<void>
}

/** Between two rounds, and the longest that a round waits for a look, ms. */
const ROUND_MS = 2_000

/** Time for which an account asks after its budget kept it from an increase, ms. */
const ASKS_MS = 60_000

/** An account as the dealer knows it. */
interface Seat {
  look: (() => Promise<DeskUse | undefined>) | undefined
  isLooking: boolean
  /** Undefined before its first look. */
  seen: { readonly use: DeskUse; readonly sinceDeal: number } | 'stopped' | undefined
  /** Use at the newest look, kept after its end. */
  used: DeskUse | undefined
  /** Time of the newest refusal or cut by each limit, monotonic ms. */
  readonly askedAtMs: Map<DeskLimitName, number>
}

/** Makes one; it looks at nothing before its first round. */
export function createDeskDealer({ limits, accounts, isFixed, clock }: DeskDealerParts): DeskDealer {
  const names = deskLimitRows.flatMap(([name]) => (limits[name] === undefined ? [] : [name]))
  const seats = new Map(accounts.map((account) => [account, newSeat()]))
  const deals = new Map(names.map((name) => [name, noDeal]))
  let number = 0

  async function lookAt(seat: Seat): Promise<void> {
    const { look } = seat
    if (look === undefined || seat.isLooking) return
    seat.isLooking = true
    const sinceDeal = number
    try {
      const use = await look()
      if (use === undefined || seat.look !== look) return
      seat.used = use
      seat.seen = { use, sinceDeal }
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
    } finally {
      seat.isLooking = false
    }
  }

  function factOf(seat: Seat, name: DeskLimitName): AccountLook | 'stopped' | undefined {
    const { seen, askedAtMs } = seat
    if (seen === undefined || seen === 'stopped') return seen
    const askedMs = askedAtMs.get(name)
    const asks = askedMs !== undefined && clock.monotonicMs() - askedMs < ASKS_MS
    return { used: seen.use[name], sinceDeal: seen.sinceDeal, asks }
  }

  function deal(): void {
    number += 1
    for (const name of names) {
      const facts = new Map([...seats].map(([account, seat]) => [account, factOf(seat, name)]))
      deals.set(name, dealBudgets({ limit: limits[name] ?? 0n, accounts: facts }, deals.get(name) ?? noDeal))
    }
  }

  const waitsFor = (): readonly string[] =>
    isFixed ? [] : [...seats].flatMap(([account, { seen }]) => (seen === undefined ? [account] : []))

  function budgetOf(account: string, name: DeskLimitName, limit: bigint): bigint {
    if (isFixed) return limit / BigInt(accounts.length)
    return deals.get(name)?.shares.get(account)?.budget ?? 0n
  }

  function ask(account: string, name: DeskLimitName): void {
    seats.get(account)?.askedAtMs.set(name, clock.monotonicMs())
  }

  return {
    budgetsOf: (account) => () => {
      const waiting = waitsFor()
      const own = names.map((name) => {
        const limit = limits[name] ?? 0n
        const used = seats.get(account)?.used?.[name] ?? 0n
        return [name, { limit, budget: budgetOf(account, name, limit), used, waitsFor: waiting }] as const
      })
      return Object.fromEntries(own)
    },
    hear: (account) => (event) => {
      if (event.type === 'decision.denied')
        for (const [name, { ofDesk }] of deskLimitRows)
          if (event.denial.code === ofDesk.code) ask(account, name)
      if (event.type === 'decision.admitted')
        for (const [name] of deskLimitRows)
          if (event.intent.sizing.cuts.some(({ by }) => by === deskSetting(name))) ask(account, name)
    },
    add(account, look) {
      const seat = seats.get(account)
      if (seat === undefined) throw new TypeError(`the desk has no account ${account}`)
      seat.look = look
      return () => {
        if (seat.look !== look) return
        seat.look = undefined
        seat.seen = 'stopped'
      }
    },
    failed(account) {
      const seat = seats.get(account)
      if (seat !== undefined) seat.seen = 'stopped'
    },
    async round() {
      const over = new AbortController()
      const all = Promise.all([...seats.values()].map(lookAt)).finally(() => over.abort())
      await Promise.race([all, clock.sleep(ROUND_MS, over.signal)])
      deal()
    },
  }
}

/** Makes the dealer of the desk's limits; undefined: none is set, or the process has one account without a name. */
export function dealerOf(config: Config, accounts: readonly string[]): DeskDealer | undefined {
  const { desk: limits, journal } = config
  if (accounts.length === 0 || Object.keys(limits).length === 0) return undefined
  return createDeskDealer({ limits, accounts, isFixed: journal.standby, clock: systemClock })
}

/** Returns the listener of an account's events; none without a dealer. */
export function deskEars(dealing: DeskDealer | undefined, account: string | undefined): readonly Emit[] {
  return dealing === undefined || account === undefined ? [] : [dealing.hear(account)]
}

/** Runs rounds until the signal. Rejects with mistakes of ours alone. */
export async function runDealer({ round }: DeskDealer, clock: Timer, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await round()
    await clock.sleep(ROUND_MS, signal)
  }
}

function newSeat(): Seat {
  return { look: undefined, isLooking: false, seen: undefined, used: undefined, askedAtMs: new Map() }
}
