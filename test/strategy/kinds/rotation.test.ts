import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isOrderDecision } from '../../../src/domain/order/decision.ts'
import type { MarketView } from '../../../src/domain/snapshot.ts'
import type { Address } from '../../../src/protocol/address.ts'
import { usd } from '../../../src/protocol/units.ts'
import { rotation } from '../../../src/strategy/kinds/rotation.ts'
import { type OpenIntent, type OwnEvent, viewOf } from '../../../src/strategy/strategy.ts'
import type { StrategyDecision } from '../../../src/strategy/strategyDecision.ts'
import { candles, marketView, NOW_MS, oraclePrice, position, snapshot } from '../../risk/world.ts'
import { size } from './kindScene.ts'

const names = ['A', 'B', 'C', 'D'] as const
type Name = (typeof names)[number]
const symbolOf = (name: Name) => `${name}/USD [${name}-USDC]`
const tokenOf = (name: Name): Address => `0x${name.toLowerCase().repeat(40)}`
const nameOf = (token: string) => names.find((name) => tokenOf(name) === token) ?? '?'
type Memory = Parameters<typeof rotation.decide>[1]
const nothing: Memory = { chosen: [], deniedAtMs: {} }
const day = 86_400_000
const params = {
  period: '1m',
  lookbackCandles: 3,
  hold: 2,
  marginBps: 200,
  minReturnBps: 0,
  everySeconds: 86_400,
}

interface Scene {
  /** Return of each over the lookback, basis points; absent: its candles were not read. */
  readonly returns: Partial<Record<Name, number>>
  readonly held?: readonly Name[]
  readonly opening?: readonly Name[]
  readonly closing?: readonly Name[]
  readonly events?: readonly OwnEvent[]
  readonly memory?: Memory
  readonly atMs?: number
  readonly stale?: boolean
  readonly closed?: readonly Name[]
  readonly entryUsd?: number
  readonly params?: Record<string, unknown>
}

function marketOf(name: Name, scene: Scene, atMs: number): MarketView {
  const base = marketView()
  const returnBps = scene.returns[name]
  const close = 1000 * (1 + (returnBps ?? 0) / 10_000)
  // The running one is no part of it.
  const made = candles([500, 1000, 1000, 1000, close, 1])
  const shiftSeconds = (scene.stale === true ? NOW_MS - 600_000 : atMs) / 1000 - NOW_MS / 1000
  const rows = made.value.candles.map((row) => ({
    ...row,
    timestampSeconds: row.timestampSeconds + shiftSeconds,
  }))
  return {
    ...base,
    market: { ...base.market, symbol: symbolOf(name), marketToken: tokenOf(name) },
    status: scene.closed?.includes(name) === true ? 'closed' : 'open',
    oraclePrice: { value: oraclePrice({ medianPrice: usd(1000) }), atMs },
    ...(returnBps === undefined ? {} : { candles: { value: { period: '1m', candles: rows }, atMs } }),
  }
}

function turn(scene: Scene) {
  const { held = [], opening = [], closing = [], atMs = NOW_MS } = scene
  const views = names.map((name) => marketOf(name, scene, atMs))
  const world = {
    ...snapshot(),
    atMs,
    markets: new Map(views.map((view) => [view.market.marketToken.toLowerCase(), view])),
    positions: {
      value: held.map((name) =>
        position({
          marketToken: tokenOf(name),
          entryPrice: usd(scene.entryUsd ?? 1000),
          sizeInUsd: usd(500),
        }),
      ),
      atMs,
    },
  }
  const open = (kind: 'increase' | 'close', name: Name) =>
    ({ kind, marketToken: tokenOf(name), direction: 'long' }) as OpenIntent
  return rotation.decide(
    viewOf({
      snapshot: world,
      params: rotation.params.parse({ ...params, ...scene.params }),
      instance: { name: 'mine', symbols: names.map(symbolOf), size },
      openIntents: [
        ...opening.map((name) => open('increase', name)),
        ...closing.map((name) => open('close', name)),
      ],
      events: scene.events ?? [],
    }),
    scene.memory ?? nothing,
  )
}

const said = (decisions: readonly StrategyDecision[]) =>
  decisions.map((each) => `${each.kind} ${'marketToken' in each ? nameOf(each.marketToken) : ''}`)
const chose = (chosen: readonly Name[], isOpened = true, chosenAtMs = NOW_MS - day): Memory => ({
  ...nothing,
  chosenAtMs,
  chosen: chosen.map((name) => ({ symbol: symbolOf(name), isOpened })),
})
const told = (kind: 'denied' | 'filled', name: Name): OwnEvent =>
  ({
    kind,
    atMs: NOW_MS,
    marketToken: tokenOf(name),
    direction: 'long',
    adds: true,
    order: 'increase',
  }) as unknown as OwnEvent

test('the best are opened with a stop, and those below the least return are not', () => {
  const { decisions, memory } = turn({ returns: { A: 100, B: 900, C: -50, D: 300 } })
  expect(said(decisions)).toEqual(['increase B', 'increase D'])
  expect(decisions[0]).toMatchObject({ tpsl: [{ type: 'stop-loss', triggerPrice: usd(920) }] })
  expect(memory.chosen.map(({ symbol }) => symbol)).toEqual([symbolOf('B'), symbolOf('D')])
  expect(said(turn({ returns: { A: -1, B: 40, C: -50, D: -2 } }).decisions)).toEqual(['increase B'])
})

