/** How requests name tokens and positions where a name may mean two things: whole orders over real sockets to the paper venue. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { requestOf } from '../../src/execution/lanes/prepare.ts'
import type { Address } from '../../src/protocol/address.ts'
import { usd } from '../../src/protocol/units.ts'
import { decisionProblem } from '../../src/strategy/decisionProblem.ts'
import { usdc } from '../support/intents.ts'
import { btcSymbol, ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'

let bench: KindsBench
beforeEach(async () => {
  bench = await kindsBench()
})
afterEach(() => bench.close())

const held = async () => (await bench.api.getPositions({ account: signer.address }, { isFresh: true })).value

test('a collateral whose symbol another token has too is named by its address, to open and to close', async () => {
  const answer = await fetch(`http://127.0.0.1:${bench.served.port}/__control/accounts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      address: signer.address,
      balances: { WBTC: '1' },
      allowances: { WBTC: 'unlimited' },
    }),
  })
  expect(answer.status).toBe(200)
  const marketToken = await bench.marketToken(btcSymbol)
  const view = (await bench.snapshot()).markets.get(marketToken.toLowerCase())
  const collateralToken = view?.market.longToken as Address
  expect([view?.longToken.symbol, view?.indexToken.symbol]).toEqual(['BTC', 'BTC'])
  const base = { marketToken, direction: 'long', collateralToken, reason: 'test' } as const
  const opened = await bench.accept({
    kind: 'increase',
    ...base,
    sizeDeltaUsd: usd(500),
    leverageBps: 20_000,
  })
  const asked = requestOf(bench.context, opened)
  expect(asked.request).toMatchObject({ collateralToken, collateralToPay: { token: collateralToken } })
  await bench.clock.advance(10_000)
  expect(bench.story(opened.intentId).closing).toMatchObject({ outcome: 'EXECUTED' })
  expect(await held()).toMatchObject([{ collateralToken }])
  const closed = await bench.accept({ kind: 'close', ...base })
  expect(requestOf(bench.context, closed).request).toMatchObject({
    collateralToken,
    receiveToken: collateralToken,
  })
  await bench.clock.advance(10_000)
  expect(await held()).toEqual([])
})

test('a symbol that one token alone has stays its name', async () => {
  const tokens = [...(await bench.snapshot()).markets.values()].map(({ shortToken }) => shortToken)
  expect(tokens.map(({ symbol, wireName }) => [symbol, wireName])).toEqual([
    ['USDC', undefined],
    ['USDC', undefined],
  ])
})

test('collateral is paid into a position whose row key the venue does not know, by the key of the contract', async () => {
  const marketToken = await bench.marketToken(ethSymbol)
  const base = { marketToken, direction: 'long', collateralToken: usdc, reason: 'test' } as const
  await bench.accept({ kind: 'increase', ...base, sizeDeltaUsd: usd(500), leverageBps: 20_000 })
  await bench.clock.advance(10_000)
  const [before] = await held()
  const rule = bench.venue.wire.add({
    kind: 'edit',
    route: '/positions',
    edits: [{ path: '/*/key', set: 'a-key-of-another-deployment' }],
  })
  expect(rule).not.toBeTypeOf('string')
  await bench.clock.advance(2_000)
  const paid = await bench.accept({ kind: 'collateral-in', ...base, amount: 50_000_000n })
  expect(paid.terms.positionKey).toBe('a-key-of-another-deployment')
  await bench.clock.advance(10_000)
  expect(bench.story(paid.intentId).closing).toMatchObject({ outcome: 'EXECUTED' })
  const [after] = await held()
  expect((after?.collateralAmount ?? 0n) - (before?.collateralAmount ?? 0n)).toBeGreaterThan(49_000_000n)
})

test('a twap lasts whole minutes, which mean the same whatever the unit is; another is refused in words', () => {
  const twapOf = (durationSeconds: number) =>
    decisionProblem({
      kind: 'increase',
      marketToken: `0x${'11'.repeat(20)}`,
      direction: 'long',
      collateralToken: usdc,
      sizeDeltaUsd: 1n,
      leverageBps: 10_000,
      orderType: 'twap',
      twap: { parts: 2, durationSeconds },
      reason: 'test',
    })
  for (const good of [60, 120, 3_600]) expect(twapOf(good)).toBeUndefined()
  for (const bad of [0, 30, 61, 90, -60, 60.5])
    expect(twapOf(bad)?.reason).toContain('a multiple of 60 above 0')
})
