/** Opens or adds to a position by hand; whole, or not at all. */

import { z } from 'zod'
import {
  commandId,
  direction,
  dollars,
  equityShare,
  exitPlace,
  line,
  pool,
  times,
} from '../../base/bodyFields.ts'
import { defined, ifDefined, someOf } from '../../base/defined.ts'
import { type HandPlan, placeIn, planOn } from '../../domain/accountRecords/handPlan.ts'
import type { ExitRequest, IncreaseDecision } from '../../domain/order/decision.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import { executionSidePrice } from '../../protocol/market.ts'
import { managersOf, managersText } from '../../protocol/marketName.ts'
import { formatDollars, parseUnits, type Usd, usd } from '../../protocol/units.ts'
import { byHand, type HandContext, type HandDecision, type HandReason, poolToken } from '../byHand.ts'
import { collateralFlag, directionName, marketName, orderFlags, yesFlag } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { priceOfPlace } from '../exitPlace.ts'
import { namedMarket } from '../namedMarket.ts'
import { openSizeOf } from '../openSize.ts'
import { type OperatorAnswer, type Refusal, refusal } from '../operatorAnswer.ts'

const body = z
  .strictObject({
    id: commandId,
    market: line(120),
    direction,
    /** The size, by exactly one of these: USD, whole index tokens, a share of the equity in bps, or the USD lost at the stop after all costs. */
    size: dollars.exactOptional(),
    tokens: dollars.exactOptional(),
    equityBps: equityShare.exactOptional(),
    risk: dollars.exactOptional(),
    /** Times: `2.5`. */
    leverage: times,
    /** The token of the market's pool that pays and backs it. */
    collateral: pool.default('short'),
    /** USD per whole index token: waits for a better price, or for a worse one. At most one of both. */
    limit: dollars.exactOptional(),
    stopEntry: dollars.exactOptional(),
    /** A price, or in percent a distance from the price at which the order opens. */
    takeProfit: exitPlace.exactOptional(),
    stopLoss: exitPlace.exactOptional(),
    /** Agrees to an entry that waits more than 5 % from the price. */
    far: z.boolean().exactOptional(),
    /** The terms of the preview that this sends: its market and size hold, and what became worse is refused. */
    quoted: z
      .strictObject({ market: line(120), size: dollars, price: dollars.exactOptional(), cost: dollars })
      .exactOptional(),
  })
  .refine(
    ({ limit, stopEntry }) => limit === undefined || stopEntry === undefined,
    'limit or stopEntry, not both',
  )
  .refine(
    ({ size, tokens, equityBps, risk }) =>
      [size, tokens, equityBps, risk].filter((each) => each !== undefined).length === 1,
    'exactly one of size, tokens, equityBps and risk',
  )

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
    note: 'exactly one of `size`, `tokens`, `equityBps` and `risk`; `limit` or `stopEntry`, not both; `quoted` as the preview gives it',
  },
  cli: [
    {
      name: 'open',
      summary: 'Open or add to a position by hand; shown with its costs, and confirmed.',
      details:
        'Limits, halts and budgets apply to it as to a strategy; perpd places it whole or not\nat all. No strategy owns it. Exit code 0: filled or resting; 1: refused or without\neffect; 5: its end is unknown after a minute.\n\n--risk takes the largest size that loses no more than that at its --stop-loss, after fees,\nprice impact, sending, a day of funding and borrowing, and a fill beyond the stop; a\nlimit or the wallet may leave less, and is named.\n\nETH alone takes the pool where this side is held by hand, else the deepest if the next\nhas less than a third of it; else it asks. A price more than 5% away asks too; --yes\nneeds --far then.\n\nExits close at most the size of this order; an existing position keeps its own\nexits. Exits of a waiting order (--limit, --stop-entry) rest from the start: if one\ntriggers before the entry, it closes a part of an existing position on that side.',
      positional: marketName,
      more: [directionName],
      stray: [{ flag: 'size' }, { flag: 'leverage', initial: '2' }],
      flags: [
        { name: 'size', value: 'USD', doc: 'size of the position to add' },
        { name: 'tokens', value: 'N', doc: 'the same in tokens: 0.25' },
        { name: 'equity', value: 'PERCENT', doc: 'the same as a share of the equity' },
        { name: 'risk', value: 'USD', doc: 'size that loses this much at --stop-loss, after all costs' },
        { name: 'leverage', value: 'N', doc: 'size / collateral, 1 or more: 2.5' },
        { ...collateralFlag, doc: `${collateralFlag.doc}; short when not given` },
        { name: 'limit', value: 'PRICE', doc: 'wait for a better price' },
        {
          name: 'stop-entry',
          value: 'PRICE',
          doc: 'wait for a worse price; fills at any price then',
        },
        { name: 'far', doc: 'agree to a price more than 5% away' },
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
        'perpd open "ETH/USD [WETH-USDC]" long --risk 50 --stop-loss 3% --leverage 2',
        'perpd open "ETH/USD [WETH-USDC]" long --size 100 --leverage 2 --yes --json --id morning-1',
      ],
    },
  ],
}

function asked(command: OpenCommand): string {
  const { market, direction: side, leverage, collateral, limit, stopEntry, takeProfit, stopLoss } = command
  const words = [`open ${market} ${side} ${sizeWords(command)} at ${leverage}x on the ${collateral} token`]
  if (limit !== undefined) words.push(`limit ${limit}`)
  if (stopEntry !== undefined) words.push(`stop ${stopEntry}`)
  if (takeProfit !== undefined) words.push(`take-profit ${takeProfit}`)
  if (stopLoss !== undefined) words.push(`stop-loss ${stopLoss}`)
  return words.join(', ')
}

