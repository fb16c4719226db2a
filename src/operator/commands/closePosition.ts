/** Closes a position, or a share of it, at the market. No halt holds it back. */
import { z } from 'zod'
import { commandId, direction, line, pool, shareBps } from '../../base/bodyFields.ts'
import { tolerate } from '../../base/tolerate.ts'
import type { CloseDecision, DecreaseDecision } from '../../domain/order/decision.ts'
import type { MarketView } from '../../domain/snapshot.ts'
import { marketSymbol } from '../../market/marketSymbol.ts'
import { sameHex } from '../../protocol/address.ts'
import { managersOf, marketsNamed } from '../../protocol/marketName.ts'
import type { Position } from '../../protocol/position.ts'
import { BPS_ONE, bps, formatDollars } from '../../protocol/units.ts'
import { byHand, type HandContext, type HandDecision, type HandReason, poolToken } from '../byHand.ts'
import { collateralFlag, directionName, marketName, orderFlags, yesFlag } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { type OperatorAnswer, refusal } from '../operatorAnswer.ts'
import { delistedText } from '../unknownMarket.ts'

const body = z.strictObject({
  id: commandId,
  market: line(120),
  direction,
  /** 10000 is all of it. */
  shareBps: shareBps.default(BPS_ONE),
  /** Token that backs the intended one of two positions on a side. */
  collateral: pool.exactOptional(),
})

/** The command. */
export type CloseCommand = CommandOf<'close', typeof body>

/** Its row. */
export const closePosition: CommandRow<CloseCommand> = {
  type: 'close',
  route: '/api/positions/close',
  body,
  ...byHand({ asked, decide }),
  api: {
    example: { id: 'a1b3', market: 'ETH', direction: 'long', shareBps: 5_000 },
  },
  forms: {
    close: {
      title: 'Close {direction} {market}',
      effects: [
        'Closes this share of the position of {size} at the market, whoever opened it. No halt prevents it.',
      ],
      fields: [
        {
          name: 'percent',
          gives: 'shareBps',
          label: 'Share, percent',
          value: '100',
          isNumber: true,
          as: 'percent',
        },
      ],
      preview: 'first',
      send: 'Close position',
      typed: 'close',
      isDanger: true,
    },
  },
  cli: [
    {
      name: 'close',
      isForRunning: true,
      summary: 'Close a position, a share of it, or all positions at the market; ignores every halt.',
      details:
        'At a terminal it asks first, unless --yes is given; a script is not asked, but needs --yes with --all.\nWith --all it shows all positions, asks once, and reports the result of each. To halt and\ncancel resting orders as well: perpd kill --close.',
      positional: { ...marketName, isOptional: true },
      more: [directionName],
      stray: [{ flag: 'share' }],
      flags: [
        { name: 'all', doc: 'every position' },
        yesFlag,
        { name: 'share', value: 'PERCENT', doc: 'percent of the position; 100 when not given' },
        collateralFlag,
        ...orderFlags,
      ],
      examples: [
        'perpd close "ETH/USD [WETH-USDC]" long',
        'perpd close "ETH/USD [WETH-USDC]" long --share 50',
        'perpd close --all --yes',
      ],
    },
  ],
}

function asked({ market, direction: side, shareBps: share, collateral }: CloseCommand): string {
  const token = collateral === undefined ? '' : ` on the ${collateral} token`
  return `close ${market} ${side}, ${share / 100} percent${token}`
}

/** A position, as far as a close needs to know it. */
type HeldRow = Pick<Position, 'marketToken' | 'direction' | 'collateralToken' | 'sizeInUsd'> &
  Partial<{ readonly why: string }>

async function decide(
  context: HandContext,
  command: CloseCommand,
  { facts, reason }: HandReason,
): Promise<HandDecision | OperatorAnswer> {
  const { api, strategies } = context
  const { direction: side, shareBps: share, collateral } = command
  const snapshot = await context.read([])
  const rows = snapshot.positions.value.filter(({ sizeInUsd }) => sizeInUsd > 0n)
  const known = (snapshot.unlisted ?? []).map((side) => ({ ...side, sizeInUsd: side.sizeUsd }))
  const held: readonly HeldRow[] = [...rows, ...known]
  const views = [...snapshot.markets.values()]
  const named = marketsNamed(
    views.map((view) => ({ ...view, symbol: view.market.symbol, marketToken: view.market.marketToken })),
    command.market,
  )
  const found = named.flatMap((view) =>
    held
      .filter(
        (row) =>
          sameHex(row.marketToken, view.marketToken) &&
          row.direction === side &&
          (collateral === undefined || sameHex(row.collateralToken, poolToken(view, collateral))),
      )
      .map((position) => ({ view, position })),
  )
  const [one] = found
  const symbolOf = (row: HeldRow): string => marketSymbol(context.catalogue, snapshot, row.marketToken)
  if (one === undefined) {
    const all = held.map((row) => `${row.direction} ${symbolOf(row)}`).join(', ')
    const listed = (await tolerate(api.getMarkets()))?.value.filter(({ isListed }) => isListed)
    const gone = listed && delistedText(context.catalogue.standings(), listed, command.market)?.split(':')[0]
    return refusal(
      'POSITION_NOT_FOUND',
      `there is no ${side} position on ${command.market}${gone === undefined ? '' : ` (${gone})`}; ${all === '' ? 'no position is open' : `open: ${all}`}`,
    )
  }
  if (found.length > 1) {
    const words = found.map(({ view, position }) => `${view.symbol} on ${backing(view, position)}`)
    return refusal(
      'POSITION_AMBIGUOUS',
      `several positions match: ${words.join(', ')}; give the whole symbol, or --collateral long or short`,
    )
  }
  const { view, position } = one
  const { marketToken, collateralToken, sizeInUsd } = position
  const base = { marketToken, direction: side, collateralToken, reason, facts }
  const decision: CloseDecision | DecreaseDecision =
    share >= BPS_ONE
      ? { kind: 'close', ...base }
      : { kind: 'decrease', sizeDeltaUsd: bps(sizeInUsd, share), keepLeverage: true, ...base }
  const sizeUsd = decision.kind === 'close' ? sizeInUsd : decision.sizeDeltaUsd
  // One that opens nothing, as the guard, does not open it again.
  const openers = managersOf(
    strategies().filter(({ strategy }) => strategy.opensPositions),
    view.symbol,
  )
  return {
    snapshot,
    decision,
    symbol: view.symbol,
    words: `${formatDollars(sizeUsd)} of the ${side} ${view.symbol} of ${formatDollars(sizeInUsd)}${position.why === undefined ? '' : ` (from partial data: ${position.why})`}`,
    ...(openers.length === 0
      ? {}
      : {
          note: `${openers.join(', ')} ${openers.length === 1 ? 'trades' : 'trade'} this market and may open it again (${openers.map((name) => `perpd trading halted --scope ${name}`).join(', ')} prevents that)`,
        }),
  }
}

function backing(view: MarketView, { collateralToken }: HeldRow): string {
  return (
    [view.longToken, view.shortToken].find(({ address }) => sameHex(address, collateralToken))?.symbol ??
    collateralToken
  )
}
