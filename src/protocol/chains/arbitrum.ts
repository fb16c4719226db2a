/** Arbitrum One: contracts and hosts of August 2026. */
import { NATIVE_DECIMALS, parseUnits, usd } from '../units.ts'
import type { ChainFacts } from './chainFacts.ts'
import { FACTOR_ONE, sharedGas } from './gasFacts.ts'
import pins from './pins/arbitrum.json' with { type: 'json' }
import { shippedFacts } from './pins.ts'

/** Arbitrum One. */
export const arbitrum: ChainFacts<'arbitrum'> = {
  name: 'arbitrum',
  chainId: 42161,
  nativeSymbol: 'ETH',
  contracts: {
    gelatoRelayRouter: '0x5503b99308dB6923758F9A22d118207D633c4e87',
    subaccountGelatoRelayRouter: '0xfD0596f708d9D950E0eF7b5d191e5F8e55b8a67f',
    subaccountRouter: '0x9c05880A2AaD7530c69e18e342eDC9E06cc757db',
    multichainOrderRouter: '0xABFC734f7CFc9352AED7a97b1F6a236eae831e8A',
    multichainSubaccountRouter: '0xAb3EDf0f3eed6804BAe1bD9bF90109ccadFD262e',
    multichainTransferRouter: '0x3f6772B95423fC03264adf90Efb8A9922B6C8c6e',
    exchangeRouter: '0x7dE39FF2e232A2203196788d37e234cF8F1b83f1',
    router: '0x7452c558d45f8afC8c83dAe62C3f8A5BE19c71f6',
    orderVault: '0x31eF83a530Fde1B38EE9A18093A333D8Bbbc40D5',
    simulationRouter: '0xaD3051cB1aE3a86b335f12A9a41BD4d995a137ea',
    eventEmitter: '0xC8ee91A54287DB53897056e12D9819156D3822Fb',
    dataStore: '0xFD70de6b91282D8017aA4E741e9Ae325CAb992d8',
    reader: '0xfA26cBb46e2614609406de08CA1Dc7f70a684184',
    multicall: '0xe79118d6D92a4b23369ba356C90b9A7ABf1CB961',
    referralStorage: '0xe6fab3F0c7199b0d34d7FbE83394fc0e0D06e99d',
    externalHandler: '0x389CEf541397e872dC04421f166B5Bc2E0b374a5',
    chainlinkPriceFeedProvider: '0x90218fbb064b1475E4382b041Cc7ccF08AF718B0',
    wrappedNative: '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
  },
  gasPaymentTokens: [
    '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
    '0x82aF49447D8a07e3bd95BD0d56f35241523fBab1',
    '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9',
  ],
  feeToken: { address: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831', symbol: 'USDC', decimals: 6 },
  feeSwapPath: ['0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'],
  hosts: {
    api: ['https://arbitrum.gmxapi.io/v1', 'https://arbitrum.gmxapi.ai/v1'],
    oracle: [
      'https://arbitrum-api.gmxinfra.io',
      'https://arbitrum-api-fallback.gmxinfra.io',
      'https://arbitrum-api-fallback.gmxinfra2.io',
    ],
    pairFeed: ['https://gmx-integration-cg.vercel.app'],
  },
  facts: shippedFacts(pins),
  requestExpirationSeconds: 300,
  // Posted to the parent chain. `latest` is the sequencer's promise, which can be taken back.
  finality: 'safe',
  gas: {
    ...sharedGas,
    multiplierFactor: FACTOR_ONE,
    orderGas: { increase: 3_000_000n, decrease: 3_000_000n, swap: 2_500_000n },
    bufferBps: 3_000,
    leastPriorityFee: undefined,
    premium: 0n,
    relayGas: { create: 1_000_000n, update: 800_000n, cancel: 700_000n },
    parentChain: { gas: 90_000n, calldataBytes: 3_000 },
    feeSwapFactor: 225n * 10n ** 26n,
  },
  usualFees: { usualExecutionFee: parseUnits('0.0002', NATIVE_DECIMALS), usualRelayFeeUsd: usd('1') },
  nativePriceUsd: { assumed: usd(4_000), highest: usd(10_000) },
  maxAutoCancelOrders: 11,
  blocks: { timeMs: 250, firstNumber: 400_000_000, gasPriceWei: 20_000_000 },
}
