/** `--since`: from which day on. */
import { dayTyped } from '../../books/tradeFilter.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'

/**
 * 00:00 UTC of the day, Unix ms: `2027-01-15`, or `7d` for today and the six days before it. Undefined where it is not given.
 *
 * @throws CommandError for anything else.
 */
export function sinceOf(word: string | true | undefined, nowMs: number): number | undefined {
  if (word === undefined) return undefined
  const atMs = dayTyped(String(word), nowMs)
  if (atMs !== undefined) return atMs
  throw new CommandError(
    `--since is ${String(word)}; expected a day as 2027-01-15, or 7d for the last seven.`,
    exitCodes.error,
  )
}
