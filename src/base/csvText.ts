/** Rows for a spreadsheet: RFC 4180, with a line of names. */

/** A cell: null is empty. */
export type Cell = string | number | null

/** The text, without a line break at its end. A text that a spreadsheet would take for a formula begins with an apostrophe. */
export function csvText(names: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [names, ...rows].map((row) => row.map(cellText).join(',')).join('\n')
}

function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const text = /^[=+@]|^-(?![\d.])/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
