/** What proves that somebody else changed a position: every endpoint, and the account's own event in the transaction. */
import { expect, test } from 'vitest'
import type { PositionChange } from '../../src/domain/chainReader.ts'
import { BaseError } from '../../src/domain/errors.ts'
import { usd } from '../../src/domain/units.ts'
import type { Endpoint } from '../../src/evm/endpoint.ts'
import { createChainReader } from '../../src/evm/reader.ts'
import { account, ethMarket, orderKey } from '../support/intents.ts'

const liquidated: PositionChange = {
  marketToken: ethMarket,
  direction: 'long',
  isIncrease: false,
  sizeDeltaUsd: usd(500),
}
const query = { account, orderKey, transactionHash: `0x${'0b'.repeat(32)}` } as const

/** What a reader says over endpoints that show this, or nothing, or do not answer. */
function said(...shown: readonly (PositionChange | undefined | Error)[]) {
  const endpoints = shown.map((what, index): Endpoint => {
    const never = () => Promise.reject(new TypeError('not asked here'))
    return {
      name: `endpoint ${index}`,
      requests: () => 0,
      check: async () => undefined,
      latest: never,
      gasPrice: never,
      look: never,
      positionChange: async () => {
        if (what instanceof Error) throw what
        return what
      },
      close: () => undefined,
    }
  })
  const clock = {
    now: () => 1_000_000,
    monotonicMs: () => 1_000_000,
    sleep: (_ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve())),
  }
  const reader = createChainReader({ endpoints, clock, emit: () => undefined, lookTimeoutMs: 1_000 })
  return reader.positionChange?.(query)
}

test('a change counts when every configured endpoint shows the same', async () => {
  expect(await said(liquidated)).toEqual(liquidated)
  expect(await said(liquidated, { ...liquidated })).toEqual(liquidated)
})

test('an endpoint that shows nothing, shows another one or does not answer proves nothing', async () => {
  const silent = new BaseError('no answer', { code: 'RPC_UNANSWERED' })
  for (const other of [
    undefined,
    silent,
    { ...liquidated, sizeDeltaUsd: usd(499) },
    { ...liquidated, isIncrease: true },
    { ...liquidated, direction: 'short' } as const,
    { ...liquidated, marketToken: account },
  ]) {
    expect(await said(liquidated, other)).toBeUndefined()
    expect(await said(other, liquidated)).toBeUndefined()
  }
})
