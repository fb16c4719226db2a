/**
 * Steps of the wall clock between stamps, so that a stamp has the age that it has, whatever the clock did since. A clock that was ahead and is
 * set back leaves stamps of the future: these count as of the moment of the step, so none is lost and none counts for longer than its window.
 */
import { CLOCK_STEP_MS, type Clocks } from '../base/clock.ts'

/** Most steps that are kept: what lies before them is by then older than any window, or nobody can say its age. */
const mostSteps = 256

interface Step {
  /** The last place that was written before it. */
  readonly place: number
  /** The length of the way back, ms; less than 0 where it came forth again. */
  backMs: number
}

/** The steps between the places of one list; places only rise. */
export class ClockSteps {
  #steps: Step[] = []
  #lastMs = 0
  /** Wall clock of this process less its monotonic one when last looked at. */
  #courseMs: number | undefined
  /** Taken from stamps since that look, which see a step and not how far it went. */
  #unmeasured: Step[] = []
  /** The sum of the steps of this process, ms. */
  #behindMs = 0
  /** Steps forth of this process that no step back has undone yet, oldest first. */
  #ahead: { readonly place: number; readonly forthMs: number }[] = []
  /** The longest way forth between two stamps since the last look: the step lies there, where one is found. */
  #leap: { readonly place: number; readonly forthMs: number } | undefined
  /** The steps that stamps alone show, of processes before this one, ms. */
  #stampedBackMs = 0

  /** Takes the stamp of what follows on `place`. */
  stamp(place: number, atMs: number): void {
    const backMs = this.#lastMs - atMs
    this.#lastMs = atMs
    // Before the first look nothing measures a step.
    const isMeasured = this.#courseMs !== undefined
    if (!isMeasured && this.#stampedBackMs > 0 && -backMs >= this.#stampedBackMs) {
      // The way back, or as long a silence. Taken for the way back nothing gets older than its stamp says, so no window ends early.
      this.#add(place, -this.#stampedBackMs)
      this.#stampedBackMs = 0
    }
    if (isMeasured && -backMs >= CLOCK_STEP_MS && -backMs > (this.#leap?.forthMs ?? 0))
      this.#leap = { place, forthMs: -backMs }
    if (backMs < CLOCK_STEP_MS) return
    const step = this.#add(place, backMs)
    if (isMeasured) this.#unmeasured.push(step)
    else this.#stampedBackMs += backMs
  }

  /** Compares the clock with its own course since the look before, and at the first with the newest stamp. `place`: the newest. */
  look(place: number, clock: Clocks): void {
    const nowMs = clock.now()
    const courseMs = nowMs - clock.monotonicMs()
    const seenMs = this.#unmeasured.reduce((sum, { backMs }) => sum + backMs, 0)
    const isFirst = this.#courseMs === undefined
    const backMs = (this.#courseMs === undefined ? this.#lastMs - nowMs : this.#courseMs - courseMs) - seenMs
    const [unmeasured] = this.#unmeasured
    if (unmeasured !== undefined) {
      unmeasured.backMs += backMs
      this.#behindMs += this.#undo(seenMs + backMs)
    } else if (backMs >= CLOCK_STEP_MS) {
      this.#add(place, backMs)
      this.#behindMs += this.#undo(backMs)
    } else if (backMs <= -CLOCK_STEP_MS && !isFirst) {
      // A step forth after one back is the way back first, and no time that passed.
      const forthMs = Math.min(-backMs, this.#behindMs)
      this.#behindMs -= forthMs
      const before = this.#leap?.place ?? place
      if (forthMs > 0) this.#add(before, -forthMs)
      if (-backMs > forthMs)
        this.#ahead = [...this.#ahead.slice(1 - mostSteps), { place: before, forthMs: -backMs - forthMs }]
    }
    this.#leap = undefined
    this.#unmeasured = []
    this.#courseMs = courseMs
    this.#lastMs = nowMs
  }

  /** True where the clock ran straight, as far as is known. */
  get isNone(): boolean {
    return this.#steps.length === 0
  }

  /** Gives how far the clock was set back since that place was written, ms. */
  backSince(place: number): number {
    let backMs = 0
    for (const step of this.#steps) if (step.place >= place) backMs += step.backMs
    return backMs
  }

  /**
   * Takes a step back as the end of the steps forth before it, newest first: what was written before those has the right time, and gets no older.
   * Gives what is left of the step, ms.
   */
  #undo(backMs: number): number {
    let leftMs = backMs
    while (leftMs > 0) {
      const last = this.#ahead.pop()
      if (last === undefined) return leftMs
      const undoneMs = Math.min(last.forthMs, leftMs)
      leftMs -= undoneMs
      this.#add(last.place, -undoneMs)
      if (last.forthMs > undoneMs) this.#ahead.push({ place: last.place, forthMs: last.forthMs - undoneMs })
    }
    return leftMs
  }

  #add(place: number, backMs: number): Step {
    const step = { place, backMs }
    this.#steps = [...this.#steps.slice(1 - mostSteps), step]
    return step
  }
}
