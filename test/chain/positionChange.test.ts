/** What proves that somebody else changed a position: every endpoint, and the account's own event in the transaction. */
import { expect, test } from 'vitest'
import { BaseError } from '../../src/base/errors.ts'
import { createChainReader } from '../../src/chain/endpointsReader.ts'
import type { Endpoint } from '../../src/chain/endpointTypes.ts'
import type { PositionChange } from '../../src/domain/machine/chainReader.ts'
import { usd } from '../../src/protocol/units.ts'
import type { OrderSpec } from '../simulation/chainModel.ts'
import { Past, account as pastAccount, readerOf } from '../simulation/rpcPast.ts'
import { account, ethMarket, orderKey } from '../support/intents.ts'

const liquidated: PositionChange = {
  marketToken: ethMarket,
  direction: 'long',
  isIncrease: false,
  sizeDeltaUsd: usd(500),
  orderType: 7,
  isDeleveraging: false,
}
const query = { account, orderKey, transactionHash: `0x${'0b'.repeat(32)}` } as const

/** What a reader says over endpoints that show this, or nothing, or do not answer. */
function said(...shown: readonly (PositionChange | 'none' | undefined | Error)[]) {
  const endpoints = shown.map((what, index): Endpoint => {
    const never = () => Promise.reject(new TypeError('not asked here'))
    return {
      name: `endpoint ${index}`,
      requests: () => 0,
      check: async () => undefined,
      latest: never,
      recentEvents: never,
      gasPrice: never,
      nativeBalance: never,
      poll: never,
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
  const reader = createChainReader({ endpoints, clock, emit: () => undefined, pollTimeoutMs: 1_000 })
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
    { ...liquidated, orderType: 4 },
    { ...liquidated, isDeleveraging: true },
    { ...liquidated, fundingReceivedUsd: usd(1) },
  ]) {
    expect(await said(liquidated, other)).toBeUndefined()
    expect(await said(other, liquidated)).toBeUndefined()
  }
})

test('that nothing was done counts when every configured endpoint says so', async () => {
  expect(await said('none', 'none')).toBe('none')
  const silent = new BaseError('no answer', { code: 'RPC_UNANSWERED' })
  for (const other of [undefined, silent, liquidated]) {
    expect(await said('none', other)).toBeUndefined()
    expect(await said(other, 'none')).toBeUndefined()
  }
})

test('an endpoint says that nothing was done when its final blocks are late enough, and not before', async () => {
  const history = new Past(1)
  history.pass(5)
  history.mine({ kind: 'manual', spec: { ...history.order().creates[0], orderType: 2 } as OrderSpec })
  const [orderKey = '0x'] = history.chain.canonical.orders.keys()
  history.pass(1)
  history.mine({ kind: 'keeper', orderKey, event: 'OrderExecuted', reason: '' })
  const transactionHash = history.chain.canonical.logs.at(-1)?.transactionHash ?? '0x'
  const reader = readerOf(history, [{ name: 'one', illness: undefined }], 1)
  const laterThanSeconds = history.chain.canonical.tip.timestampSeconds + 120
  const asked = { account: pastAccount, orderKey, transactionHash, laterThanSeconds }
  expect(await reader.positionChange(asked)).toBeUndefined()
  history.pass(12)
  expect(await reader.positionChange(asked)).toMatchObject({ isIncrease: true })
  // Another transaction, which was taken back or never was.
  const never = { ...asked, transactionHash: `0x${'0e'.repeat(32)}` } as const
  expect(await reader.positionChange(never)).toBeUndefined()
  history.pass(25)
  expect(await reader.positionChange(never)).toBeUndefined()
  history.pass(35)
  expect(await reader.positionChange(never)).toBe('none')
  const { laterThanSeconds: _none, ...anyTime } = never
  expect(await reader.positionChange(anyTime)).toBeUndefined()
  // It is there and did nothing to that order's position.
  expect(await reader.positionChange({ ...asked, orderKey: never.transactionHash })).toBe('none')
  expect(await reader.positionChange(asked)).toMatchObject({ isIncrease: true })
})
