/** What a chain is, for all who read its facts; the chains themselves are listed in `index.ts`. */
export type { Contracts } from './chainFacts.ts'
export type { Chain, ChainName } from './index.ts'
