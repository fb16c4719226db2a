/**
 * For the simulated day: a trader by the clock. Every 26 minutes it opens with exits, adds, reduces, rests an order, edits and
 * cancels it, sets an exit, pays collateral in and closes. It keeps nothing; what is due is told from the minute and the account.
 */
import { collateralTokenOf, defineStrategy, type StrategyView, z } from '#strategy'
import type { Decision } from '../../src/domain/order/decision.ts'

const CYCLE_MINUTES = 26
const params = z.strictObject({
  /** Minutes by which each market is behind the one before it. */
  apartMinutes: z.number().int().default(7),
  /** Distance of the exits that come with an opening, bps. */
  exitBps: z.number().int().default(36),
})

export default defineStrategy({
  kind: 'busy',
  description: 'Trades by the clock, all kinds of orders.',
  params,
  needs: (_params, symbols) => ({ symbols }),
  decide: (view) => view.instance.symbols.flatMap((symbol, index) => wishOf(view, symbol, index)),
})

function wishOf(view: StrategyView<z.output<typeof params>>, symbol: string, index: number): Decision[] {
  const market = view.market(symbol)
  const price = market?.oraclePrice?.value.medianPrice
  const { size } = view.instance
  if (market === undefined || price === undefined || size === undefined) return []
  const { apartMinutes, exitBps } = view.params
  const minute = (Math.floor(view.snapshot.atMs / 60_000) + index * apartMinutes) % CYCLE_MINUTES
  const { marketToken } = market.market
  const collateralToken = collateralTokenOf(market, size.collateral)
  const [held] = view.positions(symbol, 'long')
  const open = view.openIntents.filter((each) => each.marketToken === marketToken)
  const isOnTheWay = open.some(
    ({ orderType, kind, isUnresolved }) => isUnresolved || orderType === 'market' || kind === 'cancel',
  )
  const resting = view.restingOrders.find(
    (order) => order.marketToken === marketToken && order.orderType === 'limit',
  )
  const at = (bps: number): bigint => price + (price * BigInt(bps)) / 10_000n
  const side = { marketToken, direction: 'long' } as const
  const base = { ...side, collateralToken }
  const opens = { kind: 'increase', ...base, leverageBps: size.leverageBps } as const
  const heldUsd = held?.sizeInUsd ?? 0n
  if (resting !== undefined && !resting.isChanging) {
    const { orderKey, sizeDeltaUsd } = resting
    const more = (size.usd * 6n) / 5n
    if (minute >= 12 && minute < 14 && sizeDeltaUsd < more)
      return [{ kind: 'edit', ...side, orderKey, sizeDeltaUsd: more, reason: 'minute 12: edit' }]
    if (minute >= 14) return [{ kind: 'cancel', ...side, orderKeys: [orderKey], reason: 'minute 14: cancel' }]
  }
  if (isOnTheWay) return []
  if (minute < 3 && heldUsd === 0n && open.length === 0) {
    const tpsl = [
      { type: 'take-profit', triggerPrice: at(exitBps), shareBps: 5000 },
      { type: 'stop-loss', triggerPrice: at(-exitBps) },
    ] as const
    return [{ ...opens, sizeDeltaUsd: size.usd, tpsl, reason: 'minute 0: open' }]
  }
  if (
    minute >= 10 &&
    minute < 12 &&
    resting === undefined &&
    !open.some((each) => each.orderType === 'limit')
  )
    return [
      {
        ...opens,
        orderType: 'limit',
        triggerPrice: at(-800),
        sizeDeltaUsd: size.usd,
        reason: 'minute 10: rest',
      },
    ]
  if (heldUsd === 0n) return []
  if (minute >= 4 && minute < 6 && heldUsd <= size.usd)
    return [{ ...opens, sizeDeltaUsd: size.usd / 2n, reason: 'minute 4: add' }]
  if (minute >= 7 && minute < 9 && heldUsd > size.usd) {
    const sizeDeltaUsd = size.usd / 2n
    return [{ kind: 'decrease', ...base, sizeDeltaUsd, keepLeverage: true, reason: 'minute 7: reduce' }]
  }
  const hasExit = open.some(({ kind, orderType }) => kind === 'decrease' && orderType === 'take-profit')
  if (minute >= 16 && minute < 18 && !hasExit)
    return [
      {
        kind: 'decrease',
        ...base,
        orderType: 'take-profit',
        triggerPrice: at(exitBps / 3),
        sizeDeltaUsd: heldUsd / 2n,
        keepLeverage: false,
        reason: 'minute 16: exit',
      },
    ]
  if (minute === 20 && (held?.collateralAmount ?? 0n) * 4n < (heldUsd * 3n) / 10n ** 24n)
    return [{ kind: 'collateral-in', ...base, amount: heldUsd / 10n ** 25n, reason: 'minute 20: collateral' }]
  if (minute >= 24) return [{ kind: 'close', ...base, reason: 'minute 24: close' }]
  return []
}
