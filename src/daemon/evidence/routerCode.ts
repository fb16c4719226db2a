/** Holds what stands at the router's address against what signatures are meant for, before anything is signed. */
import type { Fetch } from '../../api/transport/route.ts'
import { BaseError } from '../../base/errors.ts'
import { readContractCode } from '../../chain/contractCode.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { EvidenceChoice } from './evidenceSource.ts'
import { rpcClients } from './rpcClients.ts'

/**
 * Reads the code of the router of the key's mode from the HTTP endpoints that evidence is read from; gives what is to be told,
 * undefined without such endpoints.
 *
 * @throws CommandError when there is none, when endpoints disagree, or when it is not the pinned one
 */
export async function checkRouterCode(
  config: Config,
  evidence: EvidenceChoice,
  fetch: Fetch,
): Promise<{ readonly isWeak: boolean; readonly text: string } | undefined> {
  const { gelatoRelayRouter, subaccountGelatoRelayRouter } = config.venue.chain.contracts
  const router = config.account.owner === undefined ? gelatoRelayRouter : subaccountGelatoRelayRouter
  const { timeoutMs, routerCodeHash } = config.rpc
  const clients = rpcClients(evidence, timeoutMs, fetch)
  if (clients.length === 0) return undefined
  try {
    const { hash, silent } = await readContractCode(
      clients,
      router,
      routerCodeHash,
      new AbortController().signal,
    )
    if (silent.length > 0) {
      const text = `the code of the router ${router} was not checked at ${silent.join(', ')}: no response`
      return { isWeak: true, text }
    }
    const pin = routerCodeHash === undefined ? '; pin it with rpc.routerCodeHash' : ', as pinned'
    return { isWeak: false, text: `the router ${router} has code of the hash ${hash}${pin}` }
  } catch (error) {
    if (error instanceof BaseError) throw new CommandError(error.message, exitCodes.configuration)
    throw error
  }
}
