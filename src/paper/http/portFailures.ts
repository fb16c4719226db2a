/** Failing answers to what reaches no venue of a port, in the documented form: a JSON message and a trace id shown to browsers. */
import type { Duplex } from 'node:stream'

let failures = 0

/** Headers of one failure; the trace id is of the port. */
function headersOf(): Record<string, string> {
  failures += 1
  return {
    'Content-Type': 'application/json',
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': 'X-Trace-Id',
    'X-Trace-Id': `paper-port-${failures}`,
  }
}

/** A failing answer of the port itself. */
export function failing(status: number, message: string): Response {
  return new Response(JSON.stringify({ message }), { status, headers: headersOf() })
}

/** Writes a failing answer to a socket that has no response object, and ends it. `status` is code and phrase. */
export function refuseSocket(socket: Duplex, status: string, message: string): void {
  const body = JSON.stringify({ message })
  const headers = { ...headersOf(), Connection: 'close', 'Content-Length': String(Buffer.byteLength(body)) }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`)
}

/** Answers what is no HTTP, or too much of it; the server's own answer would have neither body nor trace id. */
export function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
  } else if (error.code === 'HPE_HEADER_OVERFLOW') {
    refuseSocket(socket, '431 Request Header Fields Too Large', 'The request headers are too large')
  } else {
    refuseSocket(socket, '400 Bad Request', 'The request cannot be read')
  }
}
