/** The JSON-RPC endpoint over WebSocket: calls as over HTTP, and subscriptions. */
import type { Server } from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import { rpcCodes } from '../blocks/rpcError.ts'
import { stringify } from '../http/http.ts'
import { refuseSocket } from '../http/portFailures.ts'
import { answerRpc, MAX_REQUEST_LENGTH } from '../rpc/jsonRpcServer.ts'
import { createSubscriptions, type Subscriptions } from '../rpc/rpcSubscriptions.ts'
import { endpointState, rpcHostOf } from '../state/rpcEndpoints.ts'
import type { Venue } from './venue.ts'

/** Most connections at once, over all venues of a port. */
const MAX_CONNECTIONS = 1000
/** Bytes that a client may leave unread before it is cut off. */
const MAX_UNREAD_BYTES = 32 * 1024 * 1024

/** The sockets of a port. */
export interface Sockets {
  /** Tells all subscribers what has happened; the venues must have been brought to the present. */
  tell(): void
  /** Cuts every connection. */
  close(): void
}

interface Connection {
  readonly socket: WebSocket
  readonly venue: Venue
  /** Which of the venue's endpoints. */
  readonly endpoint: number
  readonly subscriptions: Subscriptions
}

/** Takes WebSocket connections on a server, by path. */
export function serveSockets(
  server: Server,
  venues: readonly Venue[],
  onError: (error: unknown) => void,
): Sockets {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_REQUEST_LENGTH })
  const connections = new Set<Connection>()

  const attempt = (work: () => void): void => {
    try {
      work()
    } catch (error) {
      onError(error)
    }
  }
  const answer = async (
    { venue, endpoint, socket, subscriptions }: Connection,
    text: string,
  ): Promise<void> => {
    const { venueState, faults } = venue
    if (faults.latencyMs > 0) await venueState.clock.sleep(faults.latencyMs)
    let answered: string | undefined
    try {
      answered = answerRpc(endpointState(venueState, endpoint), text, subscriptions.methods)
    } catch (error) {
      onError(error)
      const failed = { code: rpcCodes.internal, message: 'internal error' }
      answered = stringify({ jsonrpc: '2.0', id: null, error: failed })
    }
    if (answered !== undefined && socket.readyState === socket.OPEN) socket.send(answered)
  }

  server.on('upgrade', (request, socket, head) => {
    const path = (request.url ?? '').replace(/\?.*$/, '')
    const venue = venues.find(({ paths }) => paths.ws.includes(path))
    socket.on('error', () => socket.destroy())
    if (venue === undefined) return refuseSocket(socket, '404 Not Found', 'Not Found')
    const endpoint = venue.paths.ws.indexOf(path)
    if (venue.faults.down.includes(rpcHostOf(endpoint))) return void socket.destroy()
    if (connections.size >= MAX_CONNECTIONS) {
      return refuseSocket(socket, '503 Service Unavailable', 'Too many connections')
    }
    sockets.handleUpgrade(request, socket, head, (opened) => {
      venue.advance()
      const send = (text: string): void => {
        if (opened.readyState !== opened.OPEN) return
        if (opened.bufferedAmount > MAX_UNREAD_BYTES) opened.terminate()
        else opened.send(text)
      }
      const subscriptions = createSubscriptions(endpointState(venue.venueState, endpoint), send)
      const connection = { socket: opened, venue, endpoint, subscriptions }
      connections.add(connection)
      opened.on('message', (data) => {
        answer(connection, data.toString()).catch(onError)
      })
      opened.on('error', () => opened.terminate())
      opened.on('close', () => connections.delete(connection))
    })
  })

  return {
    tell: () => {
      for (const { socket, venue, endpoint, subscriptions } of connections) {
        if (venue.faults.down.includes(rpcHostOf(endpoint))) socket.terminate()
        else attempt(() => subscriptions.tell())
      }
    },
    close: () => {
      for (const { socket } of connections) socket.terminate()
      sockets.close()
    },
  }
}
