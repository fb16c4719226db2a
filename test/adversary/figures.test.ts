/** What keepers act on has two sources: one host's figures close no healthy position, and one in danger is closed whoever is silent. */
import { expect, test } from 'vitest'
import { type Habit, symbols } from './habits.ts'
import type { Change, Lie, Plan } from './lies.ts'
import { runStory, type Story } from './world.ts'

const habit: Habit = {
  does: 'opens',
  symbol: symbols[0],
  direction: 'long',
  sizeUsd: 2_000,
  leverageBps: 50_000,
  collateral: 'short',
  cadenceMs: 1_000_000,
}

const told = (route: string, change: Change): Lie => ({
  route,
  change,
  fromMs: 30_000,
  untilMs: 1e9,
  every: 1,
})
const rows = (field: string, value: string): Lie => told('/positions', { op: 'set', field, value })

function story(plan: Plan, path: NonNullable<Story['path']>): Story {
  return {
    seed: 5,
    kind: 'host',
    plan,
    path,
    habits: [habit, { ...habit, does: 'guards', cadenceMs: 5_000 }],
    spanMs: 120_000,
    endpoints: 2,
    flags: [],
  }
}

const calm = [
  [0, 2_000],
  [100_000, 2_000],
] as const

test.each([
  [
    'no collateral',
    [rows('collateralAmount', '0'), rows('remainingCollateralUsd', '0'), rows('collateralUsd', '0')],
  ],
  [
    'a liquidation price at the mark',
    [told('/positions', { op: 'scale', field: 'liquidationPrice', ppm: 1_240_000 })],
  ],
  [
    'a mark at the liquidation price',
    [told('/positions', { op: 'scale', field: 'markPrice', ppm: 810_000 })],
  ],
] as const)(
  'one host that shows %s has no healthy position closed',
  { timeout: 60_000 },
  async (_how, plan) => {
    const { executed, text } = await runStory(story(plan, calm))
    expect(executed, text).toBe(1)
  },
)

/** Falls to 2 % above the liquidation price within five seconds. */
const fall = [
  [0, 2_000],
  [60, 2_000],
  [65, 1_650],
  [100_000, 1_650],
] as const

test.each([
  ['nobody is bad', []],
  ['the other host is silent', [told('', { op: 'hang' })]],
  ['the other host answers errors', [told('', { op: 'answer', status: 503 })]],
  ['the other host shows the rows of before', [told('/positions', { op: 'freeze' })]],
] as const)(
  'a position in danger is closed within 20 s while %s',
  { timeout: 60_000 },
  async (_how, plan) => {
    const { executed, text } = await runStory({ ...story(plan, fall), spanMs: 85_000 })
    expect(executed, text).toBe(2)
  },
)
