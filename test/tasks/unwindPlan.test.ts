/** Orders that are to be unwound: what an order's story calls for. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { applyRecord } from '../../src/domain/machine/fold.ts'
import type { ChildPhase, ChildRole, Evidence, Intent, IntentState } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { type Usd, usd } from '../../src/protocol/units.ts'
import { openedBy, unwindKeyOf, unwindStepOf } from '../../src/tasks/unwindPlan.ts'
import { armedFacts, ethMarket, intentOf, startMs, usdc } from '../support/intents.ts'

const final: Evidence = { level: 'chain-final', atMs: startMs, statement: 'seen' }
const provisional: Evidence = { level: 'chain-latest', atMs: startMs, statement: 'seen' }
const keyOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`

interface ChildStory {
  readonly role: ChildRole
  readonly phase: ChildPhase
  readonly sizeUsd?: Usd
  readonly evidence?: Evidence
}

/** An intent's story: sent, then landed with these orders, then closed if they all ended for good. */
function storyOf(
  children: readonly ChildStory[] | undefined,
  parts: Partial<Intent> = {},
  closing?: Extract<JournalRecord, { kind: 'intent.closed' }>['closing'],
): IntentState {
  const intent = intentOf(parts)
  const base = { v: RECORD_VERSION, atMs: startMs, intentId: intent.intentId } as const
  const records: JournalRecord[] = [
    { ...base, kind: 'intent.accepted', intent },
    { ...base, kind: 'attempt.preparing', attempt: 1, lane: 'order-chain', host: 'h' },
    { ...base, kind: 'attempt.armed', attempt: 1, armed: armedFacts() },
    { ...base, kind: 'send.result', attempt: 1, send: { result: 'unanswered' } },
  ]
  if (children !== undefined) {
    records.push({
      ...base,
      kind: 'landed',
      attempt: 1,
      orderKeys: children.map((_, index) => keyOf(index + 1)),
      roles: children.map(({ role }) => role),
      evidence: final,
    })
    for (const [child, { phase, sizeUsd, evidence }] of children.entries()) {
      if (phase === 'OPEN') continue
      records.push({
        ...base,
        kind: `child.${phase.toLowerCase()}` as 'child.executed',
        attempt: 1,
        child,
        orderKey: keyOf(child + 1),
        evidence: evidence ?? final,
        ...(sizeUsd === undefined ? {} : { settlement: { sizeDeltaUsd: sizeUsd } }),
      })
    }
  }
  if (closing !== undefined) records.push({ ...base, kind: 'intent.closed', closing })
  return records.reduce<IntentState | undefined>(applyRecord, undefined) as IntentState
}

const closed = (outcome: 'EXECUTED' | 'CANCELLED' | 'DEAD', level: Evidence['level'] = 'chain-final') => ({
  outcome,
  code: outcome,
  reason: `it is ${outcome}`,
  evidence: { ...final, level },
})
const long = { marketToken: ethMarket, direction: 'long', collateralToken: usdc } as const

test('while its fate is not proven, or a keeper has yet to decide it, nothing is done', () => {
  expect(unwindStepOf(storyOf(undefined))).toEqual({ kind: 'wait' })
  expect(unwindStepOf(storyOf([{ role: 'main', phase: 'OPEN' }]))).toEqual({ kind: 'wait' })
  const provisionally = storyOf([
    { role: 'main', phase: 'EXECUTED', sizeUsd: usd(500), evidence: provisional },
  ])
  expect(unwindStepOf(provisionally)).toEqual({ kind: 'wait' })
})

test('what waits at the venue is cancelled first: orders, parts, and the exits of what executed', () => {
  const terms = { ...intentOf().terms, orderType: 'limit', triggerPrice: usd(1700) } as const
  expect(unwindStepOf(storyOf([{ role: 'main', phase: 'OPEN' }], { terms }))).toEqual({
    kind: 'cancel',
    orderKeys: [keyOf(1)],
  })
  expect(unwindStepOf(storyOf([{ role: 'main', phase: 'FROZEN' }], { terms }))).toMatchObject({
    kind: 'cancel',
  })
  const withExits = storyOf([
    { role: 'main', phase: 'EXECUTED', sizeUsd: usd(500) },
    { role: 'take-profit', phase: 'OPEN' },
    { role: 'stop-loss', phase: 'CANCELLED' },
  ])
  expect(unwindStepOf(withExits)).toEqual({ kind: 'cancel', orderKeys: [keyOf(2)] })
})

