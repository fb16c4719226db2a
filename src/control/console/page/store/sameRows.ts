/** Rows that say the same stay the same value, so that nothing of them is drawn again. Pure. */

/** The rows that came; each that is equal to a known one is that one. */
export function sameWhereEqual<T>(
  known: readonly T[],
  came: readonly T[],
  idOf: (row: T) => string,
): readonly T[] {
  const byId = new Map(known.map((row) => [idOf(row), row]))
  const rows = came.map((row) => {
    const before = byId.get(idOf(row))
    return before !== undefined && JSON.stringify(before) === JSON.stringify(row) ? before : row
  })
  return rows.length === known.length && rows.every((row, index) => row === known[index]) ? known : rows
}