function sizeWords({ size, tokens, equityBps, risk }: OpenCommand): string {
  if (size !== undefined) return `${size} USD`
  if (tokens !== undefined) return `${tokens} tokens`
  return risk === undefined ? `${(equityBps ?? 0) / 100}% of the equity` : `for ${risk} USD at risk`
}

async function decide(
  context: HandContext,
  command: OpenCommand,
  { facts, reason, decisionKey }: HandReason,
): Promise<HandDecision | OperatorAnswer> {
  const { direction: side, leverage, collateral, limit, stopEntry, quoted } = command
  const named = await namedMarket(context, quoted?.market ?? command.market, side)
  if ('ok' in named) return named
  const { market, snapshot, chosen } = named
  const view = snapshot.markets.get(market.marketToken.toLowerCase())
  if (view === undefined) return refusal('MARKET_UNKNOWN', `${market.symbol} cannot be read now; retry`)
  if (Number(leverage) < 1) {
    return refusal(
      'MIN_LEVERAGE',
      `leverage ${leverage}x would need more collateral than the position is worth; give --leverage 1 or more, and a smaller --size for less risk`,
    )
  }
  const trigger = limit ?? stopEntry
  const price = view.oraclePrice && executionSidePrice(view.oraclePrice.value, side, 'increase')
  const entryPrice = trigger === undefined ? price : usd(trigger)
  const exits = exitsOf(command, view, entryPrice)
  if ('ok' in exits) return exits
  const token = poolToken(view, collateral)
  const ofSide = { marketToken: market.marketToken, direction: side, collateralToken: token }
  const plan = planOn(context.trading.accountJournal.state().handPlans ?? [], ofSide)
  const taken = plannedBefore(plan, exits)
  if (taken !== undefined) return taken
  const unsized: IncreaseDecision = {
    kind: 'increase',
    marketToken: view.market.marketToken,
    direction: side,
    sizeDeltaUsd: 0n,
    leverageBps: Number(parseUnits(leverage, 4)),
    collateralToken: token,
    orderType: limit !== undefined ? 'limit' : stopEntry !== undefined ? 'stop-market' : 'market',
    ...defined({ triggerPrice: ifDefined(trigger, usd) }),
    ...defined({ tpsl: someOf(exits) }),
    reason,
    facts,
  }
  const sized =
    quoted === undefined
      ? await openSizeOf(context, command, { snapshot, view, decisionKey, decision: unsized, entryPrice })
      : { sizeUsd: usd(quoted.size) }
  if ('ok' in sized) return sized
  const decision = { ...unsized, sizeDeltaUsd: sized.sizeUsd }
  const { symbol } = view.market
  const managers = managersOf(context.strategies(), symbol)
  return {
    snapshot,
    decision,
    symbol,
    words: `${side} ${symbol} of ${formatDollars(decision.sizeDeltaUsd)}`,
    note: [
      ...(chosen === undefined ? [] : [chosen]),
      managers.length === 0 ? managersText(managers) : watchedBy(managers),
    ].join('; '),
    ...defined({ chosen, quoted, cap: sized.cap, planned: someOf(plan === undefined ? [] : exitsIn(plan)) }),
    ...defined({ isFarAgreed: command.far }),
  }
}

/** The exits of a command by price; ENTRY_UNKNOWN where percents have nothing to be counted from. */
function exitsOf(
  { takeProfit, stopLoss, direction: side }: OpenCommand,
  { market: { symbol } }: MarketView,
  entryPrice: Usd | undefined,
): readonly ExitRequest[] | Refusal {
  const places = { 'take-profit': takeProfit, 'stop-loss': stopLoss }
  if (entryPrice === undefined && Object.values(places).some((place) => place?.endsWith('%'))) {
    return refusal(
      'ENTRY_UNKNOWN',
      `the oracle has no fresh price of ${symbol} to count percents from: give exits as prices, or retry`,
    )
  }
  return (['take-profit', 'stop-loss'] as const).flatMap((type) => {
    const place = places[type]
    if (place === undefined) return []
    return [{ type, triggerPrice: priceOfPlace(place, entryPrice ?? 0n, side, type) }]
  })
}

/** EXITS_PLANNED: an exit of this type is planned for the position already, and grows with it. */
function plannedBefore(plan: HandPlan | undefined, exits: readonly ExitRequest[]): Refusal | undefined {
  const type = exits
    .map((exit) => exit.type)
    .find((each) => plan !== undefined && placeIn(plan, each) !== undefined)
  if (plan === undefined || type === undefined) return undefined
  return refusal(
    'EXITS_PLANNED',
    `perpd protect planned a ${type} for the ${plan.direction} position on ${plan.symbol}, which grows with it: open without --${type}, or move it with perpd protect`,
  )
}

/** The exits that a plan keeps on its position. */
function exitsIn(plan: HandPlan): readonly ExitRequest[] {
  return (['take-profit', 'stop-loss'] as const).flatMap((type) => {
    const place = placeIn(plan, type)
    return place === undefined || place === 'none' ? [] : [{ type, triggerPrice: place }]
  })
}

/** Describes who else looks at the market of an order by hand, and the consequences for it. */
function watchedBy(managers: readonly string[]): string {
  const isOne = managers.length === 1
  return `${managers.join(', ')} watch${isOne ? 'es' : ''} this market: each strategy trades its own part, on either side, and a guard may reduce all of a position`
}