test('what it opened is reduced by the size of the evidence, less what its own exits took off', () => {
  const main = { role: 'main', phase: 'EXECUTED', sizeUsd: usd(480) } as const
  expect(unwindStepOf(storyOf([main], {}, closed('EXECUTED')))).toEqual({
    kind: 'reduce',
    opened: [{ ...long, sizeUsd: usd(480) }],
  })
  const half = { role: 'take-profit', phase: 'EXECUTED', sizeUsd: usd(240) } as const
  expect(openedBy(storyOf([main, half], {}, closed('EXECUTED')))).toEqual([{ ...long, sizeUsd: usd(240) }])
  const whole = { role: 'stop-loss', phase: 'EXECUTED', sizeUsd: usd(480) } as const
  expect(unwindStepOf(storyOf([main, whole], {}, closed('EXECUTED')))).toMatchObject({ kind: 'over' })
})

test('what opened nothing calls for nothing: the dead, the cancelled, and what reduces by itself', () => {
  const over = { kind: 'over', statement: expect.stringContaining('it opened nothing') }
  expect(unwindStepOf(storyOf(undefined, {}, closed('DEAD', 'operator')))).toEqual(over)
  const cancelled = storyOf([{ role: 'main', phase: 'CANCELLED' }], {}, closed('CANCELLED'))
  expect(unwindStepOf(cancelled)).toEqual(over)
  const executed = [{ role: 'main', phase: 'EXECUTED', sizeUsd: usd(500) }] as const
  for (const kind of ['decrease', 'close', 'swap', 'collateral-in'] as const) {
    expect(unwindStepOf(storyOf(executed, { kind }, closed('EXECUTED')))).toEqual(over)
  }
})

test('where an operator’s word stands for the evidence, what was signed counts', () => {
  const word = storyOf(undefined, {}, closed('EXECUTED', 'operator'))
  expect(unwindStepOf(word)).toEqual({ kind: 'reduce', opened: [{ ...long, sizeUsd: usd(500) }] })
})

test('whatever becomes of a twap and whenever, it is reduced by exactly the parts that executed', () => {
  const part = fc.record({
    phase: fc.constantFrom<ChildPhase>('OPEN', 'FROZEN', 'EXECUTED', 'CANCELLED'),
    sizeUsd: fc.bigInt({ min: 1n, max: usd(200) }),
  })
  fc.assert(
    fc.property(fc.array(part, { minLength: 2, maxLength: 30 }), (parts) => {
      const terms = {
        ...intentOf().terms,
        orderType: 'twap',
        twap: { parts: parts.length, durationSeconds: 60 },
      } as const
      const children = parts.map(({ phase, sizeUsd }) => ({ role: 'part' as const, phase, sizeUsd }))
      const left = parts.flatMap(({ phase }, index) =>
        phase === 'OPEN' || phase === 'FROZEN' ? [keyOf(index + 1)] : [],
      )
      if (left.length > 0) {
        expect(unwindStepOf(storyOf(children, { terms }))).toEqual({ kind: 'cancel', orderKeys: left })
        return
      }
      const executed = parts.filter(({ phase }) => phase === 'EXECUTED')
      const sum = executed.reduce((total, { sizeUsd }) => total + sizeUsd, 0n)
      const step = unwindStepOf(storyOf(children, { terms }, closed(sum > 0n ? 'EXECUTED' : 'CANCELLED')))
      expect(step).toEqual(
        sum > 0n
          ? { kind: 'reduce', opened: [{ ...long, sizeUsd: sum }] }
          : expect.objectContaining({ kind: 'over' }),
      )
    }),
  )
})

test('each part and each try has a key of its own, and the first is named by its order alone', () => {
  expect(unwindKeyOf('unwind', 'f00d', 1, 1)).toBe('unwind:f00d')
  expect(unwindKeyOf('unwind-cancel', 'f00d', 1, 1)).toBe('unwind-cancel:f00d')
  const keys = (['unwind', 'unwind-cancel'] as const).flatMap((what) =>
    [1, 2].flatMap((part) => [1, 2, 3].map((tryNo) => unwindKeyOf(what, 'f00d', part, tryNo))),
  )
  expect(new Set(keys).size).toBe(keys.length)
})
