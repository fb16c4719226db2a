/**
 * Fields of a strategy file that could never act, or that contradict each other: each is reported where the file is read, because its author relies
 * on it. Pure.
 */
import { BPS_ONE, formatUsd, type Usd } from '../../protocol/units.ts'
import { limitsOf, type StrategyFile } from './fileSchema.ts'

/** One such field. */
export interface DeadField {
  /** Way to it in the file. */
  readonly path: readonly string[]
  /** The end of a sentence that begins with the field. */
  readonly what: string
  readonly fix: string
}

type Exit = NonNullable<StrategyFile['exit']>
type Distance = {
  readonly bps?: number | undefined
  readonly usd?: Usd | undefined
  readonly atr?: number | undefined
}

/**
 * Returns all dead fields of a file. `isWritten` tells whether a field is written there, because a default does not count as requested.
 *
 * A stop-loss behind the liquidation is judged by the file alone. At a leverage of L the collateral is used up at a distance of 1/L of the price.
 * Fees and the venue's margin bring the liquidation nearer still. This holds where a stable coin backs the position.
 */
export function deadFieldsOf(
  fields: StrategyFile,
  symbols: readonly string[],
  isWritten: (path: readonly string[]) => boolean,
): readonly DeadField[] {
  const { exit } = fields
  return [
    ...(exit === undefined ? [] : [...idleExits(exit, isWritten), ...unreachable(exit, fields, symbols)]),
    ...idleProtections(fields, isWritten),
    ...closedLimits(fields),
  ]
}

function idleExits(exit: Exit, isWritten: (path: readonly string[]) => boolean): readonly DeadField[] {
  const { stopLoss, takeProfit, trailingStop, breakEven, timeLimitSeconds, onSignalOnly } = exit
  const found: DeadField[] = []
  const asks = [stopLoss, takeProfit, trailingStop, breakEven, timeLimitSeconds, onSignalOnly]
  if (asks.every((each) => each === undefined || each === false))
    found.push({
      path: ['exit'],
      what: 'contains no exit',
      fix: 'add one, like stopLoss: { bps: 300 }, or onSignalOnly: true, or remove the block',
    })
  const moves = [stopLoss, trailingStop, breakEven].some((each) => each !== undefined)
  for (const field of ['moveEverySeconds', 'moveStepUsd'] as const)
    if (!moves && isWritten(['exit', field]))
      found.push({
        path: ['exit', field],
        what: 'has no stop-loss to move',
        fix: 'add a stopLoss or a trailingStop, or remove the line',
      })
  const targets = takeProfit === undefined ? [] : Array.isArray(takeProfit) ? takeProfit : [takeProfit]
  const distances: readonly (Distance | undefined)[] = [
    stopLoss,
    ...targets,
    trailingStop,
    trailingStop?.activation,
    breakEven?.after,
  ]
  if (exit.atr !== undefined && distances.every((distance) => distance?.atr === undefined))
    found.push({
      path: ['exit', 'atr'],
      what: 'configures the average true range, but no distance of the block uses it',
      fix: 'write a distance like stopLoss: { atr: 3 }, or remove exit.atr',
    })
  return found
}

function unreachable(exit: Exit, fields: StrategyFile, symbols: readonly string[]): readonly DeadField[] {
  const found: DeadField[] = []
  const { breakEven, stopLoss, trailingStop } = exit
  if (breakEven?.after.bps !== undefined && breakEven.after.bps <= breakEven.offsetBps)
    found.push({
      path: ['exit', 'breakEven'],
      what: `moves the stop-loss ${breakEven.offsetBps} bps beyond the entry once the profit is ${breakEven.after.bps} bps: the price would be past it`,
      fix: 'make after larger than offsetBps',
    })
  const leverageBps = leverageOf(fields)
  const backedByStable =
    symbols.length > 0 && symbols.every(hasTwoTokens) && fields.size?.collateral === 'short'
  if (leverageBps === undefined || !backedByStable) return found
  const usedUpBps = Math.ceil((BPS_ONE * BPS_ONE) / leverageBps)
  const first = trailingStop !== undefined && trailingStop.activation === undefined ? trailingStop : undefined
  const stops = [
    ...(stopLoss?.bps === undefined ? [] : [{ name: 'stopLoss', bps: stopLoss.bps }]),
    ...(first?.bps === undefined ? [] : [{ name: 'trailingStop', bps: first.bps }]),
  ]
  const nearest = stops.sort((one, other) => one.bps - other.bps)[0]
  const isKnown = stops.length === [stopLoss, first].filter((each) => each !== undefined).length
  if (nearest !== undefined && isKnown && nearest.bps >= usedUpBps)
    found.push({
      path: ['exit', nearest.name],
      what: `lies ${nearest.bps} bps from the entry, and at ${leverageBps / BPS_ONE}x (size.leverage) the position is liquidated before ${usedUpBps} bps, so it would never fire`,
      fix: `a distance well below ${usedUpBps} bps, or less leverage`,
    })
  return found
}

/** The most that one order is opened on, bps; undefined where the file has no size. */
function leverageOf({ size, limits }: StrategyFile): number | undefined {
  if (size === undefined) return undefined
  return Math.min(size.leverage, limitsOf(limits).maxLeverageBps ?? size.leverage)
}

/** Tells whether a market's pool has two tokens, of which the short one is a stable coin: `ETH/USD [WETH-USDC]`. */
function hasTwoTokens(symbol: string): boolean {
  const [, long, short] = /\[([^\]-]+)-([^\]]+)\]$/.exec(symbol) ?? []
  return long !== undefined && long !== short
}

function idleProtections(
  { protect }: StrategyFile,
  isWritten: (path: readonly string[]) => boolean,
): readonly DeadField[] {
  if (protect === undefined) return []
  const found: DeadField[] = []
  if (Object.values(protect).every((each) => each === undefined))
    found.push({ path: ['protect'], what: 'has no rule', fix: 'add a rule, or remove the block' })
  if (protect.minEdgeBps === undefined && isWritten(['protect', 'edgeHoldSeconds']))
    found.push({
      path: ['protect', 'edgeHoldSeconds'],
      what: 'is the holding time of protect.minEdgeBps, which is not set',
      fix: 'add protect.minEdgeBps, or remove the line',
    })
  return found
}

function closedLimits({ limits }: StrategyFile): readonly DeadField[] {
  const { minOrderSizeUsd, maxOrderSizeUsd, maxPositionSizeUsd } = limitsOf(limits)
  if (minOrderSizeUsd === undefined) return []
  return [
    { field: 'maxOrderSizeUsd', mostUsd: maxOrderSizeUsd },
    { field: 'maxPositionSizeUsd', mostUsd: maxPositionSizeUsd },
  ].flatMap(({ field, mostUsd }): DeadField[] =>
    mostUsd === undefined || mostUsd === 0n || mostUsd >= minOrderSizeUsd
      ? []
      : [
          {
            path: ['limits', field],
            what: `is ${formatUsd(mostUsd)}, below limits.minOrderSizeUsd (${formatUsd(minOrderSizeUsd)}): the instance could never open a position`,
            fix: `raise limits.${field} or lower limits.minOrderSizeUsd`,
          },
        ],
  )
}
