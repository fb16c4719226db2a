/**
 * What perpd's road is held against, over the same server in the same run. `usual`: what a careful script does, the global fetch,
 * JSON and viem's own signature, without a journal and without a check. `floor`: the same two requests as fixed bytes over undici,
 * and no signature: what the wire alone costs.
 */
import { Agent, request } from 'undici'
import { privateKeyToAccount } from 'viem/accounts'
import type { Hex } from '../src/protocol/address.ts'

/** One client of the order chain. */
export interface Yardstick {
  readonly name: string
  /** One order: asked to be prepared, and handed in. */
  readonly order: () => Promise<void>
}

/** A client that is as careful as its libraries; `prepareText` is the body that asks for the order. */
export function usualClient(url: string, privateKey: Hex, prepareText: string): Yardstick {
  const account = privateKeyToAccount(privateKey)
  const post = async (path: string, body: string): Promise<unknown> => {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
    return await answer.json()
  }
  return {
    name: 'usual',
    async order() {
      const prepared = (await post('/orders/txns/prepare', prepareText)) as {
        requestId: string
        mode: string
        payload: { typedData: Parameters<typeof account.signTypedData>[0]; [field: string]: unknown }
      }
      const { typedData, ...eip712 } = prepared.payload
      const signature = await account.signTypedData(typedData)
      const { requestId, mode } = prepared
      await post('/orders/txns/submit', JSON.stringify({ requestId, mode, signature, eip712 }))
    },
  }
}

/** A client that does nothing but send and read. */
export function floorClient(url: string, prepareText: string, submitText: string): Yardstick {
  const dispatcher = new Agent({ keepAliveTimeout: 4_000 })
  const post = async (path: string, body: string): Promise<void> => {
    const answer = await request(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      dispatcher,
    })
    await answer.body.arrayBuffer()
  }
  return {
    name: 'floor',
    async order() {
      await post('/orders/txns/prepare', prepareText)
      await post('/orders/txns/submit', submitText)
    },
  }
}

/** Time and processor that a number of orders took. */
export interface Figures {
  readonly p50Ms: number
  readonly p99Ms: number
  /** Processor of this process, all threads, an order, ms. */
  readonly cpuMs: number
  readonly perSecond: number
}

/** Makes `count` orders, `inFlight` at a time; `finish` is what they leave to be done, which counts as time and processor of all. */
export async function figuresOf(
  inFlight: number,
  count: number,
  order: () => Promise<unknown>,
  finish: () => Promise<unknown> = async () => undefined,
): Promise<Figures> {
  const times: number[] = []
  let left = count
  const cpu = process.cpuUsage()
  const startMs = performance.now()
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left > 0) {
        left -= 1
        const orderMs = performance.now()
        await order()
        times.push(performance.now() - orderMs)
      }
    }),
  )
  await finish()
  const wallMs = performance.now() - startMs
  const { user, system } = process.cpuUsage(cpu)
  return {
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    cpuMs: (user + system) / 1000 / count,
    perSecond: (count / wallMs) * 1000,
  }
}

/** The middle of each figure over rounds. */
export function medianOf(rounds: readonly Figures[]): Figures {
  const middle = (of: (figures: Figures) => number) => quantile(rounds.map(of), 0.5)
  return {
    p50Ms: middle(({ p50Ms }) => p50Ms),
    p99Ms: middle(({ p99Ms }) => p99Ms),
    cpuMs: middle(({ cpuMs }) => cpuMs),
    perSecond: middle(({ perSecond }) => perSecond),
  }
}

/** The value that this share of them is not above. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
