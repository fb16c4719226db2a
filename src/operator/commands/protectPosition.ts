/** Places, moves and removes the protective exits of a position by hand; perpd maintains them until the position is gone. */
import { z } from 'zod'
import { direction, exitPlaceOrNone, line, pool } from '../../base/bodyFields.ts'
import { defined, ifDefined } from '../../base/defined.ts'
import { sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import {
  type HandPlan,
  type PlannedPlace,
  PROTECT,
  planDetail,
  planOn,
} from '../../domain/accountRecords/handPlan.ts'
import { OPERATOR } from '../../domain/accountRecords/operatorName.ts'
import type { Commander } from '../../domain/accountRecords/tradingState.ts'
import type { ExitType } from '../../domain/exitKeeper.ts'
import type { Denial } from '../../domain/order/intent.ts'
import {
  type MarketView,
  placesOfMarket,
  positionOf,
  reductionPriceOf,
  type Snapshot,
  triggerPriceOf,
} from '../../domain/snapshot.ts'
import { isBehindLiquidation, type Position } from '../../protocol/position.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { absOf, formatDollars, minOf, mulDiv, type Usd } from '../../protocol/units.ts'
import { placed } from '../../risk/sizing/triggerOrders.ts'
import { byFlag, collateralFlag, directionName, json, marketName, yesAtTerminal } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { priceOfPlace } from '../exitPlace.ts'
import { exitTypeOf, isLooserStop, isOfPosition } from '../maintainer.ts'
import { namedPosition } from '../namedPosition.ts'
import { denied, type OperatorAnswer, type Refusal, refusal } from '../operatorAnswer.ts'
import type { OperatorContext } from '../operatorContext.ts'

const body = z
  .strictObject({
    market: line(120),
    direction,
    stopLoss: exitPlaceOrNone.exactOptional(),
    takeProfit: exitPlaceOrNone.exactOptional(),
    /** True: only the operator's own part of the position; else all of it, whoever opened it. */
    own: z.boolean().default(false),
    /** Token that backs the intended one of two positions on a side. */
    collateral: pool.exactOptional(),
  })
  .refine(
    ({ stopLoss, takeProfit }) => stopLoss !== undefined || takeProfit !== undefined,
    'give stopLoss, takeProfit or both: perpd protect MARKET SIDE --stop-loss PRICE or N% --take-profit PRICE or N%, or none',
  )

/** The command. */
export type ProtectCommand = CommandOf<'protect', typeof body>

/** Its row. */
export const protectPosition: CommandRow<ProtectCommand> = {
  type: PROTECT,
  route: '/api/positions/protect',
  body,
  preview: async (context, command) => {
    const planned = await plannedBy(context, command)
    if ('ok' in planned) return planned
    const { words, isLooser } = planned
    return {
      ok: true,
      statement: `${words} would be accepted now`,
      ...defined({ isLooser: isLooser || undefined }),
    }
  },
  run,
  // The plan is recorded once the position and its prices have been checked.
  isRecordedByItself: true,
  api: {
    example: { market: 'ETH', direction: 'long', stopLoss: '3%', takeProfit: '2400' },
    note: 'a preview says whether a stop-loss goes away, or moves to where more is lost (`isLooser`); a price, a distance from the entry price as `3%`, or `none`, which removes it; what is not named stays as it is',
  },
  forms: {
    protect: {
      title: 'Protect {direction} {market}',
      effects: [
        'Places, moves or removes the stop-loss and the take-profit of the position of {size}, whoever opened it. No halt prevents it.',
        'perpd keeps them at the size of the position, over restarts, until it is gone.',
      ],
      fields: [
        {
          name: 'stopLoss',
          label: 'Stop-loss',
          isOptional: true,
          hint: 'a price, a distance from the entry price as 3%, or none; empty: as it is',
        },
        { name: 'takeProfit', label: 'Take-profit', isOptional: true, hint: 'the same' },
        {
          name: 'own',
          label: 'For',
          value: 'whole',
          choices: [
            { value: 'whole', label: 'the whole position' },
            { value: 'own', label: 'the part opened by hand' },
          ],
          as: 'own',
        },
      ],
      preview: 'first',
      send: 'Protect position',
    },
  },
  cli: [
    {
      name: 'protect',
      isForRunning: true,
      asksNoScript: true,
      summary: 'Place, move or remove the stop-loss and take-profit of a position; perpd maintains them.',
      details:
        'For the whole position, whoever opened it, or with --own for the part opened by hand. perpd keeps\none order of each at the size of the part, over restarts, and cancels it when the part is gone. What\nis not named stays as it is. Exits of strategies stay too. No halt prevents it.',
      positional: marketName,
      more: [directionName],
      flags: [
        {
          name: 'stop-loss',
          value: 'PRICE',
          doc: 'price, distance from the entry price as 3%, or none to remove it',
        },
        { name: 'take-profit', value: 'PRICE', doc: 'the same' },
        { name: 'own', doc: 'only the part opened by hand' },
        collateralFlag,
        { name: 'dry-run', doc: 'only show what would change' },
        yesAtTerminal,
        byFlag,
        json,
      ],
      examples: [
        'perpd protect "ETH/USD [WETH-USDC]" long --stop-loss 1800',
        'perpd protect "ETH/USD [WETH-USDC]" long --stop-loss 3% --take-profit 6% --yes',
        'perpd protect "ETH/USD [WETH-USDC]" long --own --stop-loss none',
      ],
    },
  ],
}

/** A plan that would be accepted, and its description. */
interface Planned {
  readonly plan: HandPlan
  /** `stop-loss at $1,800.00 ... for all $500.00 of long ETH/USD [WETH-USDC]`. */
  readonly words: string
  /** A stop-loss goes away, or moves to where more is lost. */
  readonly isLooser: boolean
}

async function run(
  context: OperatorContext,
  command: ProtectCommand,
  commander: Commander,
): Promise<OperatorAnswer> {
  const planned = await plannedBy(context, command)
  if ('ok' in planned) return planned
  const { plan, words } = planned
  const detail = planDetail(plan)
  await context.trading.accountJournal.write({
    ...{ kind: 'operator.command', command: PROTECT, detail },
    ...commander,
  })
  const denial = await context.tasks.executors.keepHandExits(true)
  const isPlanned = [plan.stopLoss, plan.takeProfit].some((place) => place !== undefined && place !== 'none')
  const outcome =
    denial === undefined
      ? isPlanned
        ? 'perpd maintains this until the position is gone (perpd orders)'
        : 'perpd cancels those that it planned, and plans none for this position any more (perpd orders)'
      : `perpd retries what was denied: ${denial.code}, ${denial.reason}`
  return { ok: true, statement: `${words}: accepted; ${outcome}` }
}

/**
 * The plan that a command asks for, with what the present one of the side has besides; or the refusal: the codes of `namedPosition`, PART_NOT_FOUND,
 * TRIGGER_WOULD_FIRE, TRIGGER_NOT_POSITIVE, STOP_BEHIND_LIQUIDATION.
 */
async function plannedBy(
  { byHand, strategies, trading }: OperatorContext,
  command: ProtectCommand,
): Promise<Planned | Refusal> {
  if (!byHand.isRunning()) {
    return refusal('NOT_READY', 'perpd has not read the account yet; retry in a moment (perpd status)')
  }
  const snapshot = await byHand.read([])
  const named = await namedPosition(byHand, snapshot, command)
  if ('ok' in named) return named
  const { view } = named
  const position = positionOf(snapshot, named.position)
  const { symbol } = view.market
  const { marketToken, direction: side, collateralToken } = named.position
  if (position === undefined) {
    return refusal(
      'POSITION_NOT_FOUND',
      `no host shows the row of the ${side} position on ${symbol} now: its prices are unknown; retry`,
    )
  }
  const books = byHand.journal.books()
  const own = books.partsOf(OPERATOR).find((part) => sideKeyOf(part) === sideKeyOf(position))
  const ownUsd = minOf(own?.sizeUsd ?? 0n, position.sizeInUsd)
  if (command.own && ownUsd <= 0n) {
    const owners = books
      .all()
      .filter((book) => sideKeyOf(book) === sideKeyOf(position) && book.sizeUsd > 0n)
      .map(({ strategy }) => strategy)
    return refusal(
      'PART_NOT_FOUND',
      `no part of the ${side} position on ${symbol} was opened by hand (${owners.length === 0 ? 'its origin is unknown' : `it belongs to ${owners.join(', ')}`}); without --own the exits are for the whole position`,
    )
  }
  const part = command.own ? 'own' : 'whole'
  const sizeUsd = command.own ? ownUsd : position.sizeInUsd
  const entryPrice = entryOf(position, view, command.own ? own : undefined)
  const facts = { snapshot, view, position, entryPrice }
  const stopLoss = wished(command.stopLoss, 'stop-loss', facts)
  if (typeof stopLoss === 'object') return denied(stopLoss)
  const takeProfit = wished(command.takeProfit, 'take-profit', facts)
  if (typeof takeProfit === 'object') return denied(takeProfit)
  const before = planOn(trading.accountJournal.state().handPlans ?? [], position)
  const plan: HandPlan = {
    ...{ symbol, marketToken, direction: side, collateralToken, part },
    ...defined({
      stopLoss: stopLoss ?? before?.stopLoss,
      takeProfit: takeProfit ?? before?.takeProfit,
    }),
  }
  const places = [
    ...(stopLoss === undefined ? [] : [placeText('stop-loss', stopLoss, sizeUsd, facts)]),
    ...(takeProfit === undefined ? [] : [placeText('take-profit', takeProfit, sizeUsd, facts)]),
  ]
  const whose = command.own ? 'the part opened by hand,' : 'all'
  const managers = strategies()
    .filter(({ exits, strategy, name }) => {
      const isOpener = exits !== undefined && strategy.opensPositions
      return isOpener && part === 'whole' && books.heldBy(name, position) > 0n
    })
    .map(({ name }) => name)
  const beside = managers.length === 0 ? '' : ` (${managers.join(', ')} keeps its own exits too)`
  const words = `${places.join(' and ')} for ${whose} ${formatDollars(sizeUsd)} of ${side} ${symbol}${beside}`
  return { plan, words, isLooser: isLooserPlan(stopLoss, before?.stopLoss, facts) }
}

/** Judges a wished stop by the planned one, else by the nearest that rests on the side. */
function isLooserPlan(
  stopLoss: PlannedPlace | undefined,
  before: PlannedPlace | undefined,
  { snapshot, position }: PlaceFacts,
): boolean {
  if (stopLoss === undefined || stopLoss === 'none') return stopLoss === 'none'
  const { direction: side } = position
  if (before !== undefined && before !== 'none') return isLooserStop(side, before, stopLoss)
  return snapshot.orders.value
    .filter((row) => isOfPosition(row, position) && exitTypeOf(row) === 'stop-loss')
    .some((row) => isLooserStop(side, triggerPriceOf(row, snapshot) ?? stopLoss, stopLoss))
}

/** Facts by which the places of a plan are judged. */
interface PlaceFacts {
  readonly snapshot: Snapshot
  readonly view: MarketView
  readonly position: Position
  /** USD per whole index token; undefined: nothing says it. */
  readonly entryPrice: Usd | undefined
}

function entryOf(
  { entryPrice }: Position,
  view: MarketView,
  own: { readonly sizeInTokens: bigint; readonly costUsd: Usd } | undefined,
): Usd | undefined {
  if (own === undefined || own.sizeInTokens <= 0n) return entryPrice
  return mulDiv(own.costUsd, 10n ** BigInt(view.indexToken.decimals), own.sizeInTokens)
}

/** The price of a place, as the contract can hold it; undefined: it is not asked for. */
function wished(
  typed: string | undefined,
  type: ExitType,
  { snapshot, view, position, entryPrice }: PlaceFacts,
): PlannedPlace | undefined | Denial {
  if (typed === undefined || typed === 'none') return typed
  if (typed.endsWith('%') && entryPrice === undefined) {
    return {
      code: 'ENTRY_UNKNOWN',
      reason: 'no host says the entry price of the position: give a price instead of a percentage',
    }
  }
  const { direction: side } = position
  const wanted = priceOfPlace(typed, entryPrice ?? 0n, side, type)
  const at = placed(type, wanted, side, reductionPriceOf(position, snapshot), view)
  if (typeof at === 'object') return at
  if (type === 'take-profit' || !isBehindLiquidation(position, at)) return at
  return {
    code: 'STOP_BEHIND_LIQUIDATION',
    reason: 'the position is liquidated before this stop-loss fires',
    wanted: formatPrice(at),
    ...defined({
      allowed: ifDefined(
        position.liquidationPrice,
        (price) => `${side === 'long' ? 'above' : 'below'} ${formatPrice(price)}`,
      ),
    }),
  }
}

/** `stop-loss at $1,800.00 (-$50.00 there, before costs)`. */
function placeText(
  type: ExitType,
  place: PlannedPlace,
  sizeUsd: Usd,
  { entryPrice, snapshot, position: { direction: side, marketToken } }: PlaceFacts,
): string {
  if (place === 'none') return `no ${type}`
  const text = `${type} at ${formatPrice(place, placesOfMarket(snapshot, marketToken))}`
  if (entryPrice === undefined || entryPrice <= 0n) return text
  const movedUsd = mulDiv(sizeUsd, absOf(place - entryPrice), entryPrice)
  const isGain = place > entryPrice === (side === 'long')
  return `${text} (${isGain ? '+' : '-'}${formatDollars(movedUsd)} there, before costs)`
}
