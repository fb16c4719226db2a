/**
 * The search: twenty seeds in a row are one population. The first of them lie by chance; each later one takes the lies of the
 * seed before it that cost most, of the same kind of liar, and changes one. So a seed is what it is by its own number and the
 * numbers before it in its block, in every process.
 */
import { randomOf } from '../simulation/random.ts'
import { symbols } from './habits.ts'
import { type LiarKind, mutatedPlan, type Plan, randomPlan } from './lies.ts'
import { storyOf } from './story.ts'
import { runStory, type Story, type StoryResult } from './world.ts'

/** Seeds that share a population. */
export const blockSeeds = 20
/** How many of them lie by chance alone. */
const founders = 8

interface Scored {
  readonly kind: LiarKind
  readonly plan: Plan
  /** Millionths of the bound that were paid, and what the liar got perpd to do against itself. */
  readonly score: number
}

/** A seed with what became of it. */
export interface SeedResult {
  readonly seed: number
  readonly story: Story
  readonly result: StoryResult
}

/** The first seed of the block that a seed is in. */
export function blockOf(seed: number): number {
  return seed - ((seed - 1) % blockSeeds)
}

function scoreOf({ paidUsd, boundUsd, lostUsd, violation }: StoryResult): number {
  const share = Number((paidUsd * 1_000_000n) / (boundUsd === 0n ? 1n : boundUsd))
  const lost = Number((lostUsd * 100_000n) / (boundUsd === 0n ? 1n : boundUsd))
  return (violation === undefined ? 0 : 1e9) + share + Math.max(0, lost)
}

function planOf(seed: number, story: Omit<Story, 'plan'>, before: readonly Scored[]): Plan {
  const random = randomOf(seed, 'plan')
  const words = { symbols: [...symbols], spanMs: story.spanMs }
  const kin = before.filter(({ kind }) => kind === story.kind)
  if (seed - blockOf(seed) < founders || kin.length === 0) return randomPlan(story.kind, random, words)
  const best = kin.reduce((one, other) => (other.score > one.score ? other : one))
  return mutatedPlan(best.plan, story.kind, random, words)
}

/** Runs the seeds of one block from its first to `until`, both included, and tells of each from `from` on. */
export async function runBlock(
  from: number,
  until: number,
  told: (result: SeedResult) => void,
  options: { readonly keepsTrace?: boolean } = {},
): Promise<void> {
  const scored: Scored[] = []
  for (let seed = blockOf(from); seed <= until; seed += 1) {
    const base = storyOf(seed)
    const plan = planOf(seed, base, scored)
    const story: Story = {
      ...base,
      plan,
      ...(options.keepsTrace === true && seed >= from ? { keepsTrace: true } : {}),
    }
    const result = await runStory(story)
    scored.push({ kind: base.kind, plan, score: scoreOf(result) })
    if (seed >= from) told({ seed, story, result })
  }
}
