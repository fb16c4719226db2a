import { expect, test } from 'vitest'
import { sideKeyOf } from '../../src/domain/accountRecords/accountRecord.ts'
import type { Evidence, IntentState } from '../../src/domain/order/intent.ts'
import { usd } from '../../src/protocol/units.ts'
import { exposureOf, sideOf, worstCaseUsd } from '../../src/risk/exposure/accountExposure.ts'
import {
  close,
  decrease,
  increase,
  intentState,
  MARKET,
  NOW_MS,
  order,
  position,
  snapshot,
  USDC,
  WETH,
} from './world.ts'

test('an empty account has an empty book', () => {
  const exposure = exposureOf(snapshot(), [])
  expect(exposure.totalExposureUsd).toBe(0n)
  expect(worstCaseUsd(sideOf(exposure, MARKET, 'long'))).toBe(0n)
})

test('both collaterals of one side add up, and the other side stays apart', () => {
  const positions = [
    position(),
    position({ collateralToken: WETH, sizeInUsd: usd(500) }),
    position({ direction: 'short', sizeInUsd: usd(70) }),
  ]
  const exposure = exposureOf(snapshot({ positions }), [])
  expect(sideOf(exposure, MARKET, 'long').heldUsd).toBe(usd(1500))
  expect(sideOf(exposure, MARKET, 'short').heldUsd).toBe(usd(70))
  expect(exposure.totalExposureUsd).toBe(usd(1570))
})

test('open increases count whole, open reductions as nothing, closed intents not at all', () => {
  const intents = [
    intentState({ decision: increase({ sizeDeltaUsd: usd(400) }) }),
    intentState({ intentId: 'intent-2', decision: close() }),
    intentState({ intentId: 'intent-3', decision: increase({ sizeDeltaUsd: usd(999) }), closed: true }),
  ]
  const exposure = exposureOf(snapshot({ positions: [position()] }), intents)
  const side = sideOf(exposure, MARKET, 'long')
  expect(side.reservedUsd).toBe(usd(400))
  expect(side.increases.map((open) => open.intentId)).toEqual(['intent-1'])
  expect(side.reductions.map((open) => open.intentId)).toEqual(['intent-2'])
  expect(exposure.totalExposureUsd).toBe(usd(1400))
})

test('reductions in flight stand oldest first with the moment they were accepted', () => {
  const intents = [
    intentState({ intentId: 'late', decision: decrease(1n), acceptedAtMs: NOW_MS - 5 }),
    intentState({ intentId: 'early', decision: close(), acceptedAtMs: NOW_MS - 900 }),
  ]
  const { reductions } = sideOf(exposureOf(snapshot(), intents), MARKET, 'long')
  expect(reductions.map((open) => [open.intentId, open.sinceMs])).toEqual([
    ['early', NOW_MS - 900],
    ['late', NOW_MS - 5],
  ])
})

test('an increase order at the venue that no open intent explains is exposure; one of ours is not counted twice', () => {
  const orders = [order(), order({ orderKey: `0x${'0e'.repeat(32)}`, orderType: 5 })]
  const foreign = exposureOf(snapshot({ orders }), [])
  expect(sideOf(foreign, MARKET, 'long').restingUsd).toBe(usd(300))

  const ours = intentState({
    decision: increase({ sizeDeltaUsd: usd(300) }),
    orderKey: `0x${'0D'.repeat(32)}`,
  })
  const explained = exposureOf(snapshot({ orders }), [ours])
  expect(sideOf(explained, MARKET, 'long').restingUsd).toBe(0n)
  expect(explained.totalExposureUsd).toBe(usd(300))
})

const orderKey = `0x${'0d'.repeat(32)}` as const

/** An open close of $1,000 that executed, by evidence of this level. */
function executedClose(level: Evidence['level']): IntentState {
  const state = intentState({ decision: close(), orderKey })
  const evidence: Evidence = { level, atMs: NOW_MS - 1_000, statement: 'executed' }
  const children = [
    {
      index: 0,
      orderKey,
      phase: 'EXECUTED',
      role: 'main',
      evidence,
      settlement: { sizeDeltaUsd: usd(1_000) },
    },
  ] as const
  return { ...state, attempts: state.attempts.map((attempt) => ({ ...attempt, children })) }
}

const side = { marketToken: MARKET, direction: 'long', collateralToken: USDC } as const
const nothingLeft = new Map([[sideKeyOf(side), { ...side, sizeUsd: 0n }]])

test('a reduction that the chain may take back frees no exposure, and one that is final does', () => {
  const provisional = exposureOf(snapshot(), [executedClose('chain-latest')], { journal: nothingLeft })
  expect(sideOf(provisional, MARKET, 'long')).toMatchObject({ heldUsd: 0n, unsettledUsd: usd(1_000) })
  expect(provisional.totalExposureUsd).toBe(usd(1_000))
  const final = exposureOf(snapshot(), [executedClose('chain-final')], { journal: nothingLeft })
  expect(final.totalExposureUsd).toBe(0n)
})

test('a reduction that is not final counts once while the list still shows the position', () => {
  const listed = snapshot({ positions: [position()] })
  const exposure = exposureOf(listed, [executedClose('chain-latest')], { journal: nothingLeft })
  expect(exposure.totalExposureUsd).toBe(usd(1_000))
})
