/** Reads the facts that an approval is built on: the key's used actions and the owner's next nonce, by the chain or by all hosts. */
import type { Api } from '../../api/client.ts'
import { createNodeFetch } from '../../api/transport/nodeFetch.ts'
import type { Clock } from '../../base/clock.ts'
import { BaseError } from '../../base/errors.ts'
import { type ApprovalCounts, readApprovalCounts } from '../../chain/approvalCounts.ts'
import { endpointNames } from '../../chain/connectEndpoints.ts'
import { createHttpTransport } from '../../chain/wire/httpTransport.ts'
import { createRpcClient } from '../../chain/wire/jsonRpc.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { Address } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { statusAtAll } from './keyStatuses.ts'

/** Used actions and next nonce, and their source. */
export interface ApprovalFacts extends ApprovalCounts {
  /** As `the chain (2 endpoints)` or `2 hosts`. */
  readonly by: string
  /** True when the chain reports them; hosts alone may all be wrong. */
  readonly isProven: boolean
}

/** A source that is asked; no counts when it did not answer. */
interface HostStatement {
  readonly name: string
  readonly counts: ApprovalCounts | undefined
}

/** Sources of the facts. */
export interface ApprovalSources {
  readonly chain: Chain
  readonly api: Api
  /** HTTP endpoints of the chain; the hosts of the api are asked where there is none. */
  readonly urls: readonly string[]
  /** Longest wait for one response of an endpoint, ms. */
  readonly timeoutMs: number
  readonly clock: Clock
}

/** Sources may be seconds apart while the key trades. */
const tries = 3
const pauseMs = 1_500

/**
 * Reads the facts from every configured HTTP endpoint, or without one from every host.
 *
 * @throws CommandError when one of them does not answer, or they do not agree: nothing may be signed then.
 */
export async function approvalFacts(
  sources: ApprovalSources,
  parties: { readonly owner: Address; readonly subaccount: Address },
): Promise<ApprovalFacts> {
  const { api, urls } = sources
  const isProven = urls.length > 0
  const ask = isProven ? () => askEndpoints(sources, parties) : () => askHosts(api, parties)
  for (let left = tries; ; left -= 1) {
    const words = await ask()
    const [first] = words
    if (first?.counts !== undefined && words.every((word) => isSame(word.counts, first.counts))) {
      const count = `${words.length} ${isProven ? 'endpoint' : 'host'}${words.length === 1 ? '' : 's'}`
      return { ...first.counts, by: isProven ? `the chain (${count})` : count, isProven }
    }
    if (left <= 1) throw disagreement(words, isProven)
    await sources.clock.sleep(pauseMs)
  }
}

function isSame(one: ApprovalCounts | undefined, other: ApprovalCounts | undefined): boolean {
  return one !== undefined && one.usedActions === other?.usedActions && one.nonce === other.nonce
}

function disagreement(words: readonly HostStatement[], isProven: boolean): CommandError {
  const rows = words.map(
    ({ name, counts }) =>
      `  ${name}: ${counts === undefined ? 'did not answer' : `${counts.usedActions} actions used, next nonce ${counts.nonce}`}`,
  )
  const advice = isProven
    ? 'Remove an endpoint that is down or wrong (rpc.http), or retry in a minute.'
    : 'Configure a chain endpoint, which decides instead: rpc.http. If the key is trading: perpd trading halted, and retry in a minute.'
  return new CommandError(
    `${isProven ? 'The endpoints' : 'The hosts'} disagree on the number of used actions, from which the approval counts. Nothing was signed.\n${rows.join('\n')}\n  ${advice}`,
    exitCodes.error,
  )
}

async function askHosts(
  api: Api,
  { owner, subaccount }: { readonly owner: Address; readonly subaccount: Address },
): Promise<readonly HostStatement[]> {
  const looks = await statusAtAll(api, owner, subaccount)
  return looks.map(({ host, status }) => ({
    name: host,
    counts:
      status === undefined
        ? undefined
        : { usedActions: status.currentActionsCount, nonce: status.approvalNonce },
  }))
}

async function askEndpoints(
  { chain, urls, timeoutMs, clock }: ApprovalSources,
  parties: { readonly owner: Address; readonly subaccount: Address },
): Promise<readonly HostStatement[]> {
  const names = endpointNames(urls)
  const { fetch, close } = createNodeFetch()
  try {
    return await Promise.all(
      urls.map(async (url, at) => {
        const name = names[at] ?? ''
        const transport = createHttpTransport(url, fetch)
        const client = createRpcClient(name, transport, clock, { timeoutMs, batchSize: 3 })
        try {
          const { signal } = new AbortController()
          return { name, counts: await readApprovalCounts(client, chain, parties, signal) }
        } catch (error) {
          if (!(error instanceof BaseError)) throw error
          return { name, counts: undefined }
        }
      }),
    )
  } finally {
    close()
  }
}
