/** Loaded before a daemon: counts every request that its control port gets, and appends a line for each to the file COUNT_TO names. */
import { appendFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'

const to = process.env.COUNT_TO ?? ''
const port = Number(process.env.COUNT_PORT ?? '0')
const { emit } = http.Server.prototype
http.Server.prototype.emit = function (this: http.Server, event: string | symbol, ...args: unknown[]) {
  const isCounted = event === 'connection' && (this.address() as AddressInfo | null)?.port === port
  if (isCounted) appendFileSync(to, 'connection\n')
  if (event === 'request' && (this.address() as AddressInfo | null)?.port === port) {
    const { method, url } = args[0] as http.IncomingMessage
    appendFileSync(to, `${method} ${url}\n`)
  }
  return Reflect.apply(emit, this, [event, ...args])
} as typeof emit
