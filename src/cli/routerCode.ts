/** Holds what stands at the router's address against what signatures are meant for, before anything is signed. */
import type { Fetch } from '../api/route.ts'
import { systemClock } from '../api/systemClock.ts'
import { BaseError } from '../domain/errors.ts'
import { endpointNames } from '../evm/connect.ts'
import { readContractCode } from '../evm/contractCode.ts'
import { createHttpTransport } from '../evm/httpTransport.ts'
import { createRpcClient } from '../evm/jsonRpc.ts'
import type { Config } from './config/types.ts'
import type { EvidenceChoice } from './evidence.ts'
import { CommandError, exitCodes } from './exit.ts'

/**
 * Reads the code of the router of the key's mode from the HTTP endpoints that evidence is read from; gives what is to be told,
 * undefined without such endpoints.
 *
 * @throws CommandError when there is none, when endpoints disagree, or when it is not the pinned one
 */
export async function checkRouterCode(
  config: Pick<Config, 'venue' | 'account' | 'rpc'>,
  evidence: Pick<EvidenceChoice, 'http'>,
  fetch: Fetch,
): Promise<{ readonly isWeak: boolean; readonly text: string } | undefined> {
  const { gelatoRelayRouter, subaccountGelatoRelayRouter } = config.venue.chain.contracts
  const router = config.account.owner === undefined ? gelatoRelayRouter : subaccountGelatoRelayRouter
  const urls = evidence.http.map((url) => url.reveal())
  if (urls.length === 0) return undefined
  const names = endpointNames(urls)
  const { timeoutMs, routerCodeHash } = config.rpc
  const clients = urls.map((url, index) =>
    createRpcClient(names[index] ?? '', createHttpTransport(url, fetch), systemClock, {
      timeoutMs,
      batchSize: 1,
    }),
  )
  try {
    const { hash, silent } = await readContractCode(
      clients,
      router,
      routerCodeHash,
      new AbortController().signal,
    )
    if (silent.length > 0) {
      const text = `the code of the router ${router} was not checked at ${silent.join(', ')}: no answer`
      return { isWeak: true, text }
    }
    const pin = routerCodeHash === undefined ? '; pin it with rpc.routerCodeHash' : ', as pinned'
    return { isWeak: false, text: `the router ${router} has code of the hash ${hash}${pin}` }
  } catch (error) {
    if (error instanceof BaseError) throw new CommandError(error.message, exitCodes.configuration)
    throw error
  }
}
