/** When a block of a chain counts as final (docs/reference/evidence.md, "What closes an order"): a tag of the endpoint, or a number of blocks behind its latest. */
export type Finality = 'latest' | 'safe' | 'finalized' | { readonly depth: number }
