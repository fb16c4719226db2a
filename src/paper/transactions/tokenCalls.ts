/** Calls that change an ERC-20 token's books: `approve` and `transfer`, with the events of the standard. */
import type { Hex } from 'viem'
import { decodeFunctionData, encodeAbiParameters, keccak256, pad, stringToHex, toHex } from 'viem/utils'
import { type Address, sameHex, ZERO_ADDRESS } from '../../protocol/address.ts'
import type { CatalogToken } from '../catalog/catalog.ts'
import { accountOf } from '../state/accounts.ts'
import { allowanceKey } from '../state/wallets.ts'
import { type CallFrame, emitPlain, emptyRevert, spendGas, textRevert, workGas } from './callFrame.ts'
import { tokenWriteAbi } from './exchangeRouterAbi.ts'

const TRANSFER = keccak256(stringToHex('Transfer(address,address,uint256)'))
const APPROVAL = keccak256(stringToHex('Approval(address,address,uint256)'))
const TRUE = encodeAbiParameters([{ type: 'bool' }], [true])

const words = (amount: bigint): Hex => pad(toHex(amount))

/** Emits `Transfer` of a token. */
export function emitTransfer(
  frame: CallFrame,
  token: Address,
  from: Address,
  to: Address,
  amount: bigint,
): void {
  emitPlain(frame, token, [TRANSFER, pad(from), pad(to)], words(amount))
}

/** Whether calldata names a function that changes a token's books. */
export function changesToken(data: Hex): boolean {
  return data.startsWith('0x095ea7b3') || data.startsWith('0xa9059cbb')
}

/** Runs a call of a token. Throws ProtocolRevert, OutOfGas. */
export function runToken(frame: CallFrame, token: CatalogToken, data: Hex, value: bigint): Hex {
  const { venueState, from, purse } = frame
  if (value > 0n) throw emptyRevert()
  const call = decode(data)
  const [other, amount] = call.args
  if (call.functionName === 'approve') {
    spendGas(frame, workGas.approve)
    if (sameHex(from, ZERO_ADDRESS)) throw textRevert('ERC20: approve from the zero address')
    if (sameHex(other, ZERO_ADDRESS)) throw textRevert('ERC20: approve to the zero address')
    accountOf(venueState, from).allowances.set(allowanceKey(venueState, token.address, other), amount)
    emitPlain(frame, token.address, [APPROVAL, pad(from), pad(other)], words(amount))
    return TRUE
  }
  spendGas(frame, workGas.transfer)
  if (sameHex(other, ZERO_ADDRESS)) throw textRevert('ERC20: transfer to the zero address')
  if (!purse.take(from, token.address, amount)) throw textRevert('ERC20: transfer amount exceeds balance')
  purse.give(other, token.address, amount)
  emitTransfer(frame, token.address, from, other, amount)
  return TRUE
}

function decode(data: Hex) {
  try {
    return decodeFunctionData({ abi: tokenWriteAbi, data })
  } catch {
    throw emptyRevert()
  }
}
