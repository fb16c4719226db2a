/**
 * A text that must not be seen: a key, a password, a token, an address with a key in it. Whatever prints, serialises,
 * copies or inspects a `Secret` gets nothing of it; turning one into text by mistake throws, so that a leak is a failed
 * test and not a line in a log. `reveal()` is the one way to the text, and easy to search for.
 */

/** Node's name of the method that `util.inspect` and `console.log` ask. */
const inspect: unique symbol = Symbol.for('nodejs.util.inspect.custom')

/** Text of an inspected secret. */
const SHOWN = '[secret]'

/** Holds a text out of sight. The text itself lives in a private field: it is no property that anything could copy. */
export class Secret {
  readonly #text: string

  /** @param text what to hold; any text. */
  constructor(text: string) {
    this.#text = text
  }

  /** The text. Hand it on at once; keep it in no field and no message. */
  reveal(): string {
    return this.#text
  }

  /** Throws a TypeError: a secret is never part of a text. */
  toString(): never {
    throw shown()
  }

  /** Throws a TypeError: a secret is never part of a document. */
  toJSON(): never {
    throw shown()
  }

  /** Throws a TypeError: a secret is neither text nor number. */
  [Symbol.toPrimitive](): never {
    throw shown()
  }

  /** Returns the text that inspection shows: a word, because logging whole objects must not fail. */
  [inspect](): string {
    return SHOWN
  }
}

function shown(): TypeError {
  return new TypeError('a secret cannot be converted to text; only reveal() returns it')
}
