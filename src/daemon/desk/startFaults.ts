/** Faults of one account at the start of a process: each ends the whole start, or that account alone. */
import { BaseError, codeField, reasonOf } from '../../base/errors.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { AccountStart } from './accountStart.ts'
import { type ClosedStart, tellClosed } from './closedAccount.ts'
import type { KeyedAccount } from './openAccount.ts'

/** An account that did not open, and why. */
export interface FailedAccount {
  readonly name: string | undefined
  readonly reason: string
}

/** Names the account in an error of a start that is refused whole. */
export async function ofAccount<T>(name: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (name === undefined || !(error instanceof BaseError || error instanceof CommandError)) throw error
    const exitCode = error instanceof CommandError ? error.exitCode : exitCodes.configuration
    throw new CommandError(`account ${name}: ${error.message}`, exitCode)
  }
}

/** On a node of a fleet an account whose key cannot be opened is left to the other nodes until it can. */
export async function orClosed(
  { start, openAgain }: Omit<ClosedStart, 'error'>,
  closed: ClosedStart[],
  work: () => Promise<KeyedAccount>,
): Promise<KeyedAccount | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof BaseError || error instanceof CommandError)) throw error
    tellClosed(start, error)
    closed.push({ start, error, openAgain })
    return undefined
  }
}

/** A fault of this machine's files keeps one account of several from starting, and the others start: their positions need them. */
export async function orFailed<T>(
  { name, log }: AccountStart,
  failed: FailedAccount[],
  work: () => Promise<T>,
): Promise<T | 'failed'> {
  try {
    return await work()
  } catch (error) {
    if (name === undefined || !(error instanceof BaseError || error instanceof CommandError)) throw error
    log.note(
      'daemon.failed',
      'error',
      `the account ${name} does not start: ${error.message}`,
      codeField(error),
    )
    failed.push({ name, reason: reasonOf(error) })
    return 'failed'
  }
}
