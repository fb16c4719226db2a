/**
 * Checks of kinds by the views of a run, each handed to its kind alone: no account, no orders and no fills are involved, so that a difference is the
 * kind's. `lookahead`: by nothing but what was over, in any order. `warmup`: by no more candles than it asks for. `recorded`: as it did live.
 */
import { reasonOf } from '../../base/errors.ts'
import { unit } from '../../paper/math/random.ts'
import type { LoadedStrategy } from '../../strategy/files/load.ts'
import { checkTurn, decisionsIn, memoryFor } from '../../strategy/kindMemory.ts'
import { viewOf } from '../../strategy/strategy.ts'
import { cutToNeeds, movedInTime, withoutRunning } from './changedViews.ts'
import { canonical, type Difference, differencesOf } from './difference.ts'
import { chosenTurns, type RecordedTurn, type ShownScene } from './recordedTurns.ts'

/** The checks that there are. */
export const checkNames = ['lookahead', 'warmup', 'recorded'] as const

/** Name of a check. */
export type CheckName = (typeof checkNames)[number]

/** The first decision of a kind that differs. */
export interface CheckFinding {
  readonly strategy: string
  /** The change of the view by which it decided otherwise, as a clause. */
  readonly by: string
  readonly atMs: number
  /** Places at which the two views differ; none where they are the same. */
  readonly views: readonly Difference[]
  /** Places at which the two answers differ: the run's, and the one by the changed view. */
  readonly answers: readonly Difference[]
}

/** The outcome for one instance. */
export interface CheckedKind {
  readonly strategy: string
  /** Turns that were replayed, and those of them that decided something. */
  readonly turns: number
  readonly decided: number
  /** Names of the changes by which no decision differed. */
  readonly passed: readonly string[]
  readonly finding?: CheckFinding
}

/** Gives the file anew: a kind of the user's own in a thread that has asked nothing yet. */
export type LoadAgain = () => Promise<LoadedStrategy>

/** Most turns of an instance that are replayed. */
const MOST_REPLAYED = 500
/** Threads over which shuffled turns are dealt. */
const SHUFFLED_THREADS = 3
/** Most places that are shown of a difference. */
const MOST_PLACES = 6
/** Amounts that differ by less are the same for a warm-up: an average over many candles never forgets its first one whole. Parts per million. */
const WARM_UP_PPM = 1_000n

/** A change of views, and the sameness of answers under it. */
interface Change {
  readonly name: string
  /** Clause of a finding: the reason why a kind decided otherwise. */
  readonly by: string
  readonly change: (scene: ShownScene, at: number) => ShownScene
  /** Translates an answer to the changed view back; absent: answers do not change. */
  readonly back?: (answer: unknown) => unknown
  readonly isShuffled?: boolean
  readonly isSame?: (one: unknown, other: unknown) => boolean
}

function changesOf(
  check: CheckName,
  { needs, params, instance }: LoadedStrategy,
  seed: number,
): readonly Change[] {
  if (check === 'recorded')
    return [
      {
        name: 'views as they were recorded',
        by: 'by the file as it is now, on the view that was recorded',
        change: (scene) => ({ ...scene, params, instance }),
      },
    ]
  if (check === 'warmup')
    return [
      {
        name: 'windows as long as asked for',
        by: 'by a window as long as it asks for, where the run had twice as many candles',
        change: (scene) => cutToNeeds(scene, needs),
        isSame: isAbout,
      },
    ]
  return [
    {
      name: 'running candles replaced by noise',
      by: 'by noise in the place of a candle that was not over',
      change: (scene, at) => {
        let draws = at * 100_000
        return withoutRunning(scene, needs, () => unit(seed, draws++))
      },
    },
    {
      name: 'turns shuffled over fresh threads',
      by: 'by the same view in another order of turns, asked of a fresh thread',
      change: (scene) => scene,
      isShuffled: true,
    },
    {
      name: 'times moved by 28 years',
      by: 'by the same view with every time moved by 28 years',
      change: (scene) => movedInTime(scene, 1) as ShownScene,
      back: (answer) => movedInTime(answer, -1),
    },
  ]
}

