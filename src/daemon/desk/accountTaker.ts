/**
 * One of several accounts on a shared store. It waits for the lease of its journal, trades while it has it, and waits again after it lost it; the other
 * accounts of the process notice nothing. Everything that it opened for one holding of the lease is closed with it.
 */
import { BaseError, codeField, reasonOf } from '../../base/errors.ts'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { StandbyStatus } from '../../control/standbyRoutes.ts'
import { type Journal, JournalFaultError } from '../../journal/journal.ts'
import type { Log } from '../../monitor/log/log.ts'
import { closeStrategies } from '../../strategy/files/load.ts'
import { hostsAheadMs, type VenueConnection } from '../connectVenue.ts'
import type { StartedVenue } from '../embeddedVenue.ts'
import type { FleetAccount } from '../fleet/fleetNode.ts'
import { type Awaited, awaitedOf, tellWaiting } from '../logging/tellWaiting.ts'
import { readStrategies } from '../readStrategies.ts'
import { standbyStatusOf } from '../standbyPort.ts'
import type { Seat, SeatListener } from './allAccounts.ts'
import { deskEars } from './dealDesk.ts'
import { createGrowingPause } from './growingPause.ts'
import { hearAccount } from './hearAccount.ts'
import {
  type Closers,
  guardAccount,
  type JournalWait,
  journalAccount,
  type KeyedAccount,
} from './openAccount.ts'
import { beginAccount, connectAccount, type DeskParts, type RunningAccount } from './runningAccount.ts'
import type { SharedEvents } from './sharedEvents.ts'

/** Parts of a process over which its accounts are opened. */
export interface TakerParts extends Omit<DeskParts, 'closers'> {
  readonly shared: SharedEvents
  readonly connection: VenueConnection
  readonly venue: StartedVenue | undefined
  readonly notes: readonly string[]
  readonly statusUrl: () => string
  /** Told once when a fault ended the account for good, with which exit code, and why. */
  readonly failed: (code: number, reason: string) => void
}

/** The life of one account of several on a shared store. */
export type AccountTaker = Seat & FleetAccount

/** Pause before the lease is tried for again after a fault that a new start cures, ms. */
const PAUSE_MS = 1_000

/** The account cannot be opened where its lease is to be taken, or just was; what may be put right meanwhile. */
class NotTaken extends BaseError {}

/** Codes of the faults that a new opening cures, as the restart of a process with one account does. */
const passing: ReadonlySet<string> = new Set([
  'JOURNAL_FENCED',
  'JOURNAL_LOCKED',
  'JOURNAL_SERVER_REPLACED',
  'JOURNAL_UNREACHABLE',
])

const opening: Awaited = { code: 'JOURNAL_WAITING', reason: 'standby: the journal is about to be opened' }

