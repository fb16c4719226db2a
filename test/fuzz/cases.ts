/** Runs cases over the readers: a case is its number, so that every one can be run again alone. */
import { type Reader, readers } from './readers.ts'
import { caseOf, draws, oneOf } from './structure.ts'

/** A case that a reader did not survive. */
export interface Failure {
  readonly number: number
  readonly reader: string
  readonly text: string
  readonly why: string
}

/** Longest that one case may take, ms of the processor, which a busy machine does not stretch: what hangs a reader hangs the daemon. */
const LONGEST_MS = 5_000

const prototypes = [Object.prototype, Array.prototype, String.prototype, Number.prototype]
const untouched = prototypes.map((prototype) => Reflect.ownKeys(prototype).length)

/** The reader of a case: each as often as its share says. */
function readerOf(draw: () => number): Reader {
  for (;;) {
    const reader = oneOf(draw, readers)
    if (draw() < (reader.share ?? 1)) return reader
  }
}

/** Runs one case. Undefined when its reader gave a value or one of its own errors, in time, and left the world as it was. */
export async function runCase(number: number): Promise<Failure | undefined> {
  const draw = draws(number)
  const reader = readerOf(draw)
  const text = caseOf(oneOf(draw, reader.samples), draw)
  const failed = (why: string): Failure => ({ number, reader: reader.name, text, why })
  const before = process.cpuUsage()
  try {
    await reader.read(text)
  } catch (error) {
    if (!reader.mayThrow(error))
      return failed(error instanceof Error ? (error.stack ?? error.message) : String(error))
    if (error instanceof Error && error.message.length > 100_000)
      return failed('its error is longer than 100,000 characters')
  }
  const { user, system } = process.cpuUsage(before)
  const tookMs = (user + system) / 1_000
  if (tookMs > LONGEST_MS) return failed(`took ${Math.round(tookMs)} ms`)
  const isTouched = prototypes.some(
    (prototype, index) => Reflect.ownKeys(prototype).length !== untouched[index],
  )
  return isTouched ? failed('a prototype was changed') : undefined
}

/** Runs `cases` from the number `from` on; the failures, at most `most`. */
export async function runCases(
  cases: number,
  from: number,
  most: number,
  told: (done: number) => void = () => undefined,
): Promise<readonly Failure[]> {
  const failures: Failure[] = []
  for (let number = from; number < from + cases; number += 1) {
    const failure = await runCase(number)
    if (failure !== undefined) failures.push(failure)
    if (failures.length >= most) break
    if ((number - from + 1) % 10_000 === 0) told(number - from + 1)
  }
  return failures
}