test('another takes a place only when it is better by the margin, and is opened once that is closed', () => {
  const base = { held: ['A', 'B'], memory: chose(['A', 'B']) } as const
  expect(said(turn({ ...base, returns: { A: 500, B: 300, C: 500, D: 0 } }).decisions)).toEqual([])
  const change = turn({ ...base, returns: { A: 500, B: 300, C: 501, D: 0 } })
  expect(said(change.decisions)).toEqual(['close B'])
  const { memory } = change
  expect(said(turn({ ...base, returns: { A: 0 }, closing: ['B'], memory }).decisions)).toEqual([])
  expect(said(turn({ returns: { A: 0 }, held: ['A'], memory }).decisions)).toEqual(['increase C'])
})

test('between two choices nothing is chosen, however the returns change', () => {
  const memory = chose(['A', 'B'], true, NOW_MS - day + 1)
  const scene = { held: ['A', 'B'], memory, returns: { A: -900, B: -900, C: 900, D: 900 } } as const
  expect(said(turn(scene).decisions)).toEqual([])
  expect(said(turn({ ...scene, atMs: NOW_MS + 1 }).decisions)).toEqual(['close A', 'close B'])
})

test('what its stop closed is not opened again before the next choice, and has no margin then', () => {
  const memory = chose(['A', 'B'], true, NOW_MS - 1000)
  expect(said(turn({ returns: { A: 500, B: 400 }, held: ['A'], memory }).decisions)).toEqual([])
  const next = turn({ returns: { A: 500, B: 400, C: 450 }, held: ['A'], memory, atMs: NOW_MS + day })
  expect(said(next.decisions)).toEqual(['increase C'])
})

test('what was denied or failed is asked for again, a denial a minute later', () => {
  const first = turn({ returns: { A: 500 }, params: { hold: 1 } })
  const denied = turn({
    returns: { A: 500 },
    memory: first.memory,
    events: [told('denied', 'A')],
    params: { hold: 1 },
  })
  expect(said(denied.decisions)).toEqual([])
  const later = { returns: { A: 500 }, memory: denied.memory, params: { hold: 1 } }
  expect(said(turn({ ...later, atMs: NOW_MS + 59_999 }).decisions)).toEqual([])
  expect(said(turn({ ...later, atMs: NOW_MS + 60_000 }).decisions)).toEqual(['increase A'])
  // Filled, and the list does not show it yet.
  const filled = turn({ ...later, memory: first.memory, events: [told('filled', 'A')] })
  expect(said(filled.decisions)).toEqual([])
})

test('candles that are missing or old of what is held choose nothing, of others they leave them out', () => {
  const base = { held: ['A'], memory: chose(['A']) } as const
  expect(turn({ ...base, returns: { B: 900 } }).memory.chosenAtMs).toBe(NOW_MS - day)
  expect(said(turn({ ...base, returns: { A: 100, C: 900 } }).decisions)).toEqual(['increase C'])
  const old = turn({ ...base, returns: { A: 100, B: 900 }, stale: true })
  expect([said(old.decisions), old.memory.chosenAtMs]).toEqual([[], NOW_MS - day])
})

test('a crash through the stop closes without waiting for the choice, and a closed market is not opened', () => {
  const memory = chose(['A'], true, NOW_MS - 1000)
  expect(said(turn({ returns: { A: 900 }, held: ['A'], memory, entryUsd: 1200 }).decisions)).toEqual([
    'close A',
  ])
  expect(said(turn({ returns: { A: 900 }, closed: ['A'] }).decisions)).toEqual([])
})

test('never are more held and opened than it may hold, and none twice, whatever becomes of its orders', () => {
  const steps = fc.array(
    fc.record({
      returns: fc.record(
        Object.fromEntries(names.map((name) => [name, fc.integer({ min: -2000, max: 2000 })])),
      ),
      fates: fc.record(
        Object.fromEntries(names.map((name) => [name, fc.constantFrom('fill', 'deny', 'late', 'fail')])),
      ),
      hours: fc.integer({ min: 0, max: 30 }),
    }),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(steps, (all) => {
      let atMs = NOW_MS
      let memory = nothing
      const held = new Set<Name>()
      const opening = new Set<Name>()
      let events: OwnEvent[] = []
      for (const { returns, fates, hours } of all) {
        atMs += hours * 3_600_000 + 10_000
        const given = turn({ returns, held: [...held], opening: [...opening], events, memory, atMs })
        memory = given.memory
        events = []
        for (const decision of given.decisions) {
          if (!isOrderDecision(decision)) throw new Error(decision.kind)
          const name = nameOf(decision.marketToken) as Name
          if (decision.kind === 'close') {
            expect(held.has(name)).toBe(true)
            if (fates[name] === 'fill') held.delete(name)
          } else {
            expect(held.has(name) || opening.has(name)).toBe(false)
            if (fates[name] === 'deny') events.push(told('denied', name))
            else opening.add(name)
          }
        }
        expect(new Set([...held, ...opening]).size).toBeLessThanOrEqual(2)
        for (const name of [...opening]) {
          if (fates[name] === 'late') continue
          opening.delete(name)
          if (fates[name] !== 'fill') continue
          held.add(name)
          events.push(told('filled', name))
        }
      }
    }),
    { seed: 15, numRuns: 200 },
  )
})
