/**
 * Figures of the stats. The documents name them and leave their nesting open, so every figure below a name is read by its
 * dotted path, and what is no figure passes by.
 */
import { type Decoder, Malformed, object } from '../decode/decode.ts'

/** Figures by dotted path; a null cannot be provided. */
export type StatsFigures<T> = ReadonlyMap<string, T | null>

/** Tells whether a field inside a group is no figure: a word, a time, a flag or a list, of this or a newer venue. */
function isNoFigure(name: string, value: unknown): boolean {
  if (Array.isArray(value) || name.endsWith('At')) return true
  if (typeof value === 'boolean') return /^(?:is|has)[A-Z]/.test(name)
  return typeof value === 'string' && /^[a-z]/.test(value)
}

const MAX_FIGURE_DEPTH = 8

/** Every figure below a value by its dotted path. A figure that stands alone has the path `total`. */
export function figures<T>(value: unknown, decode: Decoder<T>): StatsFigures<T> {
  const found = new Map<string, T | null>()
  const walk = (each: unknown, path: string, depth: number): void => {
    if (typeof each === 'object' && each !== null) {
      if (depth > MAX_FIGURE_DEPTH) throw new Malformed(path, 'is nested too deep', each)
      const name = path === '' ? '' : `${path}.`
      for (const [key, inner] of Object.entries(object(each, path))) {
        if (!isNoFigure(key, inner)) walk(inner, name + key, depth + 1)
      }
      return
    }
    found.set(path === '' ? 'total' : path, each === null ? null : decode(each, path))
  }
  if (value !== undefined) walk(value, '', 0)
  return found
}

/** A count as the documents have it: a whole JSON number that is not negative. */
export function statCount(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new Malformed(name, 'is not a count', value)
}
