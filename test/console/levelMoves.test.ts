/** What a drag or a typed price asks for, and what became of it: the text that stands in the field is sent, and a line rests when the venue shows it. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { typedDecimal } from '../../src/base/typedNumber.ts'
import { type Level, levelsOf } from '../../src/control/console/page/chart/chartLevels.ts'
import {
  draggedText,
  fateOf,
  plainPrice,
  reachedLevel,
  type SentMove,
  steppedPrice,
  typedPrice,
  wantedMove,
} from '../../src/control/console/page/chart/levelMoves.ts'
import type { RestingOrder } from '../../src/control/console/page/pageWire.ts'
import { shownPositions } from '../../src/control/console/page/shownFigures.ts'
import { usd as exactly } from '../../src/protocol/units.ts'
import { order, positionRow, resting, status, usd } from './rows.ts'

const market = 'ETH/USD [WETH-USDC]'
const one = 10n ** 30n

test('a typed price is read exactly: commas in groups of three alone, and nothing that could mean another price', () => {
  expect(typedPrice('61,493.10')).toBe(614_931n * (one / 10n))
  expect(typedPrice(' $61493.1 ')).toBe(614_931n * (one / 10n))
  expect(typedPrice('0.0000123')).toBe(123n * (one / 10_000_000n))
  expect(plainPrice('$61,493.10')).toBe('61493.10')
  for (const wrong of [
    '0,9',
    '0,001',
    '1e3',
    '-5',
    '+5',
    '1.2.3',
    '1,23',
    '12,3456',
    '',
    '0',
    '.5',
    '5.',
    '１',
    '0.0000000000000000001',
  ])
    expect([wrong, typedPrice(wrong)]).toEqual([wrong, undefined])
})

test('a price is read on the page exactly where the daemon reads it, and as the same number', () => {
  const digits = fc.stringMatching(/^\d{1,17}$/)
  const groups = fc.array(fc.stringMatching(/^\d{2,4}$/), { maxLength: 5 })
  const fraction = fc.option(fc.stringMatching(/^\d{0,20}$/), { nil: undefined })
  const numbers = fc
    .tuple(fc.oneof(digits, fc.stringMatching(/^\d{1,4}$/)), groups, fraction)
    .map(([first, rest, part]) => [first, ...rest].join(',') + (part === undefined ? '' : `.${part}`))
  fc.assert(
    fc.property(fc.oneof(numbers, fc.stringMatching(/^[-+0-9.,e ]{0,9}$/)), (text) => {
      const plain = typedDecimal(text.trim(), 18)
      expect([text, typedPrice(text)]).toEqual([text, plain === undefined ? undefined : exactly(plain)])
      expect(typedPrice(`$${text.trim()}`)).toBe(typedPrice(text))
    }),
    { seed: 12, numRuns: 2_000 },
  )
})

test('a drag gives the price with the places of its market, never more, and that text reads back as itself', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 0.0001, max: 200_000, noNaN: true }),
      fc.integer({ min: 2, max: 10 }),
      (price, places) => {
        const text = draggedText(price, places)
        if (text === undefined) {
          expect(Number(price.toFixed(places))).toBe(0)
          return
        }
        expect(text.split('.')[1]).toHaveLength(places)
        expect(typedPrice(text)).toBe(BigInt(text.replace('.', '')) * 10n ** BigInt(30 - places))
      },
    ),
    { seed: 11, numRuns: 300 },
  )
  expect([draggedText(-3, 2), draggedText(Number.NaN, 2), draggedText(0.001, 2)]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test('steps are of the smallest place and of a tenth of a percent, and lead to no price below it', () => {
  expect(steppedPrice('61,202.12', 'step', 1, 2)).toBe('61202.13')
  expect(steppedPrice('61202.12', 'share', -1, 2)).toBe('61140.92')
  expect(steppedPrice('0.0000123', 'share', 1, 10)).toBe('0.0000123123')
  expect(steppedPrice('0.01', 'step', -1, 2)).toBe('0.01')
  expect(steppedPrice('soon', 'step', 1, 2)).toBe('soon')
})

/** Facts of ETH with a long and these orders. */
function factsOf(...rows: readonly RestingOrder[]) {
  const known = status({ positions: [positionRow()], restingOrders: rows })
  return { status: known, positions: shownPositions(known, [], []), market, places: 2 }
}
const levelOf = (row: RestingOrder): Level => {
  const found = levelsOf(factsOf(row)).find(({ key }) => key === row.orderKey)
  if (found === undefined) throw new Error('the order is no level')
  return found
}

