/** From configured addresses to a chain reader: the one place that knows both transports. */
import type { Clock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import { shownHost } from '../base/networkAddress.ts'
import type { Emit } from '../domain/event.ts'
import type { BlockRef } from '../domain/order/intent.ts'
import type { Address } from '../protocol/address.ts'
import type { Finality } from '../protocol/chains/finality.ts'
import { createEndpoint } from './endpoint.ts'
import { createChainReader, type EndpointsReader } from './endpointsReader.ts'
import type { FundingTokens } from './logs/executionLogs.ts'
import { createRowReader } from './node/blockRows.ts'
import { type ChainNode, createChainNode } from './node/node.ts'
import { createHttpTransport, type RpcFetch } from './wire/httpTransport.ts'
import { createRpcClient, type RpcTransport } from './wire/jsonRpc.ts'
import { createSocketTransport, type SocketTransport } from './wire/socketTransport.ts'

/** Addresses of the endpoints, and the connection's options. */
export interface ChainConnection {
  /** HTTP addresses. The WebSocket addresses are read from only when there are none. */
  readonly http: readonly string[]
  /** WebSocket addresses: they push heads. */
  readonly ws: readonly string[]
  readonly chainId: number
  readonly eventEmitter: Address
  /** Tokens of the chain's markets. */
  readonly markets: FundingTokens
  readonly wrappedNative: Address
  readonly multicall: Address
  readonly finality: Finality
  /** Longest wait for one answer, ms. */
  readonly timeoutMs: number
  /** Widest range of one `eth_getLogs`, blocks. */
  readonly maxLogSpan: number
  readonly clock: Clock
  readonly emit: Emit
  readonly fetch: RpcFetch
  /** Replaces the questions to an endpoint, as a backtest does that has the chain in its own process. */
  readonly around?: (node: ChainNode) => ChainNode
}

/** Calls of one batch: what common providers take. */
const BATCH_SIZE = 50
/** A look asks several questions, one after the other. */
const QUESTIONS_OF_A_LOOK = 4

/** Connects. Throws RangeError when no address is given. */
export function connectChain(connection: ChainConnection): EndpointsReader {
  const { http, ws, clock, emit, timeoutMs, around = (node) => node } = connection
  if (http.length + ws.length === 0) throw new RangeError('connectChain: no endpoint')
  const sockets = ws.map((url) => createSocketTransport(url, clock))
  const readsSockets = http.length === 0
  const transports: readonly RpcTransport[] = readsSockets
    ? sockets
    : http.map((url) => createHttpTransport(url, connection.fetch))
  const names = endpointNames(readsSockets ? ws : http)
  const endpoints = transports.map((transport, index) => {
    const client = createRpcClient(names[index] ?? '', transport, clock, { timeoutMs, batchSize: BATCH_SIZE })
    return createEndpoint(around(createChainNode(client, connection, connection.finality)), connection)
  })
  const reader = createChainReader({
    endpoints,
    clock,
    emit,
    pollTimeoutMs: QUESTIONS_OF_A_LOOK * timeoutMs,
    ...defined({ onHead: sockets.length === 0 ? undefined : headsOf(sockets) }),
  })
  return {
    ...reader,
    close() {
      reader.close()
      for (const socket of sockets) socket.close()
    },
  }
}

/** Heads of all sockets; what is no head is passed over, because it proves nothing and only wakes. */
function headsOf(sockets: readonly SocketTransport[]): NonNullable<EndpointsReader['onHead']> {
  const rows = createRowReader('ws')
  return (listener) => {
    const stops = sockets.map((socket) =>
      socket.onHead((value) => {
        let head: BlockRef
        try {
          head = rows.block(value)
        } catch {
          return
        }
        listener(head)
      }),
    )
    return () => {
      for (const stop of stops) stop()
    }
  }
}

/** Names of endpoints: host and port, and a number where two share them. Never more of an address: keys stand in paths, and in names of hosts, where they are hidden. */
export function endpointNames(urls: readonly string[]): readonly string[] {
  const hosts = urls.map((url) => shownHost(new URL(url).host))
  return hosts.map((host, index) => {
    const same = hosts.filter((other) => other === host).length
    return same === 1 ? host : `${host}#${hosts.slice(0, index + 1).filter((other) => other === host).length}`
  })
}
