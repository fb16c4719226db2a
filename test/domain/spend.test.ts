import { expect, test } from 'vitest'
import { endingOf, spentBy } from '../../src/domain/accountRecords/spend.ts'
import type { Attempt, Closing, IntentState } from '../../src/domain/order/intent.ts'
import { armedFacts, intentOf, orderKey, startMs } from '../support/intents.ts'

const evidence = { level: 'api', atMs: startMs, statement: 'seen' } as const

function closed(closing: Partial<Closing>, attempt: Partial<Attempt> = {}): IntentState {
  return {
    intent: intentOf(),
    attempts: [
      {
        n: 1,
        lane: 'order-chain',
        host: 'h',
        phase: 'LANDED',
        armed: armedFacts(),
        children: [],
        ...attempt,
      },
    ],
    closing: { outcome: 'EXECUTED', code: 'EXECUTED', reason: '', evidence, ...closing },
    closedAtMs: startMs,
    updatedAtMs: startMs,
  }
}

function cancelled(cancelReason: string): IntentState {
  return closed(
    { outcome: 'CANCELLED', code: 'CANCELLED_BY_KEEPER' },
    { children: [{ index: 0, orderKey, phase: 'CANCELLED', role: 'main', cancelReason }] },
  )
}

test('a cancelled order is counted by the name of what the protocol said', () => {
  expect(endingOf(cancelled('OrderNotFulfillableAtAcceptablePrice(1800, 1818)'))?.cause).toBe(
    'CANCELLED OrderNotFulfillableAtAcceptablePrice',
  )
  expect(endingOf(cancelled('InsufficientReserve'))?.cause).toBe('CANCELLED InsufficientReserve')
  expect(endingOf(cancelled(''))?.cause).toBe('CANCELLED without a reason')
})

test('what rests or is unknown has spent its fees since it was armed, and ended by no cause', () => {
  const { closing: _closing, closedAtMs: _closedAtMs, ...resting } = closed({}, { armedAtMs: startMs })
  const [attempt] = resting.attempts
  if (attempt === undefined) throw new Error('there is one attempt')
  const inPhase = (phase: Attempt['phase']) => ({ ...resting, attempts: [{ ...attempt, phase }] })
  const paid = { executionFee: 10n ** 14n, relayFee: 250_000n, isOpen: true }
  expect(spentBy(resting, startMs)).toMatchObject([paid])
  expect(spentBy(inPhase('UNRESOLVED'), startMs)).toMatchObject([paid])
  // Before the day it was another day's; what is dead paid nothing; what is over counts by its ending.
  expect(spentBy(resting, startMs + 1)).toEqual([])
  expect(spentBy(inPhase('DEAD'), startMs)).toEqual([])
  expect(spentBy(closed({}, { armedAtMs: startMs }), startMs)).toEqual([])
})

test('a dead attempt is counted by the venue’s last word and costs nothing; a landed one costs both fees', () => {
  const dead = endingOf(closed({ outcome: 'DEAD', observedStatus: 'relay_reverted' }, { phase: 'DEAD' }))
  expect(dead).toMatchObject({ cause: 'DEAD relay_reverted', executionFee: 0n, relayFee: 0n })
  expect(endingOf(closed({}))).toMatchObject({
    cause: 'executed',
    executionFee: 10n ** 14n,
    relayFee: 250_000n,
  })
})

test('a dead attempt that its host took and nobody saw is counted as withheld, and one that was not answered is not', () => {
  const causeOf = (result: 'accepted' | 'unanswered', closing: Partial<Closing> = {}) =>
    endingOf(closed({ outcome: 'DEAD', ...closing }, { phase: 'DEAD', send: { result } }))?.cause
  expect(causeOf('accepted')).toBe('DEAD withheld')
  expect(causeOf('unanswered')).toBe('DEAD unseen')
  expect(causeOf('accepted', { observedStatus: 'relay_reverted' })).toBe('DEAD relay_reverted')
})

test('an open intent has no ending', () => {
  const { closing, ...open } = closed({})
  expect(closing).toBeDefined()
  expect(endingOf(open)).toBeUndefined()
})

test('execution fees count by what keepers kept where the chain showed it of every order, else by what was signed', () => {
  const child = (index: number, executionFeePaid?: bigint) => ({
    index,
    orderKey,
    phase: 'EXECUTED' as const,
    role: 'main' as const,
    settlement: executionFeePaid === undefined ? {} : { executionFeePaid },
  })
  const feeOf = (...children: Attempt['children']) => endingOf(closed({}, { children }))?.executionFee
  expect(feeOf(child(0, 40n), child(1, 2n))).toBe(42n)
  expect(feeOf(child(0, 40n), child(1))).toBe(10n ** 14n)
  expect(feeOf()).toBe(10n ** 14n)
})
