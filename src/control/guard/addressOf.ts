/** Where a request came from. */
import type { HttpBindings } from '@hono/node-server'
import type { Context } from 'hono'

/** Gives the address of a connection; a proxy's where one stands before the port, whose headers anybody could write. */
export function addressOf({ env }: Context): string {
  const { incoming } = (env ?? {}) as Partial<HttpBindings>
  return incoming?.socket.remoteAddress ?? 'unknown'
}
