/**
 * For tests: plays a script of decisions on each of its markets, one step after the other; a step ends when the position or the
 * orders show what it was for. Prices move in waves between `low`, `mid` and `high`; a step may wait for one of them. Where
 * each script stands is kept in this module: the daemon that plays it is not started anew.
 */
import { existsSync } from 'node:fs'
import { collateralTokenOf, defineStrategy, type StrategyView, usdField, z } from '#strategy'
import type { Decision, ExitRequest } from '../../../src/domain/order/decision.ts'
import type { MarketView } from '../../../src/domain/snapshot.ts'
import type { Position } from '../../../src/protocol/position.ts'

const stepSchema = z.strictObject({
  do: z.enum([
    'open',
    'decrease',
    'close',
    'take-profit',
    'stop-loss',
    'twap',
    'collateral-out',
    'collateral-in',
    'rest',
    'wait-others',
    'wait-file',
  ]),
  /** Size; of a change of collateral its worth. Of an exit or a twap: all of the position when absent. */
  usd: usdField().optional(),
  keepLeverage: z.boolean().default(false),
  when: z.enum(['low', 'mid', 'high']).optional(),
  /** open: with a take-profit of the whole at the high, and a stop of half of it and one of the whole below the low. */
  exits: z.boolean().default(false),
})
const params = z.strictObject({
  /** How far `high` and `low` are from `mid`, bps. */
  waveBps: z.number(),
  /** Price at `mid` by market symbol. */
  midUsd: z.record(z.string(), usdField()),
  /** What `wait-file` waits for. */
  goFile: z.string(),
  scripts: z.record(z.string(), z.array(stepSchema)),
})
type Params = z.output<typeof params>
type Step = z.output<typeof stepSchema>

interface Place {
  at: number
  /** Size and collateral of the position when the step began. */
  begun?: Held
  /** Whether a position was seen since. */
  wasHeld?: boolean
}

interface Held {
  readonly sizeUsd: bigint
  readonly collateral: bigint
}

const places = new Map<string, Place>()
const bpsOf = (value: bigint, basisPoints: number): bigint => (value * BigInt(basisPoints)) / 10_000n

export default defineStrategy({
  kind: 'script',
  description: 'Plays a script of decisions on each of its markets.',
  params,
  needs: (_params, symbols) => ({ symbols }),
  decide: (view) => view.instance.symbols.flatMap((symbol) => play(view, symbol)),
})

function play(view: StrategyView<Params>, symbol: string): Decision[] {
  const place = places.get(symbol) ?? { at: 0 }
  places.set(symbol, place)
  const step = view.params.scripts[symbol]?.[place.at]
  const market = view.market(symbol)
  const price = market?.oraclePrice?.value.medianPrice
  if (step === undefined || market === undefined || price === undefined) return []
  const [held] = view.positions(symbol, 'long')
  const open = view.openIntents.filter(({ marketToken }) => marketToken === market.market.marketToken)
  const size = { sizeUsd: held?.sizeInUsd ?? 0n, collateral: held?.collateralAmount ?? 0n }
  // One that opened and closed between two looks was seen on its way.
  if (place.begun !== undefined && (size.sizeUsd > 0n || open.length > 0)) place.wasHeld = true
  if (place.begun !== undefined && isOver(view, step, place, place.begun, size, symbol)) {
    // What is left of the step, as the exits of a position that is gone, ends first.
    if (open.length > 0 && step.do !== 'rest' && (step.exits || step.do !== 'open')) return []
    places.set(symbol, { at: place.at + 1 })
    return play(view, symbol)
  }
  const levels = levelsOf(view, symbol)
  const isThere =
    step.when === undefined || Math.abs(Number(((price - levels[step.when]) * 10_000n) / price)) < 10
  if (place.begun === undefined && (!isThere || open.some(({ kind }) => kind !== 'increase'))) return []
  place.begun ??= size
  const frozen = view.restingOrders.find(
    ({ isFrozen, isChanging, marketToken }) =>
      isFrozen && !isChanging && marketToken === market.market.marketToken,
  )
  if (frozen !== undefined) {
    const { marketToken, direction, orderKey } = frozen
    // The same again lifts the freeze.
    return [{ kind: 'edit', marketToken, direction, orderKey, reason: 'the script: it is frozen' }]
  }
  if (open.length > 0 || !isThere) return []
  const wish = wishOf(view, step, market, held, levels)
  return wish === undefined ? [] : [wish]
}

