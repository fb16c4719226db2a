/** What whole numbers of a task may be, for the control port and for the command that asks it. */
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
