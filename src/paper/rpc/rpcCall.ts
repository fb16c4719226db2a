/**
 * Contract reads of the paper chain: used digests and approval nonces of the relay routers, ERC-20 tokens,
 * markets of the Reader, and Multicall3.
 *
 * Digests, balances and allowances are answered as of the block asked for; nonces are kept as of now only, and that is what every
 * block answers.
 */
import { encodeAbiParameters, encodeErrorResult, encodeFunctionResult, parseAbi } from 'viem/utils'
import { isObject } from '../../base/isObject.ts'
import { type Address, type Hex, hexKey, sameHex, ZERO_ADDRESS } from '../../protocol/address.ts'
import { type Inclusion, isIncludedAt } from '../blocks/blockChain.ts'
import { decodeCall } from '../blocks/decodeCall.ts'
import { invalidParams, RpcError, readAddress, readBytes, rpcCodes } from '../blocks/rpcError.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import { isContract, MULTICALL3, tokenAt } from '../state/contracts.ts'
import { holdingsAt } from '../state/pastHoldings.ts'
import { permitNonceOf, permitSeparator, permitVersionOf, takesPermits } from '../state/permits.ts'
import { contractHolding } from '../state/purse.ts'
import { presentOf } from '../state/rpcEndpoints.ts'
import type { VenueState } from '../state/venueState.ts'
import { allowanceIn } from '../state/wallets.ts'
import { readDataStore } from './rpcDataStore.ts'
import { asMulticall, multicallAnswer, readMulticall } from './rpcMulticall.ts'

/** Most calls of one Multicall3 call. */
const MAX_CALLS = 1000

const routerAbi = parseAbi([
  'function digests(bytes32 digest) view returns (bool)',
  'function subaccountApprovalNonces(address account) view returns (uint256)',
])
const tokenAbi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function decimals() view returns (uint8)',
  'function symbol() view returns (string)',
  'function name() view returns (string)',
  'function totalSupply() view returns (uint256)',
  'function nonces(address owner) view returns (uint256)',
  'function version() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
])
const readerAbi = parseAbi([
  'struct Props { address marketToken; address indexToken; address longToken; address shortToken; }',
  'function getMarket(address dataStore, address key) view returns (Props)',
])
const errorAbi = parseAbi(['error Error(string message)'])

const SELECTORS = {
  digests: '0x01ac4293',
  subaccountApprovalNonces: '0x496747d5',
} as const

/** A call that reverted. */
function revertedWith(data: Hex): RpcError {
  return new RpcError(rpcCodes.reverted, 'execution reverted', data)
}

function routersOf({ chain }: VenueState): readonly string[] {
  const { contracts } = chain
  return [
    contracts.gelatoRelayRouter,
    contracts.subaccountGelatoRelayRouter,
    contracts.multichainOrderRouter,
    contracts.multichainSubaccountRouter,
    contracts.multichainTransferRouter,
  ].map(hexKey)
}

/** Contracts that do an order's work when they are called: gas estimates need them. */
export function workersOf(venueState: VenueState): ReadonlySet<string> {
  return new Set([...routersOf(venueState), hexKey(venueState.chain.contracts.exchangeRouter)])
}

/** `eth_getCode`: a stub that only stops, with the address in it, so that contracts differ; `0x` for everything else. */
export function codeAt(venueState: VenueState, address: Hex): Hex {
  return isContract(venueState, address) ? `0x6080604052fe${address.slice(2)}` : '0x'
}

function balanceAt(venueState: VenueState, address: string, token: CatalogToken, block: Inclusion): bigint {
  // A contract's holdings are known as of now only.
  if (isContract(venueState, address))
    return contractHolding(presentOf(venueState), address as Address, token.address)
  return holdingsAt(venueState, address, block).balances.get(hexKey(token.address)) ?? 0n
}

/** `eth_getBalance` as of a block: wei of the native coin. */
export function nativeBalanceAt(venueState: VenueState, address: string, block: Inclusion): bigint {
  const native = venueState.catalog.catalog.tokens.find((token) => token.isNative)
  return native === undefined ? 0n : balanceAt(venueState, address, native, block)
}

