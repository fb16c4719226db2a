/** What others do to the machine that a daemon runs on, and what a seed makes of it. */
import type { Random } from '../simulation/random.ts'

/** What another user of the machine does, and when perpd is killed and started again. */
export interface MachineMoves {
  /** When he takes all of the disk but some bytes, ms. */
  readonly fillsDisk?: {
    readonly atMs: number
    readonly leftBytes: number
    /** Takes what becomes free, too. */
    readonly isHungry: boolean
    /** Hours have passed since: what the journal's log had reserved is used up. */
    readonly isLong: boolean
  }
  /** When he binds the port that the settings name, and what he does with who connects, ms: 0 is before the daemon's first start, later he gets it while nobody has it. */
  readonly takesPort?: { readonly atMs: number; readonly does: 'drop' | 'answer' | 'wait' }
  /** When the daemon is killed with -9, and how long after it starts again, ms. */
  readonly crash?: { readonly atMs: number; readonly downMs: number }
}

type Filled = NonNullable<MachineMoves['fillsDisk']>
type Taken = NonNullable<MachineMoves['takesPort']>
type Crash = NonNullable<MachineMoves['crash']>

/** A disk that is filled at a time. */
export function filledAt(random: Random, atMs: number): Filled {
  return {
    atMs,
    leftBytes: random.pick([0, 3_000, 40_000]),
    isHungry: random.chance(0.5),
    isLong: random.chance(0.7),
  }
}

/** A port that is taken at a time. */
export function takenAt(random: Random, atMs: number): Taken {
  return { atMs, does: random.pick(['drop', 'answer', 'wait']) }
}

/** A kill -9 between two times, and a start soon after. */
export function crashBetween(random: Random, fromMs: number, untilMs: number): Crash {
  return { atMs: random.int(fromMs, untilMs), downMs: random.pick([1_000, 5_000]) }
}

/** What a story has of it: a fifth of them some, with a crash as a rule. */
export function movesOf(random: Random, spanMs: number): MachineMoves | undefined {
  if (!random.chance(0.2)) return undefined
  const atMs = random.int(5_000, Math.floor(spanMs / 2))
  const isFull = random.chance(0.7)
  return {
    ...(isFull ? { fillsDisk: filledAt(random, atMs) } : {}),
    ...(!isFull || random.chance(0.3) ? { takesPort: takenAt(random, random.pick([0, atMs])) } : {}),
    ...(random.chance(0.7) ? { crash: crashBetween(random, atMs, spanMs - 10_000) } : {}),
  }
}
