/** A kill over orders that somebody made by hand with the same key: also such as are on no market. */
import { afterEach, expect, test } from 'vitest'
import { ZERO_ADDRESS } from '../../src/protocol/address.ts'
import type { CreateOrderParams } from '../../src/protocol/batch.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { signDigest } from '../../src/protocol/crypto/secp256k1.ts'
import { type Batch, digestOf, domainSeparator } from '../../src/protocol/signing/relayRouter.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'

interface Prepared {
  readonly typedData: { readonly message: Batch }
  readonly batchParams: unknown
  readonly relayParams: unknown
}

let bench: KindsBench
let running: { abort(): void } | undefined
afterEach(async () => {
  running?.abort()
  await bench.close()
})

/** Another program with the same key swaps 100 USDC by a limit order: this journal knows nothing of it. */
async function swapByHand(): Promise<void> {
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${bench.served.api[0]}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(answer.status).toBe(200)
    return (await answer.json()) as { readonly requestId: string; readonly payload: Prepared }
  }
  const common = { mode: 'express', from: signer.address }
  const { requestId, payload } = await post('/orders/txns/prepare', {
    ...common,
    kind: 'swap',
    orderType: 'limit',
    symbol: ethSymbol,
    collateralToPay: { amount: '100000000', token: 'USDC' },
    receiveToken: 'WETH',
    triggerPrice: '1',
    slippage: 0,
  })
  const { message } = payload.typedData
  const createOrderParamsList = message.createOrderParamsList.map((order) => ({
    ...order,
    numbers: Object.fromEntries(
      Object.entries(order.numbers).map(([name, value]) => [name, BigInt(value)]),
    ) as unknown as CreateOrderParams['numbers'],
    orderType: BigInt(order.orderType),
    decreasePositionSwapType: BigInt(order.decreasePositionSwapType),
  }))
  const { chainId, contracts } = arbitrum
  const digest = digestOf(domainSeparator(chainId, contracts.gelatoRelayRouter), {
    ...message,
    createOrderParamsList,
  })
  const { batchParams, relayParams } = payload
  await post('/orders/txns/submit', {
    ...common,
    requestId,
    signature: signDigest(`0x${'11'.repeat(32)}`, digest),
    eip712Data: { batchParams, relayParams },
  })
}

test('a kill cancels a limit swap that rests, and is done', async () => {
  // The swap is quoted at $2,000 and gives less from then on: it waits.
  bench = await kindsBench({
    path: [
      [0, 2_000],
      [2, 2_000],
      [3, 2_400],
      [100_000, 2_400],
    ],
  })
  const { clock, api } = bench
  await swapByHand()
  await clock.advance(10_000)
  const [order, ...others] = (await api.getOrders({ account: signer.address })).value
  expect(others).toEqual([])
  expect(order).toMatchObject({ orderType: 1, marketToken: ZERO_ADDRESS })

  const { engine } = engineOver(bench, {})
  running = engine
  await engine.start()
  await engine.operate({ type: 'kill', close: true }, { by: 'ann', via: 'control' })
  await clock.advance(40_000)
  expect(engine.status().kill).toMatchObject({
    outcome: 'done',
    left: { orders: 0, positions: 0, inFlight: 0 },
  })
  expect((await api.getOrders({ account: signer.address })).value).toEqual([])
  const made = bench.journal.recentIntents({ strategy: '@operator' })
  expect(made.map(({ intent: { kind, terms: own } }) => [kind, own.cancelOrderKeys])).toEqual([
    ['cancel', [order?.orderKey]],
  ])
})
