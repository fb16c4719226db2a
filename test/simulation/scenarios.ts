/** Fixed stories for the enumeration of crash points: every kind of operation, both lanes, and the ways an order can end. */
import { targetFills } from './exitStory.ts'
import type { Mode, Scenario } from './worldTypes.ts'

/** A story without its crashes. */
export type Story = Omit<Scenario, 'crashes'>

type Setup = NonNullable<Scenario['setup']>

/** What the relay does with the first message it is handed. */
const relayDoes =
  (fate: 'drop' | 'revert' | 'edge' | 'foreign'): Setup =>
  ({ venue }) => {
    venue.fateOfNext = fate
  }

const keeperCancels: Setup = ({ venue }) => {
  venue.keeperDoes = 'OrderCancelled'
}

const keeperFreezes: Setup = ({ venue }) => {
  venue.keeperDoes = 'OrderFrozen'
}

const reorganises: Setup = ({ venue, timeline }) => {
  for (const atMs of [7_000, 9_500, 12_000]) timeline.after(atMs, () => venue.reorganise(6))
}

function story(name: string, mode: Mode, lane: Story['lane'], shapes: Story['shapes'], setup?: Setup): Story {
  return { name, mode, lane, shapes, ...(setup === undefined ? {} : { setup }) }
}

/** All stories. */
export const stories: readonly Story[] = [
  story('market increase', 'chain-1', 'order-chain', ['increase market']),
  story('market increase by the relay', 'chain-2', 'relay', ['increase market']),
  story('limit increase', 'chain-1', 'order-chain', ['increase limit']),
  story('limit increase by the relay', 'chain-1', 'relay', ['increase limit']),
  story('stop entry', 'chain-1', 'order-chain', ['increase stop-market']),
  story('twap increase', 'chain-1', 'order-chain', ['increase twap']),
  story('twap increase by the relay', 'chain-1', 'relay', ['increase twap']),
  story('increase with exits', 'chain-2', 'order-chain', ['increase market with exits']),
  story('market decrease', 'chain-1', 'order-chain', ['increase market', 'decrease market']),
  story('take-profit', 'chain-1', 'order-chain', ['decrease take-profit']),
  story('stop-loss by the relay', 'chain-1', 'relay', ['decrease stop-loss']),
  story('twap decrease', 'chain-1', 'order-chain', ['decrease twap']),
  story('close', 'chain-2', 'order-chain', ['increase market', 'close market']),
  story('swap', 'chain-1', 'order-chain', ['swap market']),
  story('collateral in', 'chain-1', 'order-chain', ['collateral-in market']),
  story('collateral out by the relay', 'chain-1', 'relay', ['collateral-out market']),
  story('edit of a resting order', 'chain-1', 'order-chain', ['increase limit', 'edit'], keeperFreezes),
  story('cancel of a resting order', 'chain-1', 'order-chain', ['increase limit', 'cancel']),
  story('cancel by the relay', 'chain-1', 'relay', ['increase limit', 'cancel']),
  story('message of our own', 'chain-1', 'relay', ['batch']),
  story('keeper cancels', 'chain-1', 'order-chain', ['increase market'], keeperCancels),
  story('relay drops the message', 'chain-1', 'order-chain', ['increase market'], relayDoes('drop')),
  story('message reverts', 'chain-1', 'relay', ['increase market'], relayDoes('revert')),
  story('message lands at its deadline', 'chain-1', 'order-chain', ['increase market'], relayDoes('edge')),
  story('a stranger uses the digest', 'chain-2', 'order-chain', ['increase market'], relayDoes('foreign')),
  story('blocks are reorganised', 'chain-2', 'order-chain', ['increase market'], reorganises),
  story('without a chain', 'api', 'order-chain', ['increase market', 'close market']),
  story('on paper, dropped', 'venue', 'order-chain', ['increase market'], relayDoes('drop')),
]

/** Stories of the whole daemon. */
export const engineStories: readonly Story[] = [
  {
    ...story('a target fills and the stop-loss shrinks', 'chain-1', 'order-chain', []),
    exits: targetFills,
  },
]

/** Stories whose every pair of crash points is tried. */
export const pairStories: readonly Story[] = stories.filter(({ name }) =>
  [
    'market increase',
    'market increase by the relay',
    'relay drops the message',
    'collateral in',
    'blocks are reorganised',
  ].includes(name),
)
