/**
 * Order events of one account at one endpoint, since the oldest block that is still of interest. What is in final blocks is
 * read once; what is above them is read anew in every look, because a reorganisation may have changed it. However many
 * orders are open, a look costs one `eth_getLogs`.
 */
import type { Address } from '../domain/address.ts'
import { BaseError } from '../domain/errors.ts'
import { unreadable } from './jsonRpc.ts'
import type { ChainNode, Heads } from './node.ts'
import { type OrderEvent, orderEventOf, orderTopics } from './orderLogs.ts'

/** Most questions of one look; a longer past is read over several looks. */
const MAX_QUESTIONS = 40
/** Narrowest range that is asked for after refusals, blocks. */
const MIN_SPAN = 64n
/** Most events that are kept of one account: some 20,000 orders. */
const MAX_EVENTS = 60_000

/** An account's events at an endpoint. */
export interface AccountLogs {
  /**
   * All events from `from` to the latest block, in chain order; undefined while the past is still being read.
   *
   * @throws BaseError as the endpoint's questions do
   */
  read(from: bigint, heads: Heads, signal: AbortSignal): Promise<readonly OrderEvent[] | undefined>
  /** Newest block whose events are kept for good, or undefined when none are. */
  keptTo(): bigint | undefined
  /** Forgets everything: a block that counted as final was replaced. */
  reset(): void
}

/** Makes the memory of one account. `maxSpan` is the widest range of one question, blocks. */
export function createAccountLogs(
  node: ChainNode,
  emitter: Address,
  account: Address,
  maxSpan: number,
): AccountLogs {
  let first = 0n
  /** Newest block that is read for good; undefined while nothing is. */
  let keptTo: bigint | undefined
  let kept: OrderEvent[] = []
  /** Only ever narrowed: an endpoint's limits do not change, and each try beyond them is a question lost. */
  let span = BigInt(maxSpan)
  const topics = orderTopics(account)

  async function question(from: bigint, to: bigint, signal: AbortSignal): Promise<readonly OrderEvent[]> {
    const rows = await node.logs({ address: emitter, topics, from, to }, signal)
    try {
      return inOrder(rows.map((row) => orderEventOf(row, emitter, account)))
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw unreadable(node.name, error.message)
    }
  }

  /** Reads a range piece by piece; `take` is given each piece with its last block. False when the questions ran out. */
  async function pieces(
    from: bigint,
    to: bigint,
    signal: AbortSignal,
    take: (events: readonly OrderEvent[], last: bigint) => void,
  ): Promise<boolean> {
    let at = from
    for (let asked = 0; at <= to; asked += 1) {
      if (asked >= MAX_QUESTIONS) return false
      const last = at + span - 1n < to ? at + span - 1n : to
      try {
        take(await question(at, last, signal), last)
        at = last + 1n
      } catch (error) {
        // Endpoints limit ranges and results, each in its own words: a narrower question may be answered.
        const isTooMuch = error instanceof BaseError && error.code === 'RPC_REFUSED' && last - at >= MIN_SPAN
        if (!isTooMuch) throw error
        span = (last - at + 1n) / 2n
      }
    }
    return true
  }

  return {
    async read(from, { latest, final }, signal) {
      const isGap = keptTo !== undefined && keptTo + 1n < from
      if (keptTo === undefined || from < first || isGap) {
        first = from
        kept = []
        keptTo = undefined
      }
      if (from > first) {
        first = from
        kept = kept.filter(({ blockNumber }) => blockNumber >= from)
      }
      const next = keptTo === undefined ? first : keptTo + 1n
      // A balanced endpoint may answer from a node that is behind what was read before: nothing more is final there.
      const isWhole = await pieces(next, final.number, signal, (events, last) => {
        kept.push(...events)
        keptTo = last
      })
      if (!isWhole) return undefined
      if (kept.length > MAX_EVENTS)
        throw unreadable(node.name, `more than ${MAX_EVENTS} events of one account`)
      const tail: OrderEvent[] = []
      const tailFrom = (keptTo ?? first - 1n) + 1n
      const isTailWhole = await pieces(tailFrom, latest.number, signal, (events) => void tail.push(...events))
      if (!isTailWhole) return undefined
      return [...kept.filter(({ blockNumber }) => blockNumber <= latest.number), ...tail]
    },
    keptTo: () => keptTo,
    reset() {
      keptTo = undefined
      kept = []
    },
  }
}

/** Events in chain order. Throws RangeError when a place comes twice. */
function inOrder(events: readonly OrderEvent[]): readonly OrderEvent[] {
  const sorted = [...events].sort((one, other) =>
    one.blockNumber === other.blockNumber
      ? one.logIndex - other.logIndex
      : one.blockNumber < other.blockNumber
        ? -1
        : 1,
  )
  for (const [index, event] of sorted.entries()) {
    const before = sorted[index - 1]
    if (before?.blockNumber === event.blockNumber && before.logIndex === event.logIndex) {
      throw new RangeError('two logs have one place')
    }
  }
  return sorted
}
