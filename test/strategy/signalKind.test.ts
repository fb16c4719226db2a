/** What the kind `signal` makes of signals, turn by turn. */
import { expect, test } from 'vitest'
import type { GivenSignal } from '../../src/domain/memory/tradeSignal.ts'
import { checkTurn, type MemoryDefinition } from '../../src/strategy/kindMemory.ts'
import { signal } from '../../src/strategy/kinds/signal.ts'
import {
  type Direction,
  type MarketView,
  type OpenIntent,
  type OwnEvent,
  type OwnPosition,
  type Snapshot,
  usd,
  viewOf,
} from '../../src/strategy/strategy.ts'

const symbol = 'ETH/USD [WETH-USDC]'
const marketToken = '0xaa'
const collateralToken = '0xcc'
const nowMs = 1_800_000_000_000
type Memory = Parameters<typeof signal.decide>[1]

let numbers = 0
const says = (action: GivenSignal['action'], more: Partial<GivenSignal> = {}): GivenSignal => {
  numbers += 1
  const times = { sentAtMs: nowMs, receivedAtMs: nowMs, expiresAtMs: nowMs + 60_000, isExpired: false }
  return { strategy: 'tv', number: numbers, action, symbol, ...times, ...more }
}

interface Scene {
  readonly signals?: readonly GivenSignal[]
  /** Its own parts. */
  readonly held?: readonly Direction[]
  /** What others hold. */
  readonly others?: readonly Direction[]
  /** `increase long`: under way. */
  readonly open?: readonly string[]
  readonly events?: readonly OwnEvent[]
  readonly atMs?: number
  readonly sides?: 'both' | 'long' | 'short'
  readonly isClosed?: boolean
  /** What backs its parts; the token of the file when absent. */
  readonly backing?: `0x${string}`
}

/** One turn: its decisions in short, and the memory for the next. */
function turn(scene: Scene, memory: Memory = { wishes: [] }) {
  const { signals = [], held = [], others = [], open = [], events = [], atMs = nowMs, sides = 'both' } = scene
  const market = { symbol, marketToken, longToken: '0xbb', shortToken: collateralToken }
  const view = { market, status: scene.isClosed === true ? 'closed' : 'open' } as unknown as MarketView
  const rows = (directions: readonly Direction[]) =>
    directions.map((direction) => ({
      ...{
        marketToken,
        collateralToken: scene.backing ?? collateralToken,
        direction,
        sizeInUsd: usd(100),
        sizeInTokens: 1n,
      },
      ...{ collateralAmount: 1n, isWhole: true },
    })) as unknown as readonly OwnPosition[]
  const given = signal.decide(
    viewOf({
      snapshot: {
        atMs,
        markets: new Map([[marketToken, view]]),
        positions: { value: rows([...new Set([...held, ...others])]), atMs },
      } as unknown as Snapshot,
      params: { sides },
      instance: {
        name: 'tv',
        symbols: [symbol],
        size: { usd: usd(100), leverageBps: 20_000, collateral: 'short' },
      },
      openIntents: open.map((each) => {
        const [kind, direction, rests] = each.split(' ')
        const onlyExitsRest = rests !== undefined
        return { kind, direction, marketToken, onlyExitsRest } as unknown as OpenIntent
      }),
      own: rows(held),
      events,
      signals,
    }),
    memory,
  )
  const decisions = given.decisions.map((each) =>
    'direction' in each ? `${each.kind} ${each.direction}` : each.kind,
  )
  const unserved = (given.unserved ?? []).map(({ reason }) => reason)
  return { decisions, whole: given.decisions, memory: given.memory, unserved }
}

const denied = (order: 'increase' | 'close', direction: Direction, code: string): OwnEvent => ({
  kind: 'denied',
  atMs: nowMs,
  decisionKey: 'k',
  order,
  marketToken,
  direction,
  code,
  reason: '',
})

test('a side is opened once, and nothing is left to do', () => {
  const first = turn({ signals: [says('long')] })
  expect(first.decisions).toEqual(['increase long'])
  const second = turn({ open: ['increase long'] }, first.memory)
  expect(second.decisions).toEqual([])
  expect(second.memory.wishes).toEqual([])
})

