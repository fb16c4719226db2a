/** Ranges of a task's whole numbers, for the control port and for the command that calls it. */
export const taskRanges = {
  /** Seconds between two orders or rungs of a task: a day at most. */
  everySecondsLeast: 10,
  everySecondsMost: 86_400,
  /** A week. */
  minutesMost: 10_080,
  /** Parts of a twap, rungs of a ladder, orders of a budget. */
  partsMost: 200,
  rungsMost: 50,
  ordersMost: 1_000,
} as const
