/** How orders of ours that rest were signed, as the reconciler compares them with the venue's rows. */
import { afterEach, expect, test } from 'vitest'
import { createOwnOrders } from '../../src/account/watch/ownOrders.ts'
import { rowDifference } from '../../src/domain/order/signedOrder.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { usd } from '../../src/protocol/units.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'

let bench: KindsBench | undefined
afterEach(() => bench?.close())

test('an edit that came and went between two passes counts, as while no list could be read for minutes', async () => {
  const over = await kindsBench({ isByChain: true, isOperator: true })
  bench = over
  const { api, clock } = over
  const marketToken = await over.marketToken(ethSymbol)
  const ownOrders = createOwnOrders({ ...over, openOrders: over.orderManager })
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= 5_000) await clock.advance(5_000)
  }
  const looked = async () => {
    const rows = (await api.getOrders({ account: signer.address }, { isFresh: true })).value
    const [row] = rows
    if (row === undefined) throw new Error('nothing rests')
    return { row, signed: ownOrders(rows).get(hexKey(row.orderKey))?.signed }
  }
  await over.accept({
    ...{ kind: 'increase', marketToken, direction: 'long', sizeDeltaUsd: usd(500), leverageBps: 20_000 },
    ...{ collateralToken: usdc, reason: 'to hold', tpsl: [{ type: 'stop-loss', triggerPrice: usd(1_200) }] },
  })
  await pass(300_000)
  const first = await looked()
  expect(first.signed && rowDifference(first.row, first.signed)).toBeUndefined()
  expect(first.signed).toBeDefined()
  await over.accept({
    ...{ kind: 'edit', marketToken, direction: 'long', orderKey: first.row.orderKey, reason: 'smaller' },
    sizeDeltaUsd: usd(300),
  })
  await pass(300_000)
  // What ended lately is remembered until something else ends.
  await over.accept({
    ...{ kind: 'increase', marketToken, direction: 'short', sizeDeltaUsd: usd(300), leverageBps: 20_000 },
    ...{ collateralToken: usdc, reason: 'another' },
  })
  await pass(60_000)
  const then = await looked()
  expect(then.row.sizeDeltaUsd).toBe(usd(300))
  expect(then.signed?.sizeDeltaUsd).toBe(usd(300))
  expect(then.signed && rowDifference(then.row, then.signed)).toBeUndefined()
})
