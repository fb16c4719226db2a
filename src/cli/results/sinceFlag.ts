/** `--since`: from which day on. */
import { CommandError, exitCodes } from '../../config/exit.ts'

const dayMs = 86_400_000

/**
 * 00:00 UTC of the day, Unix ms: `2027-01-15`, or `7d` for today and the six days before it. Undefined where it is not given.
 *
 * @throws CommandError for anything else.
 */
export function sinceOf(word: string | true | undefined, nowMs: number): number | undefined {
  if (word === undefined) return undefined
  const days = /^([1-9]\d{0,4})d$/.exec(String(word))?.[1]
  if (days !== undefined) return nowMs - (nowMs % dayMs) - (Number(days) - 1) * dayMs
  const atMs = Date.parse(`${String(word)}T00:00:00Z`)
  // A 31st of February is read as the 3rd of March.
  const isDay = !Number.isNaN(atMs) && new Date(atMs).toISOString().slice(0, 10) === word
  if (isDay) return atMs
  throw new CommandError(
    `--since is ${String(word)}; expected a day as 2027-01-15, or 7d for the last seven.`,
    exitCodes.error,
  )
}
