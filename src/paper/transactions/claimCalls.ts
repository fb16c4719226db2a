/**
 * Claims as an account calls them (ExchangeRouter.claimFundingFees, claimAffiliateRewards; FeeUtils, ReferralUtils): all that is due in each
 * pair of market and token goes to the receiver. The paper venue refers nobody, so no rewards are ever due.
 */
import type { Hex } from 'viem'
import { encodeAbiParameters } from 'viem/utils'
import { type Address, sameHex, ZERO_ADDRESS } from '../../protocol/address.ts'
import { emitTransfer } from '../blocks/plainLogs.ts'
import { ProtocolRevert } from '../math/protocolRevert.ts'
import { accountOf, claimableKeyOf } from '../state/accounts.ts'
import { tokenAt } from '../state/contracts.ts'
import { type CallFrame, emptyRevert, spendGas, workGas } from './callFrame.ts'

type ClaimArgs = readonly [markets: readonly Address[], tokens: readonly Address[], receiver: Address]

/** Pays out funding that positions of the caller earned; what each pair gave. Throws ProtocolRevert, OutOfGas. */
export function claimFunding(frame: CallFrame, args: ClaimArgs): Hex {
  const { venueState, from, purse } = frame
  const [, , receiver] = args
  return claimed(frame, args, (market, token) => {
    const { claimableFunding } = accountOf(venueState, from)
    const key = claimableKeyOf(market, token)
    const amount = claimableFunding.get(key) ?? 0n
    if (amount === 0n) return 0n
    if (tokenAt(venueState, token) === undefined) throw emptyRevert()
    claimableFunding.delete(key)
    purse.give(receiver, token, amount)
    emitTransfer(frame, token, market, receiver, amount)
    return amount
  })
}

/** The same of what a referrer is due: nothing here. Throws ProtocolRevert, OutOfGas. */
export function claimRewards(frame: CallFrame, args: ClaimArgs): Hex {
  return claimed(frame, args, () => 0n)
}

function claimed(
  frame: CallFrame,
  [markets, tokens, receiver]: ClaimArgs,
  claim: (market: Address, token: Address) => bigint,
): Hex {
  spendGas(frame, workGas.claim)
  if (markets.length !== tokens.length) throw emptyRevert()
  if (sameHex(receiver, ZERO_ADDRESS)) throw new ProtocolRevert('EmptyReceiver')
  const amounts = markets.map((market, index) => {
    spendGas(frame, workGas.claimEach)
    return claim(market, tokens[index] ?? ZERO_ADDRESS)
  })
  return encodeAbiParameters([{ type: 'uint256[]' }], [amounts])
}
