/** Names that somebody gave, in tables: one that would fill the screen is cut in its middle. `--json` has it whole. */

/** Least letters of a name that are shown. */
const leastLetters = 16

/** The longest name that a table of a screen so wide shows whole, letters; all names where the width is endless. */
export function longestName(width: number): number {
  return Math.max(leastLetters, Math.floor(width / 3))
}

/** A name in at most so many letters, 3 or more: its beginning and its end, which tell `eth-trend-1` from `eth-trend-2`. */
export function cutName(name: string, most: number): string {
  if (name.length <= most) return name
  const end = Math.floor((most - 1) / 3)
  return `${name.slice(0, most - 1 - end)}…${name.slice(name.length - end)}`
}
