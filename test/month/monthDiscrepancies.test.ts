/** A month's judge of discrepancies: an outage of the chain's endpoint is no fault of perpd, and what it explains to nobody is one. */
import { expect, test } from 'vitest'
import type { Event } from '../../src/domain/event.ts'
import { createDiscrepancyJudge } from './monthDiscrepancies.ts'

const MINUTE_MS = 60_000
const discrepancy = { discrepancyId: 'one', kind: 'unexplained-position', statement: 'long is $0.00' }
const raised = { type: 'account.discrepancy', discrepancy } as unknown as Event
const settled = (as: string) => ({ type: 'account.discrepancySettled', discrepancy, as }) as unknown as Event
const read = (outcome: string) => ({ type: 'chain.read', outcome }) as unknown as Event

/** What is told of events at these minutes. */
function told(...events: readonly (readonly [minute: number, event: Event])[]): readonly string[] {
  const said: string[] = []
  let nowMs = 0
  const listen = createDiscrepancyJudge(
    () => nowMs,
    (text) => void said.push(text),
  )
  for (const [minute, event] of events) {
    nowMs = minute * MINUTE_MS
    listen(event)
  }
  return said
}

test('what goes away within half an hour of the first answer of the chain counts for nothing, however long the endpoint was silent', () => {
  expect(told([0, raised], [7, read('RPC_UNANSWERED')], [49, read('ok')], [56, settled('gone')])).toEqual([])
  expect(told([0, read('ok')], [1, raised], [7, read('ok')], [30, settled('gone')])).toEqual([])
})

test('what the chain’s answers do not explain in half an hour counts, and what an operator had to settle, and other discrepancies at once', () => {
  const counted = ['discrepancy: long is $0.00']
  expect(told([0, raised], [7, read('ok')], [14, read('ok')], [38, settled('gone')])).toEqual(counted)
  expect(told([0, raised], [7, read('ok')], [8, settled('adopted')])).toEqual(counted)
  const other = { type: 'account.discrepancy', discrepancy: { ...discrepancy, kind: 'unexplained-order' } }
  expect(told([0, other as unknown as Event])).toEqual(counted)
})

test('what the protocol deleveraged counts for nothing, and what it liquidated does', () => {
  const by = (kind: string) =>
    ({ type: 'account.discrepancy', discrepancy: { ...discrepancy, kind } }) as unknown as Event
  expect(told([0, by('adl')])).toEqual([])
  expect(told([0, by('liquidation')])).toEqual(['discrepancy: long is $0.00'])
})
