/** The `exit` block of a strategy file: its fields, and their values in the code. */
import { z } from 'zod'
import { defined, ifDefined } from '../../base/defined.ts'
import {
  closedBps,
  type ExitDistance,
  type ExitSettings,
  MOST_TARGETS,
  usualMoves,
  usualRange,
} from '../../domain/order/exitSettings.ts'
import { BPS_ONE, type Usd } from '../../protocol/units.ts'
import { bpsField, countField, secondsField, timesField, usdField } from '../fields.ts'

/** Nearest and farthest exit, bps of the entry price. */
const distanceFields = {
  bps: bpsField({ min: 1, max: 9_999 })
    .optional()
    .describe('distance, basis points of the price; one of bps, usd and atr'),
  usd: usdField().optional().describe('distance, US dollars per whole token; one of bps, usd and atr'),
  atr: timesField()
    .optional()
    .describe('distance, times the average true range of `atr` of this block; one of bps, usd and atr'),
}
const oneOf =
  'exactly one of bps (of the price), usd (per whole token) and atr (times the average true range)'

type Written = {
  readonly bps?: number | undefined
  readonly usd?: Usd | undefined
  readonly atr?: number | undefined
}

function hasOne({ bps, usd, atr }: Written): boolean {
  return [bps, usd, atr].filter((value) => value !== undefined).length === 1
}

const distanceSchema = z.strictObject(distanceFields).refine(hasOne, oneOf)
const targetSchema = z
  .strictObject({
    ...distanceFields,
    shareBps: bpsField({ min: 1, max: BPS_ONE })
      .optional()
      .describe('share of the order that it closes; all of it when left out'),
  })
  .refine(hasOne, oneOf)
const ladderSchema = z
  .array(targetSchema)
  .min(1)
  .max(MOST_TARGETS)
  .refine(
    (targets) => closedBps(targets) <= BPS_ONE,
    `shares that add up to at most ${BPS_ONE} bps; a target without shareBps closes the whole order`,
  )
const trailingSchema = z
  .strictObject({
    ...distanceFields,
    activation: distanceSchema
      .optional()
      .describe('profit from the entry at which it begins to follow the price; at once when left out'),
  })
  .refine(hasOne, oneOf)

/** The `exit` block. */
export const exitSchema = z
  .strictObject({
    stopLoss: distanceSchema
      .optional()
      .describe(
        'closes with a loss at this distance from the entry. A nearer distance in bps or usd also moves the resting stop; any other change applies to new entries only',
      ),
    takeProfit: z
      .union([targetSchema, ladderSchema])
      .optional()
      .describe(
        `closes with a profit at this distance from the entry: one, or a list of up to ${MOST_TARGETS} with shareBps of the order each; a change applies to new exits only`,
      ),
    trailingStop: trailingSchema
      .optional()
      .describe(
        'a stop-loss that follows the price at this distance and never moves back; perpd moves it while it runs',
      ),
    breakEven: z
      .strictObject({
        after: distanceSchema.describe('profit from the entry at which perpd moves the stop-loss'),
        offsetBps: bpsField({ max: 1_000 })
          .default(15)
          .describe('distance of the moved stop on the winning side of the entry, to pay for closing'),
      })
      .optional()
      .describe('moves the stop-loss to the entry once the profit is large enough; only while perpd runs'),
    timeLimitSeconds: secondsField({ min: 10, max: 31_536_000 })
      .optional()
      .describe("closes the instance's part this long after its newest entry; only while perpd runs"),
    moveEverySeconds: secondsField({ min: 5, max: 86_400 })
      .default(usualMoves.moveEveryMs)
      .describe('least time between two moves of one stop-loss'),
    moveStepUsd: usdField({ minUsd: 0 })
      .default(usualMoves.moveStepUsd)
      .describe('smallest gain for which perpd moves a stop-loss, because each move costs an execution fee'),
    atr: z
      .strictObject({
        period: z
          .enum(['1m', '5m', '15m', '1h', '4h', '1d'])
          .default(usualRange.period)
          .describe('length of its candles'),
        candles: countField({ min: 2, max: 200 }).default(usualRange.candles).describe('how many candles'),
      })
      .optional()
      .describe('average true range that is the unit of distances in atr; of 14 candles of 5m when left out'),
    onSignalOnly: z
      .boolean()
      .optional()
      .describe(
        'true: only the decisions of the kind close its positions, and perpd reports no missing stop-loss; excludes every other exit',
      ),
  })
  .refine(
    ({ onSignalOnly, stopLoss, takeProfit, trailingStop, breakEven, timeLimitSeconds }) =>
      onSignalOnly !== true ||
      [stopLoss, takeProfit, trailingStop, breakEven, timeLimitSeconds].every((each) => each === undefined),
    'onSignalOnly alone, or exits without it',
  )
  .refine(
    ({ breakEven, stopLoss, trailingStop }) =>
      breakEven === undefined || stopLoss !== undefined || trailingStop !== undefined,
    'breakEven together with a stopLoss or a trailingStop that it moves',
  )

/** The block in the daemon's words. */
export function exitSettingsOf(block: z.output<typeof exitSchema>): ExitSettings {
  const { stopLoss, takeProfit, trailingStop, breakEven, timeLimitSeconds, onSignalOnly } = block
  const targets = takeProfit === undefined ? [] : Array.isArray(takeProfit) ? takeProfit : [takeProfit]
  return {
    ...defined({ stopLoss: ifDefined(stopLoss, distanceOf) }),
    takeProfits: targets.map(({ shareBps, ...distance }) => ({
      ...distanceOf(distance),
      ...defined({ shareBps }),
    })),
    ...defined({
      trailingStop: ifDefined(trailingStop, (distance) => ({
        distance: distanceOf(distance),
        ...defined({ activation: ifDefined(distance.activation, distanceOf) }),
      })),
      breakEven: ifDefined(breakEven, ({ after, offsetBps }) => ({ after: distanceOf(after), offsetBps })),
      timeLimitMs: timeLimitSeconds,
      isSignalOnly: onSignalOnly === true ? true : undefined,
    }),
    moveEveryMs: block.moveEverySeconds,
    moveStepUsd: block.moveStepUsd,
    range: block.atr ?? usualRange,
  }
}

function distanceOf({ bps, usd, atr }: Written): ExitDistance {
  if (usd !== undefined) return { usd }
  if (bps !== undefined) return { bps }
  if (atr !== undefined) return { atrPercent: atr }
  throw new TypeError('exit: a distance has bps, usd or atr')
}
