/**
 * The books on disk: finished hours in a file of their own beside the state file, written again only when another hour has
 * finished; the running hour goes into the state file itself, together with the trades it sums up.
 */
import { existsSync, readFileSync } from 'node:fs'
import type { Flow } from '../pools/flow.ts'
import { type LedgerRow, ledgerOf } from '../pools/ledger.ts'
import type { VenueState } from '../state/venueState.ts'
import { decodeState } from './stateLog.ts'

/** The running hour, as the state file keeps it. */
export interface SavedLedger {
  readonly runningHour: number
  readonly running: readonly (readonly [string, Flow])[]
  readonly users: {
    readonly day: number
    readonly today: readonly string[]
    readonly ever: readonly string[]
    readonly byDay: readonly (readonly [number, number])[]
  }
}

type SavedRows = readonly (readonly [
  string,
  { readonly hours: readonly LedgerRow[]; readonly days: readonly LedgerRow[] },
])[]

/** Hour up to which a world's finished hours were written. */
const written = new WeakMap<VenueState, number>()

/** Where the finished hours of a state file are. */
export function hoursPathOf(statePath: string): string {
  return `${statePath}.hours`
}

/** Finished hours as they are to be written. */
export interface TakenHours {
  readonly runningHour: number
  readonly rows: SavedRows
}

/** Takes the finished hours when there are new ones since they were last written. */
export function takeHours(venueState: VenueState): TakenHours | undefined {
  const { runningHour, byMarket } = ledgerOf(venueState)
  if (written.get(venueState) === runningHour) return undefined
  return {
    runningHour,
    rows: [...byMarket].map(([key, { hours, days }]) => [key, { hours: [...hours], days: [...days] }]),
  }
}

/** Notes that what was taken is on disk. */
export function hoursWritten(venueState: VenueState, { runningHour }: TakenHours): void {
  written.set(venueState, runningHour)
}

/** Takes what the state file keeps of the books: all of the running hour. */
export function takeLedger(venueState: VenueState): SavedLedger {
  const { runningHour, byMarket, users } = ledgerOf(venueState)
  return {
    runningHour,
    running: [...byMarket].flatMap(([key, { running }]) =>
      running.tradesPerps + running.tradesSwaps > 0 || running.feesForPoolUsd > 0n
        ? [[key, { ...running }] as const]
        : [],
    ),
    users: {
      day: users.day,
      today: [...users.today],
      ever: [...users.ever],
      byDay: [...users.byDay],
    },
  }
}

/** Puts the books back. Rows that the state file does not know of are left out: a crash came between the two writes. */
export function restoreLedger(statePath: string, venueState: VenueState, saved: SavedLedger): void {
  const ledger = ledgerOf(venueState)
  ledger.runningHour = saved.runningHour
  for (const [key, running] of saved.running) {
    const books = ledger.byMarket.get(key)
    if (books !== undefined) books.running = running
  }
  const { users } = ledger
  users.day = saved.users.day
  users.today = new Set(saved.users.today)
  for (const account of saved.users.ever) users.ever.add(account)
  for (const [day, count] of saved.users.byDay) users.byDay.set(day, count)
  if (!existsSync(hoursPathOf(statePath))) return
  const rows = decodeState(readFileSync(hoursPathOf(statePath), 'utf8')) as SavedRows
  for (const [key, { hours, days }] of rows) {
    const books = ledger.byMarket.get(key)
    if (books === undefined) continue
    books.hours.push(...hours.filter((row) => row.hour + row.span <= saved.runningHour))
    books.days.push(...days.filter((row) => row.hour + row.span <= saved.runningHour))
  }
  written.set(venueState, saved.runningHour)
}
