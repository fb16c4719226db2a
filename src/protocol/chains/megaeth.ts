/** MegaETH: contracts and hosts of August 2026. */
import { NATIVE_DECIMALS, parseUnits, usd } from '../units.ts'
import type { ChainFacts } from './chainFacts.ts'
import { sharedGas } from './gasFacts.ts'
import pins from './pins/megaeth.json' with { type: 'json' }
import { shippedFacts } from './pins.ts'

/** MegaETH. */
export const megaeth: ChainFacts<'megaeth'> = {
  name: 'megaeth',
  chainId: 4326,
  nativeSymbol: 'ETH',
  contracts: {
    gelatoRelayRouter: '0xbAAA3a693191e2e3E0973DE641C879D1aDD84e04',
    subaccountGelatoRelayRouter: '0x603B3D3aB077CA433b888c05fa59c777d5b6dCAD',
    subaccountRouter: '0x03B59961bF30b973fBd793A6C8ad57dA38D4D0a6',
    multichainOrderRouter: '0x00205f26BCc52537D12fA9b0eFA5Fcc58F03ab76',
    multichainSubaccountRouter: '0xDB8906520812840b9835E3B84dE62C826249e20B',
    multichainTransferRouter: '0x62B1691B067278E5B1167d0443d4c957473611D2',
    exchangeRouter: '0xF68560cA917717639be497BF6283aC08C9Bf0264',
    router: '0x1eAfB14236C489C28845EC04F78DECA5Fb9879Aa',
    orderVault: '0xD5AE04762E2afb1506695b3F36286EBE7B0E6772',
    simulationRouter: '0x321EB66dD95ad33715ee615AAb8dAC6394E7b3F9',
    eventEmitter: '0xAf2E131d483cedE068e21a9228aD91E623a989C2',
    dataStore: '0xE43C7B694f6b652a9F4A0f275C008d18758Dce35',
    reader: '0x51fe0b7919e1208a717E9B16a097C1C3D70eFbf6',
    multicall: '0xF516BC01c50eebdBad4d7E506c8f690ae8EAFc52',
    referralStorage: '0xAd917849372eaEF498E982F90bA6459a43ecbd31',
    externalHandler: '0xa7EE2737249e0099906cB079BCEe85f0bbd837d4',
    chainlinkPriceFeedProvider: '0xaD3051cB1aE3a86b335f12A9a41BD4d995a137ea',
    wrappedNative: '0x4200000000000000000000000000000000000006',
  },
  gasPaymentTokens: [
    '0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7',
    '0x4200000000000000000000000000000000000006',
  ],
  feeToken: { address: '0xFAfDdbb3FC7688494971a79cc65DCa3EF82079E7', symbol: 'USDM', decimals: 18 },
  feeSwapPath: ['0xc5c9B5E23810565763De41144741477eeCB25e2e'],
  hosts: {
    api: ['https://megaeth.gmxapi.io/v1', 'https://megaeth.gmxapi.ai/v1'],
    oracle: ['https://megaeth-api.gmxinfra.io', 'https://megaeth-api-fallback.gmxinfra.io'],
  },
  facts: shippedFacts(pins),
  requestExpirationSeconds: 300,
  // Nothing is known of its tags in practice: the strictest.
  finality: 'finalized',
  gas: {
    ...sharedGas,
    multiplierFactor: 15_556n * 10n ** 26n,
    orderGas: { increase: 3_900_000n, decrease: 3_900_000n, swap: 3_400_000n },
    bufferBps: 3_000,
    leastPriorityFee: 500_000n,
    premium: 0n,
    relayGas: { create: 4_000_000n, update: 3_200_000n, cancel: 2_800_000n },
    feeSwapFactor: 225n * 10n ** 26n,
  },
  usualFees: { usualExecutionFee: parseUnits('0.00002', NATIVE_DECIMALS), usualRelayFeeUsd: usd('0.1') },
  nativePriceUsd: { assumed: usd(4_000), highest: usd(10_000) },
  maxAutoCancelOrders: 6,
  blocks: { timeMs: 1000, firstNumber: 10_000_000, gasPriceWei: 950_000 },
}
