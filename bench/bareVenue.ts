/**
 * A server that answers at once, for bench/road.ts: prepares that were made before the measurement, one after the other,
 * and the same words to every submit, with its request's id. It reads one line of JSON, `{ prepares, submit, relaySubmit }` with the bodies as
 * texts, from its standard input, prints its address, and serves until it is ended. Nothing is checked and nothing is kept.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'

const [line] = (await once(createInterface({ input: process.stdin }), 'line')) as [string]
const given = JSON.parse(line) as { prepares: string[]; submit: string; relaySubmit: string }
const prepares = given.prepares.map((body) => Buffer.from(body))
const relaySubmit = Buffer.from(given.relaySubmit)
let next = 0

function answerTo(url: string, body: string): Buffer | undefined {
  if (url.endsWith('/relay/submit')) return relaySubmit
  if (url.endsWith('/submit')) {
    const [, requestId = ''] = /"requestId":"([^"]+)"/.exec(body) ?? []
    return Buffer.from(given.submit.replace('{requestId}', requestId))
  }
  const prepared = prepares[next]
  next += 1
  return prepared
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.once('end', () => {
    const body = answerTo(request.url ?? '', Buffer.concat(chunks).toString('latin1'))
    if (body === undefined) throw new Error(`all ${prepares.length} prepared bodies are used up`)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1\n`)
