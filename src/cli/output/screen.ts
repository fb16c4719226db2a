/** Text laid out for a screen: lines that fit its width, without breaking words. */

/** Columns of a screen whose width nobody tells. */
export const SCREEN_COLUMNS = 80

/** A narrower screen is told as much as this one, and wraps by itself. */
const MIN_COLUMNS = 40

/** Joins words that stay on one line, until `fitted` has made lines of them. */
export const JOINED = '\u00a0'

/** Line above the examples of a help text. */
export const EXAMPLES = 'examples:'

const CONTINUES = ' \\'

/** Columns that a column of text needs to be read; with less the line starts again at the left. */
const MIN_TEXT = 28

/** Columns of the screen: COLUMNS where it is set, as it is by hand or by `watch`, else the terminal's, else 80. */
export function screenWidth(
  env: Readonly<Record<string, string | undefined>>,
  terminal: number | undefined,
): number {
  const told = /^[1-9]\d{0,3}$/.test(env.COLUMNS ?? '') ? Number(env.COLUMNS) : terminal
  return told === undefined || told === 0 ? SCREEN_COLUMNS : Math.max(told, MIN_COLUMNS)
}

/**
 * A text as lines that fit the screen, the first behind `head` and all others below it. A word that is longer than its line
 * (a hash) has a line of its own, moved to the left as far as it needs; so hashes stay whole and can be copied.
 */
export function wrapped(head: string, text: string, width = SCREEN_COLUMNS): string[] {
  const indent = head.length
  const lines: string[] = []
  let line = ''
  const push = (): void => {
    if (line !== '') lines.push(`${lines.length === 0 ? head : ' '.repeat(indent)}${line}`)
    line = ''
  }
  for (const word of text.split(' ')) {
    if (line !== '' && indent + line.length + 1 + word.length > width) push()
    const isTooLong = indent + word.length > width
    if (isTooLong && lines.length === 0 && head.trim() !== '') lines.push(head.trimEnd())
    if (isTooLong) lines.push(`${' '.repeat(Math.max(0, width - word.length))}${word}`)
    else line = line === '' ? word : `${line} ${word}`
  }
  push()
  return lines.length === 0 ? [head.trimEnd()] : lines
}

/**
 * A text whose lines fit the screen: a longer one goes on below its last column, or below its first word where it has none; an example
 * is continued as a shell takes it. JSON is left as it is.
 */
export function fitted(text: string, width: number): string {
  if (/^[[{]/.test(text)) return text
  let isExample = false
  const lines = text.split('\n').flatMap((line) => {
    isExample = line === EXAMPLES || (isExample && line !== '')
    if (line.length <= width) return [line]
    return isExample ? continued(line, width) : folded(line, width)
  })
  return lines.join('\n').replaceAll(JOINED, ' ')
}

/** A command as lines that a shell takes as one, broken between its words and never inside of quotes. */
function continued(line: string, width: number): string[] {
  const lines: string[] = []
  let last = ''
  for (const word of line.trim().match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []) {
    const longer = last === '' ? `  ${word}` : `${last} ${word}`
    if (last !== '' && longer.length + CONTINUES.length > width) {
      lines.push(`${last}${CONTINUES}`)
      last = `    ${word}`
    } else last = longer
  }
  return [...lines, last]
}

function folded(line: string, width: number): string[] {
  const [margin = ''] = /^ */.exec(line) ?? []
  const usage = /^usage: perpd /.exec(line)
  if (usage !== null) return wrapped('usage: ', line.slice('usage: '.length), width)
  const gaps = [...line.matchAll(/\S( {2,})(?=\S)/g)].map(({ index, 0: found }) => index + found.length)
  const start = gaps.at(-1)
  if (start !== undefined && start + MIN_TEXT <= width) {
    return wrapped(line.slice(0, start), line.slice(start), width)
  }
  // Cells too many for the width: as many on each line as fit, the others below the first one.
  const inner = `${margin}${start === undefined ? '' : '  '}`
  const [first = '', ...others] = wrapped(margin, line.slice(margin.length).replaceAll(/ {2,}/g, '  '), width)
  if (start === undefined) return [first, ...others]
  const rest = others.map((each) => each.trim()).join(' ')
  return [first, ...(rest === '' ? [] : wrapped(inner, rest, width))].map((each) => each.trimEnd())
}
