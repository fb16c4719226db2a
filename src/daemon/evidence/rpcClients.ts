/** Clients of the HTTP endpoints that evidence is read from, for single questions beside the chain reader. */
import type { Fetch } from '../../api/transport/route.ts'
import { systemClock } from '../../base/systemClock.ts'
import { endpointNames } from '../../chain/connectEndpoints.ts'
import { createHttpTransport } from '../../chain/wire/httpTransport.ts'
import { createRpcClient, type RpcClient } from '../../chain/wire/jsonRpc.ts'
import type { EvidenceChoice } from './evidenceSource.ts'

/** One client an endpoint; none without HTTP endpoints. */
export function rpcClients(evidence: EvidenceChoice, timeoutMs: number, fetch: Fetch): readonly RpcClient[] {
  const urls = evidence.http.map((url) => url.reveal())
  const names = endpointNames(urls)
  return urls.map((url, index) =>
    createRpcClient(names[index] ?? '', createHttpTransport(url, fetch), systemClock, {
      timeoutMs,
      batchSize: 1,
    }),
  )
}
