/**
 * Accounts that nothing happened to, by every endpoint: the accounts of a process are looked up together, so that it costs the endpoints the same for many as
 * for two. Nobody waits for a look. Whoever asks gets the result of the last one, and begins the next when that is due.
 */
import { ageMsOf, type Clock, type Moment, momentOf } from '../base/clock.ts'
import type { ChainReader } from '../domain/machine/chainReader.ts'
import { type Address, hexKey } from '../protocol/address.ts'
import type { EndpointsReader } from './endpointsReader.ts'

/** Time between the beginnings of two looks, ms. */
const BETWEEN_MS = 2_500
/** Pause after a look that showed nothing: endpoints that refuse such questions would refuse each, ms. */
const AFTER_NOTHING_MS = 10_000
/** Time after its last question for which an account is looked up, ms. */
const ASKS_MS = 60_000

/** Begins to look once two accounts ask: one alone costs its endpoints nothing. */
export function createQuietAccounts(
  recentEvents: EndpointsReader['recentEvents'],
  clock: Clock,
): NonNullable<ChainReader['quietAgoMs']> {
  const asking = new Map<string, { readonly account: Address; readonly atMs: number }>()
  let seen: { readonly at: Moment; readonly quiet: ReadonlySet<string> } | undefined
  let isLooking = false
  let nextMs = Number.NEGATIVE_INFINITY

  async function look(accounts: readonly Address[]): Promise<void> {
    const begun = momentOf(clock)
    const found = await recentEvents(accounts)
    if (found === undefined) {
      seen = undefined
      nextMs = clock.monotonicMs() + AFTER_NOTHING_MS
      return
    }
    // An endpoint that stands still shows nothing of what came after its newest block.
    const agoMs = Math.max(ageMsOf(begun, clock), clock.now() - found.throughSeconds * 1_000)
    const quiet = accounts.map(hexKey).filter((account) => !found.active.has(account))
    seen = { at: momentOf(clock, agoMs), quiet: new Set(quiet) }
  }

  return (account) => {
    const nowMs = clock.monotonicMs()
    asking.set(hexKey(account), { account, atMs: nowMs })
    for (const [key, { atMs }] of asking) if (nowMs - atMs > ASKS_MS) asking.delete(key)
    if (!isLooking && asking.size > 1 && nowMs >= nextMs) {
      isLooking = true
      nextMs = nowMs + BETWEEN_MS
      look([...asking.values()].map((each) => each.account))
        // A mistake of ours in here costs requests to the hosts, and no account its trader.
        .catch(() => {
          seen = undefined
          nextMs = Number.POSITIVE_INFINITY
        })
        .finally(() => {
          isLooking = false
        })
    }
    return seen?.quiet.has(hexKey(account)) === true ? ageMsOf(seen.at, clock) : undefined
  }
}
