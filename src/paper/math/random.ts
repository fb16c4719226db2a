/** Repeatable randomness: hashes of integers, no hidden state. The same inputs give the same bits on every machine. */

/** 32-bit hash of a text (FNV-1a with a final mix). */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return mix(hash)
}

/** Final mix of a 32-bit integer: every input bit moves every output bit. */
export function mix(value: number): number {
  let hash = value | 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** Hash of a stream and a cell number, 0 <= result < 1. */
export function unit(stream: number, cell: number): number {
  const low = cell | 0
  const high = Math.floor(cell / 4294967296) | 0
  return (
    mix(Math.imul(stream ^ low, 0x9e3779b1) ^ mix(low ^ Math.imul(high, 0x27d4eb2f) ^ stream)) / 4294967296
  )
}

/** Hash of a stream and a cell number, -1 <= result < 1, bell-shaped (sum of four), standard deviation about 0.29. */
export function bell(stream: number, cell: number): number {
  const four =
    unit(stream, cell) +
    unit(stream ^ 0x51ed270b, cell) +
    unit(stream ^ 0x2545f491, cell) +
    unit(stream ^ 0x6c62272e, cell)
  return four / 2 - 1
}
