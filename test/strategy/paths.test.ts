/**
 * Every kind that trades, and the guard, along paths that are meant to break it: what it decides is sized, sided, fresh, its own and the
 * same each time, whatever prices and candles do. With PERPD_TEST_CANDLES, a CSV file of recorded candles (timestamp, open,
 * high, low, close), the same along stretches of them.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { bell } from '../../src/paper/math/random.ts'
import { hexKey, sameHex } from '../../src/protocol/address.ts'
import { formatUsd } from '../../src/protocol/units.ts'
import { decisionProblem } from '../../src/strategy/decisionProblem.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { secondsOfPeriod } from '../../src/strategy/indicators.ts'
import type { StrategyDecision } from '../../src/strategy/strategyDecision.ts'
import { loadShippedKinds } from '../support/shippedFiles.ts'
import {
  follow,
  MAX_AGE_MS,
  type Path,
  type PathTurn,
  pathMarket,
  STEPS,
  STEPS_OF_CANDLE,
} from './pathWorld.ts'

/** One shipped file of every kind that trades, and the guard's. */
const loaded = (await loadShippedKinds()).filter(
  ({ strategy }) => strategy.opensPositions || strategy.kind === 'guard',
)

/** A walk of steps of about 0.2 %, and a jump of up to 5 % every now and then. */
function walk(seed: number): (step: number) => number {
  const [first, last] = [-4_000, STEPS]
  let price = 1
  const prices = Array.from({ length: last - first + 1 }, (_, index) => {
    const jump = bell(seed ^ 0x5bd1e995, index) > 1.6 ? 0.05 * bell(seed ^ 0x27d4eb2f, index) : 0
    price *= Math.exp(0.002 * bell(seed, index) + jump)
    return price
  })
  const base = prices[-first] ?? 1
  return (step) => (prices[Math.max(0, step - first)] ?? base) / base
}

const wobble = (step: number): number => 1 + 0.0008 * Math.sin(step * 0.9) + 0.0005 * Math.sin(step * 0.23)

const paths: readonly Path[] = [
  { name: 'walk', factor: walk(1) },
  { name: 'another walk', factor: walk(15) },
  { name: 'a gap down through every level', factor: (step) => wobble(step) * (step < 90 ? 1 : 0.65) },
  { name: 'a gap up through every level', factor: (step) => wobble(step) * (step < 90 ? 1 : 1.45) },
  {
    name: 'a price that doubles in one candle and halves in the next',
    factor: (step) => wobble(step) * (step >= 82 && step < 86 ? 2 : 1),
  },
  {
    name: 'a price that turns around every turn',
    factor: (step) => wobble(step) * (step < 20 || step % 2 === 0 ? 1.012 : 0.988),
  },
  {
    name: 'a price that turns around every third turn, further each time',
    factor: (step) => wobble(step) * (1 + (step < 0 ? 0 : 0.0006 * step * (step % 6 < 3 ? 1 : -1))),
  },
  { name: 'a flat line', factor: () => 1 },
  {
    name: 'a long rise with falls back',
    factor: (step) => wobble(step) * (1 + 0.0012 * Math.max(0, step)) * (1 + 0.004 * Math.sin(step / 3)),
  },
  {
    name: 'missing candles',
    factor: walk(3),
    shown: (rows, step) =>
      rows.filter(
        (row, at) =>
          (Math.floor(row.timestampSeconds / 60) + step) % 3 !== 0 &&
          !(step % 11 === 5 && at > rows.length - 4),
      ),
  },
  { name: 'no candles', factor: walk(3), shown: (rows, step) => (step % 50 < 25 ? [] : rows) },
  {
    name: 'candles out of order and twice',
    factor: walk(4),
    shown: (rows, step) => (step % 2 === 0 ? [...rows].reverse() : [...rows, ...rows.slice(-5)]),
  },
  {
    name: 'stale data while the price runs away',
    factor: (step) => wobble(step) * (step < 60 ? 1 : 1 + 0.004 * (step - 60)),
    stale: [55, 150],
  },
  { name: 'no capacity', factor: walk(5), isFull: true },
  { name: 'a price of one unit', factor: wobble, isLeast: (step) => step >= 60 && step < 90 },
  {
    name: 'a gap, while others hold both sides',
    factor: (step) => wobble(step) * (step < 90 ? 1 : 0.65),
    isOthers: true,
  },
  { name: 'a walk, while others hold both sides', factor: walk(6), isOthers: true },
  {
    name: 'a price of a trillion times as much',
    factor: (step) => wobble(step) * (step >= 60 && step < 90 ? 1e12 : 1),
  },
]

