/** The one source of chance: everything that a world does by chance comes from its seed, and from nothing else. */

/** A seeded generator (sfc32). Two generators of one seed and name give the same numbers in every process. */
export interface Random {
  /** Evenly distributed in [0, 1). */
  next(): number
  /** Whole number from `from` to `to`, both included. */
  int(from: number, to: number): number
  /** True with this probability. */
  chance(probability: number): boolean
  /** One of the list, which must not be empty. */
  pick<T>(list: readonly T[]): T
  /** Bytes as 0x-prefixed hex. */
  hex(bytes: number): `0x${string}`
}

/**
 * Makes the generator of a seed; `name` separates generators of one world, so that one more draw here moves nothing there.
 * Seeds of 2^32 and more are others than their last 32 bits. Throws RangeError for a seed that is no whole number from 0 to
 * 2^53 - 1: it would be another's.
 */
export function randomOf(seed: number, name: string): Random {
  if (!Number.isSafeInteger(seed) || seed < 0) throw new RangeError(`randomOf: ${seed} is no seed`)
  let a = seed | 0
  let b = seed >>> 16
  let c = 0x9e3779b9 ^ Math.imul(Math.floor(seed / 2 ** 32), 0x85ebca6b)
  let d = 1
  for (let at = 0; at < name.length; at += 1) c = Math.imul(c ^ name.charCodeAt(at), 0x01000193)
  function word(): number {
    const sum = (a + b + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    c |= 0
    return sum >>> 0
  }
  for (let turn = 0; turn < 16; turn += 1) word()
  const next = () => word() / 4294967296
  const int = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick(list) {
      if (list.length === 0) throw new RangeError('pick: the list is empty')
      return list[int(0, list.length - 1)] as (typeof list)[number]
    },
    hex(bytes) {
      let text = ''
      while (text.length < bytes * 2) text += word().toString(16).padStart(8, '0')
      return `0x${text.slice(0, bytes * 2)}`
    },
  }
}
