/** Calls and results of Multicall3, packed and read by hand, against viem's encoder. */
import fc from 'fast-check'
import { encodeFunctionData, encodeFunctionResult, type Hex, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { digestCalls, pinnedTo, readDigests } from '../../src/chain/node/digests.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'

const abi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] returnData)',
])
const { multicall, gelatoRelayRouter, subaccountGelatoRelayRouter } = arbitrum.contracts
const hash = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as Hex)
const digestAt = fc.record({
  router: fc.constantFrom(gelatoRelayRouter, subaccountGelatoRelayRouter),
  digest: hash,
})
const bool = (value: boolean): Hex => `0x${(value ? '1' : '0').padStart(64, '0')}`
const resultOf = (rows: readonly { readonly success: boolean; readonly returnData: Hex }[]): Hex =>
  encodeFunctionResult({ abi, functionName: 'aggregate3', result: rows })

test('digests are asked for as the contract’s own encoder would', () => {
  fc.assert(
    fc.property(fc.array(digestAt, { minLength: 1, maxLength: 12 }), hash, (digests, block) => {
      const args = digests.map(({ router, digest }) => ({
        target: router,
        allowFailure: false,
        callData: `0x01ac4293${digest.slice(2)}` as Hex,
      }))
      const data = encodeFunctionData({ abi, functionName: 'aggregate3', args: [args] })
      const pinned = pinnedTo(block)
      expect(digestCalls(digests, multicall, pinned)).toEqual([
        { method: 'eth_call', params: [{ to: multicall, data }, pinned] },
      ])
    }),
    { numRuns: 60 },
  )
})

test('results are read as they were encoded, over several calls', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }), (used) => {
      const returned = resultOf(used.map((one) => ({ success: true, returnData: bool(one) })))
      expect(readDigests([returned], used.length)).toEqual(used)
    }),
    { numRuns: 60 },
  )
  const many = Array.from({ length: 501 }, (_none, index) => index % 3 === 0)
  const rows = many.map((one) => ({ success: true, returnData: bool(one) }))
  expect(readDigests([resultOf(rows.slice(0, 500)), resultOf(rows.slice(500))], 501)).toEqual(many)
  const digest: Hex = `0x${'ab'.repeat(32)}`
  expect(
    digestCalls(
      many.map(() => ({ router: gelatoRelayRouter, digest })),
      multicall,
      'latest',
    ),
  ).toHaveLength(2)
})

const good = { success: true, returnData: bool(true) }
const bad: readonly (readonly [string, readonly Hex[], number])[] = [
  ['a result too few', [resultOf([good])], 2],
  ['a result too many', [resultOf([good, good])], 1],
  ['a call that failed', [resultOf([{ success: false, returnData: bool(true) }])], 1],
  ['a word that is no bool', [resultOf([{ success: true, returnData: `0x${'2'.padStart(64, '0')}` }])], 1],
  ['nothing', [resultOf([{ success: true, returnData: '0x' }])], 1],
  ['no data', ['0x'], 1],
  ['a byte too many', [`${resultOf([good])}00`], 1],
  ['an answer too few', [], 1],
]

test.each(bad)('%s is no answer', (_name, returned, count) => {
  expect(() => readDigests(returned, count)).toThrow(RangeError)
})