/** Tells whether a digest had been consumed at a router, in lower case, by a block. */
export function isDigestUsed(venueState: VenueState, router: string, digest: Hex, block: Inclusion): boolean {
  const transaction = venueState.blockChain.byDigest.get(hexKey(digest))
  if (transaction !== undefined) {
    return hexKey(transaction.to) === router && isIncludedAt(venueState.blockChain, transaction, block)
  }
  // Used so long ago that its transaction is forgotten: before every block that is still of interest.
  return venueState.usedDigests.has(hexKey(digest))
}

function readRouter(venueState: VenueState, router: string, data: Hex, block: Inclusion): Hex {
  const selector = data.slice(0, 10)
  const { subaccountGelatoRelayRouter, multichainSubaccountRouter } = venueState.chain.contracts
  if (selector === SELECTORS.digests) {
    const [digest] = decoded(() => decodeCall(routerAbi, data)).args
    const isUsed = isDigestUsed(venueState, router, digest as Hex, block)
    return encodeAbiParameters([{ type: 'bool' }], [isUsed])
  }
  const keepsNonces = [subaccountGelatoRelayRouter, multichainSubaccountRouter].some(
    (one) => hexKey(one) === router,
  )
  if (selector === SELECTORS.subaccountApprovalNonces && keepsNonces) {
    const [account] = decoded(() => decodeCall(routerAbi, data)).args
    // The multichain router counts for itself, and no operation has gone through it.
    const nonce =
      router === hexKey(subaccountGelatoRelayRouter)
        ? venueState.approvalNonces.get(hexKey(account))
        : undefined
    return encodeAbiParameters([{ type: 'uint256' }], [nonce ?? 0n])
  }
  throw revertedWith('0x')
}

/** Arguments that do not decode revert, as in a contract. */
function decoded<T>(decode: () => T): T {
  try {
    return decode()
  } catch {
    throw revertedWith('0x')
  }
}

function readToken(venueState: VenueState, token: CatalogToken, data: Hex, block: Inclusion): Hex {
  const call = decoded(() => decodeCall(tokenAbi, data))
  const abi = tokenAbi
  switch (call.functionName) {
    case 'balanceOf':
      return encodeFunctionResult({
        abi,
        functionName: 'balanceOf',
        result: balanceAt(venueState, call.args[0], token, block),
      })
    case 'allowance':
      return encodeFunctionResult({
        abi,
        functionName: 'allowance',
        result: allowanceIn(
          venueState,
          holdingsAt(venueState, call.args[0], block).allowances,
          token.address,
          call.args[1],
        ),
      })
    case 'decimals':
      return encodeFunctionResult({ abi, functionName: 'decimals', result: token.decimals })
    case 'symbol':
      return encodeFunctionResult({ abi, functionName: 'symbol', result: token.symbol })
    case 'name':
      return encodeFunctionResult({ abi, functionName: 'name', result: token.name })
    case 'totalSupply':
      return encodeFunctionResult({ abi, functionName: 'totalSupply', result: supplyOf(venueState, token) })
    default:
      return readPermits(venueState, token, data, block)
  }
}

/** Answers the calls about approvals by signature for a token that accepts them; any other token has no such functions. */
function readPermits(venueState: VenueState, token: CatalogToken, data: Hex, block: Inclusion): Hex {
  if (!takesPermits(token)) throw revertedWith('0x')
  const { functionName, args } = decoded(() => decodeCall(tokenAbi, data))
  const { chainId } = venueState.chain
  const abi = tokenAbi
  if (functionName === 'version')
    return encodeFunctionResult({ abi, functionName, result: permitVersionOf(token) })
  if (functionName === 'DOMAIN_SEPARATOR')
    return encodeFunctionResult({ abi, functionName, result: permitSeparator(token, chainId) })
  const owner = String(args?.[0])
  const nonce = permitNonceOf(holdingsAt(venueState, owner, block).allowances, token)
  return encodeFunctionResult({ abi, functionName: 'nonces', result: nonce })
}

