/**
 * JSON from outside, with a limit on how deep it nests and how many values it holds. Both are counted in the text before
 * anything is made of it: a few kilobytes of brackets nest deeper than any function that walks them by recursion may go,
 * and a body within the limit of its bytes can hold more values than the memory.
 */

/** Limits of one text. */
export interface JsonBounds {
  /** Most lists and objects inside each other. */
  readonly depth: number
  /** Most values and names, those inside others included. */
  readonly values: number
}

/**
 * Bounds of a response of a venue, an endpoint or a signer. The deepest documented body has eight levels, the largest (a block with its logs, a year
 * of candles) some hundred thousand values.
 */
export const answerBounds: JsonBounds = { depth: 64, values: 1_000_000 }

/** Bounds of a file of settings, a keystore, a signed message or a command. */
export const fileBounds: JsonBounds = { depth: 64, values: 100_000 }

/** Bounds of files that perpd wrote itself: any number of values, but no deeper than its readers go. */
export const ownBounds: JsonBounds = { depth: 64, values: Number.POSITIVE_INFINITY }

/** A text outside its bounds. A SyntaxError, as every text that is no JSON: nothing can be read of it. */
export class JsonBoundsError extends SyntaxError {
  override readonly name = 'JsonBoundsError'
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125

/** Where the text that begins after `from` ends: the place of its closing quote, or the end. */
function endOfText(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at !== -1) {
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === 92) escapes += 1
    if (escapes % 2 === 0) return at
    at = text.indexOf('"', at + 1)
  }
  return text.length
}

/** Throws JsonBoundsError when so many lists and objects inside each other are more than there may be. */
export function checkDepth(depth: number, bounds: JsonBounds): void {
  if (depth > bounds.depth) throw new JsonBoundsError(`it nests deeper than ${bounds.depth} levels`)
}

/**
 * Passes a text on that nests and holds no more than it may; whether it is JSON at all is the parser's to say.
 *
 * @throws JsonBoundsError
 */
export function bounded(text: string, bounds: JsonBounds): string {
  // Each value but the first has a separator or a bracket of its own.
  let values = 1
  let depth = 0
  const { length } = text
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfText(text, at + 1)
    else if (code === COMMA || code === COLON) values += 1
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      values += 1
      depth += 1
      checkDepth(depth, bounds)
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1
    if (values > bounds.values) throw new JsonBoundsError(`it holds more than ${bounds.values} values`)
  }
  return text
}

/**
 * Parses a text from outside.
 *
 * @throws SyntaxError when it is no JSON; JsonBoundsError, which is one, when it nests deeper or holds more than `bounds`.
 */
export function parseBounded(text: string, bounds: JsonBounds): unknown {
  return JSON.parse(bounded(text, bounds))
}

/** Characters of a value that are shown. */
const SHOWN_LENGTH = 300

/** Deepest and widest that a value is shown. */
const SHOWN_DEPTH = 6
const SHOWN_ITEMS = 20

/**
 * A value for people and logs, at most 300 characters. Never throws, whatever the value is: one with itself inside, one that
 * nests without end, a getter that throws, a proxy, a symbol.
 */
export function shownValue(value: unknown): string {
  let text: string
  try {
    text = shown(value, SHOWN_DEPTH)
  } catch {
    text = '(not printable)'
  }
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}

function shown(value: unknown, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, SHOWN_LENGTH + 1))
  if (typeof value !== 'object' || value === null) return String(value)
  const raw = (value as { readonly rawJSON?: unknown }).rawJSON
  if (typeof raw === 'string') return raw
  if (depth === 0) return Array.isArray(value) ? '[…]' : '{…}'
  if (Array.isArray(value)) {
    const more = value.length > SHOWN_ITEMS ? ['…'] : []
    return `[${[...value.slice(0, SHOWN_ITEMS).map((each) => shown(each, depth - 1)), ...more].join(',')}]`
  }
  const parts: string[] = []
  for (const key in value) {
    if (parts.length === SHOWN_ITEMS) {
      parts.push('…')
      break
    }
    const inner = (value as Readonly<Record<string, unknown>>)[key]
    parts.push(`${JSON.stringify(key.slice(0, SHOWN_LENGTH))}:${shown(inner, depth - 1)}`)
  }
  return `{${parts.join(',')}}`
}
