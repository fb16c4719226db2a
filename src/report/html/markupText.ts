/** HTML as text: whatever is put into it is escaped, unless it is HTML already. Pure. */

/** Finished HTML. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Values that stand in HTML: texts and numbers are escaped, lists are joined, and false and null leave nothing. */
export type Part = Html | string | number | false | null | undefined | readonly Part[]

/** A template whose values are escaped. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((text, at) => `${text}${textOf(parts[at])}`).join(''))
}

function textOf(part: Part): string {
  if (part === undefined || part === null || part === false) return ''
  if (part instanceof Html) return part.text
  if (Array.isArray(part)) return part.map(textOf).join('')
  return escaped(String(part))
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}

/** JSON for a data block: no `<` stands in it, so that no text ends the block or begins a comment. */
export function jsonBlock(value: unknown): Html {
  return new Html(JSON.stringify(value).replaceAll('<', '\\u003c'))
}
