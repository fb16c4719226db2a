/** The chains by name. Paper is no chain: it is a real chain's facts with hosts on this machine. */
import { arbitrum } from './arbitrum.ts'
import { avalanche } from './avalanche.ts'
import type { Chain, ChainName } from './chain.ts'
import { megaeth } from './megaeth.ts'

/** All chains. */
export const chains: Readonly<Record<ChainName, Chain>> = { arbitrum, avalanche, megaeth }

/** The chain of that name, or undefined. */
export function chainNamed(name: string): Chain | undefined {
  return Object.hasOwn(chains, name) ? chains[name as ChainName] : undefined
}
