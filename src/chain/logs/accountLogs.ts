/**
 * Order events of one account at one endpoint, since the oldest block that is still of interest. What is in final blocks is
 * kept; what is above them is read anew in every look, because a reorganisation may have changed it. However many orders
 * are open, a look costs one `eth_getLogs`, which several accounts share (`gatherLogs.ts`).
 *
 * An answer without events is no proof that there are none: the index behind an endpoint may be behind its own blocks, or a
 * part of it down. So what is kept is read again after a while, one question a look.
 */
import { BaseError } from '../../base/errors.ts'
import type { Address } from '../../protocol/address.ts'
import type { Heads } from '../node/node.ts'
import { unreadable } from '../wire/jsonRpc.ts'
import type { AskLogs } from './gatherLogs.ts'
import { type OrderEvent, orderEventOf } from './orderLogs.ts'

/** Most questions of one look; a longer past is read over several looks. */
const MAX_QUESTIONS = 40
/** Narrowest range that is asked for after refusals, blocks. */
const MIN_SPAN = 64n
/** Most events that are kept of one account: some 20,000 orders. */
const MAX_EVENTS = 60_000
/** Ages at which final blocks are read again, seconds of the chain's time: at the latest when they are twice as old. */
const AGAIN_SECONDS = [60, 180, 3_600]

/** An account's events at an endpoint. */
export interface AccountLogs {
  /**
   * All events from `from` to the latest block, in chain order; undefined while the past is still being read.
   *
   * @throws BaseError as the endpoint's questions do
   */
  read(from: bigint, heads: Heads, ask: AskLogs): Promise<readonly OrderEvent[] | undefined>
  /** Forgets everything: what counted as final was not, or events were missing. */
  reset(): void
}

/** A repeated reading of what is kept. */
interface Pass {
  readonly ageSeconds: number
  /** First block that it has not read; undefined before anything is kept. */
  next: bigint | undefined
  /** Last block to read, and the time when it is due; undefined between two goals. */
  goal: { readonly to: bigint; readonly dueSeconds: number } | undefined
}

/** Makes the memory of one account at the endpoint of a name. `maxSpan` is the widest range of one question, blocks. */
export function createAccountLogs(
  endpoint: string,
  emitter: Address,
  account: Address,
  maxSpan: number,
): AccountLogs {
  let first = 0n
  /** Newest block that is read for good; undefined while nothing is. */
  let keptTo: bigint | undefined
  let kept: readonly OrderEvent[] = []
  /** Only ever narrowed: an endpoint's limits do not change, and each try beyond them is a question lost. */
  let span = BigInt(maxSpan)
  const passes = AGAIN_SECONDS.map((ageSeconds): Pass => ({ ageSeconds, next: undefined, goal: undefined }))

  function reset(): void {
    keptTo = undefined
    kept = []
    for (const pass of passes) {
      pass.next = undefined
      pass.goal = undefined
    }
  }

  /** Reads a piece of what a pass is due for, in the place of what was read of it before. */
  async function readAgain(pass: Pass, nowSeconds: number, ask: AskLogs): Promise<void> {
    let at = pass.next === undefined || pass.next < first ? first : pass.next
    if (pass.goal === undefined) {
      if (keptTo !== undefined && keptTo >= at)
        pass.goal = { to: keptTo, dueSeconds: nowSeconds + pass.ageSeconds }
      return
    }
    const { to, dueSeconds } = pass.goal
    // The endpoint's time went back, so what was due by the time before would wait for long.
    if (dueSeconds > nowSeconds + pass.ageSeconds)
      pass.goal = { to, dueSeconds: nowSeconds + pass.ageSeconds }
    if (nowSeconds < dueSeconds) return
    await pieces(at, at + span - 1n < to ? at + span - 1n : to, ask, (events, last) => {
      const others = kept.filter(({ blockNumber }) => blockNumber < at || blockNumber > last)
      kept = inOrder([...others, ...events])
      at = last + 1n
      pass.next = at
    })
    if (at > to) pass.goal = undefined
  }

  async function question(from: bigint, to: bigint, ask: AskLogs): Promise<readonly OrderEvent[]> {
    const rows = await ask({ account, from, to })
    try {
      return inOrder(rows.map((row) => orderEventOf(row, emitter, account)))
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw unreadable(endpoint, error.message)
    }
  }

  /** Reads a range piece by piece; `take` is given each piece with its last block. False when the questions ran out. */
  async function pieces(
    from: bigint,
    to: bigint,
    ask: AskLogs,
    take: (events: readonly OrderEvent[], last: bigint) => void,
  ): Promise<boolean> {
    let at = from
    for (let asked = 0; at <= to; asked += 1) {
      if (asked >= MAX_QUESTIONS) return false
      const last = at + span - 1n < to ? at + span - 1n : to
      try {
        take(await question(at, last, ask), last)
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
    async read(from, { latest, final }, ask) {
      const isGap = keptTo !== undefined && keptTo + 1n < from
      if (keptTo === undefined || from < first || isGap) {
        reset()
        first = from
      }
      if (from > first) {
        first = from
        kept = kept.filter(({ blockNumber }) => blockNumber >= from)
      }
      const next = keptTo === undefined ? first : keptTo + 1n
      // A balanced endpoint may answer from a node that is behind what was read before: nothing more is final there.
      const isWhole = await pieces(next, final.number, ask, (events, last) => {
        kept = [...kept, ...events]
        keptTo = last
      })
      if (!isWhole) return undefined
      for (const pass of passes) await readAgain(pass, latest.timestampSeconds, ask)
      if (kept.length > MAX_EVENTS)
        throw unreadable(endpoint, `more than ${MAX_EVENTS} events of one account`)
      const tail: OrderEvent[] = []
      const tailFrom = (keptTo ?? first - 1n) + 1n
      const isTailWhole = await pieces(tailFrom, latest.number, ask, (events) => void tail.push(...events))
      if (!isTailWhole) return undefined
      return [...kept.filter(({ blockNumber }) => blockNumber <= latest.number), ...tail]
    },
    reset,
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
