/** Holds the GMX account balances of addresses, and lets withdrawals leave them on the chain (contract `GelatoRelayRouter`, `batch`). */
import { encodeFunctionData, parseAbi } from 'viem/utils'
import { type Address, type Hex, hexKey, sameHex } from '../../protocol/address.ts'
import { parseUnits } from '../../protocol/units.ts'
import { mine, useDigest } from '../blocks/blockChain.ts'
import { revertBytes } from '../blocks/customErrors.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import type { Withdrawal } from '../state/venueRecords.ts'
import { nextTransactionHash, type VenueState } from '../state/venueState.ts'
import { relayStructs } from './relayCall.ts'

/** `bridgeOut` of the multichain transfer router, selector 0x26a3bebd. */
export const transferRouterAbi = parseAbi([
  ...relayStructs,
  'struct BridgeOutParams { address token; uint256 amount; uint256 minAmountOut; address provider; bytes data; }',
  'function bridgeOut(RelayParams relayParams, address account, uint256 srcChainId, BridgeOutParams params)',
])

function inputOf({ account, srcChainId, bridgeOut, relayParams, signature = '0x' }: Withdrawal): Hex {
  return encodeFunctionData({
    abi: transferRouterAbi,
    functionName: 'bridgeOut',
    args: [{ ...relayParams, signature }, account, BigInt(srcChainId), bridgeOut],
  })
}

/** Key of a withdrawal in the venue: records live at the host that prepared them. */
export function withdrawalKey(host: string, requestId: string): string {
  return `${host}:${requestId}`
}

function balanceKey(account: Address, token: Address): string {
  return `${hexKey(account)}:${hexKey(token)}`
}

/** Returns an address's balance in its GMX account, smallest units; a new account holds `startGmxAccount` of the stable token. */
function gmxAccountBalance(venueState: VenueState, account: Address, token: Address): bigint {
  const { feeToken } = venueState.chain
  const start = sameHex(token, feeToken.address)
    ? parseUnits(venueState.settings.startGmxAccount, feeToken.decimals)
    : 0n
  return venueState.gmxAccounts.get(balanceKey(account, token)) ?? start
}

/** The transaction of a withdrawal is mined: it leaves the account, or nothing happened. */
export function landWithdrawal(venueState: VenueState, key: string, nowMs: number): void {
  const withdrawal = venueState.withdrawals.get(key)
  if (withdrawal === undefined || withdrawal.status !== 'submitted' || withdrawal.txHash !== undefined) return
  const { account, bridgeOut, relayParams } = withdrawal
  withdrawal.updatedAtMs = nowMs
  withdrawal.txHash = nextTransactionHash(venueState)
  const transaction = mine(venueState.blockChain, {
    hash: withdrawal.txHash,
    sender: 'relayer',
    to: venueState.chain.contracts.multichainTransferRouter,
    input: inputOf(withdrawal),
  })
  const { feeToken, feeAmount } = relayParams.fee
  try {
    const blockTime = BigInt(Math.floor(nowMs / 1000))
    if (blockTime > relayParams.deadline) {
      throw new ProtocolRevert('DeadlinePassed', [blockTime, relayParams.deadline])
    }
    const isSame = sameHex(feeToken, bridgeOut.token)
    const taken: [Address, bigint][] = isSame
      ? [[feeToken, bridgeOut.amount + feeAmount]]
      : [
          [bridgeOut.token, bridgeOut.amount],
          [feeToken, feeAmount],
        ]
    for (const [token, amount] of taken) {
      const balance = gmxAccountBalance(venueState, account, token)
      if (balance < amount) {
        throw new ProtocolRevert('InsufficientMultichainBalance', [account, token, balance, amount])
      }
    }
    for (const [token, amount] of taken) {
      const left = gmxAccountBalance(venueState, account, token) - amount
      venueState.gmxAccounts.set(balanceKey(account, token), left)
    }
    venueState.usedDigests.add(hexKey(withdrawal.digest))
    useDigest(venueState.blockChain, transaction, withdrawal.digest)
  } catch (error) {
    if (!(error instanceof ProtocolRevert)) throw error
    transaction.revertData = revertBytes(error)
    withdrawal.status = 'relay_reverted'
    withdrawal.error = { code: error.errorName, message: error.message }
  }
}
