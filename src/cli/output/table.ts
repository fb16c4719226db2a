/** Text in columns, for terminals. */
import { visible } from '../../base/shownText.ts'
import { cutName, longestName } from './cutName.ts'
import { wrapped } from './screen.ts'

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

/** A column of a table that fits its screen. */
export interface Column {
  /** Its heading. */
  readonly title: string
  /** Lower ones are shown first; what does not fit the width stands below its row. Those of rank 0 always have a column. */
  readonly rank: number
  /** Word before the value below the row: `fees` gives `fees $0.30`; without it the value stands alone. */
  readonly word?: string
  /** Figures end in one line. */
  readonly isFigure?: boolean
  /** Sentences; where they do not fit beside it they have lines of their own below their row. */
  readonly isProse?: boolean
  /** A name that somebody gave: a long one is cut where it has a column, and stands whole below its row. */
  readonly isName?: boolean
}

/**
 * Rows under headings, as wide as the screen at most: columns by their rank as long as they fit, the rest below each row. A
 * column without a value in any row is left out.
 */
export function table(
  all: readonly Column[],
  given: readonly (readonly string[])[],
  width: number,
  indent = '',
): string {
  const rows = given.map((row) => row.map((cell) => visible(cell.replaceAll('\n', ' '))))
  const used = all.flatMap((column, at) => {
    const most = Math.max(0, ...rows.map((row) => beside(column, row[at] ?? '', width).length))
    return most === 0 ? [] : [{ ...column, at, width: Math.max(most, column.title.length) }]
  })
  const shown = new Set<number>()
  let left = width - indent.length + 2
  for (const column of used.toSorted((one, other) => one.rank - other.rank)) {
    if (column.rank > 0 && column.width + 2 > left) break
    left -= column.width + 2
    shown.add(column.at)
  }
  const shownBeside = used.filter(({ at }) => shown.has(at))
  const below = used.filter(({ at }) => !shown.has(at))
  const line = (cells: readonly string[]) => `${indent}${cells.join('  ')}`.trimEnd()
  const padded = (cell: string, { width: wide, isFigure }: { width: number; isFigure?: boolean }) =>
    isFigure === true ? cell.padStart(wide) : cell.padEnd(wide)
  const margin = `${indent}${' '.repeat((shownBeside[0]?.width ?? 0) + 2)}`
  return [
    line(shownBeside.map((column) => padded(column.title, column))),
    ...rows.flatMap((row) => {
      const rest = below.flatMap(({ at, word, isProse }) => {
        const cell = row[at] ?? ''
        return cell === '' ? [] : [{ text: word === undefined ? cell : `${word} ${cell}`, isProse }]
      })
      const facts = rest.filter(({ isProse }) => isProse !== true).map(({ text }) => text)
      const sentences = rest.filter(({ isProse }) => isProse === true).map(({ text }) => text)
      return [
        line(shownBeside.map((column) => padded(beside(column, row[column.at] ?? '', width), column))),
        ...(facts.length === 0 ? [] : wrapped(margin, facts.join(', '), width)),
        ...sentences.flatMap((text) => wrapped(margin, text, width)),
      ]
    }),
  ].join('\n')
}

/** A cell as it stands in its column. */
function beside({ isName }: Column, cell: string, width: number): string {
  return isName === true ? cutName(cell, longestName(width)) : cell
}
