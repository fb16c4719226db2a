/**
 * The situations that a strategy is tried in: what the price does, and what is wrong with the venue. A price is a function of
 * time alone: a shape in vols of its own, and noise of several octaves out of hashes, so that a trial is the same each time.
 * Floats shape the path; a price leaves here as a bigint.
 */
import { bell, hashText } from '../../paper/math/random.ts'

/** Turns of a situation. */
export const TRIAL_TURNS = 240

/** One situation. Steps may lie between two turns, and before the first. */
export interface Situation {
  readonly name: string
  /** One sentence: what happens. */
  readonly says: string
  /** The way of the price since the first step, in vols: about how far it moves in one step. */
  readonly shape: (step: number) => number
  /** Turns, from 0, at which market data stay as they were at the first of them; the second is not among them. Absent: none. */
  readonly staleTurns?: readonly [from: number, to: number]
  /** The venue takes no increases. */
  readonly isFull?: true
  /** Funding that longs of the first market pay at the beginning, bps of their size a day; negative: shorts do. Every second market has the opposite. Absent: none. */
  readonly fundingBpsPerDay?: number
}

/** From 0 to 1 between two steps. */
function between(step: number, from: number, to: number): number {
  return Math.min(1, Math.max(0, (step - from) / (to - from)))
}

const rising = (step: number): number => 0.4 * Math.max(0, step)

/** All of them, in the order of the report. */
export const situations: readonly Situation[] = [
  { name: 'trend-up', says: 'The price rises all the time.', shape: rising, fundingBpsPerDay: 40 },
  {
    name: 'trend-down',
    says: 'The price falls all the time.',
    shape: (step) => -rising(step),
    fundingBpsPerDay: -40,
  },
  {
    name: 'chop',
    says: 'The price swings around where it began and goes nowhere.',
    shape: (step) => 7 * Math.sin((2 * Math.PI * step) / 48) + 4 * Math.sin((2 * Math.PI * step) / 17),
  },
  {
    name: 'gap',
    says: 'The price jumps down between two looks at half time, past every order that waits there.',
    shape: (step) => (step < TRIAL_TURNS / 2 ? 0 : -60),
  },
  {
    name: 'crash',
    says: 'The price loses an eighth within a few turns, and gets a quarter of that back.',
    shape: (step) => -220 * between(step, 100, 114) + 55 * between(step, 120, 180),
  },
  {
    name: 'squeeze',
    says: 'The price shoots up within a few turns, and falls back most of the way.',
    shape: (step) => 220 * between(step, 100, 118) - 150 * between(step, 122, 170),
  },
  {
    name: 'stale-data',
    says: 'The price rises, and for the middle third of the time no new market data come.',
    shape: rising,
    staleTurns: [80, 160],
  },
  {
    name: 'no-capacity',
    says: 'The price rises, and the venue has no room for increases.',
    shape: rising,
    isFull: true,
  },
]

/** The vol of one step of so many seconds: relative, of a minute 6 bps. */
function volOf(turnSeconds: number): number {
  return 0.0006 * Math.sqrt(turnSeconds / 60)
}

/** Octaves of the noise, from one step to 64. */
const OCTAVES = 7
/** Strength of the noise relative to the shapes. */
const NOISE = 1.5
/** Share of the shape that every asset but the first follows. */
const DAMPED = 0.6

/** An asset's price over its base price at a step. The first asset of a trial follows the shape whole, others a part of it. */
export function priceFactor(
  { shape }: Situation,
  asset: string,
  isFirst: boolean,
  turnSeconds: number,
  step: number,
): number {
  const stream = hashText(asset)
  let noise = 0
  for (let octave = 0; octave < OCTAVES; octave++) {
    const cells = step / 2 ** octave
    const cell = Math.floor(cells)
    const part = cells - cell
    const own = (stream + octave * 0x9e3779b1) | 0
    noise += Math.SQRT2 ** octave * (bell(own, cell) * (1 - part) + bell(own, cell + 1) * part)
  }
  return Math.exp(volOf(turnSeconds) * ((isFirst ? 1 : DAMPED) * shape(step) + NOISE * noise))
}
