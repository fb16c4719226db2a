/** Which way requests and sockets go where the environment names a proxy and Node was switched to use it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'

const source = (path: string) => pathToFileURL(resolve(import.meta.dirname, '../../src', path)).href

async function listening(server: Server): Promise<number> {
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))
  return (server.address() as AddressInfo).port
}

test('hosts, HTTP endpoints, socket endpoints and sinks are connected to directly, with the switch of Node too', async () => {
  let throughProxy = 0
  const proxy = createServer((socket) => {
    throughProxy += 1
    socket.destroy()
  })
  const asked = new Set<string>()
  const both = Promise.withResolvers<void>()
  const target = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (bytes) => {
      asked.add(String(bytes).split('\r\n')[0] ?? '')
      if (asked.size === 2) both.resolve()
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok')
    })
  })
  const [proxyPort, targetPort] = [await listening(proxy), await listening(target)]
  const program = `
    import { createNodeFetch } from '${source('api/transport/nodeFetch.ts')}'
    import { createSocketTransport } from '${source('chain/wire/socketTransport.ts')}'
    import { systemClock } from '${source('base/systemClock.ts')}'
    const { fetch } = createNodeFetch()
    const answer = await fetch('http://127.0.0.1:${targetPort}/request', { method: 'GET', headers: {} })
    createSocketTransport('ws://127.0.0.1:${targetPort}/socket', systemClock)
    const direct = await globalThis.fetch('http://127.0.0.1:${targetPort}/global').then(() => 'direct', () => 'proxy')
    console.log(await answer.text(), direct)`
  const address = `http://127.0.0.1:${proxyPort}`
  const env = {
    ...process.env,
    HTTP_PROXY: address,
    HTTPS_PROXY: address,
    NO_PROXY: '',
    NODE_USE_ENV_PROXY: '1',
  }
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = await once(child.stdout, 'data')
  await both.promise
  child.kill()
  proxy.close()
  target.close()
  // The global fetch shows that the switch was on: it went to the proxy.
  expect(String(said).trim()).toBe('ok proxy')
  expect(throughProxy).toBeGreaterThan(0)
  expect([...asked].sort()).toEqual(['GET /request HTTP/1.1', 'GET /socket HTTP/1.1'])
})
