/** What an operator asks for beside the strategy of a simulated month, in a market that no shipped file trades alone: each executor once, and entries that he forgets. */
import type { OpenCommand } from '../../src/operator/commands/openPosition.ts'
import type { StartTaskCommand } from '../../src/operator/taskBodies.ts'
import type { Venue } from '../../src/paper/server/venue.ts'
import { marketPrices } from '../../src/paper/state/venueState.ts'
import { bps, formatUnits, priceOfContractPrice, USD_DECIMALS } from '../../src/protocol/units.ts'

/** The market of the tasks. */
export const taskMarket = 'LINK/USD [LINK-USDC]'

/** How many tasks a month has. */
export const taskCount = 6

/** An entry that an operator forgets: so far from the price of now that it is not reached. */
export function strayOf(number: number, venue: Venue): OpenCommand {
  const size = { size: '100', leverage: '2', collateral: 'short' } as const
  const side = {
    market: taskMarket,
    direction: 'long',
    limit: movedPrices(venue)(-4_000),
    far: true,
  } as const
  return { type: 'open', id: `stray-${number + 1}`, ...side, ...size, isPreview: false }
}

/** Gives the market's price moved by bps, in dollars. */
function movedPrices({ venueState }: Venue): (byBps: number) => string {
  const market = venueState.markets.find(({ catalog }) => catalog.symbol === taskMarket)
  if (market === undefined) throw new RangeError(`the venue has no ${taskMarket}`)
  const { index } = marketPrices(venueState, market, Math.floor(venueState.clock.now() / 1000))
  const price = priceOfContractPrice(index.max, market.indexToken.decimals)
  return (byBps) => formatUnits(price + bps(price, byBps), USD_DECIMALS)
}

/** The task of this number, from 0, by the venue's prices of now. */
export function taskOf(number: number, venue: Venue): StartTaskCommand {
  const moved = movedPrices(venue)
  const common = { type: 'task', id: `month-${number + 1}`, isPreview: false, maxFees: '200' } as const
  const side = { ...common, market: taskMarket, direction: 'long', leverage: '2', maxMinutes: 50 } as const
  const all: readonly StartTaskCommand[] = [
    {
      ...side,
      kind: 'twap',
      size: '200',
      reduce: false,
      parts: 4,
      minutes: 40,
      shareBps: 2_500,
      route: 'own',
    },
    { ...side, kind: 'ladder', size: '300', rungs: 3, everySeconds: 300, profitBps: 100, stopBps: 300 },
    { ...side, kind: 'accumulate', target: '700', price: moved(100), shareBps: 2_500, everySeconds: 120 },
    { ...side, kind: 'chase', size: '100', reduce: false, minutes: 20, price: moved(150), offsetBps: 10 },
    { ...side, kind: 'bracket', size: '150', takeProfit: moved(200), stopLoss: moved(-200) },
    {
      ...{ ...common, kind: 'rebalance', total: '500', weights: { [taskMarket]: 4_000 }, leverage: '2' },
      ...{ shareBps: 2_500, bandBps: 500, maxMinutes: 50 },
    },
  ]
  const task = all[number]
  if (task === undefined) throw new RangeError(`there are ${all.length} tasks, and no task ${number}`)
  return task
}
