/** Exits without a position to close: which are cancelled, and which are let be. */
import { expect, test } from 'vitest'
import type { Child, Evidence, IntentState } from '../../src/domain/order/intent.ts'
import { usd } from '../../src/protocol/units.ts'
import { exposureOf } from '../../src/risk/exposure/accountExposure.ts'
import { orphanCancels } from '../../src/risk/orphans.ts'
import { decrease, increase, intentState, MARKET, NOW_MS, order, position, snapshot, WETH } from './world.ts'

const mainKey = `0x${'0a'.repeat(32)}` as const
const exitKey = `0x${'0b'.repeat(32)}` as const
const exitRow = order({ orderKey: exitKey, orderType: 6 })
const old: Evidence = { level: 'api', atMs: NOW_MS - 60_000, statement: 'seen' }
const fresh: Evidence = { ...old, atMs: NOW_MS - 1_000 }

function increaseWithExit(main: Partial<Child>, landing: Evidence = old): IntentState {
  const state = intentState({ decision: increase(), orderKey: mainKey })
  return {
    ...state,
    attempts: state.attempts.map((attempt) => ({
      ...attempt,
      evidence: landing,
      children: [
        { index: 0, orderKey: mainKey, phase: 'OPEN', role: 'main', ...main },
        { index: 1, orderKey: exitKey, phase: 'OPEN', role: 'stop-loss' },
      ],
    })),
  }
}

function restingExit(landing: Evidence): IntentState {
  const state = intentState({
    decision: { ...decrease(usd(100)), orderType: 'stop-loss' },
    orderKey: exitKey,
  })
  return { ...state, attempts: state.attempts.map((attempt) => ({ ...attempt, evidence: landing })) }
}

function orphans(states: readonly IntentState[], parts: Parameters<typeof snapshot>[0] = {}) {
  const world = snapshot({ orders: [exitRow], ...parts })
  return orphanCancels(world, states, exposureOf(world, states)).map(({ orderKeys }) => orderKeys)
}

test('the exits of an increase that was cancelled are cancelled, whatever is held', () => {
  const cancelled = increaseWithExit({ phase: 'CANCELLED', evidence: fresh })
  expect(orphans([cancelled])).toEqual([[exitKey]])
  expect(orphans([cancelled], { positions: [position()] })).toEqual([[exitKey]])
})

test('the exits of an increase that waits or filled are let be', () => {
  expect(orphans([increaseWithExit({})])).toEqual([])
  expect(orphans([increaseWithExit({ phase: 'FROZEN', evidence: old })])).toEqual([])
  const filled = increaseWithExit({ phase: 'EXECUTED', evidence: old })
  expect(orphans([filled], { positions: [position()] })).toEqual([])
})

test('an end that may be taken back ends nothing yet', () => {
  const provisional: Evidence = { ...old, level: 'chain-latest' }
  expect(orphans([increaseWithExit({ phase: 'CANCELLED', evidence: provisional })])).toEqual([])
  expect(orphans([increaseWithExit({ phase: 'CANCELLED', evidence: old }, provisional)])).toEqual([])
})

test('exits whose position is gone are cancelled once lists cannot lag any more', () => {
  expect(orphans([increaseWithExit({ phase: 'EXECUTED', evidence: fresh })])).toEqual([])
  expect(orphans([increaseWithExit({ phase: 'EXECUTED', evidence: old })])).toEqual([[exitKey]])
  expect(orphans([restingExit(fresh)])).toEqual([])
  expect(orphans([restingExit(old)])).toEqual([[exitKey]])
  const elsewhere = position({ collateralToken: WETH })
  expect(orphans([restingExit(old)], { positions: [elsewhere] })).toEqual([[exitKey]])
  expect(orphans([restingExit(old)], { positions: [position()] })).toEqual([])
})

test('what was landed or filled before the clock was set back is old', () => {
  const ahead = (ms: number): Evidence => ({ ...old, atMs: NOW_MS + ms })
  for (const aheadMs of [30_000, 6_000_000]) {
    expect(orphans([increaseWithExit({ phase: 'EXECUTED', evidence: old }, ahead(aheadMs))])).toEqual([
      [exitKey],
    ])
    expect(orphans([increaseWithExit({ phase: 'EXECUTED', evidence: ahead(aheadMs) })])).toEqual([[exitKey]])
  }
  expect(orphans([increaseWithExit({ phase: 'EXECUTED', evidence: ahead(29_999) })])).toEqual([])
})

test('evidence that was written anew when it was final counts from its block, in which lists could show it', () => {
  const finalAfter = (seconds: number): Evidence => ({
    ...fresh,
    level: 'chain-final',
    block: { number: 7n, hash: mainKey, timestampSeconds: NOW_MS / 1_000 - seconds },
  })
  const filled = (evidence: Evidence) => increaseWithExit({ phase: 'EXECUTED', evidence })
  expect(orphans([filled(finalAfter(60))])).toEqual([[exitKey]])
  expect(orphans([filled(finalAfter(5))])).toEqual([])
  expect(orphans([restingExit(finalAfter(60))])).toEqual([[exitKey]])
  expect(orphans([filled({ ...finalAfter(60), level: 'chain-latest' })])).toEqual([])
})

test('an order that does not rest, or that is being changed, is not named', () => {
  expect(orphans([restingExit(old)], { orders: [] })).toEqual([])
  const cancel = intentState({
    intentId: 'changing',
    decision: {
      kind: 'cancel',
      marketToken: MARKET,
      direction: 'long',
      orderKeys: [exitKey],
      reason: 'The test wishes it.',
    },
  })
  const changing: IntentState = {
    ...cancel,
    intent: { ...cancel.intent, terms: { ...cancel.intent.terms, cancelOrderKeys: [exitKey] } },
  }
  expect(orphans([restingExit(old), changing])).toEqual([])
})

test('all orphans of a side are cancelled together', () => {
  const second = increaseWithExit({ phase: 'CANCELLED', evidence: old })
  const otherExit = `0x${'0c'.repeat(32)}` as const
  const both = [
    restingExit(old),
    {
      ...second,
      intent: { ...second.intent, intentId: 'intent-2' },
      attempts: second.attempts.map((attempt) => ({
        ...attempt,
        children: attempt.children.map((child) =>
          child.index === 1 ? { ...child, orderKey: otherExit } : child,
        ),
      })),
    },
  ]
  expect(orphans(both, { orders: [exitRow, order({ orderKey: otherExit, orderType: 6 })] })).toEqual([
    [exitKey, otherExit],
  ])
})
