/** The newest decision of a strategy: with the size that was admitted, and known again after a restart. */
import { expect, test } from 'vitest'
import { createLastDecisions } from '../../src/monitor/lastDecisions.ts'
import { usd } from '../../src/protocol/units.ts'
import { intentOf, startMs } from '../support/intents.ts'

const intent = intentOf()
const cut = intentOf({ terms: { ...intent.terms, sizeDeltaUsd: usd(120) } })
const { decision, strategy, decisionKey } = intent
const { symbol } = intent.terms

test('a decision that was admitted smaller is told with the size that was admitted', () => {
  const last = createLastDecisions(() => startMs)
  last.listen({ type: 'decision.made', strategy, decisionKey, decision, symbol })
  expect(last.all()).toEqual([
    { strategy, atMs: startMs, words: `increase long ${symbol} $500.00`, outcome: 'decided' },
  ])
  last.listen({ type: 'decision.admitted', intent: cut })
  expect(last.all()).toEqual([
    { strategy, atMs: startMs, words: `increase long ${symbol} $120.00`, outcome: 'admitted' },
  ])
})

test('after a start the newest order of each strategy stands as its last decision, until it decides anew', () => {
  const last = createLastDecisions(() => startMs + 5_000, [cut])
  expect(last.all()).toEqual([
    { strategy, atMs: cut.acceptedAtMs, words: `increase long ${symbol} $120.00`, outcome: 'admitted' },
  ])
  const denial = { code: 'TRADING_HALTED', reason: 'halted' } as const
  last.listen({ type: 'decision.denied', strategy, decisionKey, decision, symbol, denial })
  expect(last.all()).toMatchObject([{ atMs: startMs + 5_000, outcome: 'denied' }])
})

test('what was no decision is told as denied, and not as none', () => {
  const last = createLastDecisions(() => startMs)
  const denial = { code: 'DECISION_INVALID', reason: 'direction is up' } as const
  last.listen({ type: 'decision.invalid', strategy, denial, cause: 'direction' })
  expect(last.all()).toEqual([
    {
      ...{ strategy, atMs: startMs, words: 'an invalid decision', outcome: 'denied' },
      reason: 'DECISION_INVALID: direction is up',
    },
  ])
})
