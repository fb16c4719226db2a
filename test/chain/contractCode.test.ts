/** What endpoints show at the router's address: nothing but the one contract lets perpd start. */

import { keccak256 } from 'viem'
import { afterEach, expect, test } from 'vitest'
import { readContractCode } from '../../src/chain/contractCode.ts'
import { createHttpTransport } from '../../src/chain/wire/httpTransport.ts'
import { createRpcClient, type RpcClient, type RpcTransport } from '../../src/chain/wire/jsonRpc.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { type KindsBench, kindsBench } from '../support/kinds.ts'
import { manualClock } from '../support/venue.ts'

const router = arbitrum.contracts.gelatoRelayRouter
const signal = new AbortController().signal
const hash = keccak256('0x6001')

/** An endpoint that answers every call with one value, or not at all. */
function endpoint(name: string, result: unknown, isSilent = false): RpcClient {
  const transport: RpcTransport = {
    async send(text) {
      if (isSilent) throw new Error('the line is down')
      return JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(text).id, ...(result as object) })
    },
    close() {},
  }
  return createRpcClient(name, transport, manualClock(0), { timeoutMs: 1_000, batchSize: 1 })
}

const showing = (name: string, code: unknown) => endpoint(name, { result: code })

test('the same code at every endpoint gives its hash, pinned or not', async () => {
  const clients = [showing('one', '0x6001'), showing('two', '0x6001')]
  expect(await readContractCode(clients, router, undefined, signal)).toEqual({ hash, silent: [] })
  expect(await readContractCode(clients, router, hash, signal)).toEqual({ hash, silent: [] })
})

test('no code, other code than pinned, and endpoints that disagree are refused, with the endpoint named', async () => {
  const refused = (clients: readonly RpcClient[], pinned?: `0x${string}`) =>
    expect(readContractCode(clients, router, pinned, signal)).rejects
  const wrong = (name: string) => ({
    code: 'CONTRACT_CODE_WRONG',
    facts: { endpoint: name, contract: router },
  })
  await refused([showing('one', '0x')]).toMatchObject(wrong('one'))
  await refused([showing('one', '0x6001'), showing('two', '0x6002')]).toMatchObject(wrong('two'))
  await refused([showing('one', '0x6002')], hash).toMatchObject(wrong('one'))
  await refused([showing('one', '0x6001'), showing('two', '0x')], hash).toMatchObject(wrong('two'))
})

test('an endpoint that shows nothing is named, and vouches for nothing', async () => {
  const silent = [
    endpoint('down', {}, true),
    endpoint('refusing', { error: { code: -32601, message: 'no such method' } }),
    ...['0x6', '6001', 'Ox', 7, null, ['0x6001']].map((code, index) => showing(`odd ${index}`, code)),
  ]
  expect(await readContractCode([showing('one', '0x6001'), ...silent], router, hash, signal)).toEqual({
    hash,
    silent: silent.map(({ name }) => name),
  })
  expect((await readContractCode(silent, router, hash, signal)).hash).toBeUndefined()
})

let at: KindsBench | undefined

afterEach(() => at?.close())

test('the venue that this project serves has code at both routers, and they differ', async () => {
  at = await kindsBench()
  const clients = at.served.rpc.map((url) =>
    createRpcClient('paper', createHttpTransport(url, fetch), manualClock(0), {
      timeoutMs: 5_000,
      batchSize: 1,
    }),
  )
  const { gelatoRelayRouter, subaccountGelatoRelayRouter } = arbitrum.contracts
  const [own, delegated] = await Promise.all(
    [gelatoRelayRouter, subaccountGelatoRelayRouter].map((address) =>
      readContractCode(clients, address, undefined, signal),
    ),
  )
  expect(own?.hash).toMatch(/^0x[0-9a-f]{64}$/)
  expect(own?.hash).not.toBe(delegated?.hash)
})
