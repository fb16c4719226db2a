/**
 * JSON that people write or commands carry: a text that is none is refused with its place, and so is an object with one key twice, of
 * which a parser keeps the last without a word.
 */
import { bounded, type JsonBounds, JsonBoundsError } from './boundedJson.ts'
import { visible } from './shownText.ts'
import { TextFileError } from './textFile.ts'

/** A place in a text, both from 1. */
interface TextPlace {
  readonly line: number
  readonly column: number
}

/** A text that is no JSON, or that has a key twice. No word of it is quoted but the key: it may hold a secret. */
export class JsonTextError extends SyntaxError {
  override readonly name = 'JsonTextError'
  /** A key stands twice in what is JSON otherwise. */
  readonly isRepeatedKey: boolean
  constructor(reason: string, isRepeatedKey = false) {
    super(reason)
    this.isRepeatedKey = isRepeatedKey
  }
}

/** Longest key that a message shows, characters. */
const MOST_SHOWN = 60

const token =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none of them inside a text
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)))/y

/**
 * Parses a text within bounds. `isDotted`: keys with dots say the same as objects inside each other, as in files of settings, and both
 * count as one key.
 *
 * @throws JsonTextError, or JsonBoundsError where it nests deeper or holds more than `bounds`; both are SyntaxErrors.
 */
export function parseStrict(text: string, bounds: JsonBounds, isDotted = false): unknown {
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text
  checkText(bounded(plain, bounds), isDotted)
  return JSON.parse(plain)
}

/** The message of a SyntaxError of a text from outside, where it is one of ours; the engine's own words quote the text. */
export function jsonProblem(error: SyntaxError): string {
  const isOurs = [JsonTextError, JsonBoundsError, TextFileError].some((own) => error instanceof own)
  return isOurs ? error.message : 'it is not JSON'
}

function checkText(text: string, isDotted: boolean): void {
  let at = 0
  const seen = new Map<string, number>()

  const wrong = (expected: string): JsonTextError => {
    const from = at + (/^[ \t\n\r]*/.exec(text.slice(at))?.[0].length ?? 0)
    const place = placeAt(text, from)
    return new JsonTextError(
      `it is not JSON: at ${placeText(place)} ${from >= text.length ? 'it ends, and ' : ''}${expected}`,
    )
  }
  /** The next token: a mark, a text or a plain value. */
  const next = (expected: string): { readonly word: string; readonly from: number } => {
    token.lastIndex = at
    const found = token.exec(text)
    if (found === null) throw wrong(expected)
    at = token.lastIndex
    const word = found[1] ?? found[2] ?? found[3] ?? ''
    return { word, from: at - word.length }
  }
  const unread = (from: number, expected: string): JsonTextError => {
    at = from
    return wrong(expected)
  }

  function value(path: string, { word, from } = next('a value is expected')): void {
    if (word === '{') members(path)
    else if (word === '[') items(path)
    else if (/^[}\],:]$/.test(word)) throw unread(from, 'a value is expected')
    else if (/^-?\d/.test(word) && !Number.isFinite(Number(word)))
      throw unread(from, 'a smaller number is expected')
  }

  function members(path: string): void {
    for (let count = 0; ; count += 1) {
      const key = next('a key in double quotes is expected')
      if (key.word === '}' && count === 0) return
      if (!key.word.startsWith('"')) {
        const after = key.word === '}' ? ', and none after the last comma' : ''
        throw unread(key.from, `a key in double quotes is expected${after}`)
      }
      const name: string = JSON.parse(key.word)
      const inner = `${path}${isDotted ? `.${name}` : `/${JSON.stringify(name)}`}`
      const before = seen.get(inner)
      if (before !== undefined) throw twice(isDotted ? inner.slice(1) : name, before, key.from)
      seen.set(inner, key.from)
      const colon = next('a colon is expected after the key')
      if (colon.word !== ':') throw unread(colon.from, 'a colon is expected after the key')
      value(inner)
      const end = next('a comma or } is expected')
      if (end.word === '}') return
      if (end.word !== ',') throw unread(end.from, 'a comma or } is expected')
    }
  }

  function items(path: string): void {
    for (let index = 0; ; index += 1) {
      const first = next('a value is expected')
      if (first.word === ']') {
        if (index === 0) return
        throw unread(first.from, 'a value is expected, and none after the last comma')
      }
      value(`${path}/${index}`, first)
      const end = next('a comma or ] is expected')
      if (end.word === ']') return
      if (end.word !== ',') throw unread(end.from, 'a comma or ] is expected')
    }
  }

  function twice(name: string, before: number, again: number): JsonTextError {
    const [first, second] = [placeAt(text, before), placeAt(text, again)]
    const shown = visible(name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN)}…` : name)
    return new JsonTextError(
      `${JSON.stringify(shown)} is set twice, at ${placeText(first)} and at ${placeText(second)}; keep only one`,
      true,
    )
  }

  value('')
  if (text.slice(at).trim() !== '') throw wrong('nothing more is expected')
}

function placeText({ line, column }: TextPlace): string {
  return `line ${line} column ${column}`
}

function placeAt(text: string, offset: number): TextPlace {
  const before = text.slice(0, offset)
  const lines = before.split('\n')
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }
}
