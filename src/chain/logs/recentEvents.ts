/**
 * Accounts with an event of an order in the newest minutes, at one endpoint. Each look reads all of these minutes again: the index behind an endpoint may
 * be behind its own blocks, so what one look misses the next may show.
 */
import type { BlockRef } from '../../domain/order/intent.ts'
import { type Address, hexKey } from '../../protocol/address.ts'
import type { ChainNode } from '../node/node.ts'
import { unreadable } from '../wire/jsonRpc.ts'
import { MOST_ACCOUNTS } from './gatherLogs.ts'
import { addressTopic, isOrderLog, orderTopics } from './orderLogs.ts'

/** Time that a look reaches back from the newest block, seconds of the chain's time. */
const RECENT_SECONDS = 120
/** A look that would have to reach back farther than this, because the last one is long ago, reads nothing, seconds. */
const FARTHEST_SECONDS = 2 * RECENT_SECONDS

/** Events of orders in the newest two minutes. */
export interface RecentEvents {
  /** Time of the newest block, of several endpoints the oldest of theirs, Unix seconds. */
  readonly throughSeconds: number
  /** Accounts with an event by any endpoint, in lower case. */
  readonly active: ReadonlySet<string>
}

/** Looks for events of accounts; undefined while the endpoint was not looked at for long enough. Rejects as the endpoint's questions do. */
export type ReadRecentEvents = (
  accounts: readonly Address[],
  signal: AbortSignal,
) => Promise<RecentEvents | undefined>

/** Makes the look at one endpoint. `maxSpan` is the widest range of one question, blocks. */
export function createRecentEvents(node: ChainNode, emitter: Address, maxSpan: number): ReadRecentEvents {
  /** Newest blocks of earlier looks, oldest first: they say which block is as old as a look reaches back. */
  let heads: readonly BlockRef[] = []

  async function activeOf(
    accounts: readonly Address[],
    { from, to }: { readonly from: bigint; readonly to: bigint },
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const [one, ...others] = accounts
    if (one === undefined) return []
    const rows = await node.logs({ address: emitter, topics: orderTopics(one, ...others), from, to }, signal)
    const byTopic = new Map(accounts.map((account) => [addressTopic(account), account]))
    return rows.map((row) => {
      const account = byTopic.get(row.topics[3] ?? '0x')
      if (account === undefined || !isOrderLog(row, emitter, account))
        throw unreadable(node.name, 'a log was not asked for')
      return hexKey(account)
    })
  }

  return async (accounts, signal) => {
    const latest = await node.latest(signal)
    const newest = heads.at(-1)
    const isAfter = newest === undefined || latest.number > newest.number
    // The chain's time does not go back: one of the two was not of this chain.
    if (isAfter && newest !== undefined && latest.timestampSeconds < newest.timestampSeconds) heads = []
    if (isAfter) heads = [...heads, latest]
    const at = heads.findLastIndex(
      ({ timestampSeconds }) => timestampSeconds <= latest.timestampSeconds - RECENT_SECONDS,
    )
    const first = heads[at]
    if (first === undefined) return undefined
    heads = heads.slice(at)
    const isFar = first.timestampSeconds < latest.timestampSeconds - FARTHEST_SECONDS
    if (isFar || latest.number - first.number > BigInt(maxSpan)) return undefined
    const active = new Set<string>()
    for (let next = 0; next < accounts.length; next += MOST_ACCOUNTS) {
      const range = { from: first.number + 1n, to: latest.number }
      const found = await activeOf(accounts.slice(next, next + MOST_ACCOUNTS), range, signal)
      for (const account of found) active.add(account)
    }
    return { throughSeconds: latest.timestampSeconds, active }
  }
}