test('the other side is closed first, as often as it takes, and then its own is opened', () => {
  let now = turn({ signals: [says('short')], held: ['long'] })
  expect(now.decisions).toEqual(['close long'])
  now = turn({ held: ['long'], open: ['close long'] }, now.memory)
  expect(now.decisions).toEqual([])
  // The close came to nothing.
  now = turn({ held: ['long'] }, now.memory)
  expect(now.decisions).toEqual(['close long'])
  now = turn({}, now.memory)
  expect(now.decisions).toEqual(['increase short'])
})

test('what expires while the other side is closed opens nothing, and the close goes on', () => {
  let now = turn({ signals: [says('short')], held: ['long'] })
  now = turn({ held: ['long'], atMs: nowMs + 60_000 }, now.memory)
  expect(now.decisions).toEqual(['close long'])
  now = turn({ atMs: nowMs + 60_000 }, now.memory)
  expect([now.decisions, now.memory.wishes]).toEqual([[], []])
})

test('an increase under way is waited for and then closed', () => {
  let now = turn({ signals: [says('flat')], open: ['increase long'] })
  expect(now.decisions).toEqual([])
  now = turn({ held: ['long'], open: ['increase long'] }, now.memory)
  expect(now.decisions).toEqual(['close long'])
  now = turn({}, now.memory)
  expect([now.decisions, now.memory.wishes]).toEqual([[], []])
})

test('a close that is denied is asked for again as long as the part is its own', () => {
  let now = turn({ signals: [says('flat')], held: ['short'] })
  expect(now.decisions).toEqual(['close short'])
  now = turn({ held: ['short'], events: [denied('close', 'short', 'BEYOND_BOOK')] }, now.memory)
  expect(now.decisions).toEqual(['close short'])
  now = turn({}, now.memory)
  expect([now.decisions, now.memory.wishes, now.unserved]).toEqual([[], [], []])
})

test('a part that another token backs than the file says now is closed by its own token', () => {
  const now = turn({ signals: [says('flat')], held: ['long'], backing: '0xbb' })
  expect(now.whole).toMatchObject([{ kind: 'close', direction: 'long', collateralToken: '0xbb' }])
  expect(turn({ signals: [says('long')], held: ['long'], backing: '0xbb' }).decisions).toEqual([])
})

test('what others hold is neither closed nor in the way, and is said where nothing comes of a signal', () => {
  expect(turn({ signals: [says('long')], others: ['long', 'short'] }).decisions).toEqual(['increase long'])
  const flat = turn({ signals: [says('flat')], others: ['long'] })
  expect([flat.decisions, flat.memory.wishes]).toEqual([[], []])
  expect(flat.unserved[0]).toContain('no own position to close; the position there belongs to others')
  expect(turn({ signals: [says('reverse')], others: ['long'] }).unserved[0]).toContain(
    'to reverse; the position there',
  )
})

test('exits that rest for its entry keep no signal from closing, turning or being answered', () => {
  const resting = ['increase long exits']
  let now = turn({ signals: [says('reverse')], held: ['long'], open: resting })
  expect(now.decisions).toEqual(['close long'])
  now = turn({ open: [] }, now.memory)
  expect(now.decisions).toEqual(['increase short'])
  const again = turn({ signals: [says('long')], held: ['long'], open: resting })
  expect(again.unserved).toEqual(['it already has a long of $100.00, and a signal never adds to a position'])
})

test('a signal that leads to no order says why, once', () => {
  const shut = turn({ signals: [says('short')], sides: 'long' })
  expect(shut.unserved).toEqual(['params.sides opens longs alone, and it has no own position to close'])
  const replaced = turn({ signals: [says('long'), says('short')] })
  expect(replaced.unserved[0]).toMatch(/signal \d+ of the same market replaced it/)
  let now = turn({ signals: [says('long')], isClosed: true })
  expect(now.unserved).toEqual([])
  now = turn({ atMs: nowMs + 60_000, isClosed: true }, now.memory)
  expect(now.unserved).toEqual(['it expired before it opened, for the market was closed'])
  now = turn({ signals: [says('long')] })
  now = turn({ events: [denied('increase', 'long', 'DATA_STALE')], atMs: nowMs + 60_000 }, now.memory)
  expect(now.unserved[0]).toContain('(DATA_STALE)')
  expect(turn({}, now.memory).unserved).toEqual([])
})

