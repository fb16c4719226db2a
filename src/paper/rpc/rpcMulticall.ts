/** Multicall3 of the paper chain: what it says of the chain itself, and the shapes of its aggregates. */
import { type decodeFunctionData, encodeFunctionResult, parseAbi } from 'viem/utils'
import { type Address, type Hex, ZERO_ADDRESS, ZERO_HASH } from '../../protocol/address.ts'
import { blockHash, blockSeconds, type Inclusion } from '../blocks/blockChain.ts'
import { decodeCall } from '../blocks/decodeCall.ts'
import { BLOCK_GAS_LIMIT, baseFeeOf } from '../blocks/rpcGas.ts'
import type { VenueState } from '../state/venueState.ts'
import { canonical } from './rpcBlocks.ts'

const viewAbi = parseAbi([
  'function getEthBalance(address addr) view returns (uint256)',
  'function getBlockNumber() view returns (uint256)',
  'function getBlockHash(uint256 blockNumber) view returns (bytes32)',
  'function getLastBlockHash() view returns (bytes32)',
  'function getChainId() view returns (uint256)',
  'function getBasefee() view returns (uint256)',
  'function getCurrentBlockTimestamp() view returns (uint256)',
  'function getCurrentBlockGasLimit() view returns (uint256)',
  'function getCurrentBlockCoinbase() view returns (address)',
])
const aggregateAbi = parseAbi([
  'struct Call { address target; bytes callData; }',
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Call3Value { address target; bool allowFailure; uint256 value; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate(Call[] calls) payable returns (uint256 blockNumber, bytes[] returnData)',
  'function tryAggregate(bool requireSuccess, Call[] calls) payable returns (Result[] returnData)',
  'function blockAndAggregate(Call[] calls) payable returns (uint256 blockNumber, bytes32 blockHash, Result[] returnData)',
  'function tryBlockAndAggregate(bool requireSuccess, Call[] calls) payable returns (uint256 blockNumber, bytes32 blockHash, Result[] returnData)',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
  'function aggregate3Value(Call3Value[] calls) payable returns (Result[] returnData)',
])

/** One call of an aggregate. */
interface InnerCall {
  readonly target: Address
  readonly allowFailure: boolean
  readonly callData: Hex
}

/** Calls of an aggregate. */
export interface AskedAggregate {
  readonly functionName: ReturnType<typeof decodeAggregate>['functionName']
  readonly calls: readonly InnerCall[]
}

function decodeAggregate(data: Hex) {
  return decodeCall(aggregateAbi, data)
}

/** The calls of an aggregate. Throws what decoding throws. */
export function asMulticall(data: Hex): AskedAggregate {
  const { functionName, args } = decodeAggregate(data)
  switch (functionName) {
    case 'aggregate':
    case 'blockAndAggregate':
      return { functionName, calls: args[0].map((call) => ({ ...call, allowFailure: false })) }
    case 'tryAggregate':
    case 'tryBlockAndAggregate':
      return { functionName, calls: args[1].map((call) => ({ ...call, allowFailure: !args[0] })) }
    case 'aggregate3':
    case 'aggregate3Value':
      return { functionName, calls: args[0] }
  }
}

/** The answer of an aggregate whose calls gave these results. */
export function multicallAnswer(
  { blockChain }: VenueState,
  functionName: AskedAggregate['functionName'],
  results: readonly { readonly success: boolean; readonly returnData: Hex }[],
  block: Inclusion,
): Hex {
  const abi = aggregateAbi
  const number = BigInt(block.number)
  switch (functionName) {
    case 'aggregate': {
      const result = [number, results.map(({ returnData }) => returnData)] as const
      return encodeFunctionResult({ abi, functionName, result })
    }
    case 'blockAndAggregate':
    case 'tryBlockAndAggregate': {
      const result = [number, blockHash(blockChain, block), results] as const
      return encodeFunctionResult({ abi, functionName, result })
    }
    default:
      return encodeFunctionResult({ abi, functionName, result: results })
  }
}

/** Returns Multicall3's response about the chain as of a block; undefined for any other function of it. */
export function readMulticall(
  { blockChain, chain }: VenueState,
  data: Hex,
  block: Inclusion,
  balanceOf: (address: Address) => bigint,
): Hex | undefined {
  let call: ReturnType<typeof decodeFunctionData<typeof viewAbi>>
  try {
    call = decodeCall(viewAbi, data)
  } catch {
    return undefined
  }
  const { functionName } = call
  const abi = viewAbi
  const hashOf = (number: bigint): Hex =>
    number >= 0n && number < BigInt(block.number) && number >= BigInt(block.number) - 256n
      ? blockHash(blockChain, canonical(blockChain, Number(number)))
      : ZERO_HASH
  const whole = (result: bigint): Hex => encodeFunctionResult({ abi, functionName: 'getBlockNumber', result })
  const hash = (result: Hex): Hex => encodeFunctionResult({ abi, functionName: 'getLastBlockHash', result })
  switch (functionName) {
    case 'getEthBalance':
      return whole(balanceOf(call.args[0]))
    case 'getBlockNumber':
      return whole(BigInt(block.number))
    case 'getBlockHash':
      return hash(hashOf(call.args[0]))
    case 'getLastBlockHash':
      return hash(hashOf(BigInt(block.number) - 1n))
    case 'getChainId':
      return whole(BigInt(chain.chainId))
    case 'getBasefee':
      return whole(baseFeeOf(blockChain, block.number))
    case 'getCurrentBlockTimestamp':
      return whole(BigInt(blockSeconds(blockChain, block.number)))
    case 'getCurrentBlockGasLimit':
      return whole(BigInt(BLOCK_GAS_LIMIT))
    case 'getCurrentBlockCoinbase':
      return encodeFunctionResult({ abi, functionName, result: ZERO_ADDRESS })
  }
}
