/** An owner's removal of a delegated key: what is signed is ours alone, and only what the owner signed is sent. */
import { type Address, type Hex, hashTypedData } from 'viem'
import { expect, test } from 'vitest'
import { removalDifferences, removalOf } from '../../src/execution/approval/removal.ts'
import type { SigningPolicy } from '../../src/execution/context/policy.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { signDigest } from '../../src/protocol/crypto/secp256k1.ts'
import { minifiedDigestOf } from '../../src/protocol/signing/messages.ts'
import { typesOfMessage } from '../../src/protocol/signing/messageTypes.ts'
import {
  domainSeparator,
  hashRelayParams,
  relayRouterDomain,
} from '../../src/protocol/signing/relayRouter.ts'

const owner: Address = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A'
const subaccount: Address = '0x1563915e194D8CfBA1943570603F7606A3115508'
const router = arbitrum.contracts.subaccountGelatoRelayRouter
const key: Hex = `0x${'11'.repeat(32)}`
const nowSeconds = 1_800_000_000
const policy: SigningPolicy = {
  minDeadlineSeconds: 20,
  maxDeadlineSeconds: 3_700,
  maxExecutionFee: 0n,
  maxRelayFee: 5_000_000n,
  priceToleranceBps: 0,
  swapMarkets: new Map(),
}
const terms = { subaccount, feeAmount: 1_000_000n, userNonce: 77n, deadline: BigInt(nowSeconds + 120) }
const meant = { owner, subaccount, nowSeconds }
const removal = removalOf(arbitrum, terms)
const fieldsOf = (other: object, signature?: Hex, who: object = {}) =>
  removalDifferences(arbitrum, policy, { ...meant, ...who }, { ...terms, ...other }, signature).map(
    ({ field }) => field,
  )

test.each(Object.values(chains))(
  'on $name it is typed data of the subaccount router, with nothing to call and nothing to permit',
  (chain) => {
    const { relayParams, message, digest } = removalOf(chain, terms)
    const domain = relayRouterDomain(chain.chainId, chain.contracts.subaccountGelatoRelayRouter)
    const types = typesOfMessage('RemoveSubaccount')
    expect(digest).toBe(hashTypedData({ domain, types, primaryType: 'RemoveSubaccount', message }))
    expect(message).toEqual({ subaccount, relayParams: hashRelayParams(relayParams) })
    expect(Object.values(relayParams.externalCalls).flat()).toEqual([])
    expect(relayParams).toMatchObject({
      tokenPermits: [],
      userNonce: 77n,
      deadline: terms.deadline,
      desChainId: BigInt(chain.chainId),
      fee: { feeToken: chain.feeToken.address, feeAmount: 1_000_000n },
    })
  },
)

test('what the owner signed may be sent, as it stands or minified', () => {
  const minified = minifiedDigestOf(domainSeparator(arbitrum.chainId, router), removal.digest)
  expect(fieldsOf({})).toEqual([])
  expect(fieldsOf({}, signDigest(key, removal.digest))).toEqual([])
  expect(fieldsOf({}, signDigest(key, minified))).toEqual([])
})

test('another key, a fee or deadline out of bounds, and a signature of another message or key are refused', () => {
  const signature = signDigest(key, removal.digest)
  expect(fieldsOf({ subaccount: owner })).toEqual(['message.subaccount'])
  expect(fieldsOf({ feeAmount: 5_000_001n })).toEqual(['relayParams.fee.feeAmount'])
  expect(fieldsOf({ deadline: BigInt(nowSeconds + 19) })).toEqual(['relayParams.deadline'])
  expect(fieldsOf({ deadline: BigInt(nowSeconds + 3_701) })).toEqual(['relayParams.deadline'])
  for (const other of [
    { subaccount: owner },
    { feeAmount: 1n },
    { userNonce: 78n },
    { deadline: terms.deadline + 1n },
  ])
    expect(fieldsOf(other, signature)).toContain('signature')
  expect(fieldsOf({}, signature, { owner: subaccount })).toEqual(['signature'])
  expect(fieldsOf({}, signDigest(`0x${'22'.repeat(32)}`, removal.digest))).toEqual(['signature'])
  expect(fieldsOf({}, '0x')).toEqual(['signature'])
  // The contracts take v 27 and 28 alone.
  const v = Number.parseInt(signature.slice(-2), 16) - 27
  expect(fieldsOf({}, `${signature.slice(0, -2)}0${v}` as Hex)).toEqual(['signature'])
})
