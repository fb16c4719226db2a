/** Prices in doubt: nothing that stands on them is admitted. */
import { expect, test } from 'vitest'
import type { Decision } from '../../src/domain/order/decision.ts'
import type { PriceDoubt } from '../../src/protocol/market.ts'
import { usd } from '../../src/protocol/units.ts'
import { admit } from '../../src/risk/admit.ts'
import { close, desk, increase, marketView, position, snapshot, USDC, WETH } from './world.ts'

const stable: PriceDoubt = {
  code: 'STABLE_OUT_OF_RANGE',
  tokenSymbol: 'USDC',
  tokenAddress: USDC,
  price: usd(10),
  least: usd(1) / 2n,
  most: usd(2),
}
const index: PriceDoubt = {
  code: 'MOVED_TOO_FAR',
  tokenSymbol: 'ETH',
  tokenAddress: WETH,
  price: usd(200_001),
  least: usd(20),
  most: usd(200_000),
}

function admissionOf(decision: Decision, doubts: readonly PriceDoubt[]) {
  const view = marketView({ priceDoubts: doubts })
  return admit(decision, desk({ snapshot: snapshot({ view, positions: [position()] }) }))
}

test('a collateral whose price is in doubt denies what adds risk, and says why; a way out stays open', () => {
  expect(admissionOf(increase(), [stable])).toEqual({
    kind: 'denial',
    denial: {
      code: 'PRICE_DOUBTED',
      reason: "The oracle's price of USDC may be wrong; check it before trading on it.",
      wanted: '$10.0000 (STABLE_OUT_OF_RANGE)',
      allowed: '$0.500000 to $2.00000',
    },
  })
  expect(admissionOf(close(), [stable]).kind).toBe('intent')
})

test('an index token whose price is in doubt denies the way out too: its bound would be signed by that price', () => {
  for (const decision of [increase(), close()]) {
    expect(admissionOf(decision, [index])).toMatchObject({ denial: { code: 'PRICE_DOUBTED' } })
  }
})
