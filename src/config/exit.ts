/** How commands end: fixed exit codes, and the error that carries one. */

/** Exit codes of every command; scripts may rely on them. */
export const exitCodes = {
  ok: 0,
  /** Something did not work. */
  error: 1,
  /** What was asked for does not exist. */
  notFound: 2,
  /** The command needs a running daemon and there is none. */
  notRunning: 3,
  /** The configuration or a strategy file cannot be used. */
  configuration: 4,
} as const

/** Codes of faults that lie in what the operator configured; those of keys and passwords besides. */
const configurationCodes: ReadonlySet<string> = new Set([
  'CONFIG_INVALID',
  // A remote signer that is down or refuses may be back in a minute; one without the key will not have it then.
  'REMOTE_SIGNER_ADDRESS',
  'PAPER_CATALOG_MISSING',
  'PAPER_TOKEN_UNKNOWN',
])

/** The exit code of a command that ended with a fault of this code. */
export function exitCodeOf(code: string): number {
  const isConfiguration =
    configurationCodes.has(code) || /^(?:KEY_FILE|KEYSTORE|PASSWORD|APPROVAL|GUARD)_/.test(code)
  return isConfiguration ? exitCodes.configuration : exitCodes.error
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
