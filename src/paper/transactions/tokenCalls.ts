/** Calls that change an ERC-20 token's books: those of the standard, `permit`, and what wraps the native coin, with their events. */
import type { Hex } from 'viem'
import {
  concat,
  decodeFunctionData,
  encodeAbiParameters,
  keccak256,
  pad,
  stringToHex,
  toHex,
} from 'viem/utils'
import { type Address, hexKey, sameHex, ZERO_ADDRESS } from '../../protocol/address.ts'
import { MAX_UINT256 } from '../../protocol/units.ts'
import { emitPlain, emitTransfer } from '../blocks/plainLogs.ts'
import { isSignedBy } from '../blocks/signature.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import { accountOf } from '../state/accounts.ts'
import { permitDigest, permitKey, permitNonceOf, takesPermits } from '../state/permits.ts'
import { holdingOf, nativeAddress } from '../state/purse.ts'
import { allowanceKey, allowanceOf } from '../state/wallets.ts'
import { type CallFrame, emptyRevert, spendGas, textRevert, workGas } from './callFrame.ts'
import { tokenWriteAbi } from './exchangeRouterAbi.ts'

const APPROVAL = keccak256(stringToHex('Approval(address,address,uint256)'))
const DEPOSIT = keccak256(stringToHex('Deposit(address,uint256)'))
const WITHDRAWAL = keccak256(stringToHex('Withdrawal(address,uint256)'))
const TRUE = encodeAbiParameters([{ type: 'bool' }], [true])

const words = (amount: bigint): Hex => pad(toHex(amount))

const selectors = {
  approve: '0x095ea7b3',
  transfer: '0xa9059cbb',
  transferFrom: '0x23b872dd',
  permit: '0xd505accf',
  deposit: '0xd0e30db0',
  withdraw: '0x2e1a7d4d',
} as const

/** Tells whether calldata names a function that changes a token's books; a wrapped coin accepts the native one without calldata. */
export function changesToken(token: CatalogToken, data: Hex): boolean {
  const wraps = [selectors.deposit, selectors.withdraw, '0x'] as const
  if (token.isWrapped && wraps.some((each) => data === each || data.startsWith(`${each}0`))) return true
  const { approve, transfer, transferFrom, permit } = selectors
  return [approve, transfer, transferFrom, permit].some((each) => data.startsWith(each))
}

/** Whose books a call changes besides its sender's: the owner of a `transferFrom` or a `permit`. */
export function ownerIn(data: Hex): Address | undefined {
  const isOwners = data.startsWith(selectors.transferFrom) || data.startsWith(selectors.permit)
  return isOwners && data.length >= 74 ? `0x${data.slice(34, 74)}` : undefined
}

/** Runs a call of a token. Throws ProtocolRevert, OutOfGas. */
export function runToken(frame: CallFrame, token: CatalogToken, data: Hex, value: bigint): Hex {
  const call = decode(token.isWrapped && data === '0x' ? selectors.deposit : data)
  const isWrapping = call.functionName === 'deposit' || call.functionName === 'withdraw'
  if ((isWrapping && !token.isWrapped) || (value > 0n && call.functionName !== 'deposit')) throw emptyRevert()
  switch (call.functionName) {
    case 'approve': {
      spendGas(frame, workGas.approve)
      if (sameHex(frame.from, ZERO_ADDRESS)) throw textRevert('ERC20: approve from the zero address')
      allow(frame, token, { owner: frame.from, spender: call.args[0], amount: call.args[1] })
      return TRUE
    }
    case 'transfer': {
      spendGas(frame, workGas.transfer)
      move(frame, token, frame.from, call.args[0], call.args[1])
      return TRUE
    }
    case 'transferFrom': {
      spendGas(frame, workGas.transfer + 8_000)
      transferFrom(frame, token, call.args)
      return TRUE
    }
    case 'permit': {
      spendGas(frame, workGas.approve + 30_000)
      permit(frame, token, call.args)
      return '0x'
    }
    case 'deposit':
    case 'withdraw': {
      spendGas(frame, workGas.transfer)
      if (call.functionName === 'deposit') wrap(frame, token, value)
      else unwrap(frame, token, call.args[0])
      return '0x'
    }
  }
}

