/**
 * Deposits into the GMX account from other chains (docs/reference/api-coverage.md POST /gmx-account/deposit/cross-chain/prepare;
 * test/paper/gmxAccount.test.ts, K.1): a transaction of the user's own on the source chain, which the venue prepares and
 * never sees.
 */
import {
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  keccak256,
  padHex,
  parseAbi,
  slice,
  stringToHex,
} from 'viem/utils'
import type { Address, Hex } from '../../protocol/address.ts'
import { badFields, type FieldError, type Json, parseAddress } from '../http/http.ts'
import { uintOf } from '../http/prepareShape.ts'
import type { VenueState } from '../state/venueState.ts'
import { accountOf, bridgedToken, chainIdOf, collect, settlementOf } from './crossChain.ts'

type Body = Readonly<Record<string, unknown>>

/**
 * Where a deposit is sent when the request names no pool. No document gives the source chains' pools, so paper makes up
 * one for each chain: an address that nobody has, told apart by the chain's id.
 */
function paperPool(srcChainId: number): Address {
  return getAddress(slice(keccak256(stringToHex(`perpd paper pool ${srcChainId}`)), 12))
}

const stargateAbi = parseAbi([
  'struct SendParam { uint32 dstEid; bytes32 to; uint256 amountLD; uint256 minAmountLD; bytes extraOptions; bytes composeMsg; bytes oftCmd; }',
  'struct MessagingFee { uint256 nativeFee; uint256 lzTokenFee; }',
  'function sendToken(SendParam sendParam, MessagingFee fee, address refundAddress) payable',
])

/** LayerZero's own fee of a message, smallest native units, and the gas of what it does on arrival. */
const DEPOSIT_NATIVE_FEE = 120_000_000_000_000n
const DEPOSIT_COMPOSE_GAS = 550_000n
/** `POST /gmx-account/deposit/cross-chain/prepare`. Throws HttpFailure 400. */
export function prepareDeposit(venueState: VenueState, body: Body): Json {
  const errors: Record<string, FieldError> = {}
  const refuse = collect(errors)
  const account = accountOf(body, refuse)
  const srcChainId = chainIdOf(body, refuse)
  const amount = uintOf(body.amount) ?? 0n
  if (amount === 0n) refuse('amount', body.amount, "'amount' must be a positive integer")
  const named = body.tokenAddress ?? body.tokenSymbol
  if (typeof named !== 'string')
    refuse('tokenSymbol', undefined, "'tokenSymbol' or 'tokenAddress' is required")
  const fee = body.nativeFee === undefined ? DEPOSIT_NATIVE_FEE : uintOf(body.nativeFee)
  if (fee === undefined || fee === 0n) refuse('nativeFee', body.nativeFee)
  const gas = body.composeGas === undefined ? DEPOSIT_COMPOSE_GAS : uintOf(body.composeGas)
  if (gas === undefined || gas === 0n) refuse('composeGas', body.composeGas)
  if (Object.keys(errors).length > 0 || fee === undefined || gas === undefined) throw badFields(errors)
  const token = bridgedToken(venueState, String(named))
  const { endpoint, provider } = settlementOf(venueState, srcChainId)
  const pool = parseAddress(body.sourceStargatePoolAddress) ?? paperPool(srcChainId)
  const inner = typeof body.innerData === 'string' && /^0x([0-9a-f]{2})*$/i.test(body.innerData)
  const data = encodeFunctionData({
    abi: stargateAbi,
    functionName: 'sendToken',
    args: [
      {
        dstEid: endpoint,
        to: padHex(provider, { size: 32 }),
        amountLD: amount,
        minAmountLD: amount - amount / 200n,
        extraOptions: '0x',
        composeMsg: encodeAbiParameters(
          [{ type: 'address' }, { type: 'bytes' }],
          [account, inner ? (body.innerData as Hex) : '0x'],
        ),
        oftCmd: '0x',
      },
      { nativeFee: fee, lzTokenFee: 0n },
      account,
    ],
  })
  const isNative = body.isNativeOnSource === true || token.isNative
  return {
    payloadType: 'transaction',
    payload: { to: pool, data, value: (fee + (isNative ? amount : 0n)).toString() },
    composeGas: gas.toString(),
    nativeFee: fee.toString(),
    expiresAt: Math.floor(venueState.clock.now() / 1000) + venueState.settings.orderDeadlineSeconds,
  }
}
