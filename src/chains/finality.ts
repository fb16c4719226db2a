/** When a block of a chain counts as final (docs/orders.md 3). */
import type { ChainName } from './chain.ts'

/** A tag of the endpoint, or a number of blocks behind its latest. */
export type Finality = 'latest' | 'safe' | 'finalized' | { readonly depth: number }

const required: Readonly<Record<ChainName, Finality>> = {
  // Posted to the parent chain. `latest` is the sequencer's promise, which can be taken back.
  arbitrum: 'safe',
  // Accepted blocks are final; endpoints behind a balancer may still differ by a block or two.
  avalanche: { depth: 3 },
  // Nothing is known of its tags in practice: the strictest.
  megaeth: 'finalized',
}

/** What evidence needs on a chain when nothing else is configured. */
export function requiredFinality(chain: ChainName): Finality {
  return required[chain]
}
