/**
 * Ends the process at every boundary of a story, once or twice, or freezes it there while a second one takes over: commits,
 * requests, answers, signatures, looks.
 */

import type { CaseShare } from '../gate/depth.ts'
import { runJobs } from './pool.ts'
import type { Story } from './scenarios.ts'
import type { TierName } from './seeds.ts'
import { runSeed } from './tiers.ts'
import type { WorldResult } from './worldTypes.ts'

/** What the crash points of one story showed. */
export interface CrashPoints {
  readonly story: string
  /** Boundaries of the story's process without a crash. */
  readonly boundaries: number
  readonly runs: number
  readonly failures: readonly string[]
}

/** What one worker is asked. */
export interface CrashJob {
  readonly kind: 'crashes'
  readonly tier: TierName
  readonly story: string
  readonly what: CrashKind
  /** Only each so manieth boundary, from this one on; absent: every one. */
  readonly share?: Share
}

/** A share of the boundaries, so that several workers do a long story together. */
export interface Share {
  readonly from: number
  readonly step: number
}

const everyBoundary: Share = { from: 1, step: 1 }

/** What happens at each boundary: a crash, another at each boundary after it, or a pause in which the journal is taken. */
export type CrashKind = 'crash' | 'pair' | 'takeover'

/** Enumerates the crash points of stories in worker threads: those of each so manieth boundary (`every`, the first past `from`), each story as so many jobs (`shares`). */
export function crashPointsOf(
  tier: TierName,
  stories: readonly Story[],
  what: CrashKind,
  { shares = 1, every = 1, from = 0 }: Partial<CaseShare> & { readonly shares?: number } = {},
): Promise<readonly CrashPoints[]> {
  const jobs = stories.flatMap(({ name }) =>
    Array.from({ length: shares }, (_, at): CrashJob => {
      const share = { from: at * every + from + 1, step: shares * every }
      return { kind: 'crashes', tier, story: name, what, ...(shares * every === 1 ? {} : { share }) }
    }),
  )
  return runJobs<CrashJob, CrashPoints>(new URL('./worker.ts', import.meta.url), jobs)
}

/** One seed for all: the stories are fixed, and what chance is left (latencies) is the same in each run. */
const storySeed = 1

async function runStory(tier: TierName, story: Story, crashes: readonly number[]): Promise<WorldResult> {
  return runSeed(tier, storySeed, { scenario: { ...story, crashes } })
}

function failureOf(story: Story, crashes: readonly number[], { violation }: WorldResult): string[] {
  if (violation === undefined) return []
  return [`${story.name}, crash at ${crashes.join(' and ')}: ${violation.invariant} ${violation.text}`]
}

/** Crashes once at every boundary of the story, or of a share of them. */
export async function everyCrash(
  tier: TierName,
  story: Story,
  { from, step }: Share = everyBoundary,
): Promise<CrashPoints> {
  const whole = await runStory(tier, story, [])
  const boundaries = whole.boundaries[0] ?? 0
  const failures = failureOf(story, [], whole)
  let runs = 1
  for (let at = from; at <= boundaries; at += step) {
    failures.push(...failureOf(story, [at], await runStory(tier, story, [at])))
    runs += 1
  }
  return { story: story.name, boundaries, runs, failures }
}

/**
 * Freezes the process at every boundary while a second one takes its journal over: by turns for so short that what it sends
 * then still lands, and for longer than any deadline.
 */
export async function everyTakeover(
  tier: TierName,
  story: Story,
  { from, step }: Share = everyBoundary,
): Promise<CrashPoints> {
  const whole = await runStory(tier, story, [])
  const boundaries = whole.boundaries[0] ?? 0
  const failures: string[] = []
  let runs = 1
  for (let at = from; at <= boundaries; at += step) {
    runs += 1
    const takeover = { at, goesOnMs: at % 2 === 0 ? 2_500 : 90_000 }
    const { violation } = await runSeed(tier, storySeed, { scenario: { ...story, crashes: [], takeover } })
    if (violation !== undefined)
      failures.push(`${story.name}, frozen at ${at}: ${violation.invariant} ${violation.text}`)
  }
  return { story: story.name, boundaries, runs, failures }
}

/** Crashes at every boundary, and again at every boundary of the process that follows. */
export async function everyPair(
  tier: TierName,
  story: Story,
  { from, step }: Share = everyBoundary,
): Promise<CrashPoints> {
  const whole = await runStory(tier, story, [])
  const boundaries = whole.boundaries[0] ?? 0
  const failures: string[] = []
  let runs = 1
  for (let first = from; first <= boundaries; first += step) {
    const once = await runStory(tier, story, [first])
    runs += 1
    const second = once.boundaries[1] ?? 0
    for (let at = 1; at <= second; at += 1) {
      failures.push(...failureOf(story, [first, at], await runStory(tier, story, [first, at])))
      runs += 1
    }
  }
  return { story: story.name, boundaries, runs, failures }
}
