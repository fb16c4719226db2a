/** Trades of others that were told and that nothing shows any more: a reorganisation took them back, or they never were. */
import { expect, test } from 'vitest'
import { createProofs } from '../../src/account/proofs.ts'
import { BaseError } from '../../src/base/errors.ts'
import type { DiscrepancyState } from '../../src/domain/accountRecords/accountRecord.ts'
import type { PositionChange, PositionChangeQuery } from '../../src/domain/machine/chainReader.ts'
import type { Trade } from '../../src/protocol/position.ts'
import { usd } from '../../src/protocol/units.ts'
import { account, ethMarket, orderKey, startMs, tradeOf, usdc } from '../support/intents.ts'

type Context = Parameters<typeof createProofs>[0]

const trade = tradeOf({ sizeDeltaUsd: usd(77) })
const found: DiscrepancyState = {
  discrepancy: {
    discrepancyId: `trade:${trade.id}`,
    kind: 'manual-increase',
    marketToken: ethMarket,
    direction: 'long',
    collateralToken: usdc,
    statement: 'increased by hand',
    sizeDeltaUsd: usd(77),
    orderKey,
    transactionHash: trade.transactionHash,
    atSeconds: trade.timestampSeconds,
  },
  raisedAtMs: startMs,
}

/** What a host of two gives: its rows, rows without their end, or no answer. */
type Rows = readonly Trade[] | 'cut' | 'silent'

function proofsOver(
  hosts: Record<'a' | 'b', Rows>,
  chain?: (query: PositionChangeQuery) => PositionChange | 'none' | undefined,
) {
  const at = { ms: 0 }
  const context = {
    api: {
      hosts: { api: ['a', 'b'] },
      getTrades: async (_query: unknown, { host }: { host: 'a' | 'b' }) => {
        const rows = hosts[host]
        if (rows === 'silent') throw new BaseError('no answer', { code: 'NETWORK' })
        return rows === 'cut'
          ? { value: { trades: [], hasMore: true } }
          : { value: { trades: rows, hasMore: false } }
      },
    },
    clock: {
      now: () => startMs + at.ms,
      monotonicMs: () => at.ms,
      sleep: (_ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve())),
    },
    ...(chain === undefined
      ? {}
      : { chainReader: { positionChange: async (query: PositionChangeQuery) => chain(query) } }),
  } as unknown as Context
  return { proofs: createProofs(context, account), at, hosts }
}

test('a trade that no host shows is withdrawn after longer than lists lag', async () => {
  const { proofs, at } = proofsOver({ a: [], b: [] })
  expect([...(await proofs.withdrawn([found]))]).toEqual([])
  at.ms = 29_000
  expect([...(await proofs.withdrawn([found]))]).toEqual([])
  at.ms = 30_000
  expect([...(await proofs.withdrawn([found]))]).toEqual([['trade:trade-1', 'lists']])
})

test.each<readonly [string, Rows]>([
  ['shows it', [trade]],
  ['shows only a part of its rows', 'cut'],
  ['does not answer', 'silent'],
])('not while one host %s', async (_how, rows) => {
  const { proofs, at, hosts } = proofsOver({ a: [], b: rows })
  for (const ms of [0, 30_000, 90_000]) {
    at.ms = ms
    expect([...(await proofs.withdrawn([found]))]).toEqual([])
  }
  // The time begins when the last of them lacks it.
  hosts.b = [tradeOf({ orderKey: `0x${'0d'.repeat(32)}` })]
  expect([...(await proofs.withdrawn([found]))]).toEqual([])
  at.ms = 120_000
  expect([...(await proofs.withdrawn([found]))]).toEqual([['trade:trade-1', 'lists']])
})

test('with endpoints the final blocks say it alone, and only those of later than it was told', async () => {
  const asked: PositionChangeQuery[] = []
  let word: PositionChange | 'none' | undefined
  const { proofs, at } = proofsOver({ a: [], b: [] }, (query) => {
    asked.push(query)
    return word
  })
  for (const ms of [0, 60_000]) {
    at.ms = ms
    expect([...(await proofs.withdrawn([found]))]).toEqual([])
  }
  word = {
    marketToken: ethMarket,
    direction: 'long',
    isIncrease: true,
    sizeDeltaUsd: usd(77),
    orderType: 2,
    isDeleveraging: false,
  }
  expect([...(await proofs.withdrawn([found]))]).toEqual([])
  word = 'none'
  expect([...(await proofs.withdrawn([found]))]).toEqual([['trade:trade-1', 'final']])
  expect(asked.at(-1)?.laterThanSeconds).toBe(startMs / 1000 + 3 + 120)
  const toldLater = { ...found, raisedAtMs: startMs + 600_000 }
  await proofs.withdrawn([toldLater])
  expect(asked.at(-1)?.laterThanSeconds).toBe(startMs / 1000 + 600 + 120)
})
