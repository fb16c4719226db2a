/** Reports where a replay is: at the start, and whenever an asset's candles begin or end. */

import { type RunningReplay, replayChanges, replayPlace, replayText } from '../../base/candles/replayPlace.ts'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../monitor/log/log.ts'

/** Longest wait of a timer that can be trusted, ms. */
const LONGEST_WAIT_MS = 3_600_000

/** Reports until nothing changes any more or the signal aborts. A replay whose prices stand still is a warning. */
export async function tellReplay(
  replay: RunningReplay,
  clock: Clock,
  note: Log['note'],
  signal: AbortSignal,
): Promise<void> {
  const report = (): void => {
    const place = replayPlace(replay, clock.now())
    note('paper.replay', place.still.length === 0 ? 'info' : 'warn', `replay ${replayText(place)}`)
  }
  report()
  for (const atMs of replayChanges(replay).filter((each) => each > clock.now())) {
    while (clock.now() < atMs && !signal.aborted)
      await clock.sleep(Math.min(Math.ceil(atMs - clock.now()), LONGEST_WAIT_MS), signal)
    if (signal.aborted) return
    report()
  }
}
