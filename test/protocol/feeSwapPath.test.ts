import { expect, test } from 'vitest'
import arbitrum from '../../src/paper/catalog/recorded/arbitrum.json' with { type: 'json' }
import avalanche from '../../src/paper/catalog/recorded/avalanche.json' with { type: 'json' }
import megaeth from '../../src/paper/catalog/recorded/megaeth.json' with { type: 'json' }
import { chains } from '../../src/protocol/chains/index.ts'

test.each([
  [chains.arbitrum, arbitrum],
  [chains.avalanche, avalanche],
  [chains.megaeth, megaeth],
])(
  'the fee token becomes the wrapped native token through a market of both, on every chain',
  (chain, catalog) => {
    const [step, ...more] = chain.feeSwapPath
    expect(more).toEqual([])
    const market = catalog.markets.find(({ marketToken }) => marketToken === step)
    expect(market?.isListed).toBe(true)
    expect([market?.longToken, market?.shortToken]).toEqual([
      chain.contracts.wrappedNative,
      chain.feeToken.address,
    ])
  },
)
