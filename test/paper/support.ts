/** A venue on real sockets with a clock that the test moves, and a small client of its own. */
import type { Address, Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Clock } from '../../src/base/clock.ts'
import { serveVenue } from '../../src/paper/server/serve.ts'
import { createVenue, type VenueOptions } from '../../src/paper/server/venue.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { digestOf, domainSeparator } from '../../src/protocol/signing/relayRouter.ts'

/** A moment in 2026, Unix ms. */
export const START_MS = 1_795_219_200_000

/** A clock that stands still until it is moved. */
export function manualClock(startMs = START_MS): Clock & { move(ms: number): void } {
  let now = startMs
  return {
    now: () => now,
    monotonicMs: () => now - startMs,
    sleep: async () => undefined,
    move: (ms) => {
      now += ms
    },
  }
}

/** Any JSON, for tests that look into it. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads the wire freely
export type Any = any

/** An answer as it came. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Any
}

export const trader = privateKeyToAccount(`0x${'11'.repeat(32)}`)
export const stranger = privateKeyToAccount(`0x${'22'.repeat(32)}`)
export const ethMarket: Address = '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'
export const ethSymbol = 'ETH/USD [WETH-USDC]'
export const usdc: Address = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
export const weth: Address = '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1'

const separator = domainSeparator(42161, chains.arbitrum.contracts.gelatoRelayRouter)

/** USD with 30 decimals as the wire writes it. */
export const usd = (dollars: number): string => `${BigInt(Math.round(dollars * 100))}${'0'.repeat(28)}`

/** A served venue and how to talk to it. */
export async function startVenue(options: Partial<VenueOptions> = {}) {
  const clock = manualClock()
  const venue = createVenue({
    clock,
    chain: chains.arbitrum,
    seed: 7,
    settings: { keeperJitterMs: 0 },
    ...options,
  })
  const served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0 })
  const call = async (method: string, url: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(url, {
      method,
      ...(body === undefined
        ? {}
        : {
            body: typeof body === 'string' ? body : JSON.stringify(body),
            headers: { 'content-type': 'application/json' },
          }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: JSON.parse(text) as Any }
  }
  const [api = '', peer = ''] = served.api
  const [oracle = ''] = served.oracle
  const get = (path: string) => call('GET', api + path)
  const post = (path: string, body: unknown) => call('POST', api + path, body)
  const prepare = (fields: Record<string, unknown>) =>
    post('/orders/txns/prepare', {
      kind: 'increase',
      orderType: 'market',
      mode: 'express',
      from: trader.address,
      symbol: ethSymbol,
      direction: 'long',
      size: usd(1000),
      collateralToken: 'USDC',
      collateralToPay: { amount: '200000000', token: 'USDC' },
      ...fields,
    })
  const sign = async (prepared: Any, signer = trader): Promise<Hex> => {
    const { message } = prepared.payload.typedData
    const orders = message.createOrderParamsList.map((order: Any) => ({
      ...order,
      numbers: Object.fromEntries(
        Object.entries(order.numbers).map(([name, value]) => [name, BigInt(String(value))]),
      ),
      orderType: BigInt(order.orderType),
      decreasePositionSwapType: BigInt(order.decreasePositionSwapType),
    }))
    const updates = message.updateOrderParamsList.map((update: Any) =>
      Object.fromEntries(
        Object.entries(update).map(([name, value]) => [
          name,
          name === 'key' || typeof value === 'boolean' ? value : BigInt(String(value)),
        ]),
      ),
    )
    const digest = digestOf(separator, {
      ...message,
      createOrderParamsList: orders,
      updateOrderParamsList: updates,
    })
    return signer.sign({ hash: digest })
  }
  const submitBody = async (prepared: Any, signer = trader) => ({
    mode: 'express',
    requestId: prepared.requestId,
    from: trader.address,
    signature: await sign(prepared, signer),
    eip712Data: {
      batchParams: prepared.payload.batchParams,
      relayParams: prepared.payload.relayParams,
    },
  })
  const submit = async (prepared: Any, signer = trader) =>
    post('/orders/txns/submit', await submitBody(prepared, signer))
  const status = (requestId: string) => post('/orders/txns/status', { requestId })
  /** Prepares, submits and waits until the keeper has executed. Returns the last status. */
  const trade = async (fields: Record<string, unknown>): Promise<Any> => {
    const prepared = await prepare(fields)
    if (prepared.status !== 200)
      throw new Error(`prepare ${prepared.status}: ${JSON.stringify(prepared.body)}`)
    const submitted = await submit(prepared.body)
    if (submitted.status !== 200)
      throw new Error(`submit ${submitted.status}: ${JSON.stringify(submitted.body)}`)
    clock.move(2500)
    return (await status(prepared.body.requestId)).body
  }
  const positions = async (): Promise<Any[]> => (await get(`/positions?address=${trader.address}`)).body
  const balanceOf = async (symbol: string): Promise<bigint> => {
    const rows = (await get(`/balances/wallet?address=${trader.address}`)).body
    return BigInt(rows.find((row: Any) => row.symbol === symbol).balance)
  }
  return {
    clock,
    venue,
    served,
    api,
    peer,
    oracle,
    control: served.control,
    call,
    get,
    post,
    prepare,
    sign,
    submitBody,
    submit,
    status,
    trade,
    positions,
    balanceOf,
    close: served.close,
  }
}