/** Makes one; it tries for nothing before it is wanted. */
export function createTaker(account: KeyedAccount, parts: TakerParts): AccountTaker {
  const { config, log, name } = account.start
  const startedAtMs = systemClock.now()
  const tell = tellWaiting(log.note)
  const listeners: SeatListener[] = []
  let running: RunningAccount | undefined
  let fault: string | undefined
  let awaited = opening
  let holdings = 0
  /** Reason why it cannot be opened now, and the wait that ends it; the account is left to other nodes meanwhile. */
  let refused: Awaited | undefined
  let curing: Promise<void> | undefined
  const pause = createGrowingPause()
  let toldReason: string | undefined
  const ending = new AbortController()
  /** The holding that is under way, and what ends it. */
  let holding: { readonly leave: AbortController; readonly over: Promise<void> } | undefined
  let isWanted = false
  let isOver = false
  /** Words on where it is while it is not wanted here. */
  let elsewhere: Awaited | undefined
  let signal = 'the fleet'

  /** Waits for the lease and trades until it is lost, left, or a fault ends it; gives the fault. */
  async function hold(left: AbortSignal): Promise<unknown> {
    const closers: Closers = []
    try {
      const { connection, venue, shared } = parts
      const clock = venue?.clock ?? systemClock
      const files = holdings === 0 ? account.files : await readAnew()
      holdings += 1
      closers.push(() => closeStrategies(files.strategies))
      const journaled = await journalAccount({ ...account, files }, waitUntil(left), closers)
      if (journaled === undefined) return undefined
      const ended = Promise.withResolvers<unknown>()
      const own = await orNotTaken(async () => {
        const guarded = await guardAccount(journaled, venue, () => hostsAheadMs(connection, clock), closers)
        const heard = await hearAccount(guarded, {
          hosts: connection.hosts,
          ended: (_code, _reason, error) => ended.resolve(error),
          also: [shared.hear, ...deskEars(parts.dealing, name)],
          closers,
        })
        closers.push(shared.add(heard))
        return await connectAccount(heard, { ...parts, closers })
      })
      pause.reset()
      toldReason = undefined
      running = own
      closers.push(() => {
        running = undefined
      })
      for (const listen of listeners) closers.push(listen(own))
      const begun = beginAccount(own, {
        ...{ connection, statusUrl: parts.statusUrl(), notes: parts.notes },
      })
      closers.push(begun.end)
      begun.announce()
      begun.trade()
      const error = await Promise.race([ended.promise, aborted(left)])
      // After a fault it drains nothing: its trader is at its end, and is waited for.
      await own.trader.stop(signal)
      return error
    } finally {
      awaited = opening
      await closeAll(closers, log)
    }
  }

  /** Opens an account whose lease was just taken. Throws NotTaken for what may pass, and has it tried again after a pause; the lease is given back. */
  async function orNotTaken(work: () => Promise<RunningAccount>): Promise<RunningAccount> {
    try {
      return await work()
    } catch (error) {
      const isPassing = error instanceof BaseError || error instanceof CommandError
      if (!isPassing || error instanceof JournalFaultError) throw error
      refuse('ACCOUNT_NOT_TAKEN', reasonOf(error))
      curing = systemClock.sleep(pause.next(), ending.signal).then(cured)
      throw new NotTaken('the account cannot be opened', { code: 'ACCOUNT_NOT_TAKEN' })
    }
  }

  /** Reads the strategy files for another holding. Throws NotTaken, and has them read again and again until they can be used. */
  async function readAnew(): Promise<KeyedAccount['files']> {
    try {
      return await readStrategies(config)
    } catch (error) {
      if (!(error instanceof BaseError || error instanceof CommandError)) throw error
      refuse('STRATEGIES_REFUSED', reasonOf(error))
      curing = rereadUntilGood().finally(cured)
      throw new NotTaken('the strategy files are refused', { code: 'STRATEGIES_REFUSED' })
    }
  }

  function refuse(code: 'STRATEGIES_REFUSED' | 'ACCOUNT_NOT_TAKEN', reason: string): void {
    const what = code === 'STRATEGIES_REFUSED' ? 'waits for its strategy files' : 'cannot be opened now'
    if (toldReason !== reason)
      log.note('daemon.failed', 'error', `the account ${name} ${what}: ${reason}`, { code })
    toldReason = reason
    refused = { code, reason }
  }

  function cured(): void {
    refused = undefined
    curing = undefined
  }

  async function rereadUntilGood(): Promise<void> {
    const rereads = createGrowingPause()
    while (true) {
      await systemClock.sleep(rereads.next(), ending.signal)
      if (ending.signal.aborted) return
      try {
        await closeStrategies((await readStrategies(config)).strategies)
        return
      } catch (error) {
        if (!(error instanceof BaseError || error instanceof CommandError)) throw error
        refuse('STRATEGIES_REFUSED', reasonOf(error))
      }
    }
  }

  function waitUntil(left: AbortSignal): JournalWait {
    let hasWaited = false
    return {
      signal: left,
      whileReading: (work) => work(() => undefined),
      async opened(opening) {
        const first = await Promise.race([opening, aborted(left)])
        // Whoever leaves does not wait for a server that answers nobody.
        if (first === undefined) opening.then(closeLate, () => undefined)
        return first
      },
      waiting(found) {
        hasWaited = true
        awaited = awaitedOf(found)
        tell(awaited)
      },
      hasWaited: () => hasWaited,
    }
  }

  /** Holds the lease again and again, as long as it is wanted and no fault ends it for good. */
  async function live(left: AbortSignal): Promise<void> {
    while (!left.aborted && fault === undefined) {
      if (curing !== undefined) await Promise.race([curing, aborted(left)])
      if (left.aborted) return
      try {
        const error = await hold(left)
        if (error !== undefined && !left.aborted) goOnAfter(error)
      } catch (error) {
        if (left.aborted) return
        if (!goOnAfter(error))
          log.note(
            'daemon.failed',
            'error',
            `the account ${name} does not start: ${textOf(error)}`,
            codeField(error),
          )
        else if (error instanceof JournalFaultError) {
          awaited = { code: error.code, reason: reasonOf(error) }
          tell(awaited)
        }
      }
      if (!left.aborted) await systemClock.sleep(PAUSE_MS, left)
    }
  }

  /** Takes a fault; tells whether a new opening may cure it. */
  function goOnAfter(error: unknown): boolean {
    if (error instanceof NotTaken) return true
    if (error instanceof JournalFaultError && passing.has(error.code)) return true
    fault = reasonOf(error)
    parts.failed(error instanceof CommandError ? error.exitCode : exitCodes.error, fault)
    return false
  }

  async function leave(): Promise<void> {
    isWanted = false
    holding?.leave.abort()
    await holding?.over
  }

  function begin(): void {
    const leave = new AbortController()
    const over = live(leave.signal).finally(() => {
      holding = undefined
      if (isWanted && leave.signal.aborted) begin()
    })
    holding = { leave, over }
  }

  const status = (): StandbyStatus =>
    standbyStatusOf(config, startedAtMs, refused ?? (isWanted ? awaited : (elsewhere ?? awaited)))
  return {
    ...{ name, config },
    running: () => running,
    fault: () => fault,
    waits: () => (running === undefined && fault === undefined ? status() : undefined),
    listen: (listener) => void listeners.push(listener),
    can: () => fault === undefined && refused === undefined && !isOver,
    epoch: () => running?.journal.lease.epoch,
    isNext: () =>
      isWanted && running === undefined && awaited.code === 'JOURNAL_LOCKED' && awaited.holder !== undefined,
    want(aim) {
      if (aim !== true) elsewhere = aim
      if (isOver || (aim === true) === isWanted) return
      if (aim !== true) void leave()
      else {
        isWanted = true
        if (holding === undefined) begin()
      }
    },
    async stop(by) {
      signal = by
      isOver = true
      ending.abort()
      await leave()
    },
  }
}

/** Resolves with undefined once a signal is aborted. */
function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
}

/** Returns the text of a fault for the log: of a mistake of ours with its stack. */
function textOf(error: unknown): string {
  return error instanceof Error && !(error instanceof BaseError || error instanceof CommandError)
    ? (error.stack ?? error.message)
    : reasonOf(error)
}

/** Closes what came too late. Its right is given back at once, or goes to the next one by itself. */
async function closeLate(opened: unknown): Promise<void> {
  await (opened as Journal).close().catch(() => undefined)
}

/** Closes everything, the last opened first; whatever cannot be closed in good order is in the log. Resolves with false then. */
export async function closeAll(closers: Closers, log: Log): Promise<boolean> {
  let isClean = true
  for (const closer of closers.splice(0).reverse()) {
    try {
      await closer()
    } catch (error) {
      isClean = false
      log.note('daemon.closeFailed', 'error', `could not close cleanly: ${reasonOf(error)}`)
    }
  }
  return isClean
}
