/**
 * The least that a venue's process can take for an order, for bench/venueOrders.ts: a server of node:http that reads each posted body,
 * parses it, recovers one signer a submit, and answers with the bytes that a paper venue answered once. It takes these two answers and
 * a digest with its signature as a line of JSON from its standard input, and prints its hosts as the paper venue does.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import type { Hex } from '../src/protocol/address.ts'
import { recoverSigner } from '../src/protocol/crypto/secp256k1.ts'

const [line] = (await once(createInterface({ input: process.stdin }), 'line')) as [string]
const given = JSON.parse(line) as { prepared: string; submitted: string; digest: Hex; signature: Hex }
const prepared = Buffer.from(given.prepared)
const submitted = Buffer.from(given.submitted)

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.once('end', () => {
    const isSubmit = request.url?.endsWith('/submit') === true
    JSON.parse(Buffer.concat(chunks).toString())
    if (isSubmit) recoverSigner(given.digest, given.signature)
    const body = isSubmit ? submitted : prepared
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
process.stdout.write(JSON.stringify({ arbitrum: { api: [url], oracle: [url] } }))