const symbolOf = (turn: StrategyDecision, { symbols }: LoadedStrategy): string | undefined =>
  'marketToken' in turn
    ? symbols.find((each) => sameHex(pathMarket(each).marketToken, turn.marketToken))
    : undefined

/** Sides that the params of a file allow on a market. */
function allowedSides({ params, strategy }: LoadedStrategy, symbol: string): readonly string[] {
  const { sides, direction, weights } = params as {
    readonly sides?: string
    readonly direction?: string
    readonly weights?: Readonly<Record<string, number>>
  }
  if (strategy.kind === 'rotation') return ['long']
  if (weights !== undefined) return [(weights[symbol] ?? 0) < 0 ? 'short' : 'long']
  const named = sides ?? direction ?? 'both'
  return named === 'both' ? ['long', 'short'] : [named]
}

/** Age beyond which a kind itself takes nothing from rates or balances, ms; undefined: it leaves that to the limits. */
function ownAgeMs({ params }: LoadedStrategy): number | undefined {
  const { maxRateAgeSeconds, maxDataAgeSeconds } = params as Readonly<Record<string, number | undefined>>
  return maxRateAgeSeconds ?? maxDataAgeSeconds
}

/** What is wrong with a turn. */
function faultsOf(file: LoadedStrategy, turn: PathTurn): readonly string[] {
  const { size } = file.instance
  const { own, decisions } = turn
  const faults: string[] = []
  const fault = (text: string) => faults.push(`turn ${turn.step}: ${text}`)
  const [candle] = (file.needs.candles ?? []).map(({ period }) => secondsOfPeriod(period) * 1000)
  if (turn.status?.text.startsWith('its status ')) fault(turn.status.text)
  if (turn.status?.text.includes('NaN')) fault(turn.status.text)
  for (const decision of decisions) {
    const problem = decisionProblem(decision)
    if (problem !== undefined) fault(problem.reason)
    const symbol = symbolOf(decision, file)
    const { kind } = decision
    if (kind === 'increase') {
      if (size === undefined || decision.sizeDeltaUsd <= 0n || decision.sizeDeltaUsd > size.usd)
        fault(`opens ${formatUsd(decision.sizeDeltaUsd)}`)
      if (decision.leverageBps !== size?.leverageBps) fault(`opens with leverage ${decision.leverageBps}`)
      if (symbol === undefined || !allowedSides(file, symbol).includes(decision.direction))
        fault(`opens a ${decision.direction} of ${symbol}`)
      const oldest = ownAgeMs(file)
      if (oldest !== undefined && turn.ageMs > oldest) fault('opens by old figures')
      if (candle !== undefined && turn.ageMs > 3 * candle) fault('opens by old candles')
    }
    if (kind === 'close' || kind === 'decrease') {
      const held = own
        .filter(
          (part) => sameHex(part.marketToken, decision.marketToken) && part.direction === decision.direction,
        )
        .reduce((sum, { sizeInUsd }) => sum + sizeInUsd, 0n)
      if (held === 0n) fault(`reduces a ${decision.direction} that it has not`)
      if (kind === 'decrease' && decision.sizeDeltaUsd > held)
        fault(`takes off ${formatUsd(decision.sizeDeltaUsd)} of ${formatUsd(held)}`)
    }
    if (kind === 'edit' && !turn.resting.includes(decision.orderKey))
      fault('edits an order that is not its own')
    if (kind === 'cancel' && !decision.orderKeys.every((key) => turn.resting.includes(key)))
      fault('cancels an order that is not its own')
  }
  if (JSON.stringify(turn.again, bigints) !== JSON.stringify(decisions, bigints))
    fault('decides otherwise when asked again')
  for (const { kind } of turn.admitted)
    if (kind === 'increase' && turn.ageMs > MAX_AGE_MS) fault('opened by old prices')
  const most = file.limits.maxPositionSizeUsd
  for (const [side, heldUsd] of turn.heldUsd) {
    if (file.strategy.opensPositions && most !== undefined && heldUsd > most)
      fault(`holds ${formatUsd(heldUsd)} of ${side}`)
    const [symbol = ''] = side.split(/:(?=[a-z]+$)/)
    const isTwoSided = (file.params as { readonly direction?: string }).direction === 'both'
    if (!isTwoSided && turn.heldUsd.has(`${symbol}:long`) && turn.heldUsd.has(`${symbol}:short`))
      fault(`holds both sides of ${symbol}`)
  }
  const memoryBytes = JSON.stringify(turn.memory ?? null, bigints).length
  if (memoryBytes > 8_192) fault(`remembers ${memoryBytes} bytes`)
  return faults
}

