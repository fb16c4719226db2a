/**
 * Remembers identities that may occur only once in a journal, ever: decisions of a strategy, digests for a router, orders that an intent created.
 * Each record is checked against them before it is written, so all are in memory: some 300 bytes for an order.
 */
import type { JournalRecord } from '../domain/records.ts'
import { hexKey } from '../protocol/address.ts'
import { encodePart, type Identities } from './ledgerState.ts'

/** All that came, and what of it came since the newest snapshot. */
export interface IdentitySet {
  add(record: JournalRecord): void
  hasDecision(strategy: string, decisionKey: string): boolean
  /** The intent that armed this digest for this router, if any. */
  digestOwner(router: string, digest: string): string | undefined
  /** Tells whether this intent armed this digest, for any router. */
  hasArmed(intentId: string, digest: string): boolean
  /** The intents that created this order: more than one where it was seen for two. */
  creatorsOf(orderKey: string): readonly string[]
  /** Text of what came since `kept` was called. */
  part(): string
  kept(): void
}

/** Goes on from the parts of a snapshot, or from nothing. */
export function createIdentities(parts: readonly Identities[]): IdentitySet {
  const decisions = new Map<string, Set<string>>()
  const digests = new Map<string, Map<string, string>>()
  const creators = new Map<string, string | readonly string[]>()
  let added = nothing()

  function creatorsOf(orderKey: string): readonly string[] {
    const found = creators.get(orderKey)
    return typeof found === 'string' ? [found] : (found ?? [])
  }

  function rememberOrder(orderKey: string, intentId: string, known = creatorsOf(orderKey)): void {
    creators.set(orderKey, known.length > 0 ? [...known, intentId] : intentId)
  }

  for (const part of parts) {
    for (const [strategy, keys] of Object.entries(part.decisions)) {
      const known = held(decisions, strategy, () => new Set())
      for (const key of keys) known.add(key)
    }
    for (const [router, pairs] of Object.entries(part.digests)) {
      const known = held(digests, router, () => new Map())
      for (const [digest, intentId] of pairsOf(pairs)) known.set(digest, intentId)
    }
    for (const [orderKey, intentId] of pairsOf(part.orders)) rememberOrder(orderKey, intentId)
  }

  return {
    add(record) {
      const { intentId } = record
      if (record.kind === 'intent.accepted') {
        const { strategy, decisionKey } = record.intent
        held(decisions, strategy, () => new Set()).add(decisionKey)
        held(added.decisions, strategy, () => []).push(decisionKey)
      } else if (record.kind === 'attempt.armed') {
        const router = hexKey(record.armed.router)
        const digest = hexKey(record.armed.digest)
        held(digests, router, () => new Map()).set(digest, intentId)
        held(added.digests, router, () => []).push(digest, intentId)
      } else if (record.kind === 'landed') {
        for (const named of record.orderKeys) {
          const orderKey = hexKey(named)
          // A landing that is confirmed names its orders again.
          const known = creatorsOf(orderKey)
          if (known.includes(intentId)) continue
          rememberOrder(orderKey, intentId, known)
          added.orders.push(orderKey, intentId)
        }
      }
    },
    hasDecision: (strategy, decisionKey) => decisions.get(strategy)?.has(decisionKey) === true,
    digestOwner: (router, digest) => digests.get(hexKey(router))?.get(hexKey(digest)),
    hasArmed: (intentId, digest) =>
      [...digests.values()].some((ofRouter) => ofRouter.get(hexKey(digest)) === intentId),
    creatorsOf: (orderKey) => creatorsOf(hexKey(orderKey)),
    part: () =>
      encodePart({
        decisions: Object.fromEntries(added.decisions),
        digests: Object.fromEntries(added.digests),
        orders: added.orders,
      }),
    kept() {
      added = nothing()
    },
  }
}

function nothing() {
  return {
    decisions: new Map<string, string[]>(),
    digests: new Map<string, string[]>(),
    orders: [] as string[],
  }
}

function held<V>(map: Map<string, V>, key: string, make: () => V): V {
  const found = map.get(key)
  if (found !== undefined) return found
  const made = make()
  map.set(key, made)
  return made
}

function* pairsOf(flat: readonly string[]): Iterable<readonly [string, string]> {
  for (let at = 0; at + 1 < flat.length; at += 2) yield [flat[at] ?? '', flat[at + 1] ?? '']
}
