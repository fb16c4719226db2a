/** Avalanche C-Chain: contracts and hosts of August 2026. */
import { NATIVE_DECIMALS, parseUnits, usd } from '../units.ts'
import type { ChainFacts } from './chainFacts.ts'
import { FACTOR_ONE, sharedGas } from './gasFacts.ts'
import pins from './pins/avalanche.json' with { type: 'json' }
import { shippedFacts } from './pins.ts'

/** Avalanche C-Chain. */
export const avalanche: ChainFacts<'avalanche'> = {
  name: 'avalanche',
  chainId: 43114,
  nativeSymbol: 'AVAX',
  contracts: {
    gelatoRelayRouter: '0x51fe0b7919e1208a717E9B16a097C1C3D70eFbf6',
    subaccountGelatoRelayRouter: '0xa62BD1cFE2066c5bF4180b4125BBb5116eEA26c9',
    subaccountRouter: '0xAda708aFf0f1D784D28cd8Ff4d6D977fF9599e5D',
    multichainOrderRouter: '0x204CC947Fddd11c90e302db2A5ac3865021D1618',
    multichainSubaccountRouter: '0x4A2826cAee8FF70d9392B171eaF398E0a2B55047',
    multichainTransferRouter: '0xd4F6C2332b36D1Ccb22C7ac479b270fa0cA26a41',
    exchangeRouter: '0xc002Db96E682FFF6675966F959677285a0C45Efa',
    router: '0x820F5FfC5b525cD4d88Cd91aCf2c28F16530Cc68',
    orderVault: '0xD3D60D22d415aD43b7e64b510D86A30f19B1B12C',
    simulationRouter: '0xaB409fCaCc14Dd4234f6f86a2547f04ACC90a55e',
    eventEmitter: '0xDb17B211c34240B014ab6d61d4A31FA0C0e20c26',
    dataStore: '0x2F0b22339414ADeD7D5F06f9D604c7fF5b2fe3f6',
    reader: '0xa34320a507493C71Fe35E982e496F7C5d1a7fa02',
    multicall: '0x50474CAe810B316c294111807F94F9f48527e7F8',
    referralStorage: '0x827ED045002eCdAbEb6e2b0d1604cf5fC3d322F8',
    externalHandler: '0xD149573a098223a9185433290a5A5CDbFa54a8A9',
    chainlinkPriceFeedProvider: '0x86E284921273E1442f32ebd1b567Ce988Cf50dfE',
    wrappedNative: '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7',
  },
  gasPaymentTokens: [
    '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E',
    '0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7',
    '0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7',
  ],
  feeToken: { address: '0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', symbol: 'USDC', decimals: 6 },
  feeSwapPath: ['0x913C1F46b48b3eD35E7dc3Cf754d4ae8499F31CF'],
  hosts: {
    api: ['https://avalanche.gmxapi.io/v1', 'https://avalanche.gmxapi.ai/v1'],
    oracle: [
      'https://avalanche-api.gmxinfra.io',
      'https://avalanche-api-fallback.gmxinfra.io',
      'https://avalanche-api-fallback.gmxinfra2.io',
    ],
    pairFeed: ['https://gmx-integration-cg.vercel.app'],
  },
  facts: shippedFacts(pins),
  requestExpirationSeconds: 300,
  // Accepted blocks are final; endpoints behind a balancer may still differ by a block or two.
  finality: { depth: 3 },
  gas: {
    ...sharedGas,
    multiplierFactor: FACTOR_ONE,
    orderGas: { increase: 3_900_000n, decrease: 3_900_000n, swap: 3_400_000n },
    bufferBps: 1_000,
    leastPriorityFee: 1_500_000_000n,
    premium: 6_000_000_000n,
    relayGas: { create: 1_000_000n, update: 800_000n, cancel: 700_000n },
    feeSwapFactor: 200n * 10n ** 26n,
  },
  usualFees: { usualExecutionFee: parseUnits('0.05', NATIVE_DECIMALS), usualRelayFeeUsd: usd('1') },
  nativePriceUsd: { assumed: usd(60), highest: usd(200) },
  maxAutoCancelOrders: 6,
  blocks: { timeMs: 1000, firstNumber: 70_000_000, gasPriceWei: 650_000_000 },
}
