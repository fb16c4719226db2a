/** Opens or adds to a position by hand; whole, or not at all. */

import { z } from 'zod'
import { commandId, direction, dollars, exitPlace, line, pool, times } from '../../base/bodyFields.ts'
import { defined, ifDefined, someOf } from '../../base/defined.ts'
import type { PositionSide } from '../../domain/accountRecords/accountRecord.ts'
import { placeIn, planOn } from '../../domain/accountRecords/handPlan.ts'
import type { ExitRequest, IncreaseDecision } from '../../domain/order/decision.ts'
import { executionSidePrice } from '../../protocol/market.ts'
import { managersOf, managersText } from '../../protocol/marketName.ts'
import { formatDollars, parseUnits, usd } from '../../protocol/units.ts'
import { byHand, type HandContext, type HandDecision, type HandReason, poolToken } from '../byHand.ts'
import { collateralFlag, directionName, marketName, orderFlags, yesFlag } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { priceOfPlace } from '../exitPlace.ts'
import { namedMarket } from '../namedMarket.ts'
import { type OperatorAnswer, type Refusal, refusal } from '../operatorAnswer.ts'

const body = z
  .strictObject({
    id: commandId,
    market: line(120),
    direction,
    /** USD. */
    size: dollars,
    /** Times: `2.5`. */
    leverage: times,
    /** The token of the market's pool that pays and backs it. */
    collateral: pool.default('short'),
    /** USD per whole index token: waits for a better price, or for a worse one. At most one of both. */
    limit: dollars.exactOptional(),
    stop: dollars.exactOptional(),
    /** A price, or in percent a distance from the price at which the order opens. */
    takeProfit: exitPlace.exactOptional(),
    stopLoss: exitPlace.exactOptional(),
  })
  .refine(({ limit, stop }) => limit === undefined || stop === undefined, 'limit or stop, not both')

/** The command. */
export type OpenCommand = CommandOf<'open', typeof body>

/** Its row. */
export const openPosition: CommandRow<OpenCommand> = {
  type: 'open',
  route: '/api/orders',
  body,
  ...byHand({ asked, decide }),
  api: {
    example: { id: 'a1b2', market: 'ETH/USD [WETH-USDC]', direction: 'long', size: '500', leverage: '2' },
    note: '`limit` or `stop`, not both',
  },
  cli: [
    {
      name: 'open',
      summary: 'Open or add to a position by hand; shown with its costs, and confirmed.',
      details:
        'Limits, halts and budgets apply to it as to a strategy; perpd places it whole or not\nat all. No strategy owns it. Exit code 0: filled or resting; 1: refused or without\neffect; 5: its end is unknown after a minute.\n\nExits close at most the size of this order; an existing position keeps its own\nexits. Exits of a waiting order (--limit, --stop) rest from the start: if one\ntriggers before the entry, it closes a part of an existing position on that side.',
      positional: marketName,
      more: [directionName],
      stray: [{ flag: 'size' }, { flag: 'leverage', initial: '2' }],
      flags: [
        { name: 'size', value: 'USD', doc: 'size of the position to add' },
        { name: 'leverage', value: 'N', doc: 'size / collateral, 1 or more: 2.5' },
        { ...collateralFlag, doc: `${collateralFlag.doc}; short when not given` },
        { name: 'limit', value: 'PRICE', doc: 'wait for a better price' },
        { name: 'stop', value: 'PRICE', doc: 'wait for a worse price; fills at any price then' },
        {
          name: 'take-profit',
          value: 'PRICE',
          doc: 'close the added size at this price, or 6% from the entry',
        },
        {
          name: 'stop-loss',
          value: 'PRICE',
          doc: 'close the added size at this price, or 3% from the entry',
        },
        yesFlag,
        ...orderFlags,
      ],
      examples: [
        'perpd open "ETH/USD [WETH-USDC]" long --size 100 --leverage 2',
        'perpd open "ETH/USD [WETH-USDC]" short --size 100 --leverage 2 --limit 2100 --stop-loss 2200 --take-profit 1900',
        'perpd open "ETH/USD [WETH-USDC]" long --size 100 --leverage 2 --stop-loss 3% --take-profit 6%',
        'perpd open "ETH/USD [WETH-USDC]" long --size 100 --leverage 2 --yes --json --id morning-1',
      ],
    },
  ],
}

