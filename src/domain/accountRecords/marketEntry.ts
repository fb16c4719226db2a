/**
 * Journal records about markets' facts: hosts that contradicted them and how that was settled, and unshipped markets that an operator trusts. They
 * are records of the account, like halts and discrepancies.
 */
import { type Address, hexKey } from '../../protocol/address.ts'
import type { MarketFacts, TokenFacts } from '../../protocol/catalogue.ts'

/** A host's row that contradicts the facts of a market or of a token. */
export interface Contradiction {
  readonly host: string
  /** The market token or the token that it is about. */
  readonly address: Address
  /** One clause, with the host's statement and the correct fact. */
  readonly statement: string
}

/** Persisted content: the part of an account's record that is not its stamp. */
export type MarketEntry =
  | { readonly kind: 'market.contradicted'; readonly contradictions: readonly Contradiction[] }
  | {
      readonly kind: 'market.settled'
      readonly contradictions: readonly Contradiction[]
      /** The operator who resumed the market although the host maintains its statement; absent once the host has dropped it. */
      readonly by?: string
    }
  | {
      readonly kind: 'market.trusted'
      readonly market: MarketFacts
      /** Tokens of the market that are not shipped. */
      readonly tokens: readonly TokenFacts[]
      readonly by: string
    }

/** Kinds of the entries above. */
export const marketKinds = [
  'market.contradicted',
  'market.settled',
  'market.trusted',
] as const satisfies readonly MarketEntry['kind'][]

/** The fold of a journal's entries. */
export interface MarketFold {
  /** Open contradictions, by `contradictionKey`, with the Unix ms of the record. */
  readonly open: ReadonlyMap<string, Contradiction & { readonly sinceMs: number }>
  /** Contradictions that an operator accepted: their statements, by `contradictionKey`. */
  readonly accepted: ReadonlyMap<string, string>
  /** By lower-cased address. */
  readonly markets: ReadonlyMap<string, MarketFacts & { readonly by: string }>
  readonly tokens: ReadonlyMap<string, TokenFacts>
}

/** Before the first entry. */
export const emptyMarketFold: MarketFold = {
  open: new Map(),
  accepted: new Map(),
  markets: new Map(),
  tokens: new Map(),
}

/** Returns the key of a contradiction in maps: host and subject. */
export function contradictionKey({
  host,
  address,
}: {
  readonly host: string
  readonly address: Address
}): string {
  return `${host} ${hexKey(address)}`
}

/** The fold after one more entry of `atMs`. Pure. */
export function applyMarketEntry(fold: MarketFold, entry: MarketEntry, atMs: number): MarketFold {
  if (entry.kind === 'market.trusted') {
    const { market, by } = entry
    const tokens = entry.tokens.map((token) => [hexKey(token.address), token] as const)
    return {
      ...fold,
      markets: new Map(fold.markets).set(hexKey(market.marketToken), { ...market, by }),
      tokens: new Map([...fold.tokens, ...tokens]),
    }
  }
  const open = new Map(fold.open)
  const accepted = new Map(fold.accepted)
  for (const contradiction of entry.contradictions) {
    const key = contradictionKey(contradiction)
    if (entry.kind === 'market.contradicted') open.set(key, { ...contradiction, sinceMs: atMs })
    else open.delete(key)
    if (entry.kind === 'market.settled' && entry.by !== undefined) accepted.set(key, contradiction.statement)
  }
  return { ...fold, open, accepted }
}