function allow(
  frame: CallFrame,
  token: CatalogToken,
  { owner, spender, amount }: { readonly owner: Address; readonly spender: Address; readonly amount: bigint },
): void {
  if (sameHex(spender, ZERO_ADDRESS)) throw textRevert('ERC20: approve to the zero address')
  const { venueState } = frame
  accountOf(venueState, owner).allowances.set(allowanceKey(venueState, token.address, spender), amount)
  emitPlain(frame, token.address, [APPROVAL, pad(owner), pad(spender)], words(amount))
}

function move(frame: CallFrame, token: CatalogToken, from: Address, to: Address, amount: bigint): void {
  if (sameHex(to, ZERO_ADDRESS)) throw textRevert('ERC20: transfer to the zero address')
  if (!frame.purse.take(from, token.address, amount))
    throw textRevert('ERC20: transfer amount exceeds balance')
  frame.purse.give(to, token.address, amount)
  emitTransfer(frame, token.address, from, to, amount)
}

function transferFrom(
  frame: CallFrame,
  token: CatalogToken,
  [owner, to, amount]: readonly [Address, Address, bigint],
): void {
  const { venueState, from } = frame
  const allowed = allowanceOf(venueState, owner, token.address, from)
  if (allowed < amount) throw textRevert('ERC20: insufficient allowance')
  move(frame, token, owner, to, amount)
  // The largest allowance never runs down.
  if (allowed === MAX_UINT256) return
  accountOf(venueState, owner).allowances.set(allowanceKey(venueState, token.address, from), allowed - amount)
}

type PermitArgs = readonly [Address, Address, bigint, bigint, number, Hex, Hex]

/** An approval by the owner's signature (ERC-2612). */
function permit(
  frame: CallFrame,
  token: CatalogToken,
  [owner, spender, amount, deadline, v, r, s]: PermitArgs,
): void {
  const { venueState } = frame
  if (!takesPermits(token)) throw emptyRevert()
  if (deadline < BigInt(Math.floor(frame.nowMs / 1_000))) throw textRevert('ERC20Permit: expired deadline')
  const nonce = permitNonceOf(venueState.accounts.get(hexKey(owner))?.allowances, token)
  const digest = permitDigest(token, venueState.chain.chainId, { owner, spender, amount, nonce, deadline })
  if (!isSignedBy(owner, digest, concat([r, s, toHex(v, { size: 1 })])))
    throw textRevert('ERC20Permit: invalid signature')
  accountOf(venueState, owner).allowances.set(permitKey(token), nonce + 1n)
  allow(frame, token, { owner, spender, amount })
}

function wrap(frame: CallFrame, token: CatalogToken, value: bigint): void {
  frame.purse.give(frame.from, token.address, value)
  emitPlain(frame, token.address, [DEPOSIT, pad(frame.from)], words(value))
}

/** Unwraps coins. Coins wrapped before the world began, or by the protocol, are not in the contract's balance here, and are paid all the same. */
function unwrap(frame: CallFrame, token: CatalogToken, amount: bigint): void {
  const { venueState, purse, from } = frame
  if (!purse.take(from, token.address, amount)) throw emptyRevert()
  const native = nativeAddress(venueState)
  const held = holdingOf(venueState, token.address, native)
  purse.take(token.address, native, held < amount ? held : amount)
  purse.give(from, native, amount)
  emitPlain(frame, token.address, [WITHDRAWAL, pad(from)], words(amount))
}

function decode(data: Hex) {
  try {
    return decodeFunctionData({ abi: tokenWriteAbi, data })
  } catch {
    throw emptyRevert()
  }
}