const bigints = (_key: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)

/** Most entries of one market within one candle. */
function mostEntries(turns: readonly PathTurn[], perTurns: number): number {
  const counts = new Map<string, number>()
  for (const { step, admitted } of turns)
    for (const { kind, terms } of admitted) {
      if (kind !== 'increase') continue
      const key = `${hexKey(terms.marketToken)}:${Math.floor(step / perTurns)}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  return Math.max(0, ...counts.values())
}

test('all kinds that open positions are among the files, and the guard', () => {
  expect(loaded.map(({ strategy }) => strategy.kind).toSorted()).toEqual([
    'breakout',
    'carry',
    'grid',
    'guard',
    'hedged-carry',
    'impact-capture',
    'ladder',
    'mean-reversion',
    'rebalancer',
    'rotation',
    'signal',
    'target-exposure',
    'trend',
  ])
})

test.each(loaded.map((file) => [file.strategy.kind, file] as const))(
  '%s stays within its size, its sides, its own part and its candles on every path',
  async (kind, file) => {
    let acts = 0
    for (const path of paths) {
      const turns = await follow(file, path)
      expect(turns).toHaveLength(STEPS)
      const faults = turns.flatMap((turn) => faultsOf(file, turn)).slice(0, 5)
      expect([path.name, faults]).toEqual([path.name, []])
      if ((file.needs.candles ?? []).length > 0)
        expect(mostEntries(turns, STEPS_OF_CANDLE), path.name).toBeLessThanOrEqual(1)
      if (path.isFull) expect(turns.every(({ heldUsd }) => heldUsd.size === 0 || kind === 'guard')).toBe(true)
      acts += turns.reduce((sum, { admitted }) => sum + admitted.length, 0)
    }
    expect(acts).toBeGreaterThan(3)
  },
)

test.each(
  loaded
    .filter(({ strategy }) => strategy.status !== undefined)
    .map((file) => [file.strategy.kind, file] as const),
)('%s says at every turn what it waits for, in the same line for the same view', async (_kind, file) => {
  const lines = (await follow(file, paths[0] as Path)).map(({ status }) => status?.text)
  expect(lines).not.toContain(undefined)
  expect(new Set(lines).size).toBeGreaterThan(1)
  expect(lines.filter((_, step) => step % 35 === 0)).toMatchSnapshot()
})

const recorded = process.env.PERPD_TEST_CANDLES
/** Closes of the recorded candles, in the order of the file. */
const closes = (recorded === undefined ? '' : readFileSync(recorded, 'utf8'))
  .split('\n')
  .slice(1)
  .flatMap((line) => (line === '' ? [] : [Number(line.split(',')[4])]))

test.runIf(recorded).each(loaded.map((file) => [file.strategy.kind, file] as const))(
  '%s stays within the same bounds along recorded candles',
  async (_kind, file) => {
    const before = 4_000
    for (let from = before; from + STEPS < closes.length; from += 8_000) {
      const base = closes[from] ?? 1
      const factor = (step: number) => (closes[Math.max(0, from + step)] ?? base) / base
      const turns = await follow(file, { name: `from ${from}`, factor })
      const faults = turns.flatMap((turn) => faultsOf(file, turn)).slice(0, 5)
      expect([from, faults]).toEqual([from, []])
      if ((file.needs.candles ?? []).length > 0)
        expect(mostEntries(turns, STEPS_OF_CANDLE), `from ${from}`).toBeLessThanOrEqual(1)
    }
  },
)
