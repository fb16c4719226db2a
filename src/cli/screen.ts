/** Text laid out for a screen of 80 columns. */

/** Columns of a screen. */
export const SCREEN_COLUMNS = 80

/**
 * A text as lines that fit the screen, the first behind `head` and all others below it. A word that is longer than its line
 * (a hash) has a line of its own, moved to the left as far as it needs; so hashes stay whole and can be copied.
 */
export function wrapped(head: string, text: string): string[] {
  const indent = head.length
  const lines: string[] = []
  let line = ''
  const push = (): void => {
    if (line !== '') lines.push(`${lines.length === 0 ? head : ' '.repeat(indent)}${line}`)
    line = ''
  }
  for (const word of text.split(' ')) {
    if (line !== '' && indent + line.length + 1 + word.length > SCREEN_COLUMNS) push()
    const isTooLong = indent + word.length > SCREEN_COLUMNS
    if (isTooLong && lines.length === 0) lines.push(head.trimEnd())
    if (isTooLong) lines.push(`${' '.repeat(Math.max(0, SCREEN_COLUMNS - word.length))}${word}`)
    else line = line === '' ? word : `${line} ${word}`
  }
  push()
  return lines.length === 0 ? [head.trimEnd()] : lines
}
