/** Tables that fit the terminal: columns that matter less go first, texts are wrapped between words, and no word is broken. */
import { visible } from '../../base/shownText.ts'
import { cutName, longestName } from './cutName.ts'

/** One column over rows of `T`. */
export interface Column<T> {
  readonly title: string
  readonly of: (row: T) => string
  /** 0 stays always; of the others the highest is left out first when the table is too wide. */
  readonly rank: number
  /** Figures stand at the right of their column. */
  readonly isFigure?: boolean
  /** Its text may take several lines; a line break in a cell begins a new one anyhow. */
  readonly wraps?: boolean
  /** Least width in columns for a text that wraps; with fewer it grows too tall to read. */
  readonly readable?: number
  /** A name that somebody gave: where the table is too wide, a long one is cut. */
  readonly isName?: boolean
}

const gap = 2

/**
 * The table as text, no line of it longer than `width` where its words allow it. Columns that no row fills are left out; a last line
 * names those that the width left out, and where they are shown, unless `isNoted` is false.
 */
export function fitTable<T>(
  columns: readonly Column<T>[],
  rows: readonly T[],
  width: number,
  isNoted = true,
): string {
  const whole = new Map(
    columns.map((column) => [column, rows.map((row) => column.of(row).split('\n').map(visible).join('\n'))]),
  )
  const cells = withCutNames(whole, width)
  const textOf = (column: Column<T>): readonly string[] => cells.get(column) ?? []
  let kept = columns.filter((column) => column.rank === 0 || textOf(column).some((cell) => cell !== ''))
  const least = (column: Column<T>): number =>
    column.wraps === true
      ? Math.max(
          column.title.length,
          longestWord(textOf(column)),
          Math.min(natural(column), column.readable ?? 0),
        )
      : natural(column)
  const natural = (column: Column<T>): number =>
    Math.max(...[column.title, ...textOf(column)].flatMap(linesIn).map(({ length }) => length))
  const sum = (of: (column: Column<T>) => number): number =>
    kept.reduce((all, column) => all + of(column), gap * Math.max(0, kept.length - 1))
  const filled = kept
  const neededColumns = sum(least)
  while (sum(least) > width && kept.some(({ rank }) => rank > 0)) {
    const highest = Math.max(...kept.map(({ rank }) => rank))
    const index = kept.findLastIndex(({ rank }) => rank === highest)
    kept = kept.filter((_, at) => at !== index)
  }
  let spare = width - sum(least)
  const widths = kept.map((column) => {
    const more = Math.max(0, Math.min(natural(column) - least(column), spare))
    spare -= more
    return least(column) + more
  })
  const lineOf = (parts: readonly string[]): string =>
    parts
      .map((part, at) => {
        const size = widths[at] ?? 0
        return kept[at]?.isFigure === true ? part.padStart(size) : part.padEnd(size)
      })
      .join(' '.repeat(gap))
      .trimEnd()
  const body = rows.flatMap((_, index) => {
    const lines = kept.map((column, at) => wordsIn(textOf(column)[index] ?? '', widths[at] ?? 0))
    const height = Math.max(1, ...lines.map(({ length }) => length))
    return Array.from({ length: height }, (__, line) => lineOf(lines.map((each) => each[line] ?? '')))
  })
  const left = filled.filter((column) => !kept.includes(column)).map(({ title }) => title)
  const note =
    left.length === 0 || !isNoted
      ? []
      : [
          '',
          ...wordsIn(
            `Not shown in ${width} columns: ${left.join(', ')}. A terminal of ${neededColumns} shows all; so does --json.`,
            width,
          ),
        ]
  return [lineOf(kept.map(({ title }) => title)), ...body, ...note].join('\n')
}

/** The cells with long names cut, where they do not fit beside each other as they are. */
function withCutNames<T>(
  cells: ReadonlyMap<Column<T>, readonly string[]>,
  width: number,
): ReadonlyMap<Column<T>, readonly string[]> {
  const wide = [...cells].map(([{ title }, texts]) =>
    Math.max(...[title, ...texts].flatMap(linesIn).map(({ length }) => length)),
  )
  if (wide.reduce((all, each) => all + each, gap * Math.max(0, wide.length - 1)) <= width) return cells
  const most = longestName(width)
  const cut = (text: string): string => text.replaceAll(/[^\s,]+/g, (word) => cutName(word, most))
  return new Map(
    [...cells].map(([column, texts]) => [column, column.isName === true ? texts.map(cut) : texts]),
  )
}

/** Tells whether a table made here shows a column, which a narrow width may have left out. */
export function hasColumn(table: string, title: string): boolean {
  return `${table.split('\n')[0]}  `.includes(`${title}  `)
}

function longestWord(texts: readonly string[]): number {
  return Math.max(0, ...texts.flatMap((text) => text.split(/[ \n]/).map(({ length }) => length)))
}

/** A text in lines of at most `width`, broken between words. */
export function wordsIn(text: string, width: number): readonly string[] {
  return linesIn(text).flatMap((line) => {
    const lines: string[] = []
    for (const word of line.split(' ')) {
      const last = lines.at(-1)
      if (last !== undefined && last.length + 1 + word.length <= width)
        lines[lines.length - 1] = `${last} ${word}`
      else lines.push(word)
    }
    return lines
  })
}

function linesIn(text: string): readonly string[] {
  return text.split('\n')
}
