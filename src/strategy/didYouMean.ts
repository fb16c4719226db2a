/** The known word that a mistyped one is nearest to. */

/** Fewest insertions, deletions, swaps of neighbours and replacements that turn one text into the other. */
export function editDistance(one: string, other: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: other.length + 1 }, (_, column) => column)
  for (let row = 1; row <= one.length; row++) {
    const current = [row]
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1]
      let least = Math.min(
        (previous[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (previous[column - 1] ?? 0) + (same ? 0 : 1),
      )
      const swapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      if (swapped) least = Math.min(least, (beforePrevious[column - 2] ?? 0) + 1)
      current.push(least)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[other.length] ?? 0
}

/** The nearest known word, when it is near enough to be meant; else one that the text begins or is the beginning of. */
export function didYouMean(text: string, known: readonly string[]): string | undefined {
  const wanted = text.toLowerCase()
  let best: { readonly word: string; readonly distance: number } | undefined
  for (const word of known) {
    const distance = editDistance(wanted, word.toLowerCase())
    if (best === undefined || distance < best.distance) best = { word, distance }
  }
  if (best !== undefined && best.distance <= Math.max(1, Math.floor(text.length / 3))) return best.word
  if (wanted.length < 3) return undefined
  return known.find((word) => word.toLowerCase().startsWith(wanted) || wanted.startsWith(word.toLowerCase()))
}
