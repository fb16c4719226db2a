/** Collects the chain endpoints' statements about a sent removal, and every host's statement about the key. */
import { createNodeFetch } from '../../api/transport/nodeFetch.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { connect } from '../../daemon/evidence/connectChain.ts'
import { chooseEvidence } from '../../daemon/evidence/evidenceSource.ts'
import type { HostStatus } from '../../daemon/signers/keyStatuses.ts'
import type { ChainReader } from '../../domain/machine/chainReader.ts'
import { type Address, type Hex, ZERO_ADDRESS } from '../../protocol/address.ts'
import { columns } from '../output/table.ts'

/** Statement of the endpoints about a removal: it is used when all that answer have it in their newest block. */
export interface ChainStatement {
  readonly configured: number
  readonly answered: number
  readonly isUsed: boolean
}

/** The removal as the chain can be asked about it. */
export interface SentRemoval {
  readonly owner: Address
  readonly router: Address
  readonly digest: Hex
  readonly signature: Hex
  readonly deadlineSeconds: number
}

/** Asks the chain about a removal; undefined without endpoints, when only the hosts can tell. */
export async function queryChain(
  reader: ChainReader | undefined,
  { owner, ...removal }: SentRemoval,
): Promise<ChainStatement | undefined> {
  if (reader === undefined) return undefined
  // It makes and names no order, and no market: only its digest is asked for.
  const nothing = {
    orderKeys: [],
    transactionHashes: [],
    marketToken: ZERO_ADDRESS,
    indexTokenDecimals: 18,
  }
  const [view] = await reader.poll([{ account: owner, ...removal, ...nothing }])
  const endpoints = view?.endpoints ?? []
  return {
    configured: reader.configured,
    answered: endpoints.length,
    isUsed: endpoints.length > 0 && endpoints.every((each) => each.isDigestUsedAtLatest),
  }
}

/** The configured chain endpoints for as long as `use` takes; none without a setting. Throws CommandError for another chain's. */
export async function withChain<T>(
  config: Config,
  use: (reader: ChainReader | undefined) => Promise<T>,
): Promise<T> {
  const closers: (() => void)[] = []
  const { fetch, close } = createNodeFetch()
  try {
    const evidence = chooseEvidence(config, undefined)
    return await use(
      await connect(config, evidence, { clock: systemClock, emit: () => undefined, fetch }, closers),
    )
  } finally {
    for (const closer of closers) closer()
    close()
  }
}

/** All of it in columns. */
export function approvalStatusText(
  looks: readonly HostStatus[],
  owner: Address,
  subaccount: Address,
  chain?: ChainStatement,
): string {
  const word =
    chain === undefined
      ? []
      : [
          [
            'the chain',
            `the removal is ${chain.isUsed ? '' : 'not '}used (${chain.answered} of ${chain.configured} endpoints)`,
          ],
        ]
  return columns([
    ['owner', owner],
    ['delegated key', subaccount],
    ...looks.map(({ host, status }) => [
      host,
      status === undefined ? 'did not answer' : status.isActive ? 'approved' : 'not approved',
    ]),
    ...word,
  ])
}
