/**
 * Text from outside on a screen, in a log or in a label. A name may hold what a terminal obeys (escapes), what turns the text
 * after it around (U+202E) or what ends a line where no line ends (U+2028): such characters are shown as `\u202e`.
 */

// Controls, format characters, line and paragraph separators, halves of surrogate pairs.
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

function escaped(character: string): string {
  let text = ''
  for (let at = 0; at < character.length; at += 1) {
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`
  }
  return text
}

/** The text with every character that is not seen as such written out; ends of lines and tabs stay. In JSON it says the same. */
export function visible(text: string): string {
  return text.replace(unseen, (character) =>
    character === '\n' || character === '\t' ? character : escaped(character),
  )
}

/** The text with U+FFFD in the place of each such character, ends of lines left: for formats that know no such escape. */
export function marked(text: string): string {
  return text.replace(unseen, (character) => (character === '\n' ? character : '\ufffd'))
}
/** Returns a path or a name as it is typed into a shell: in quotes where a character of it means something there. */
export function shellWord(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
