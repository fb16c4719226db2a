/** The JSON-RPC endpoints over HTTP. */
import type { Hono } from 'hono'
import { endpointState, RPC_ENDPOINTS, rpcHostOf, rpcPathOf } from '../state/rpcEndpoints.ts'
import type { VenueState } from '../state/venueState.ts'
import type { Faults } from '../venue/venueFaults.ts'
import { answerRpc, MAX_REQUEST_LENGTH } from './jsonRpcServer.ts'

/** Parts that answer the requests to an endpoint. */
export interface RpcSource {
  readonly venueState: VenueState
  readonly faults: Faults
  /** Drops the connection when a fault says so. */
  readonly cut: () => never
}

/** The text that an endpoint answers a body with. */
export async function rpcText(
  { venueState, faults, cut }: RpcSource,
  index: number,
  body: string,
): Promise<string> {
  if (faults.down.includes(rpcHostOf(index))) cut()
  if (faults.latencyMs > 0) await venueState.clock.sleep(faults.latencyMs)
  return answerRpc(endpointState(venueState, index), body) ?? ''
}

/** Answers `POST /rpc` and `/rpc/1`. */
export function mountRpc(
  app: Hono,
  options: RpcSource & { readonly answer: (status: number, text: string) => Response },
): void {
  const { faults, cut, answer } = options
  for (let index = 0; index < RPC_ENDPOINTS; index += 1) {
    const path = rpcPathOf('rpc', index)
    app.post(path, async (context) => {
      if (faults.down.includes(rpcHostOf(index))) cut()
      const length = Number(context.req.header('content-length') ?? 0)
      if (length > MAX_REQUEST_LENGTH) return answer(413, '{"message":"request too large"}')
      return answer(200, await rpcText(options, index, await context.req.text()))
    })
    app.get(path, () => answer(405, '{"message":"JSON-RPC takes POST"}'))
  }
}