function levelsOf({ params: { midUsd, waveBps } }: StrategyView<Params>, symbol: string) {
  const mid = midUsd[symbol] ?? 0n
  return { mid, high: mid + bpsOf(mid, waveBps), low: mid - bpsOf(mid, waveBps) }
}

function isOver(
  view: StrategyView<Params>,
  step: Step,
  place: Place,
  begun: Held,
  now: Held,
  symbol: string,
): boolean {
  switch (step.do) {
    case 'open':
      // One with exits is over when an exit took it again.
      return step.exits
        ? place.wasHeld === true && now.sizeUsd === 0n
        : now.sizeUsd === begun.sizeUsd + (step.usd ?? 0n)
    case 'collateral-in':
      return now.collateral > begun.collateral
    case 'collateral-out':
      return now.collateral < begun.collateral
    case 'rest':
      return view.restingOrders.some(
        ({ marketToken, orderType }) =>
          orderType === 'limit' && marketToken === view.market(symbol)?.market.marketToken,
      )
    case 'wait-file':
      return existsSync(view.params.goFile)
    case 'wait-others':
      return Object.entries(view.params.scripts).every(
        ([other, steps]) =>
          (places.get(other)?.at ?? 0) >= steps.findIndex(({ do: what }) => what === 'wait-others'),
      )
    default:
      return now.sizeUsd === (step.usd === undefined ? 0n : begun.sizeUsd - step.usd)
  }
}

function wishOf(
  view: StrategyView<Params>,
  step: Step,
  market: MarketView,
  held: Position | undefined,
  levels: ReturnType<typeof levelsOf>,
): Decision | undefined {
  const { size } = view.instance
  if (size === undefined || step.do === 'wait-others' || step.do === 'wait-file') return undefined
  const collateralToken = collateralTokenOf(market, size.collateral)
  const base = {
    marketToken: market.market.marketToken,
    direction: 'long',
    collateralToken,
    reason: `the script: ${step.do}${step.when === undefined ? '' : ` at ${step.when}`}`,
  } as const
  const usd = step.usd ?? held?.sizeInUsd ?? 0n
  const tpsl: readonly ExitRequest[] = [
    { type: 'take-profit', triggerPrice: levels.high - bpsOf(levels.high, 15) },
    { type: 'stop-loss', triggerPrice: levels.low - bpsOf(levels.low, 100), shareBps: 5000 },
    // Halves, so that they add up: one that closes more than is held is made smaller at once, in a race with the wave.
    { type: 'stop-loss', triggerPrice: levels.low - bpsOf(levels.low, 200), shareBps: 5000 },
  ]
  switch (step.do) {
    case 'open':
    case 'rest': {
      const opens = { kind: 'increase', ...base, sizeDeltaUsd: usd, leverageBps: size.leverageBps } as const
      if (step.do === 'rest')
        return { ...opens, orderType: 'limit', triggerPrice: levels.mid - bpsOf(levels.mid, 2_000) }
      return step.exits ? { ...opens, tpsl } : opens
    }
    case 'close':
      return { kind: 'close', ...base }
    case 'collateral-in':
    case 'collateral-out':
      return { kind: step.do, ...base, amount: usd / 10n ** 24n }
    default: {
      const { keepLeverage } = step
      const reduces = { kind: 'decrease', ...base, sizeDeltaUsd: usd, keepLeverage } as const
      if (step.do === 'decrease') return reduces
      if (step.do === 'twap')
        return { ...reduces, orderType: 'twap', twap: { parts: 2, durationSeconds: 60 } }
      const level = step.do === 'take-profit' ? levels.high : levels.low
      const inward = bpsOf(level, 15)
      const triggerPrice = step.do === 'take-profit' ? level - inward : level + inward
      return { ...reduces, orderType: step.do, triggerPrice }
    }
  }
}