test('what is said of signals is checked with the turn', () => {
  const turnOf = (unserved: unknown) =>
    checkTurn(signal.memory as MemoryDefinition<unknown>, { decisions: [], memory: { wishes: [] }, unserved })
  expect(turnOf([{ signal: 7, reason: 'why' }]).unserved).toEqual([{ signal: 7, reason: 'why' }])
  expect(turnOf(undefined)).not.toHaveProperty('unserved')
  for (const wrong of ['why', [{ signal: 'x', reason: 'why' }], [{ signal: 1, reason: '' }], [null]])
    expect(() => turnOf(wrong)).toThrow('not a list of { signal, reason }')
})

test('what was denied is asked for again, until the signal expires', () => {
  let now = turn({ signals: [says('long')] })
  now = turn({ events: [denied('increase', 'long', 'DATA_STALE')] }, now.memory)
  expect(now.decisions).toEqual(['increase long'])
  now = turn({ events: [denied('increase', 'long', 'DATA_STALE')], atMs: nowMs + 60_000 }, now.memory)
  expect([now.decisions, now.memory.wishes]).toEqual([[], []])
})

test('reverse means the other side of what is held, on its way or wanted', () => {
  expect(turn({ signals: [says('reverse')] }).decisions).toEqual([])
  expect(turn({ signals: [says('reverse')], held: ['long'] }).decisions).toEqual(['close long'])
  expect(turn({ signals: [says('reverse')], held: ['long', 'short'] }).decisions).toEqual([
    'close long',
    'close short',
  ])
  const opening = turn({ signals: [says('reverse')], open: ['increase short'] })
  expect(turn({}, opening.memory).decisions).toEqual(['increase long'])
  // The long waits for the market, and is turned before it opened.
  const waiting = turn({ signals: [says('long')], isClosed: true })
  expect(waiting.decisions).toEqual([])
  expect(turn({ signals: [says('reverse')] }, waiting.memory).decisions).toEqual(['increase short'])
})

test('the newest signal stands in the place of those before it, and one that is held already does nothing', () => {
  expect(turn({ signals: [says('long'), says('short'), says('flat')] }).decisions).toEqual([])
  expect(turn({ signals: [says('long'), says('short')] }).decisions).toEqual(['increase short'])
  const held = turn({ signals: [says('long')], held: ['long'] })
  expect([held.decisions, held.memory.wishes]).toEqual([[], []])
  expect(turn({ signals: [says('long', { isExpired: true })] }).decisions).toEqual([])
})

test('a side that the file does not open only closes the other', () => {
  expect(turn({ signals: [says('short')], sides: 'long' }).decisions).toEqual([])
  expect(turn({ signals: [says('short')], sides: 'long', held: ['long'] }).decisions).toEqual(['close long'])
})

test('a size is the share or the dollars of the signal and never more than the file says', () => {
  const sizeOf = (size?: GivenSignal['size']) => {
    const [decision] = turn({ signals: [says('long', size === undefined ? {} : { size })] }).whole
    return decision?.kind === 'increase' ? decision.sizeDeltaUsd : undefined
  }
  expect(sizeOf()).toBe(usd(100))
  expect(sizeOf({ shareBps: 2_500 })).toBe(usd(25))
  expect(sizeOf({ usd: usd('99.5') })).toBe(usd('99.5'))
  expect(sizeOf({ usd: usd(1_000_000) })).toBe(usd(100))
})

test('a signal that waited while the clock was set back opens nothing, and what it closes is closed all the same', () => {
  const hoursMs = 18_000_000
  let now = turn({ signals: [says('short')], held: ['long'] })
  now = turn({ held: ['long'], atMs: nowMs - hoursMs }, now.memory)
  expect(now.decisions).toEqual(['close long'])
  now = turn({ atMs: nowMs - hoursMs }, now.memory)
  expect([now.decisions, now.memory.wishes]).toEqual([[], []])
  expect(now.unserved).toEqual([expect.stringContaining('the clock went back before it opened')])
  // What a time server corrects is no step.
  const corrected = turn({ atMs: nowMs - 2_000 }, turn({ signals: [says('short')], held: ['long'] }).memory)
  expect(corrected.decisions).toEqual(['increase short'])
})
