/** Types of a chain, for all readers of its facts; `index.ts` lists the chains themselves. */
export type { Contracts } from './chainFacts.ts'
export type { Chain, ChainName } from './index.ts'
