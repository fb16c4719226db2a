/** Events of what all accounts share: the hosts and the endpoints. One account hears them as its own; of several each counts them, and they are told once. */
import { reasonOf } from '../../base/errors.ts'
import type { Config } from '../../config/configTypes.ts'
import { type Emit, emitTo } from '../../domain/event.ts'
import type { Log } from '../../monitor/log/log.ts'
import type { createMetrics } from '../../monitor/metrics/metrics.ts'
import { type OpenNotifier, openNotifier } from '../notices/notifySinks.ts'
import { type HeardAccount, LAST_WORDS_MS } from './hearAccount.ts'
import type { Closers } from './openAccount.ts'

/** Events that are no single account's. */
export interface SharedEvents {
  readonly emit: Emit
  /** Hears the events of an account, as far as they say something of all. */
  readonly hear: Emit
  /** Notifies people of them. */
  readonly notifier: () => OpenNotifier
  /** Takes an account that counts them; the returned function takes it out again. */
  readonly add: (account: HeardAccount) => () => void
}

/** Makes them for the only account, which hears them as its own. */
export function ofOnlyAccount(): SharedEvents {
  const accounts: HeardAccount[] = []
  const only = (): HeardAccount => {
    const [account] = accounts
    if (account === undefined) throw new TypeError('an event was emitted before its account was heard')
    return account
  }
  return {
    emit: (event) => only().emit(event),
    hear: () => undefined,
    notifier: () => only().notifier,
    add: adding(accounts),
  }
}

/** Adds accounts to a list, each with its way out. */
function adding(accounts: HeardAccount[]): SharedEvents['add'] {
  return (account) => {
    accounts.push(account)
    return () => void accounts.splice(accounts.indexOf(account), 1)
  }
}

/** Parts of a process with several accounts that hear of its events. */
export interface DeskEars {
  readonly log: Log
  readonly metrics: ReturnType<typeof createMetrics>
  readonly also: readonly Emit[]
  readonly closers: Closers
}

/** Makes them for several accounts: the process's log, metrics and notices tell them, and each account's incidents count them. */
export async function ofSeveralAccounts(
  config: Config,
  { log, metrics, also, closers }: DeskEars,
): Promise<SharedEvents> {
  const accounts: HeardAccount[] = []
  const notifier = await openNotifier(config, (event) => emit(event))
  closers.push(() => notifier.close(LAST_WORDS_MS))
  const toAccounts: Emit = (event) => {
    for (const account of accounts) account.notifier.hear(event)
  }
  const listeners = [log.listen, metrics.listen, ...also, notifier.listen, toAccounts]
  const emit = emitTo(listeners, (error) =>
    log.note('listener.failed', 'error', `a listener failed: ${reasonOf(error)}`),
  )
  return {
    emit,
    // The start names the hosts: one that fails differs from all that do.
    hear: (event) => (event.type === 'daemon.started' ? notifier.hear(event) : undefined),
    notifier: () => notifier,
    add: adding(accounts),
  }
}
