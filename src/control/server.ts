/** The control port: status, orders, health and metrics over HTTP, on this machine by default. */

import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { BaseError } from '../domain/errors.ts'
import { type ControlContext, controlRoutes } from './routes.ts'

/** Where to listen, and what to answer from. */
export interface ControlOptions extends Omit<ControlContext, 'hostNames'> {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Names, besides the loopback ones and `host`, by which the server may be addressed. */
  readonly hostNames?: readonly string[]
}

/** A listening control server. */
export interface ControlServer {
  /** `http://127.0.0.1:9464`. */
  readonly url: string
  readonly port: number
  /** Stops listening and drops open connections; resolves when done. */
  close(): Promise<void>
}

/** The control port cannot be opened. */
export class ControlPortError extends BaseError {}

/**
 * Opens the control port.
 *
 * @throws ControlPortError when it is in use or may not be opened; the message says what to do.
 */
export async function createControlServer(options: ControlOptions): Promise<ControlServer> {
  const { host, port } = options
  const routes = controlRoutes({ ...options, hostNames: [host, ...(options.hostNames ?? [])] })
  return await new Promise((resolve, reject) => {
    const server = serve({ fetch: routes.fetch, hostname: host, port }, (info: AddressInfo) => {
      server.removeListener('error', failed)
      const shownHost = host.includes(':') ? `[${host}]` : host
      resolve({ url: `http://${shownHost}:${info.port}`, port: info.port, close: () => closed(server) })
    })
    const failed = (error: Error): void => reject(portError(host, port, error))
    server.once('error', failed)
  })
}

function closed(server: ReturnType<typeof serve>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
}

function portError(host: string, port: number, cause: Error & { code?: string }): ControlPortError {
  const facts = { address: `${host}:${port}`, reason: cause.code ?? cause.message }
  switch (cause.code) {
    case 'EADDRINUSE':
      return new ControlPortError('The control port is in use.', {
        code: 'CONTROL_PORT_IN_USE',
        facts,
        details: `perpd did not start. Another program, perhaps another perpd, listens there: stop it, or choose another port with --control.port ${port + 1}`,
        cause,
      })
    case 'EACCES':
      return new ControlPortError('The control port may not be opened.', {
        code: 'CONTROL_PORT_DENIED',
        facts,
        details: 'perpd did not start. Choose a port above 1023 with --control.port 9464',
        cause,
      })
    default:
      return new ControlPortError('The control port cannot be opened.', {
        code: 'CONTROL_PORT_FAILED',
        facts,
        details: 'perpd did not start. Check control.host and control.port.',
        cause,
      })
  }
}
