/** What a seed is: who lies, what is traded and how, by which settings, how the price goes, and what others take of the machine. The lies are the search's. */
import { type Random, randomOf } from '../simulation/random.ts'
import { type Habit, symbols } from './habits.ts'
import type { LiarKind } from './lies.ts'
import { movesOf } from './machineMoves.ts'
import type { Story } from './world.ts'

const kinds: readonly LiarKind[] = [
  'prepare',
  'host',
  'host',
  'host',
  'hosts',
  'hosts',
  'endpoint',
  'oracle',
  'nobody',
]

/** Limits so small that a minute can reach them. */
const tight = [
  '--risk.maxTotalExposureUsd=2000',
  '--risk.maxPositionSizeUsd=1000',
  '--risk.maxOrderSizeUsd=500',
  '--risk.maxDailyLossUsd=25',
  '--risk.relayFeesPerDayUsd=4',
  '--risk.reductionFeesPerDayUsd=4',
]

function habitOf(random: Random, isTight: boolean): Habit {
  const does = random.pick([
    'turns',
    'turns',
    'opens',
    'opens',
    'adds',
    'closes',
    'guards',
    'swaps',
    'rests',
  ] as const)
  return {
    does,
    symbol: does === 'swaps' ? symbols[0] : random.pick(symbols),
    direction: random.chance(0.7) ? 'long' : 'short',
    sizeUsd: isTight ? random.pick([100, 300, 500]) : random.pick([500, 1_000, 2_500]),
    leverageBps: random.pick([20_000, 50_000, 90_000]),
    collateral: random.chance(0.8) || does === 'swaps' ? 'short' : 'long',
    cadenceMs: random.pick([4_000, 5_000, 10_000]),
  }
}

function pathOf(random: Random, spanMs: number): Pick<Story, 'path'> {
  const die = random.int(1, 10)
  if (die <= 5) return {}
  const seconds = Math.floor(spanMs / 1000)
  if (die <= 7)
    return {
      path: [
        [0, 2_000],
        [100_000, 2_000],
      ],
    }
  const at = random.int(10, seconds - 10)
  // Falls or rises at once, and comes back or stays.
  const to = 2_000 * (1 + random.pick([-0.2, -0.12, -0.06, -0.03, 0.03, 0.08, 0.2]))
  const back = random.chance(0.4) ? 2_000 : to
  return {
    path: [
      [0, 2_000],
      [at, 2_000],
      [at + 3, to],
      [at + 20, back],
      [100_000, back],
    ],
  }
}

/** The story of a seed, without its lies. */
export function storyOf(seed: number): Omit<Story, 'plan'> {
  const random = randomOf(seed, 'story')
  const spanMs = random.pick([45_000, 60_000, 60_000, 90_000])
  const isTight = random.chance(0.5)
  const kind = random.pick(kinds)
  const machine = movesOf(randomOf(seed, 'machine'), spanMs)
  const habits = Array.from({ length: random.int(1, 3) }, () => habitOf(random, isTight))
  return {
    seed,
    kind,
    habits,
    spanMs,
    endpoints: kind === 'endpoint' ? 2 : random.pick([0, 1, 1, 2]),
    flags: isTight ? tight : [],
    ...pathOf(random, spanMs),
    ...(machine === undefined ? {} : { machine }),
    ...(random.chance(0.2) ? { killAtMs: random.int(15_000, 30_000) } : {}),
  }
}
