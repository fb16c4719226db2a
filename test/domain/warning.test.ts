/** Warnings by policy, and orders made smaller, over all sizes. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { IntentKind } from '../../src/domain/order/intent.ts'
import { warningActions } from '../../src/domain/order/warnedFacts.ts'
import {
  defaultWarningPolicy,
  judgeWarnings,
  shrunkTo,
  stricter,
  type WarningPolicy,
} from '../../src/domain/order/warning.ts'
import { usd } from '../../src/protocol/units.ts'
import { intentOf } from '../support/intents.ts'

const SEED = 20_261_121

const adding = { kind: 'increase', reservationUsd: usd(1) } as const
const code = fc.constantFrom('INSUFFICIENT_LIQUIDITY', 'TRADING_CAPACITY_UNAVAILABLE', 'NEW_CODE')
const action = fc.constantFrom(...warningActions)
const policy: fc.Arbitrary<WarningPolicy> = fc.record({
  adding: fc.array(fc.tuple(code, action)).map((pairs) => new Map(pairs)),
  droppingReductions: fc.array(code).map((codes) => new Set(codes)),
  isPartial: fc.boolean(),
})
const warning = code.map((name) => ({ code: name, message: 'm' }))

function actionOf(
  policies: readonly WarningPolicy[],
  kind: IntentKind,
  reservationUsd: bigint,
  name: string,
) {
  return judgeWarnings(policies, { kind, reservationUsd }, [{ code: name, message: '' }])[0]?.action
}

test('by default known codes shrink or drop what adds risk, unknown ones drop it, and nothing holds back the rest', () => {
  const by = (kind: IntentKind, name: string, reservationUsd = 0n) =>
    actionOf([defaultWarningPolicy], kind, reservationUsd, name)
  expect(by('increase', 'INSUFFICIENT_LIQUIDITY', 1n)).toBe('shrink')
  expect(by('increase', 'TRADING_CAPACITY_UNAVAILABLE', 1n)).toBe('drop')
  for (const kind of ['increase', 'swap', 'collateral-out'] as const)
    expect(by(kind, 'NEW_CODE')).toBe('drop')
  expect(by('edit', 'NEW_CODE', 1n)).toBe('drop')
  for (const kind of ['decrease', 'close', 'cancel', 'collateral-in', 'edit'] as const)
    expect(by(kind, 'NEW_CODE')).toBe('sign')
})

test('another policy beside it never makes an action milder, and a close or a cancel is always signed', () => {
  fc.assert(
    fc.property(
      policy,
      policy,
      warning,
      fc.constantFrom<IntentKind>('increase', 'decrease'),
      (one, two, warned, kind) => {
        const reservationUsd = kind === 'increase' ? 1n : 0n
        const alone = actionOf([one], kind, reservationUsd, warned.code) ?? 'drop'
        const both = actionOf([one, two], kind, reservationUsd, warned.code) ?? 'sign'
        expect(stricter(alone, both)).toBe(both)
        for (const never of ['close', 'cancel'] as const)
          expect(actionOf([one, two], never, 0n, warned.code)).toBe('sign')
      },
    ),
    { seed: SEED },
  )
})

test('a reason goes before its code, and is told', () => {
  const policies: readonly WarningPolicy[] = [
    {
      adding: new Map([
        ['A.B', 'sign'],
        ['A', 'drop'],
      ]),
      droppingReductions: new Set(),
    },
  ]
  const judged = (details: unknown) =>
    judgeWarnings(policies, adding, [{ code: 'A', message: 'm', details }])[0]
  expect(judged({ reason: 'B' })).toEqual({ code: 'A', message: 'm', reason: 'B', action: 'sign' })
  for (const details of [undefined, null, 'B', { reason: 7 }, { reason: '' }, { reason: 'C' }])
    expect(judged(details)?.action).toBe('drop')
})

test('an order made smaller keeps its leverage or less risk of it: nothing grows, and every part of it follows', () => {
  const size = fc.bigInt({ min: 2n, max: usd(10_000_000) })
  fc.assert(
    fc.property(
      size,
      fc.bigInt({ min: 1n, max: 10n ** 15n }),
      fc.integer({ min: 0, max: 9_999 }),
      fc.bigInt({ min: 1n, max: 10_000n }),
      (from, collateralDelta, share, exitBps) => {
        const base = intentOf()
        const exit = {
          type: 'stop-loss',
          triggerPrice: usd(1),
          sizeDeltaUsd: (from * exitBps) / 10_000n,
        } as const
        const intent = {
          ...base,
          reservationUsd: from,
          terms: { ...base.terms, sizeDeltaUsd: from, collateralDelta, tpsl: [exit] },
        }
        const to = 1n + ((from - 2n) * BigInt(share)) / 10_000n
        const { terms, sizing, reservationUsd } = shrunkTo(intent, to, 'CODE')
        expect(terms.sizeDeltaUsd).toBe(to)
        expect(reservationUsd).toBe(to)
        expect(terms.collateralDelta).toBeLessThanOrEqual(collateralDelta)
        // size / collateral does not rise: to / after <= from / before.
        expect(to * collateralDelta).toBeLessThanOrEqual(from * terms.collateralDelta)
        expect(terms.tpsl?.[0]?.sizeDeltaUsd).toBeLessThanOrEqual(to)
        expect({ ...terms, sizeDeltaUsd: 0n, collateralDelta: 0n, tpsl: [] }).toEqual({
          ...intent.terms,
          sizeDeltaUsd: 0n,
          collateralDelta: 0n,
          tpsl: [],
        })
        expect(sizing.cuts.at(-1)).toEqual({ by: 'CODE', toUsd: to })
        for (const wrong of [0n, -1n, from, from + 1n])
          expect(() => shrunkTo(intent, wrong, 'CODE')).toThrow(RangeError)
      },
    ),
    { seed: SEED },
  )
})

test('what a host makes up is kept in bounds, and the strictest of what is left out still counts', () => {
  const long = { code: 'C'.repeat(9_999), message: 'm'.repeat(9_999), details: { reason: 'r'.repeat(9_999) } }
  const [kept] = judgeWarnings([defaultWarningPolicy], adding, [long])
  expect([kept?.code.length, kept?.message.length, kept?.reason?.length]).toEqual([64, 500, 64])
  const policies: readonly WarningPolicy[] = [
    {
      adding: new Map([
        ['A', 'sign'],
        ['B', 'shrink'],
      ]),
      droppingReductions: new Set(),
    },
  ]
  const many = [
    ...Array.from({ length: 999 }, () => ({ code: 'A', message: '' })),
    { code: 'B', message: '' },
  ]
  const judged = judgeWarnings(policies, adding, many)
  expect(judged).toHaveLength(20)
  expect(judged.at(-1)).toEqual({ code: 'WARNING', message: 'and 981 more', action: 'shrink' })
})
