/** Shows the progress of long work on the line below the cursor of a terminal; prints nothing where nobody sits at one. */

import { systemClock } from '../../base/systemClock.ts'
import { span } from '../../monitor/text.ts'
import { SCREEN_COLUMNS } from './screen.ts'

/** Told how much is done, of how much; in any unit, both 0 or more. */
export type Progress = (done: number, total: number) => void

/** Work is looked at once in so many calls, a power of 2, so that being told costs nothing. */
const CALLS_PER_LOOK = 256
/** Work that ends sooner than this shows no bar, ms. */
const QUIET_MS = 500
const REDRAW_MS = 100
const BAR_CELLS = 24

/** `[######      ] 25 %, 25,000 of 100,000, 3 s left`, cut to the columns. */
export function progressLine(done: number, total: number, elapsedMs: number, columns: number): string {
  const share = total <= 0 ? 1 : Math.min(1, Math.max(0, done / total))
  const cells = Math.floor(share * BAR_CELLS)
  const left = share === 0 ? '' : `, ${span((elapsedMs * (1 - share)) / share)} left`
  const counts = `${done.toLocaleString('en-US')} of ${total.toLocaleString('en-US')}`
  const bar = `[${'#'.repeat(cells)}${' '.repeat(BAR_CELLS - cells)}]`
  return `${bar} ${Math.floor(share * 100)} %, ${counts}${left}`.slice(0, Math.max(0, columns))
}

/** Where a command writes to. */
export interface Screens {
  readonly stderr: {
    readonly isTTY?: boolean
    readonly columns?: number
    readonly write: (text: string) => unknown
  }
  readonly stdout: { readonly isTTY?: boolean }
  /** `TERM` of the environment. */
  readonly term: string | undefined
}

/** Tells whether work shows a bar: the terminal can draw it, and the work prints no lines to the screen in between. */
function hasBar({ stderr, stdout, term }: Screens, prints: boolean): boolean {
  return stderr.isTTY === true && term !== 'dumb' && !(prints && stdout.isTTY === true)
}

/** Columns of a terminal; some say 0, or nothing, of their width. */
function columnsOf({ columns }: { readonly columns?: number }): number {
  return columns === undefined || columns === 0 ? SCREEN_COLUMNS : columns
}

/** A bar while it is there. */
interface Bar {
  readonly progress: Progress
  /** Takes it away. */
  readonly end: () => void
}

/** Screens and timer of a bar, where they are not this process's own: tests. */
export interface BarPlace {
  readonly screens: Screens
  readonly monotonicMs: () => number
}

const ownPlace = (): BarPlace => ({
  screens: { stderr: process.stderr, stdout: process.stdout, term: process.env.TERM },
  monotonicMs: systemClock.monotonicMs,
})

function barAt({ screens, monotonicMs }: BarPlace, prints: boolean): Bar {
  if (!hasBar(screens, prints)) return { progress: () => {}, end: () => {} }
  const { stderr } = screens
  const beganMs = monotonicMs()
  let calls = 0
  let drawnMs = beganMs + QUIET_MS - REDRAW_MS
  let isShown = false
  return {
    progress(done, total) {
      calls += 1
      if ((calls & (CALLS_PER_LOOK - 1)) !== 0) return
      const nowMs = monotonicMs()
      if (nowMs - drawnMs < REDRAW_MS) return
      drawnMs = nowMs
      isShown = true
      stderr.write(`\r${progressLine(done, total, nowMs - beganMs, columnsOf(stderr) - 1)}\u001b[K`)
    },
    end() {
      if (isShown) stderr.write('\r\u001b[K')
    },
  }
}

/**
 * A bar on standard error while `work` runs; taken away at its end, however that comes. Work that `prints`, as the log of a start does, has none where
 * standard output is a screen too: its lines would break the bar.
 */
export async function whileReading<T>(
  work: (progress: Progress) => Promise<T>,
  prints = true,
  place: BarPlace = ownPlace(),
): Promise<T> {
  const bar = barAt(place, prints)
  try {
    return await work(bar.progress)
  } finally {
    bar.end()
  }
}
