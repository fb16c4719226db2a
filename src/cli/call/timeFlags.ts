/** Flags that are moments of history: days and minutes in UTC. */
import type { Call } from './command.ts'
import { wrongValue } from './numberFlags.ts'

const DAY_SECONDS = 86_400

/**
 * A moment, Unix seconds: `2024-01-31`, `2024-01-31T12:00`, both UTC, or `30d` for so many days before now, at 00:00. Undefined where it
 * is not given.
 *
 * @throws CommandError for anything else
 */
export function momentFlag(flags: Call['flags'], name: string, nowSeconds: number): number | undefined {
  const text = flags.get(name)
  if (text === undefined) return undefined
  const word = String(text)
  const days = /^([1-9]\d{0,4})d$/.exec(word)?.[1]
  if (days !== undefined) return nowSeconds - (nowSeconds % DAY_SECONDS) - Number(days) * DAY_SECONDS
  const [, day, time = '00:00'] = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::00)?Z?)?$/.exec(word) ?? []
  const atMs = day === undefined ? Number.NaN : Date.parse(`${day}T${time}:00Z`)
  // A 31st of February is read as the 3rd of March.
  if (!Number.isNaN(atMs) && new Date(atMs).toISOString().slice(0, 10) === day) return atMs / 1_000
  throw wrongValue(
    `--${name} is ${word}; expected a day or a minute in UTC, as 2024-01-31 or 2024-01-31T12:00, or 30d for 30 days ago.`,
  )
}
