/** When a block of a chain counts as final (docs/orders.md 3). */
/** A tag of the endpoint, or a number of blocks behind its latest. */
export type Finality = 'latest' | 'safe' | 'finalized' | { readonly depth: number }

/** A finality in words, as `safe` or `3 blocks behind latest`. */
export function finalityText(finality: Finality): string {
  return typeof finality === 'string' ? finality : `${finality.depth} blocks behind latest`
}
