/**
 * The shape of a price path: a log price over time.
 *
 * It is a sum of smooth noises, one a time scale from twenty seconds to a year, with amplitudes that grow as the square root
 * of the scale. Each noise comes back to its middle, so that the sum reverts more than real prices do: the variance over a day is about
 * half of what independent minutes would make (0.91 of it over an hour, 0.64 over four). The fast scales swing with a slow volatility noise (clusters), and sparse steps add
 * jumps. Every noise is a pure function of (stream, time). The terms are added in one order wherever a moment is asked for:
 * one at a time or many together, the bits are the same.
 */
import { bell, unit } from '../math/random.ts'

/** Log price of one stream, relative to nothing: only differences mean something. */
export interface Path {
  /** At a time in seconds from the world's start. */
  at(time: number): number
  /** At `count` times from `time` on, `stepSeconds` apart, into the first places of `logs`. */
  fill(time: number, stepSeconds: number, count: number, logs: Float64Array): void
}

/** Scales of the path in seconds. */
const scales = [20, 60, 150, 400, 900, 2400, 7200, 21_600, 86_400, 345_600, 1_209_600, 5_184_000, 31_536_000]
/** Scales up to this one breathe with the clusters. */
const FAST_SECONDS = 2400
const BREATH_SECONDS = 1800
const DAY = 86_400
const JUMP_CELL_SECONDS = 5400
const JUMP_SECONDS = 20

/** The path of a stream with a volatility of its log price a day, with rare steps when `jumps`. */
export function createPath(stream: number, dailyVolatility: number, jumps: boolean): Path {
  const breath = createNoise(stream ^ 0x1b873593, BREATH_SECONDS)
  const jump = createJumps(stream ^ 0x7f4a7c15)
  const parts = scales.map((scale, i) => ({
    isFast: scale <= FAST_SECONDS,
    amplitude: dailyVolatility * 1.6 * Math.sqrt(scale / DAY),
    noise: createNoise(stream ^ Math.imul(i + 1, 0x9e3779b1), scale),
  }))
  let clusters = new Float64Array(0)
  return {
    at: (time) => {
      const cluster = clusterOf(breath.at(time))
      let sum = jumps ? jump.at(time) * dailyVolatility : 0
      for (const part of parts) sum += part.amplitude * (part.isFast ? cluster : 1) * part.noise.at(time)
      return sum
    },
    fill: (time, stepSeconds, count, logs) => {
      if (clusters.length < count) clusters = new Float64Array(count)
      clusters.fill(0, 0, count)
      breath.add(time, stepSeconds, count, 1, undefined, clusters)
      for (let i = 0; i < count; i += 1) clusters[i] = clusterOf(clusters[i] as number)
      if (jumps) jump.fill(time, stepSeconds, count, dailyVolatility, logs)
      else logs.fill(0, 0, count)
      for (const { isFast, amplitude, noise } of parts) {
        noise.add(time, stepSeconds, count, amplitude, isFast ? clusters : undefined, logs)
      }
    },
  }
}

/** Volatility clusters: what the fast scales are multiplied by, from a noise of half an hour. */
function clusterOf(breath: number): number {
  const half = (breath + 1) / 2
  return 0.45 + 2.4 * (half * half)
}

/** Smooth noise of one scale: cell values joined by an S-curve. Keeps the last cell, the value depends on time alone. */
function createNoise(stream: number, scale: number) {
  let cell = Number.NaN
  let from = 0
  let to = 0
  return {
    at: (time: number): number => {
      const position = time / scale
      const at = Math.floor(position)
      if (at !== cell) {
        cell = at
        from = bell(stream, at)
        to = bell(stream, at + 1)
      }
      const part = position - at
      return from + (to - from) * part * part * (3 - 2 * part)
    },
    /** Adds the noise times `amplitude`, and `factors` if there are, to `sums`, from `time` on. */
    add: (
      time: number,
      stepSeconds: number,
      count: number,
      amplitude: number,
      factors: Float64Array | undefined,
      sums: Float64Array,
    ): void => {
      // All in locals and without a call a sample: this runs a million times for a hundred hours of candles.
      let known = Number.NaN
      let low = 0
      let high = 0
      let i = 0
      while (i < count) {
        const at = Math.floor((time + i * stepSeconds) / scale)
        low = at === known + 1 ? high : bell(stream, at)
        high = bell(stream, at + 1)
        known = at
        // Times are whole seconds: the first of them in the next cell is known.
        const end = Math.min(count, Math.ceil(((at + 1) * scale - time) / stepSeconds))
        const rise = high - low
        let moment = time + i * stepSeconds
        if (factors === undefined) {
          for (; i < end; i += 1) {
            const part = moment / scale - at
            sums[i] = (sums[i] as number) + amplitude * (low + rise * part * part * (3 - 2 * part))
            moment += stepSeconds
          }
        } else {
          for (; i < end; i += 1) {
            const part = moment / scale - at
            const scaled = amplitude * (factors[i] as number)
            sums[i] = (sums[i] as number) + scaled * (low + rise * part * part * (3 - 2 * part))
            moment += stepSeconds
          }
        }
      }
    },
  }
}

/** Steps: within a cell the level moves once, quickly, at a moment of its own; most cells move by almost nothing. */
function createJumps(stream: number) {
  const levelOf = (cell: number): number => (bell(stream ^ 0x1234567, cell) * 2) ** 3 * 0.15
  const momentOf = (cell: number): number => (cell + unit(stream, cell)) * JUMP_CELL_SECONDS
  let cell = Number.NaN
  let moment = 0
  let before = 0
  let after = 0
  return {
    at: (time: number): number => {
      const at = Math.floor(time / JUMP_CELL_SECONDS)
      if (at !== cell) {
        cell = at
        moment = momentOf(at)
        before = levelOf(at - 1)
        after = levelOf(at)
      }
      const progress = Math.min(1, Math.max(0, (time - moment) / JUMP_SECONDS))
      return before + (after - before) * progress
    },
    /** Sets `levels` to the levels times `amplitude` from `time` on. */
    fill: (
      time: number,
      stepSeconds: number,
      count: number,
      amplitude: number,
      levels: Float64Array,
    ): void => {
      let i = 0
      while (i < count) {
        const at = Math.floor((time + i * stepSeconds) / JUMP_CELL_SECONDS)
        const end = Math.min(count, Math.ceil(((at + 1) * JUMP_CELL_SECONDS - time) / stepSeconds))
        const jumpsAt = momentOf(at)
        const low = levelOf(at - 1)
        const rise = levelOf(at) - low
        for (; i < end; i += 1) {
          const progress = Math.min(1, Math.max(0, (time + i * stepSeconds - jumpsAt) / JUMP_SECONDS))
          levels[i] = (low + rise * progress) * amplitude
        }
      }
    },
  }
}
