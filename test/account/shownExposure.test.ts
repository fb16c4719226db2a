/** What people see while lists and orders settle: a fill counts once, and what may be counted twice or is not listed yet says so. */
import { expect, test } from 'vitest'
import { shownExposure, shownHoldings } from '../../src/account/holdings/shownExposure.ts'
import { fillsOf } from '../../src/domain/accountRecords/fills.ts'
import { journalSides } from '../../src/domain/accountRecords/held.ts'
import type { Child, Evidence, IntentState } from '../../src/domain/order/intent.ts'
import type { Position } from '../../src/protocol/position.ts'
import { usd } from '../../src/protocol/units.ts'
import { armedFacts, ethMarket, intentOf, orderKey, startMs, usdc } from '../support/intents.ts'

const evidence: Evidence = { level: 'chain-latest', atMs: startMs, statement: 'seen' }

/** An increase of $500 whose order is at this phase, by a block that may be taken back. */
function increase(phase: Child['phase']): IntentState {
  const fill = phase === 'EXECUTED' ? { evidence, settlement: { sizeDeltaUsd: usd(500) } } : {}
  return {
    intent: intentOf(),
    attempts: [
      {
        n: 1,
        lane: 'order-chain',
        host: 'http://127.0.0.1:1/v1',
        phase: 'LANDED',
        armed: armedFacts(),
        evidence,
        children: [{ index: 0, orderKey, phase, role: 'main', ...fill }],
      },
    ],
    updatedAtMs: startMs,
  }
}

const row = (sizeUsd: bigint): Position => ({
  positionKey: 'row',
  contractKey: orderKey,
  account: ethMarket,
  marketToken: ethMarket,
  collateralToken: usdc,
  direction: 'long',
  sizeInUsd: sizeUsd,
  sizeInTokens: 0n,
  collateralAmount: 0n,
  collateralUsd: 0n,
  remainingCollateralUsd: 0n,
  markPrice: 0n,
  pnlUsd: 0n,
  pnlAfterFeesUsd: 0n,
  positionValueInUsd: 0n,
  netValueUsd: 0n,
  increasedAtSeconds: 0,
  decreasedAtSeconds: 0,
})

const journalOf = (...states: IntentState[]) =>
  journalSides(states.flatMap(fillsOf), { discrepancies: new Map() })

test('a fill that the journal holds is not counted as under way too', () => {
  const pending = increase('OPEN')
  const filled = increase('EXECUTED')
  expect(shownExposure([], journalOf(pending), [pending])).toEqual({
    exposureUsd: usd(500),
    maybeTwiceUsd: 0n,
  })
  for (const rows of [[], [row(usd(500))]])
    expect(shownExposure(rows, journalOf(filled), [filled])).toEqual({
      exposureUsd: usd(500),
      maybeTwiceUsd: 0n,
    })
})

test('a position that is listed before the fill of its order is known is told as one that may count twice', () => {
  const pending = increase('OPEN')
  expect(shownExposure([row(usd(500))], journalOf(pending), [pending])).toEqual({
    exposureUsd: usd(1_000),
    maybeTwiceUsd: usd(500),
  })
  expect(shownExposure([row(usd(200))], journalOf(pending), [pending]).maybeTwiceUsd).toBe(usd(200))
})

const shownOf = (rows: readonly Position[], ...states: IntentState[]) =>
  shownHoldings(rows, journalOf(...states), states)

test('a fill that the list does not show is said with its order, until the list shows it', () => {
  const filled = increase('EXECUTED')
  expect(shownOf([], filled)).toMatchObject({
    unlistedFills: [
      'long ETH/USD [WETH-USDC] is $500.00 by its fills, but $0.00 in the list, which does not show the fill of f00d0000 yet',
    ],
    sides: [{ direction: 'long', name: 'ETH/USD [WETH-USDC]', sizeUsd: usd(500) }],
  })
  expect(shownOf([row(usd(500))], filled).unlistedFills).toEqual([])
  expect(shownOf([], increase('OPEN')).unlistedFills).toEqual([])
})

const seconds = startMs / 1000

/** The same filled at a second of the venue's, and a close of all of it later. */
function openedAndClosed(closedUsd: bigint): readonly [IntentState, IntentState] {
  const at = (
    state: IntentState,
    kind: 'increase' | 'close',
    intentId: string,
    atSeconds: number,
    size: bigint,
  ) => ({
    ...state,
    intent: intentOf({ intentId, kind }),
    attempts: state.attempts.map((attempt) => ({
      ...attempt,
      children: attempt.children.map((child) => ({
        ...child,
        settlement: { sizeDeltaUsd: size, timestampSeconds: atSeconds },
      })),
    })),
  })
  const filled = increase('EXECUTED')
  return [
    at(filled, 'increase', 'f00d00000000000000000001', seconds, usd(500)),
    at(filled, 'close', 'c105ed000000000000000001', seconds + 9, closedUsd),
  ]
}

test('a position that an own order closed in full is not shown as held, whatever the list says yet', () => {
  const states = openedAndClosed(usd(500))
  const listed = { ...row(usd(500)), increasedAtSeconds: seconds }
  expect(shownOf([listed], ...states)).toEqual({
    positions: [],
    sides: [],
    unlistedFills: [],
    // The entry, which the list shows, is not named.
    closedFills: ['long ETH/USD [WETH-USDC] was closed by c105ed00, but the list still shows its $500.00'],
  })
  expect(shownOf([], ...states)).toMatchObject({
    positions: [],
    sides: [],
    unlistedFills: [],
    closedFills: [],
  })
  // What somebody opened there after it is another position.
  const later = { ...listed, increasedAtSeconds: seconds + 20 }
  expect(shownOf([later], ...states)).toMatchObject({ positions: [later], closedFills: [] })
})

test('what an own order took off a part of is held by the rest, and the fill that is named is the newest', () => {
  const states = openedAndClosed(usd(200))
  const listed = { ...row(usd(500)), increasedAtSeconds: seconds }
  expect(shownOf([listed], ...states)).toEqual({
    positions: [listed],
    sides: [{ direction: 'long', name: 'ETH/USD [WETH-USDC]', sizeUsd: usd(300) }],
    unlistedFills: [
      'long ETH/USD [WETH-USDC] is $300.00 by its fills, but $500.00 in the list, which does not show the fill of c105ed00 yet',
    ],
    closedFills: [],
  })
})
