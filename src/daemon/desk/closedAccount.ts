/**
 * An account whose key or signer could not be opened at the start of a fleet's node. Other nodes hold it; this one tries the key again with growing pauses,
 * where no question at a terminal is needed, and is a node for the account once it is open.
 */
import { BaseError, codeField, reasonOf } from '../../base/errors.ts'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError } from '../../config/exit.ts'
import type { Awaited } from '../logging/tellWaiting.ts'
import { standbyStatusOf } from '../standbyPort.ts'
import type { AccountStart } from './accountStart.ts'
import { type AccountTaker, closeAll } from './accountTaker.ts'
import type { SeatListener } from './allAccounts.ts'
import { createGrowingPause } from './growingPause.ts'
import type { Closers, KeyedAccount } from './openAccount.ts'

/** An account with the fault of its key at the start. */
export interface ClosedStart {
  readonly start: AccountStart
  readonly error: BaseError | CommandError
  /** Reads its files and opens its key again, without a question. Throws as the first try did. */
  readonly openAgain: (closers: Closers) => Promise<KeyedAccount>
}

/** Parts that make it a node for its account. */
export interface ClosedParts {
  /** Takes the account among those of the process. Throws CommandError where it shares its key with one of them. */
  readonly admit: (account: KeyedAccount) => void
  readonly take: (account: KeyedAccount) => AccountTaker
}

/** Makes its place; the first new try is a second later. */
export function createClosedAccount(
  { start, error: first, openAgain }: ClosedStart,
  { admit, take }: ClosedParts,
): AccountTaker {
  const { name, config, log } = start
  const startedAtMs = systemClock.now()
  const ending = new AbortController()
  const listeners: SeatListener[] = []
  const closers: Closers = []
  let reason = reasonOf(first)
  let aim: true | Awaited | undefined
  let taker: AccountTaker | undefined

  async function tryAgain(): Promise<KeyedAccount | undefined> {
    const own: Closers = []
    try {
      const account = await openAgain(own)
      admit(account)
      closers.push(...own)
      return account
    } catch (error) {
      await closeAll(own, log)
      if (!(error instanceof BaseError || error instanceof CommandError)) throw error
      if (reasonOf(error) !== reason) tellClosed(start, error)
      reason = reasonOf(error)
      return undefined
    }
  }

  async function openLate(): Promise<void> {
    const pause = createGrowingPause()
    while (!ending.signal.aborted) {
      await systemClock.sleep(pause.next(), ending.signal)
      const account = ending.signal.aborted ? undefined : await tryAgain()
      if (account === undefined) continue
      log.note('key.opened', 'info', 'the key is open now: this node can hold the account')
      taker = take(account)
      for (const listen of listeners) taker.listen(listen)
      if (aim !== undefined) taker.want(aim)
      return
    }
  }

  // A setting stays as it is until the next start, and so does a fault of it.
  const over = first instanceof CommandError ? Promise.resolve() : openLate()
  over.catch((error) =>
    log.note('daemon.failed', 'error', `the key is not tried again: ${reasonOf(error)}`, codeField(error)),
  )
  return {
    ...{ name, config },
    running: () => taker?.running(),
    fault: () => taker?.fault(),
    waits() {
      if (taker !== undefined) return taker.waits()
      const elsewhere = aim === true ? undefined : aim
      return standbyStatusOf(config, startedAtMs, {
        ...{ code: 'FLEET_ELSEWHERE', ...elsewhere },
        reason: `its key cannot be opened on this node: ${reason}`,
      })
    },
    listen(listener) {
      listeners.push(listener)
      taker?.listen(listener)
    },
    can: () => taker?.can() ?? false,
    epoch: () => taker?.epoch(),
    isNext: () => taker?.isNext() ?? false,
    want(next) {
      aim = next
      taker?.want(next)
    },
    async stop(by) {
      ending.abort()
      await over.catch(() => undefined)
      await taker?.stop(by)
      await closeAll(closers, log)
    },
  }
}

/** Says in the log that this node leaves an account to others. */
export function tellClosed({ log }: AccountStart, { message }: Error): void {
  log.note('key.warned', 'warn', `this node leaves the account to others: ${message}`)
}
