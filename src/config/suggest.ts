/** "Did you mean": the known word nearest to an unknown one. */

/** Edit distance of two words, swaps of neighbours counted as one edit. */
export function distance(one: string, other: string): number {
  const rows: number[][] = Array.from({ length: one.length + 1 }, (_, row) => [row])
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY
  for (let column = 0; column <= other.length; column++) (rows[0] as number[])[column] = column
  for (let row = 1; row <= one.length; row++) {
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1]
      let best = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
      )
      if (one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]) {
        best = Math.min(best, at(row - 2, column - 2) + 1)
      }
      ;(rows[row] as number[])[column] = best
    }
  }
  return at(one.length, other.length)
}

/**
 * The known word nearest to `word`, case aside, or undefined when none is near: at most a third of its letters may
 * differ. A dotted name also matches by its last part, so that a setting is found in the wrong section.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const wanted = word.toLowerCase()
  let best: string | undefined
  let bestScore = Number.POSITIVE_INFINITY
  for (const candidate of known) {
    const lower = candidate.toLowerCase()
    const whole = distance(wanted, lower)
    const tail =
      distance(lastPart(wanted), lastPart(lower)) + (firstPart(wanted) === firstPart(lower) ? 0 : 1.5)
    const near = lower.includes('.') ? Math.min(whole, tail) : whole
    // A word that was cut short is one slip, however many letters are missing.
    const isBegun = lastPart(wanted).length >= 4 && lower.startsWith(wanted) && lower !== wanted
    const score = isBegun ? Math.min(near, 1) : near
    if (score < bestScore) {
      best = candidate
      bestScore = score
    }
  }
  const allowance = Math.max(1, Math.floor(lastPart(wanted).length / 3))
  return bestScore <= allowance + 0.5 ? best : undefined
}

/** ` Did you mean x?`, or nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const found = nearest(word, known)
  return found === undefined ? '' : ` Did you mean ${found}?`
}

function lastPart(dotted: string): string {
  return dotted.slice(dotted.lastIndexOf('.') + 1)
}

function firstPart(dotted: string): string {
  return dotted.split('.')[0] ?? dotted
}
