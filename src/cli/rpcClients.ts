/** Clients of the HTTP endpoints that evidence is read from, for single questions beside the chain reader. */
import type { Fetch } from '../api/route.ts'
import { systemClock } from '../api/systemClock.ts'
import { endpointNames } from '../evm/connect.ts'
import { createHttpTransport } from '../evm/httpTransport.ts'
import { createRpcClient, type RpcClient } from '../evm/jsonRpc.ts'
import type { EvidenceChoice } from './evidence.ts'

/** One client an endpoint; none without HTTP endpoints. */
export function rpcClients(
  evidence: Pick<EvidenceChoice, 'http'>,
  timeoutMs: number,
  fetch: Fetch,
): readonly RpcClient[] {
  const urls = evidence.http.map((url) => url.reveal())
  const names = endpointNames(urls)
  return urls.map((url, index) =>
    createRpcClient(names[index] ?? '', createHttpTransport(url, fetch), systemClock, {
      timeoutMs,
      batchSize: 1,
    }),
  )
}
