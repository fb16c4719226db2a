/** The gas facts of each chain, by its name. */
import type { ChainGas } from './gasFacts.ts'
import { type ChainName, chains } from './index.ts'

export type { ChainGas } from './gasFacts.ts'

/** The gas facts of each chain. */
export const chainGas = Object.fromEntries(
  Object.values(chains).map(({ name, gas }) => [name, gas]),
) as Readonly<Record<ChainName, ChainGas>>
