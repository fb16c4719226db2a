/**
 * A fixed story of exits for the enumeration of crash points: an entry with two targets and a stop-loss, a price that comes to the first
 * target, so that the stop-loss must shrink, and then falls through it.
 */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import type { Limits } from '../../src/domain/limits/limits.ts'
import { usd } from '../../src/protocol/units.ts'
import { exitSettingsOf } from '../../src/strategy/files/exitBlock.ts'
import { writtenFields } from '../../src/strategy/files/fileLife.ts'
import { fileSchema } from '../../src/strategy/files/fileSchema.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { protectionsOf } from '../../src/strategy/files/protectBlock.ts'
import { defineStrategy, z } from '../../src/strategy/strategy.ts'
import { usdc } from '../support/intents.ts'
import { loadedOf } from '../support/loaded.ts'
import { modelMarkets } from './engineMarkets.ts'
import type { PricePath } from './priceWalk.ts'

/** A story of exits. */
export interface ExitStory {
  readonly path: PricePath
  /** The strategy enters until then, ms. */
  readonly spanMs: number
  /** `exit`, `protect` and `onRemove` of the strategy's file. */
  readonly file: Readonly<Record<string, unknown>>
}

/** Nothing of the account's holds the story back. */
export const storyLimits: Limits = {
  maxTotalExposureUsd: usd(2_000),
  maxPositionSizeUsd: usd(2_000),
  maxDataAgeMs: 10_000,
  capacityHeadroomBps: 0,
}

/** The first target at 30 bps takes half; the price comes there, and falls through the stop-loss. */
export const targetFills: ExitStory = {
  path: [
    [0, 0],
    [14_000, 40],
    [28_000, -150],
  ],
  spanMs: 10_000,
  file: {
    exit: {
      stopLoss: { bps: 80 },
      takeProfit: [
        { bps: 30, shareBps: 5_000 },
        { bps: 200, shareBps: 5_000 },
      ],
    },
    protect: { cooldownAfterExitSeconds: 10 },
    onRemove: 'close',
  },
}

/** The strategy of a story: it is long on one market whenever none of its entries is open. */
export function storyStrategy({ file, spanMs }: ExitStory, timeline: Timeline): LoadedStrategy {
  const [market] = modelMarkets
  if (market === undefined) throw new TypeError('the model has no market')
  const { symbol, marketToken } = market
  const strategy = defineStrategy({
    kind: 'story',
    description: 'Is long whenever no entry of its own is open.',
    params: z.strictObject({}),
    needs: () => ({ symbols: [symbol] }),
    decide(view) {
      const isIn = view.openIntents.some(({ kind }) => kind === 'increase')
      if (isIn || timeline.nowMs >= spanMs) return []
      return [
        {
          kind: 'increase' as const,
          marketToken,
          direction: 'long' as const,
          sizeDeltaUsd: usd(200),
          leverageBps: 20_000,
          collateralToken: usdc,
          reason: 'the story begins',
        },
      ]
    },
  })
  const text = { kind: strategy.kind, market: symbol, ...file }
  const { exit, protect, onRemove } = fileSchema.parse(text)
  return loadedOf(strategy, 'story', [symbol], {
    instance: { name: 'story', symbols: [symbol] },
    cadenceMs: 4_000,
    ...(exit === undefined ? {} : { exits: exitSettingsOf(exit) }),
    ...(protect === undefined ? {} : { protect: protectionsOf(protect) }),
    onRemove,
    written: writtenFields(text),
  })
}
