/** The list of differences between the intended message and a payload; all of them, because the list distinguishes an attack from a bug. */
import type { Difference } from '../../domain/orderEvent.ts'
import { hexKey, sameHex } from '../../protocol/address.ts'

/** Codes of differences in values that change by themselves, as opposed to a payload mismatch. */
export type BenignCode =
  | 'PRICE_OUT_OF_BOUNDS'
  | 'PRICE_CONTESTED'
  | 'FEE_ABOVE_LIMIT'
  | 'POSITION_MOVED'
  | 'OFFER_EXPIRED'

/** Collects differences; `field` names the place inside the payload. */
export class Differences {
  readonly list: Difference[] = []
  /** Number of fields compared one to one. */
  compared = 0
  #benign: BenignCode | undefined
  #isMismatch = false

  /** The first benign code when every difference is of a kind that moves by itself, else TYPED_DATA_MISMATCH. */
  get code(): BenignCode | 'TYPED_DATA_MISMATCH' {
    return this.#isMismatch ? 'TYPED_DATA_MISMATCH' : (this.#benign ?? 'TYPED_DATA_MISMATCH')
  }

  /** Adds one difference; `benign` names the kind of change by itself that explains it. */
  add(field: string, expected: string, found: string, benign?: BenignCode): void {
    this.list.push({ field, expected, found })
    this.#benign ??= benign
    if (benign === undefined) this.#isMismatch = true
  }

  /** Equal, or a difference. */
  same(
    field: string,
    expected: bigint | boolean | string | number,
    found: bigint | boolean | string | number,
  ): void {
    this.compared += 1
    if (expected !== found) this.add(field, String(expected), String(found))
  }

  /** Equal hex in any case, or a difference. */
  hex(field: string, expected: string, found: string): void {
    this.compared += 1
    if (!sameHex(expected, found)) this.add(field, expected, found)
  }

  /** At most `limit`, or a difference. */
  atMost(field: string, limit: bigint, found: bigint, benign?: BenignCode): void {
    this.compared += 1
    if (found > limit) this.add(field, `at most ${limit}`, found.toString(), benign)
  }

  /** A fee above its limit is a gas spike up to `spike`, and nothing that moves by itself beyond. */
  fee(field: string, limit: bigint, found: bigint, spike: bigint): void {
    this.atMost(field, limit, found, found <= spike ? 'FEE_ABOVE_LIMIT' : undefined)
  }

  /** The same keys, each once, in any order, or a difference for each that is not. */
  sameKeys(list: string, expected: readonly string[], found: readonly string[]): void {
    this.same(`${list}.length`, expected.length, found.length)
    const left = new Set(expected.map(hexKey))
    found.forEach((key, index) => {
      this.compared += 1
      if (!left.delete(hexKey(key))) this.add(`${list}[${index}]`, [...left].join(' or ') || 'absent', key)
    })
  }

  /** Nothing in the list, or a difference. */
  empty(field: string, found: readonly unknown[]): void {
    this.compared += 1
    if (found.length > 0) this.add(field, 'empty', `${found.length} entries`)
  }
}
