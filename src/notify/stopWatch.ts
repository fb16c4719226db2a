/** Whether every position has a stop-loss that rests: told when one goes without for two looks, and when that ends. Pure. */
import type { Notice } from './notice.ts'

/** Takes the sides without a stop of one look, by their names for people; gives what is to be told. */
export function createStopWatch(): (sides: readonly string[]) => readonly Notice[] {
  let before: ReadonlySet<string> = new Set()
  const told = new Set<string>()
  return (sides) => {
    const now = new Set(sides)
    // A stop is set a moment after its entry: one look alone says nothing.
    const begun = sides.filter((side) => before.has(side) && !told.has(side))
    const ended = [...told].filter((side) => !now.has(side))
    before = now
    for (const side of begun) told.add(side)
    for (const side of ended) told.delete(side)
    return [...begun.map(withoutStop), ...ended.map(withStop)]
  }
}

function withoutStop(side: string): Notice {
  return {
    kind: 'position-without-stop',
    level: 'warn',
    cause: `stop:${side}`,
    text: `no stop-loss that would fire rests for ${side}: none is there, or it lies behind the liquidation price. perpd makes none unless a strategy says so`,
    action: 'Set a stop, or a nearer one, or see that its strategy has exits of its own.',
  }
}

function withStop(side: string): Notice {
  return {
    kind: 'position-without-stop',
    level: 'info',
    cause: `stop:${side}`,
    isEnd: true,
    text: `${side} has a stop-loss again, or is closed`,
  }
}
