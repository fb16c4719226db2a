/** Text in columns, for terminals. */
import { visible } from '../domain/shownText.ts'

/** Rows as lines of aligned columns, two spaces apart; the last column is not padded. */
export function columns(given: readonly (readonly string[])[], indent = ''): string {
  // A name from outside neither breaks a row nor hides the width of its column.
  const rows = given.map((row) =>
    row.map((cell, at) => visible(at === row.length - 1 ? cell : cell.replaceAll('\n', ' '))),
  )
  const widths: number[] = []
  for (const row of rows) {
    row.slice(0, -1).forEach((cell, at) => {
      widths[at] = Math.max(widths[at] ?? 0, cell.length)
    })
  }
  return rows
    .map((row) => {
      const cells = row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      return `${indent}${cells.join('  ')}`.trimEnd()
    })
    .join('\n')
}