function asked(command: OpenCommand): string {
  const { market, direction: side, size, leverage, collateral, limit, stop, takeProfit, stopLoss } = command
  const words = [`open ${market} ${side} ${size} USD at ${leverage}x on the ${collateral} token`]
  if (limit !== undefined) words.push(`limit ${limit}`)
  if (stop !== undefined) words.push(`stop ${stop}`)
  if (takeProfit !== undefined) words.push(`take-profit ${takeProfit}`)
  if (stopLoss !== undefined) words.push(`stop-loss ${stopLoss}`)
  return words.join(', ')
}

async function decide(
  context: HandContext,
  command: OpenCommand,
  { facts, reason }: HandReason,
): Promise<HandDecision | OperatorAnswer> {
  const { strategies } = context
  const named = await namedMarket(context, command.market, command.direction)
  if ('ok' in named) return named
  const { market, snapshot, chosen } = named
  const view = snapshot.markets.get(market.marketToken.toLowerCase())
  if (view === undefined) return refusal('MARKET_UNKNOWN', `${market.symbol} cannot be read now; retry`)
  const { direction: side, size, leverage, collateral, limit, stop, takeProfit, stopLoss } = command
  if (Number(leverage) < 1) {
    return refusal(
      'MIN_LEVERAGE',
      `leverage ${leverage}x would need more collateral than the position is worth; give --leverage 1 or more, and a smaller --size for less risk`,
    )
  }
  const trigger = limit ?? stop
  const places = { 'take-profit': takeProfit, 'stop-loss': stopLoss }
  const price = view.oraclePrice && executionSidePrice(view.oraclePrice.value, side, 'increase')
  const entryPrice = trigger === undefined ? price : usd(trigger)
  if (entryPrice === undefined && Object.values(places).some((place) => place?.endsWith('%'))) {
    return refusal(
      'ENTRY_UNKNOWN',
      `the oracle has no fresh price of ${market.symbol} to count percents from: give exits as prices, or retry`,
    )
  }
  const exits: readonly ExitRequest[] = (['take-profit', 'stop-loss'] as const).flatMap((type) => {
    const place = places[type]
    if (place === undefined) return []
    return [{ type, triggerPrice: priceOfPlace(place, entryPrice ?? 0n, side, type) }]
  })
  const token = poolToken(view, collateral)
  const taken = plannedBefore(
    context,
    { marketToken: market.marketToken, direction: side, collateralToken: token },
    exits,
  )
  if (taken !== undefined) return taken
  const decision: IncreaseDecision = {
    kind: 'increase',
    marketToken: view.market.marketToken,
    direction: side,
    sizeDeltaUsd: usd(size),
    leverageBps: Number(parseUnits(leverage, 4)),
    collateralToken: token,
    orderType: limit !== undefined ? 'limit' : stop !== undefined ? 'stop-market' : 'market',
    ...defined({ triggerPrice: ifDefined(trigger, usd) }),
    ...defined({ tpsl: someOf(exits) }),
    reason,
    facts,
  }
  const { symbol } = view.market
  const managers = managersOf(strategies(), symbol)
  return {
    snapshot,
    decision,
    symbol,
    words: `${side} ${symbol} of ${formatDollars(decision.sizeDeltaUsd)}`,
    note: [
      ...(chosen === undefined ? [] : [chosen]),
      managers.length === 0 ? managersText(managers) : tradesToo(managers),
    ].join('; '),
    ...defined({ chosen }),
  }
}

/** EXITS_PLANNED: an exit of this type is planned for the position already, and grows with it. */
function plannedBefore(
  { trading }: HandContext,
  side: PositionSide,
  exits: readonly ExitRequest[],
): Refusal | undefined {
  const plan = planOn(trading.accountJournal.state().handPlans ?? [], side)
  const type = exits
    .map((exit) => exit.type)
    .find((each) => plan !== undefined && placeIn(plan, each) !== undefined)
  if (plan === undefined || type === undefined) return undefined
  return refusal(
    'EXITS_PLANNED',
    `perpd protect planned a ${type} for the ${side.direction} position on ${plan.symbol}, which grows with it: open without --${type}, or move it with perpd protect`,
  )
}

/** Describes who else trades the market of an order by hand, and the consequences for it. */
function tradesToo(managers: readonly string[]): string {
  const isOne = managers.length === 1
  return `${managers.join(', ')} trade${isOne ? 's' : ''} this market too: a strategy has its own part of the same position, and a guard may reduce all of it`
}
