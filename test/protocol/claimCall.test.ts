/** Calldata and storage keys of claims, packed by hand, against viem's encoder and the signatures of the contracts. */
import fc from 'fast-check'
import {
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  keccak256,
  parseAbi,
  toFunctionSelector,
} from 'viem'
import { expect, test } from 'vitest'
import { claimableKey } from '../../src/chain/claimableAmounts.ts'
import { claimCalldata } from '../../src/protocol/signing/claimCall.ts'

const abi = parseAbi([
  'function claimFundingFees(address[] markets, address[] tokens, address receiver) payable returns (uint256[])',
  'function claimAffiliateRewards(address[] markets, address[] tokens, address receiver) payable returns (uint256[])',
])
const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => getAddress(`0x${Buffer.from(bytes).toString('hex')}`))
const pair = fc.record({ marketToken: address, token: address })

test('a claim is encoded as the contract’s own encoder would, its last argument the receiver', () => {
  fc.assert(
    fc.property(fc.array(pair, { minLength: 1, maxLength: 60 }), address, (pairs, receiver) => {
      const args = [
        pairs.map(({ marketToken }) => marketToken),
        pairs.map(({ token }) => token),
        receiver,
      ] as const
      expect(claimCalldata('funding', pairs, receiver)).toBe(
        encodeFunctionData({ abi, functionName: 'claimFundingFees', args }),
      )
      expect(claimCalldata('rebates', pairs, receiver)).toBe(
        encodeFunctionData({ abi, functionName: 'claimAffiliateRewards', args }),
      )
    }),
    { seed: 74, numRuns: 100 },
  )
})

test('a claim written out: the selector, where the lists begin, the receiver, the lists', () => {
  const market = '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'
  const token = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
  const receiver = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
  const words = [
    '0000000000000000000000000000000000000000000000000000000000000060',
    '00000000000000000000000000000000000000000000000000000000000000a0',
    '00000000000000000000000019e7e376e7c213b7e7e7e46cc70a5dd086daff2a',
    '0000000000000000000000000000000000000000000000000000000000000001',
    '00000000000000000000000070d95587d40a2caf56bd97485ab3eec10bee6336',
    '0000000000000000000000000000000000000000000000000000000000000001',
    '000000000000000000000000af88d065e77c8cc2239327c5edb3a432268e5831',
  ]
  const selector = toFunctionSelector('claimFundingFees(address[],address[],address)')
  expect(claimCalldata('funding', [{ marketToken: market, token }], receiver)).toBe(
    `${selector}${words.join('')}`,
  )
})

test('what is due stands under the keys of the protocol’s Keys library', () => {
  const keyOf = (name: string, parts: readonly [`0x${string}`, `0x${string}`, `0x${string}`]) =>
    keccak256(
      encodeAbiParameters(
        [{ type: 'bytes32' }, { type: 'address' }, { type: 'address' }, { type: 'address' }],
        [keccak256(encodeAbiParameters([{ type: 'string' }], [name])), ...parts],
      ),
    )
  fc.assert(
    fc.property(pair, address, ({ marketToken, token }, account) => {
      const parts = [marketToken, token, account] as const
      expect(claimableKey('funding', { marketToken, token }, account)).toBe(
        keyOf('CLAIMABLE_FUNDING_AMOUNT', parts),
      )
      expect(claimableKey('rebates', { marketToken, token }, account)).toBe(keyOf('AFFILIATE_REWARD', parts))
    }),
    { seed: 75, numRuns: 50 },
  )
})
