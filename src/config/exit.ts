/** Defines the ends of commands: fixed exit codes, and the error that carries one. */
import { BaseError } from '../base/errors.ts'

/** Exit codes of every command; scripts may rely on them. */
export const exitCodes = {
  ok: 0,
  /** Something did not work. */
  error: 1,
  /** The requested thing does not exist. */
  notFound: 2,
  /** The command needs a running daemon and there is none. */
  notRunning: 3,
  /** The command line, the configuration or a strategy file cannot be used. */
  configuration: 4,
  /** Somebody was asked, or waited for, and the time for it is over; what was begun may still come to its end. */
  timeout: 5,
} as const

/** Meaning of each exit code, in the order of the codes; the help and docs/reference/commands.md print it. */
export const exitMeanings: readonly {
  readonly code: number
  readonly name: string
  readonly meaning: string
}[] = [
  {
    code: exitCodes.ok,
    name: 'ok',
    meaning: 'Success: the command printed its answer or did its work.',
  },
  {
    code: exitCodes.error,
    name: 'error',
    meaning: 'Failure: a refusal, a fault, an invalid value, or a check that failed.',
  },
  {
    code: exitCodes.notFound,
    name: 'not found',
    meaning: 'Not found: no such order, position, market, strategy, task or file.',
  },
  {
    code: exitCodes.notRunning,
    name: 'not running',
    meaning: 'The command needs a running daemon, and no daemon of this profile answers. Nothing was done.',
  },
  {
    code: exitCodes.configuration,
    name: 'configuration',
    meaning:
      'The command line, the configuration, a key or a strategy file is invalid; an unknown or missing command, flag or argument counts too. A retry fails until it is corrected.',
  },
  {
    code: exitCodes.timeout,
    name: 'timeout',
    meaning:
      'Timeout: no answer or no result in time. The work may still finish: check its state before you retry.',
  },
]

/** Codes of faults that lie in what the operator configured; those of keys and passwords besides. */
const configurationCodes: ReadonlySet<string> = new Set([
  'CONFIG_INVALID',
  // A remote signer that is down or refuses may be back in a minute; one without the key will not have it then.
  'REMOTE_SIGNER_ADDRESS',
  'PAPER_CATALOG_MISSING',
  'PAPER_TOKEN_UNKNOWN',
])

/** The exit code of a command that ended with this fault. */
export function exitCodeOf(error: BaseError): number {
  const { code } = error
  if (configurationCodes.has(code) || /^(?:KEY_FILE|KEYSTORE|PASSWORD|APPROVAL|GUARD)_/.test(code))
    return exitCodes.configuration
  if (code === 'JOURNAL_MISSING') return exitCodes.notFound
  return error.walk(isSilence) === undefined ? exitCodes.error : exitCodes.timeout
}

/** Tells whether an error means that a response did not come in time: from the venue's hosts, or for a request with a time limit. */
function isSilence(error: unknown): boolean {
  if (error instanceof DOMException) return error.name === 'TimeoutError'
  return error instanceof BaseError && 'silence' in error && error.silence === 'timeout'
}

/** Codes with which a running daemon refuses what names something that is not there. */
const absentCodes: ReadonlySet<string> = new Set([
  'DISCREPANCY_UNKNOWN',
  'MARKET_UNKNOWN',
  'MEMORY_UNKNOWN',
  'ORDER_NOT_FOUND',
  'ORDER_UNKNOWN',
  'POSITION_NOT_FOUND',
  'STRATEGY_UNKNOWN',
  'TASK_NOT_FOUND',
])

/** Codes with which a running daemon refuses files that it read anew. */
const invalidCodes: ReadonlySet<string> = new Set(['CONFIG_INVALID', 'STRATEGIES_INVALID'])

/** The exit code of a command that the running daemon refused with this code. */
export function exitCodeOfRefusal(code: string): number {
  if (absentCodes.has(code)) return exitCodes.notFound
  return invalidCodes.has(code) ? exitCodes.configuration : exitCodes.error
}

/** A command ends with this message on stderr and this exit code. */
export class CommandError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode: number) {
    super(message)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}