/** All of a token that is known of now: what accounts, contracts and pools hold. */
function supplyOf(view: VenueState, token: CatalogToken): bigint {
  const venueState = presentOf(view)
  const key = hexKey(token.address)
  let sum = 0n
  for (const { balances } of venueState.accounts.values()) sum += balances.get(key) ?? 0n
  for (const [held, amount] of venueState.contractHoldings) if (held.endsWith(`:${key}`)) sum += amount
  for (const { longToken, shortToken, state } of venueState.marketByKey.values()) {
    const [long = 0n, short = 0n] = state.pool
    if (hexKey(longToken.address) === key) sum += long
    if (hexKey(shortToken.address) === key) sum += short
  }
  return sum
}

/** `getMarket` of the Reader: zeros for what is no market of the DataStore. */
function readReader(venueState: VenueState, data: Hex): Hex {
  const [dataStore, key] = decoded(() => decodeCall(readerAbi, data)).args
  const isKnown = sameHex(dataStore, venueState.chain.contracts.dataStore)
  const found = isKnown ? venueState.marketByKey.get(hexKey(key))?.catalog : undefined
  const none = ZERO_ADDRESS
  const result = found ?? { marketToken: none, indexToken: none, longToken: none, shortToken: none }
  return encodeFunctionResult({ abi: readerAbi, functionName: 'getMarket', result })
}

function aggregate(venueState: VenueState, data: Hex, block: Inclusion): Hex {
  const asked = decoded(() => asMulticall(data))
  if (asked.calls.length > MAX_CALLS) throw revertedWith('0x')
  const result = asked.calls.map(({ target, allowFailure, callData }) => {
    try {
      return { success: true, returnData: read(venueState, target, callData, block, false) }
    } catch (error) {
      if (!(error instanceof RpcError) || error.data === undefined) throw error
      if (!allowFailure) {
        const text = encodeErrorResult({
          abi: errorAbi,
          errorName: 'Error',
          args: ['Multicall3: call failed'],
        })
        throw new RpcError(rpcCodes.reverted, 'execution reverted: Multicall3: call failed', text)
      }
      return { success: false, returnData: error.data }
    }
  })
  return multicallAnswer(venueState, asked.functionName, result, block)
}

function read(venueState: VenueState, to: string, data: Hex, block: Inclusion, mayAggregate: boolean): Hex {
  const target = hexKey(to)
  const token = tokenAt(venueState, target)
  if (token !== undefined) return readToken(venueState, token, data, block)
  if (routersOf(venueState).includes(target)) return readRouter(venueState, target, data, block)
  if (target === hexKey(venueState.chain.contracts.reader)) return readReader(venueState, data)
  const isMulticall = target === MULTICALL3 || target === hexKey(venueState.chain.contracts.multicall)
  if (isMulticall) {
    const view = readMulticall(venueState, data, block, (address) =>
      nativeBalanceAt(venueState, address, block),
    )
    if (view !== undefined) return view
    if (mayAggregate) return aggregate(venueState, data, block)
  }
  if (target === hexKey(venueState.chain.contracts.dataStore))
    return decoded(() => readDataStore(venueState, data))
  if (isContract(venueState, target)) throw revertedWith('0x')
  // A call of an address without code succeeds with nothing, as on any chain.
  return '0x'
}

/**
 * `eth_call` as of a block.
 *
 * @throws RpcError 3 for a call that the contract does not know; -32602 for another shape
 */
export function callContract(venueState: VenueState, call: unknown, block: Inclusion): Hex {
  const { to, data } = readCall(call)
  if (to === undefined) throw invalidParams('invalid argument: to is required')
  return read(venueState, to, data, block, true)
}

/** Target and bytes of a call object. Throws RpcError -32602. */
export function readCall(call: unknown): { readonly to: Hex | undefined; readonly data: Hex } {
  if (!isObject(call)) throw invalidParams('invalid argument: the call must be an object')
  const to = call.to === undefined || call.to === null ? undefined : readAddress(call.to, 'to')
  return { to, data: readBytes(call.input ?? call.data, 'data') }
}