test('a move says price, distance and result there; what is no price or is maintained by somebody asks for nothing', () => {
  const stop = resting({ triggerPrice: usd(1_900) })
  expect(wantedMove(levelOf(stop), '1,960.5', factsOf(stop))).toMatchObject({
    ...{ typed: '1960.5', text: '$1,960.50', distance: '-1.98%', pnl: '-$7.41' },
    priceUsd: 19_605n * (one / 10n),
  })
  expect(wantedMove(levelOf(stop), '0,9', factsOf(stop))).toBeUndefined()
  const tasks = resting({ ownerKind: 'task', owner: 'chase-1' })
  expect(wantedMove(levelOf(tasks), '1960', factsOf(tasks))).toBeUndefined()
  const [entry] = levelsOf(factsOf()).filter(({ kind }) => kind === 'entry')
  expect(entry && wantedMove(entry, '1960', factsOf())).toBeUndefined()
})

test('a line is reached from six pixels, the nearest of two; those that are maintained or move are passed over', () => {
  const rows = [
    resting({ orderKey: '0x0a', triggerPrice: usd(100) }),
    resting({ orderKey: '0x0b', triggerPrice: usd(105) }),
    resting({ orderKey: '0x0c', triggerPrice: usd(200), ownerKind: 'task', owner: 'chase-1' }),
  ]
  const levels = levelsOf(factsOf(...rows))
  const at = (y: number, moving: readonly string[] = []) =>
    reachedLevel(levels, (price) => (price > 1_000 ? null : price), y, new Set(moving))?.key
  expect([at(94), at(93), at(102), at(103), at(111), at(112), at(200)]).toEqual([
    ...['0x0a', undefined, '0x0a', '0x0b', '0x0b', undefined, undefined],
  ])
  expect(at(103, ['0x0b'])).toBe('0x0a')
})

test('a move goes on until the venue shows its price, and ends with the edit that failed, with its reason', () => {
  const move: SentMove = {
    ...{ orderKey: '0x0a', name: 'stop', market, direction: 'long', text: '$1,950.00', sentAtMs: 1_000_000 },
    ...{ priceUsd: 1_950n * one, intentId: 'e1' },
  }
  const fate = (
    trigger: number | undefined,
    edits: readonly ReturnType<typeof order>[] = [],
    nowMs = 1_001_000,
    sent: SentMove = move,
  ) =>
    fateOf(sent, {
      ...{ orders: edits, nowMs, places: 2 },
      resting: trigger === undefined ? [] : [resting({ orderKey: '0x0a', triggerPrice: usd(trigger) })],
    })
  const edit = (over: Parameters<typeof order>[1] = {}) =>
    order('e1', {
      kind: 'edit',
      strategy: '@operator',
      acceptedAt: new Date(1_000_500).toISOString(),
      ...over,
    })
  const dead = { closedAt: new Date(1_001_000).toISOString(), outcome: 'DEAD', reason: 'EXPIRED' }
  expect([fate(1_900), fate(1_950), fate(undefined)]).toEqual(['moving', 'rests', 'rests'])
  expect(fate(1_900, [edit()])).toBe('moving')
  expect(fate(1_900, [edit({ ...dead, outcome: 'EXECUTED' })])).toBe('moving')
  expect(fate(1_900, [edit(dead)])).toEqual({ failed: 'EXPIRED' })
  expect(fate(1_900, [], 1_200_000)).toEqual({ failed: '' })
  // Where the answer named no order, it is the edit by hand on that side that came after it.
  const unnamed = { ...move, intentId: undefined }
  expect(fate(1_900, [edit(dead)], 1_001_000, unnamed)).toEqual({ failed: 'EXPIRED' })
  const early = edit({ ...dead, acceptedAt: new Date(999_000).toISOString() })
  expect(fate(1_900, [early, edit({ ...dead, strategy: 'eth-trend' })], 1_001_000, unnamed)).toBe('moving')
})
