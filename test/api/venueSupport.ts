/** The clients over real sockets to a paper venue of their own, and what takes an order to its end. */
import type { PrivateKeyAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { type Api, createApi } from '../../src/api/client.ts'
import type { OrderSubmission, Prepared } from '../../src/api/orders/expressOrders.ts'
import type { OrderStatus } from '../../src/api/orders/orderStatus.ts'
import { createNodeFetch } from '../../src/api/transport/nodeFetch.ts'
import { serveVenue } from '../../src/paper/server/serve.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { digestOf, domainSeparator } from '../../src/protocol/signing/relayRouter.ts'
import { realClock } from './support.ts'

export const chain = chains.arbitrum

/** Clients of a venue that answers quickly. */
export async function startClients(): Promise<{ readonly api: Api; close(): Promise<void> }> {
  const settings = { keeperDelayMs: 50, keeperJitterMs: 0, relayDelayMs: 20 }
  const venue = createVenue({ clock: realClock, chain, settings })
  const served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0, tickMs: 20 })
  const nodeFetch = createNodeFetch()
  const api = createApi({
    chain,
    hosts: { api: served.api, oracle: served.oracle },
    fetch: nodeFetch.fetch,
    clock: realClock,
    random: Math.random,
    limits: { requestsPerSecondPerHost: Number.POSITIVE_INFINITY },
  })
  return {
    api,
    async close() {
      nodeFetch.close()
      await served.close()
    },
  }
}

/** Asks until a status is among those wanted, for ten seconds at most. */
export async function followed(
  ask: () => Promise<{ readonly value: OrderStatus }>,
  until: readonly string[],
): Promise<OrderStatus> {
  const deadlineMs = realClock.now() + 10_000
  let { value } = await ask()
  while (!until.includes(value.status) && realClock.now() < deadlineMs) {
    await realClock.sleep(20)
    value = (await ask()).value
  }
  expect(until, JSON.stringify(value)).toContain(value.status)
  return value
}

/** Signs and hands in what was prepared for an account, and follows it to one of these statuses. */
export async function carryOut(
  api: Api,
  prepared: Prepared,
  who: { readonly signer: PrivateKeyAccount } & Pick<OrderSubmission, 'from' | 'subaccountApproval'>,
  until: readonly string[],
): Promise<OrderStatus> {
  const { batch, domain } = prepared.typedData
  const { signer, ...submission } = who
  const hash = digestOf(domainSeparator(domain.chainId, domain.verifyingContract), batch)
  const signature = await signer.sign({ hash })
  await api.submitOrder(prepared, { ...submission, signature, echo: prepared.echo })
  return followed(() => api.getOrderStatus(prepared), until)
}
