/** The chains by name. Paper is no chain: it is a real chain's facts with hosts on this machine. */
import { arbitrum } from './arbitrum.ts'
import { avalanche } from './avalanche.ts'
import type { ChainFacts } from './chainFacts.ts'
import { megaeth } from './megaeth.ts'

const all = { arbitrum, avalanche, megaeth } as const

/** Names of the chains the venue runs on. */
export type ChainName = keyof typeof all

/** Facts of one of the chains. */
export type Chain = ChainFacts<ChainName>

/** All chains. */
export const chains: Readonly<Record<ChainName, Chain>> = all

/** All names, in the order of the list. */
export const chainNames = Object.keys(chains) as readonly ChainName[]

/** The chain of that name, or undefined. */
export function chainNamed(name: string): Chain | undefined {
  return Object.hasOwn(chains, name) ? chains[name as ChainName] : undefined
}
