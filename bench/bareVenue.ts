/**
 * A server that answers at once, for bench/road.ts: one prepared body with the fields of one order after the other, and the same words to every submit, with
 * its request's id. It reads one line of JSON, `{ template, fields, submit, relaySubmit }`, from its standard input, prints its address, and serves until it
 * is ended. Nothing is checked and nothing is kept.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { bareFields } from './bareFields.ts'

const [line] = (await once(createInterface({ input: process.stdin }), 'line')) as [string]
const given = JSON.parse(line) as {
  template: string
  fields: string[][]
  submit: string
  relaySubmit: string
}
/** The template's texts between its fields, and the place of each field that follows one. */
const [head = '', ...parts] = given.template.split(/(\{(?:requestId|key|nonce|relayParams)\})/)
const texts = [head, ...parts.filter((_part, at) => at % 2 === 1)].map((text) => Buffer.from(text))
const places = parts.filter((_part, at) => at % 2 === 0).map((name) => bareFields.indexOf(name))
const relaySubmit = Buffer.from(given.relaySubmit)
let next = 0

function answerTo(url: string, body: string): Buffer | undefined {
  if (url.endsWith('/relay/submit')) return relaySubmit
  if (url.endsWith('/submit')) {
    const [, requestId = ''] = /"requestId":"([^"]+)"/.exec(body) ?? []
    return Buffer.from(given.submit.replace('{requestId}', requestId))
  }
  const values = given.fields[next]
  next += 1
  if (values === undefined) return undefined
  return Buffer.concat(
    texts.flatMap((text, at) => (at === 0 ? [text] : [Buffer.from(values[places[at - 1] ?? 0] ?? ''), text])),
  )
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.once('end', () => {
    const body = answerTo(request.url ?? '', Buffer.concat(chunks).toString('latin1'))
    if (body === undefined) throw new Error(`all ${given.fields.length} prepared bodies are used up`)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1\n`)
