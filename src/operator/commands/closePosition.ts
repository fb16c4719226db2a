/** Closes a position, or a share of it, at the market. No halt holds it back. */
import { z } from 'zod'
import { commandId, direction, line, pool, shareBps } from '../../base/bodyFields.ts'
import type { CloseDecision, DecreaseDecision } from '../../domain/order/decision.ts'
import { managersOf } from '../../protocol/marketName.ts'
import { BPS_ONE, bps, formatDollars } from '../../protocol/units.ts'
import { byHand, type HandContext, type HandDecision, type HandReason } from '../byHand.ts'
import { collateralFlag, directionName, marketName, orderFlags, yesFlag } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { namedPosition } from '../namedPosition.ts'
import type { OperatorAnswer } from '../operatorAnswer.ts'

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

async function decide(
  context: HandContext,
  command: CloseCommand,
  { facts, reason }: HandReason,
): Promise<HandDecision | OperatorAnswer> {
  const { strategies } = context
  const { shareBps: share, direction: side } = command
  const snapshot = await context.read([])
  const one = await namedPosition(context, snapshot, command)
  if ('ok' in one) return one
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
    view.market.symbol,
  )
  return {
    snapshot,
    decision,
    symbol: view.market.symbol,
    words: `${formatDollars(sizeUsd)} of the ${side} ${view.market.symbol} of ${formatDollars(sizeInUsd)}${position.why === undefined ? '' : ` (from partial data: ${position.why})`}`,
    ...(openers.length === 0
      ? {}
      : {
          note: `${openers.join(', ')} ${openers.length === 1 ? 'trades' : 'trade'} this market and may open it again (${openers.map((name) => `perpd trading halted --scope ${name}`).join(', ')} prevents that)`,
        }),
  }
}
