/**
 * Loaded with `--import` before perpd: its wall clock is the machine's and as many ms more as the file at STEPPED_BY says, and the monotonic one
 * is left alone, as where an operator or a time server sets a machine's clock.
 */
import { readFileSync } from 'node:fs'

const path = process.env.STEPPED_BY
const RealDate = Date
/** How long a reading of the file counts, ms: the clock is asked often. */
const READ_EVERY_MS = 20
let read = { atMs: Number.NEGATIVE_INFINITY, byMs: 0 }

function steppedMs(): number {
  const nowMs = performance.now()
  if (path !== undefined && nowMs - read.atMs >= READ_EVERY_MS)
    read = { atMs: nowMs, byMs: Number(readFileSync(path, 'utf8')) }
  return RealDate.now() + read.byMs
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, words, made) =>
    Reflect.construct(target, words.length === 0 ? [steppedMs()] : words, made),
  get: (target, name) => (name === 'now' ? steppedMs : Reflect.get(target, name)),
})
