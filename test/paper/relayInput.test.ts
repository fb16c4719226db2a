/** The calldata of what the venue lands, packed by hand, is what viem's general encoder makes of it. */
import { encodeFunctionData } from 'viem/utils'
import { expect, test } from 'vitest'
import { relayInput, relayRouterAbi, subaccountRouterAbi } from '../../src/paper/keeper/relayCall.ts'
import type { SignedBatch } from '../../src/paper/state/venueRecords.ts'
import { ethMarket, startVenue, trader, usd } from './support.ts'

/** As the routers' own ABI has it. */
function plainInput({ account, batch, relayParams, signature, subaccount }: SignedBatch) {
  const relay = { ...relayParams, signature: signature ?? '0x' }
  const actions = {
    createOrderParamsList: batch.createOrderParamsList.map((order) => ({
      ...order,
      orderType: Number(order.orderType),
      decreasePositionSwapType: Number(order.decreasePositionSwapType),
    })),
    updateOrderParamsList: batch.updateOrderParamsList,
    cancelOrderKeys: batch.cancelOrderKeys,
  }
  return subaccount === undefined
    ? encodeFunctionData({ abi: relayRouterAbi, functionName: 'batch', args: [relay, account, actions] })
    : encodeFunctionData({
        abi: subaccountRouterAbi,
        functionName: 'batch',
        args: [relay, subaccount.approval, account, subaccount.address, actions],
      })
}

test('orders of each kind, changes, cancels and those of session keys', async () => {
  const paper = await startVenue()
  await paper.trade({ size: usd(5_000) })
  const bodies = [
    await paper.prepare({ orderType: 'limit', triggerPrice: usd(1_500) }),
    await paper.prepare({ orderType: 'twap', twapConfig: { duration: 600, parts: 4 } }),
    await paper.prepare({
      collateralToPay: { amount: '1000000000', token: 'USDC' },
      collateralToken: 'WETH',
    }),
    await paper.prepare({ kind: 'decrease', size: usd(1_000), collateralToPay: undefined }),
  ]
  for (const { status, body } of bodies) {
    expect(status, JSON.stringify(body)).toBe(200)
    await paper.submit(body)
  }
  paper.clock.move(3_000)
  const orders = (await paper.get(`/orders?address=${trader.address}`)).body
  const [resting] = orders
  expect(resting).toBeDefined()
  const cancel = await paper.post('/orders/txns/cancel/prepare', {
    from: trader.address,
    mode: 'express',
    orderIds: [resting.key],
  })
  expect(cancel.status).toBe(200)
  await paper.submit(cancel.body)
  const operations = [...paper.venue.venueState.operations.values()]
  expect(operations.length).toBeGreaterThanOrEqual(4)
  expect(new Set(operations.map(({ batch }) => batch.createOrderParamsList.length)).size).toBeGreaterThan(1)
  for (const operation of operations) expect(relayInput(operation)).toBe(plainInput(operation))
  // What a session key signs carries an approval, and a batch may update and cancel.
  const [first] = operations
  if (first === undefined) throw new Error('nothing was submitted')
  const updated: SignedBatch = {
    ...first,
    batch: {
      ...first.batch,
      cancelOrderKeys: [`0x${'ab'.repeat(32)}`],
      updateOrderParamsList: [
        {
          key: `0x${'cd'.repeat(32)}`,
          sizeDeltaUsd: 2n ** 255n,
          acceptablePrice: 2n ** 256n - 1n,
          triggerPrice: 1n,
          minOutputAmount: 0n,
          validFromTime: 3n,
          autoCancel: true,
          executionFeeIncrease: 4n,
        },
      ],
    },
  }
  expect(relayInput(updated)).toBe(plainInput(updated))
  const ofSession: SignedBatch = {
    ...updated,
    subaccount: {
      address: ethMarket,
      isApproved: true,
      approval: {
        subaccount: ethMarket,
        shouldAdd: true,
        expiresAt: 1_900_000_000n,
        maxAllowedCount: 9n,
        actionType: `0x${'2a'.repeat(32)}`,
        nonce: 7n,
        desChainId: 42_161n,
        deadline: 0n,
        integrationId: `0x${'00'.repeat(32)}`,
        signature: `0x${'ef'.repeat(65)}`,
      },
    },
  }
  expect(relayInput(ofSession)).toBe(plainInput(ofSession))
  const { signature, ...unsigned } = ofSession
  expect(signature).toBeDefined()
  expect(relayInput(unsigned)).toBe(plainInput(unsigned))
  await paper.close()
})
