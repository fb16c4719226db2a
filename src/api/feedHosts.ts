/** Public hosts of the pair feeds: data, like the hosts of a chain. */
import type { HostLists } from './hosts.ts'

/** The feed for listings is public; the Solana feed's address is not, so it has no default (gaps: "Solana feed host"). */
export const feedHosts: Pick<HostLists, 'pairFeed' | 'solanaFeed'> = {
  pairFeed: ['https://gmx-integration-cg.vercel.app'],
}