/** Replays the turns of one instance. `needs`: what the file asks for, which the run may have widened. */
export async function checkKind(
  check: CheckName,
  turns: readonly RecordedTurn[],
  loaded: LoadedStrategy,
  again: LoadAgain,
  seed: number,
): Promise<CheckedKind> {
  const { name } = loaded
  const own = chosenTurns(
    turns.filter(({ strategy }) => strategy === name),
    MOST_REPLAYED,
  )
  const counts = { strategy: name, turns: own.length, decided: own.filter((turn) => turn.hasDecided).length }
  const passed: string[] = []
  for (const change of changesOf(check, loaded, seed)) {
    const finding = await firstDifference(change, own, again, seed)
    if (finding !== undefined) return { ...counts, passed, finding }
    passed.push(change.name)
  }
  return { ...counts, passed }
}

/** The earliest turn that is answered otherwise; all are asked, since a shuffled one comes in any order. */
async function firstDifference(
  change: Change,
  turns: readonly RecordedTurn[],
  again: LoadAgain,
  seed: number,
): Promise<CheckFinding | undefined> {
  const hands = change.isShuffled === true ? shuffledHands(turns, seed) : [turns]
  let first: CheckFinding | undefined
  for (const hand of hands) {
    const loaded = await again()
    try {
      for (const [at, turn] of hand.entries()) {
        if (first !== undefined && first.atMs <= turn.atMs) continue
        first = (await differenceAt(change, turn, loaded, at)) ?? first
      }
    } finally {
      await loaded.hosted?.close()
    }
  }
  return first
}

async function differenceAt(
  { change, back, by, isSame }: Change,
  turn: RecordedTurn,
  loaded: LoadedStrategy,
  at: number,
): Promise<CheckFinding | undefined> {
  const scene = turn.scene()
  const seen = change(scene, at)
  const returned = await answerOf(loaded, seen)
  const answer: unknown = JSON.parse(canonical(back === undefined ? returned : back(returned)))
  const recorded: unknown = JSON.parse(turn.answer)
  if (canonical(answer) === turn.answer || isSame?.(recorded, answer) === true) return undefined
  return {
    strategy: turn.strategy,
    by,
    atMs: turn.atMs,
    views: differencesOf(scene, seen, MOST_PLACES),
    answers: differencesOf(recorded, answer, MOST_PLACES),
  }
}

/** Asks a kind by a view; a failure is an answer too. */
async function answerOf(loaded: LoadedStrategy, scene: ShownScene): Promise<unknown> {
  const { hosted, strategy, params, instance } = loaded
  const { remembered, params: _params, instance: _instance, ...shown } = scene
  try {
    if (hosted !== undefined) return (await hosted.decide(shown)).returned
    const { memory, ...seen } = shown
    const view = viewOf({ ...seen, params, instance })
    if (strategy.memory === undefined) return strategy.decide(view)
    const handed = remembered ?? memoryFor(strategy.kind, strategy.memory, memory)
    return checkTurn(strategy.memory, strategy.decide(view, handed))
  } catch (error) {
    return { failed: reasonOf(error) }
  }
}

/** Turns in a random order, dealt to several threads. */
function shuffledHands(turns: readonly RecordedTurn[], seed: number): readonly (readonly RecordedTurn[])[] {
  const drawn = turns.map((turn, at) => ({ turn, draw: unit(seed, 7_000_000 + at) }))
  const shuffled = drawn.toSorted((one, other) => one.draw - other.draw).map(({ turn }) => turn)
  return Array.from({ length: SHUFFLED_THREADS }, (_, hand) =>
    shuffled.filter((_turn, at) => at % SHUFFLED_THREADS === hand),
  ).filter((hand) => hand.length > 0)
}

/** Compares what two answers decide: the same decisions, amounts within a thousandth; reasons and facts are for people. */
function isAbout(one: unknown, other: unknown): boolean {
  const [left, right] = [decisionsIn(one), decisionsIn(other)]
  return left.length === right.length && left.every((each, at) => isNear(each, right[at]))
}

function isNear(one: unknown, other: unknown): boolean {
  if (typeof one === 'object' && one !== null && typeof other === 'object' && other !== null) {
    const [left, right] = [one as Record<string, unknown>, other as Record<string, unknown>]
    return [...new Set([...Object.keys(left), ...Object.keys(right)])].every(
      (key) => key === 'reason' || key === 'facts' || isNear(left[key], right[key]),
    )
  }
  const [left, right] = [amountOf(one), amountOf(other)]
  if (left === undefined || right === undefined) return one === other
  const [apart, size] = [left > right ? left - right : right - left, left < 0n ? -left : left]
  return apart * 1_000_000n <= size * WARM_UP_PPM
}

/** The amount that a canonical text of a bigint stands for. */
function amountOf(value: unknown): bigint | undefined {
  return typeof value === 'string' && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : undefined
}
