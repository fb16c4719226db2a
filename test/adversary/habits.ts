/** What the strategies of a world do: plain habits, each of which believes what it is shown. */

import type { Decision } from '../../src/domain/order/decision.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { usd, usdOfAmount } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { guard } from '../../src/strategy/kinds/guard.ts'
import {
  collateralTokenOf,
  defineStrategy,
  type Strategy,
  type StrategyView,
  z,
} from '../../src/strategy/strategy.ts'
import { loadedOf } from '../support/loaded.ts'

/** Markets that habits trade: a deep one, another, and a thin one. */
export const symbols = ['ETH/USD [WETH-USDC]', 'BTC/USD [BTC-USDC]', 'LINK/USD [LINK-USDC]'] as const

/** What a strategy does at each of its ticks. */
export interface Habit {
  /**
   * `opens`: opens a position where it sees none. `turns`: that, and closes what it sees. `adds`: adds at every tick.
   * `closes`: closes all that it sees. `guards`: the built-in guard. `swaps`: buys the long token while it sees little of it,
   * sells it else. `rests`: keeps a limit order, and makes it larger and smaller by turns. `reduces`: opens a position, and takes a tenth of its
   * first size off it at each tick until a third is left.
   */
  readonly does: 'opens' | 'reduces' | 'turns' | 'adds' | 'closes' | 'guards' | 'swaps' | 'rests'
  readonly symbol: string
  readonly direction: 'long' | 'short'
  /** Whole USD. */
  readonly sizeUsd: number
  readonly leverageBps: number
  readonly collateral: 'long' | 'short'
  readonly cadenceMs: number
}

/** The habit as a loaded strategy. */
export function strategyOf(habit: Habit, name: string): LoadedStrategy {
  const isGuard = habit.does === 'guards'
  const needs = isGuard
    ? guard.needs(guard.params.parse({}) as never, [])
    : { symbols: [habit.symbol], balances: habit.does === 'swaps' }
  const strategy = isGuard ? (guard as unknown as Strategy) : kindOf(habit)
  return loadedOf(strategy, name, isGuard ? [] : [habit.symbol], {
    needs,
    params: isGuard ? guard.params.parse({}) : {},
    cadenceMs: habit.cadenceMs,
  })
}

function kindOf(habit: Habit): Strategy {
  return defineStrategy({
    kind: habit.does,
    description: 'A habit of the adversary test.',
    params: z.strictObject({}),
    needs: () => ({ symbols: [habit.symbol], balances: true }),
    decide: (view) => decide(habit, view as StrategyView),
  }) as Strategy
}

function decide(habit: Habit, view: StrategyView): readonly Decision[] {
  const { does, symbol, direction, leverageBps } = habit
  const market = view.market(symbol)
  if (market === undefined) return []
  const { marketToken } = market.market
  const base = { marketToken, direction, reason: does } as const
  const collateralToken = collateralTokenOf(market, habit.collateral)
  const open: Decision = {
    kind: 'increase',
    ...base,
    sizeDeltaUsd: usd(habit.sizeUsd),
    leverageBps,
    collateralToken,
  }
  const closes = view.positions(symbol).map(
    (row): Decision => ({
      kind: 'close',
      marketToken,
      direction: row.direction,
      collateralToken: row.collateralToken,
      reason: does,
    }),
  )
  const isBusy = view.openIntents.length > 0
  switch (does) {
    case 'opens':
      return isBusy || closes.length > 0 ? [] : [open]
    case 'reduces': {
      const [held] = view.positions(symbol)
      if (held === undefined) return isBusy ? [] : [open]
      const isLarge = held.sizeInUsd > usd(habit.sizeUsd) / 3n
      const part = { kind: 'decrease', ...base, collateralToken: held.collateralToken } as const
      return isBusy || !isLarge
        ? []
        : [{ ...part, sizeDeltaUsd: usd(habit.sizeUsd) / 10n, keepLeverage: true }]
    }
    case 'turns':
      return isBusy ? [] : closes.length > 0 ? closes : [open]
    case 'adds':
      return [open]
    case 'closes':
      return closes
    case 'rests': {
      const [resting] = view.restingOrders
      const price = market.oraclePrice?.value.medianPrice ?? 0n
      if (resting === undefined) {
        if (isBusy || price === 0n) return []
        const triggerPrice = direction === 'long' ? (price * 7n) / 10n : (price * 13n) / 10n
        return [{ ...open, orderType: 'limit', triggerPrice }]
      }
      const isLarge = resting.sizeDeltaUsd >= usd(habit.sizeUsd)
      const sizeDeltaUsd = isLarge ? usd(habit.sizeUsd) / 2n : usd(habit.sizeUsd)
      return [{ kind: 'edit', ...base, orderKey: resting.orderKey, sizeDeltaUsd }]
    }
    case 'swaps': {
      if (isBusy) return []
      const amountOf = (token: string): bigint =>
        view.snapshot.balances?.value.find(({ address }) => hexKey(address) === hexKey(token))?.balance ?? 0n
      const held = amountOf(market.market.longToken)
      const pays = amountOf(market.market.shortToken)
      const wanted = BigInt(habit.sizeUsd) * 10n ** BigInt(market.shortToken.decimals)
      const price = market.oraclePrice?.value.medianPrice ?? 0n
      // Dust is left as it is: an order has a least size.
      if (usdOfAmount(held, price, market.longToken.decimals) < usd(20))
        return pays === 0n
          ? []
          : [{ kind: 'swap', ...base, direction: 'long', payAmount: wanted < pays ? wanted : pays }]
      return [{ kind: 'swap', ...base, direction: 'short', payAmount: held }]
    }
    case 'guards':
      return []
  }
}
