/**
 * The root of every error of ours, after viem's: a short sentence, then facts one per line, so that an operator can act
 * at night. Refusals are values, not errors; an error here is a fault (something did not work) or a mistake in our code.
 */

/** Facts of an error: printed one per line, kept as fields for logs. Never a secret. */
export type Facts = Readonly<Record<string, string | number | boolean | bigint | undefined>>

/** Options of a BaseError. */
export interface BaseErrorOptions {
  /** Stable code, upper snake case; a heading in docs/reference/errors.md. */
  readonly code: string
  /** Event with its inputs. */
  readonly facts?: Facts
  /** Action of the daemon, and the remedy for the operator. */
  readonly details?: string
  readonly cause?: unknown
}

/** An error with a code, facts and advice. `message` is the whole text laid out over several lines. */
export class BaseError extends Error {
  readonly code: string
  readonly shortMessage: string
  readonly details: string | undefined
  readonly facts: Facts

  constructor(shortMessage: string, options: BaseErrorOptions) {
    const facts = options.facts ?? {}
    const lines = [shortMessage]
    for (const [name, value] of Object.entries(facts)) {
      if (value !== undefined) lines.push(`  ${name}: ${String(value)}`)
    }
    if (options.details !== undefined) lines.push(`  ${options.details}`)
    super(lines.join('\n'), options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.code = options.code
    this.shortMessage = shortMessage
    this.details = options.details
    this.facts = facts
  }

  /** The first error in the chain of causes, itself included, that the predicate accepts. */
  walk(accepts: (error: unknown) => boolean): unknown {
    let current: unknown = this
    while (current !== undefined && current !== null) {
      if (accepts(current)) return current
      current = current instanceof Error ? current.cause : undefined
    }
    return undefined
  }
}

/** Most characters of a reason: a message that quotes what it was given is as long as that was. */
const REASON_LENGTH = 4_000

/** The message of anything thrown, on one line and at most 4,000 characters; for facts of our own errors. */
export function reasonOf(error: unknown): string {
  const reason = wholeReasonOf(error)
  return reason.length > REASON_LENGTH ? `${reason.slice(0, REASON_LENGTH)}…` : reason
}

function wholeReasonOf(error: unknown): string {
  if (error instanceof BaseError) return error.shortMessage
  if (error instanceof Error) {
    const inner = error.cause instanceof Error ? `: ${error.cause.message}` : ''
    return `${error.message}${inner}`.replace(/\s+/g, ' ').trim()
  }
  return String(error)
}

/** The code of a fault as a field of a line; none where it has no code. */
export function codeField(error: unknown): { readonly code?: string } {
  return error instanceof BaseError ? { code: error.code } : {}
}
