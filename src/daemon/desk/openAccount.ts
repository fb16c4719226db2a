/** Opens one account: its strategies and its key, then its journal, then the guard of its signatures. */

import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { Signer } from '../../domain/signer.ts'
import type { Journal, JournalFaultError } from '../../journal/journal.ts'
import { openJournal } from '../../journal/service/open.ts'
import { guardedSigner } from '../../keys/signingGuard.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import { closeStrategies, type LoadResult } from '../../strategy/files/load.ts'
import { refuseForeign } from '../announce.ts'
import type { OpenedParts } from '../connectTrader.ts'
import type { StartedVenue } from '../embeddedVenue.ts'
import { journalOptions } from '../journalFile.ts'
import { type Reading, tellReading } from '../logging/tellReading.ts'
import { readAgain, readStrategies } from '../readStrategies.ts'
import { openSigningGuard } from '../runSettings.ts'
import type { KeySources } from '../signers/keySources.ts'
import { openSigner } from '../signers/openSigner.ts'
import type { AccountStart } from './accountStart.ts'

/** Closers of a run, to be called at its end, the last first. */
export type Closers = (() => Promise<void> | void)[]

/** An account whose files are read and whose key is open. */
export interface KeyedAccount {
  readonly start: AccountStart
  readonly files: LoadResult
  /** Not guarded yet. */
  readonly signer: Signer
  /** Address that it trades for. */
  readonly address: Address
}

/** Reads the strategies of an account. Throws as `readStrategies` does. */
export async function readAccount({ config }: AccountStart, closers: Closers): Promise<LoadResult> {
  const files = await readStrategies(config)
  closers.push(() => closeStrategies(files.strategies))
  return files
}

/** Opens the key of an account. Throws as `openSigner` does. */
export async function keyAccount(
  start: AccountStart,
  files: LoadResult,
  keys: KeySources,
  closers: Closers,
): Promise<KeyedAccount> {
  const { config, log } = start
  const { signer, warning, close } = await openSigner(config, keys)
  closers.push(close)
  if (warning !== undefined) log.note('key.warned', 'warn', warning)
  return { start, files, signer, address: config.account.owner ?? signer.address }
}

/**
 * Refuses accounts that share a key, or that trade for one address: they would sign against each other, and neither would know the other's orders.
 *
 * @throws CommandError with exit code 4.
 */
export function refuseSharedKeys(accounts: readonly KeyedAccount[]): void {
  const refuse = (by: (account: KeyedAccount) => Address, what: string): void => {
    for (const [address, same] of Map.groupBy(accounts, (each) => hexKey(by(each)))) {
      if (same.length === 1) continue
      const names = same.map(({ start }) => start.name).join(' and ')
      throw new CommandError(
        `The accounts ${names} ${what} ${address}.\n  Nothing was started. Give each its own: accounts.${same[1]?.start.name}.account.keystore, or remove one.`,
        exitCodes.configuration,
      )
    }
  }
  refuse(({ signer }) => signer.address, 'have the same key,')
  refuse(({ address }) => address, 'trade for the same address,')
}

/** An account whose journal is open. */
export interface JournaledAccount extends KeyedAccount {
  readonly journal: Journal
  /** Time that reading and folding the journal took, without the wait for another holder, ms. */
  readonly openedMs: number
}

/** The wait for a journal, and the view of its reading. */
export interface JournalWait {
  /** Shows whoever sits at a terminal how far the journal is read, while it is. */
  readonly whileReading: <T>(work: (progress: Reading) => Promise<T>) => Promise<T>
  /** Waits for the opening; undefined: a signal ended the wait. */
  readonly opened: <T>(opening: Promise<T>) => Promise<T | undefined>
  /** Hears of each look that found the journal taken; absent: it is not waited for. */
  readonly waiting?: ((fault: JournalFaultError) => void) | undefined
  /** True once it had to be waited for: the strategy files are read again then. */
  readonly hasWaited: () => boolean
  /** Ends an opening that has not taken the right yet; absent: nothing does. */
  readonly signal?: AbortSignal
}

/** Opens the journal of an account; undefined: a signal ended the wait for it. Throws JournalFaultError, or CommandError for one of another account. */
export async function journalAccount(
  account: KeyedAccount,
  { whileReading, opened, waiting, hasWaited, signal }: JournalWait,
  closers: Closers,
): Promise<JournaledAccount | undefined> {
  const { start, signer, address } = account
  const { config, log } = start
  let readingMs = systemClock.monotonicMs()
  const tell = tellReading(log.note, systemClock.monotonicMs)
  const journal = await whileReading((show) =>
    opened(
      openJournal(config.journal.path, {
        ...journalOptions(config, signer.address),
        inThread: true,
        ...defined({ waiting, signal }),
        // The wait for another holder, which may take days, is no part of it.
        taking: () => {
          readingMs = systemClock.monotonicMs()
        },
        progress: (done, total) => {
          tell(done, total)
          show(done, total)
        },
      }),
    ),
  )
  if (journal === undefined) return undefined
  const openedMs = systemClock.monotonicMs() - readingMs
  closers.push(() => journal.close())
  const files = hasWaited() ? await readAgain(config, account.files, log.note) : account.files
  if (files !== account.files) closers.push(() => closeStrategies(files.strategies))
  refuseForeign(journal, address, config)
  return { ...account, files, journal, openedMs }
}

/** An account with everything that its trader needs of this machine. */
export interface OpenAccount extends JournaledAccount {
  /** Parts of its trader: the signer is behind the guard. */
  readonly parts: OpenedParts
}

/** Opens the guard of an account's signatures. Throws as the guard's file does. */
export async function guardAccount(
  account: JournaledAccount,
  venue: StartedVenue | undefined,
  hostsAheadMs: () => number | undefined,
  closers: Closers,
): Promise<OpenAccount> {
  const { start, files, signer, journal } = account
  const clock = venue?.clock ?? systemClock
  const guard = await openSigningGuard(start.config, journal, clock, hostsAheadMs)
  closers.push(() => guard.close())
  return {
    ...account,
    parts: {
      strategies: files.strategies,
      signer: guardedSigner(signer, guard),
      ...{ journal, venue, clock },
    },
  }
}
