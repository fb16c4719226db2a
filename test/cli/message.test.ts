/** `perpd message`: every type of the venue is told with the digest that another implementation gives; changed ones are warned of. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashTypedData, type TypedData } from 'viem'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removalRequestText } from '../../src/daemon/signers/removalFile.ts'
import { removalOf } from '../../src/execution/approval/removal.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { SUBACCOUNT_ORDER_ACTION } from '../../src/protocol/signing/approvalTypes.ts'
import {
  domainType,
  type PrimaryType,
  primaryTypes,
  typesOfMessage,
} from '../../src/protocol/signing/messageTypes.ts'
import { relayRouterDomain } from '../../src/protocol/signing/relayRouter.ts'
import type { TokenAmount } from '../../src/protocol/units.ts'
import { account, batch, order, usdc } from '../protocol/batches.ts'
import { perpd } from './run.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-message-'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

const { contracts } = arbitrum
const hash = `0x${'ab'.repeat(32)}`
const change = {
  key: hash,
  sizeDeltaUsd: 10n ** 31n,
  acceptablePrice: 1n,
  triggerPrice: 2n,
  minOutputAmount: 0n,
  validFromTime: 0n,
  autoCancel: true,
  executionFeeIncrease: 0n,
}
const ends = { relayParams: hash, subaccountApproval: hash }
const endSeconds = Math.floor(Date.now() / 1000) + 7 * 86_400
const approval = {
  subaccount: account,
  shouldAdd: true,
  expiresAt: String(endSeconds),
  maxAllowedCount: '90',
  actionType: SUBACCOUNT_ORDER_ACTION,
  nonce: '0',
  desChainId: '42161',
  deadline: String(endSeconds),
  integrationId: `0x${'00'.repeat(32)}`,
}
const bridge = {
  token: usdc,
  amount: '5',
  minAmountOut: '4',
  provider: account,
  data: '0x',
  relayParams: hash,
}

/** A message of each type, at a contract that takes it. */
const examples: Record<
  PrimaryType,
  readonly [message: object, contract: string, chainId: number, says: string]
> = {
  Batch: [batch, contracts.gelatoRelayRouter, 42_161, 'makes 1 orders, changes 0 and cancels 0'],
  CreateOrder: [{ account, ...order, ...ends }, contracts.gelatoRelayRouter, 42_161, 'makes one order'],
  UpdateOrder: [
    { account, params: change, ...ends },
    contracts.gelatoRelayRouter,
    42_161,
    'changes one order',
  ],
  CancelOrder: [
    { account, key: hash, ...ends },
    contracts.subaccountGelatoRelayRouter,
    42_161,
    'cancels one',
  ],
  SubaccountApproval: [
    approval,
    contracts.subaccountGelatoRelayRouter,
    42_161,
    `until ${new Date(endSeconds * 1000).toISOString()}`,
  ],
  RemoveSubaccount: [
    { subaccount: account, relayParams: hash },
    contracts.subaccountGelatoRelayRouter,
    42_161,
    'revokes the key',
  ],
  BridgeOut: [bridge, contracts.multichainTransferRouter, 8_453, 'sends 5 units'],
  SetTraderReferralCode: [
    { referralCode: hash, relayParams: hash },
    contracts.gelatoRelayRouter,
    42_161,
    "sets the signer's referral",
  ],
  RegisterCode: [{ referralCode: hash, relayParams: hash }, contracts.gelatoRelayRouter, 42_161, 'registers'],
  Minified: [{ digest: hash }, contracts.gelatoRelayRouter, 42_161, 'refers to another message'],
}

function documentOf(primaryType: PrimaryType) {
  const [message, contract, chainId] = examples[primaryType]
  const types = { EIP712Domain: domainType, ...typesOfMessage(primaryType) }
  return { domain: relayRouterDomain(chainId, contract as `0x${string}`), types, primaryType, message }
}

const show = (document: unknown) => {
  const text =
    typeof document === 'string'
      ? document
      : JSON.stringify(document, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  writeFileSync(join(cwd, 'ask.json'), text)
  return perpd(cwd, ['message', 'ask.json'])
}

test.each(primaryTypes)('%s is told, with its contract, its digest and every field', async (primaryType) => {
  const document = documentOf(primaryType)
  const { code, out, err } = await show(document)
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const { domain, message } = document
  const types = typesOfMessage(primaryType) as TypedData
  expect(out).toContain(
    hashTypedData({ domain, types, primaryType, message: message as Record<string, unknown> }),
  )
  expect(out).toContain(examples[primaryType][3])
  expect(out).toMatch(/Router of arbitrum/)
  for (const name of Object.keys(message)) expect(out).toContain(`message.${name}`)
})

test('what a wallet would hash otherwise, or sign for somebody else, is warned of', async () => {
  const good = documentOf('SubaccountApproval')
  const { domain, types, message } = good
  const fields = typesOfMessage('SubaccountApproval').SubaccountApproval ?? []
  const cases: readonly (readonly [object, RegExp])[] = [
    [
      { ...good, primaryType: 'Permit' },
      /the venue's routers do not take this message: primaryType is "Permit"/,
    ],
    [{ ...good, primaryType: '__proto__' }, /do not take this message/],
    [{ ...good, domain: { ...domain, name: 'Other' } }, /domain is not the venue's/],
    [{ ...good, domain: { ...domain, salt: hash } }, /domain is not the venue's/],
    [
      { ...good, domain: { ...domain, chainId: 1 } },
      /is not a contract of the venue for a SubaccountApproval on chain 1/,
    ],
    [{ ...good, domain: { ...domain, verifyingContract: account } }, /is not a contract of the venue/],
    [
      { ...good, domain: { ...domain, verifyingContract: contracts.gelatoRelayRouter } },
      /is not a contract of the venue/,
    ],
    [
      { ...good, types: { ...types, SubaccountApproval: fields.slice(1) } },
      /types.SubaccountApproval is not the contract's/,
    ],
    [{ ...good, types: { ...types, More: [] } }, /types.More is not the contract's: none/],
    [{ ...good, types: undefined }, /types.SubaccountApproval/],
    [{ ...good, message: { ...message, more: 1 } }, /message.more: SubaccountApproval has no such field/],
    [{ ...good, message: { ...message, nonce: '-1' } }, /message.nonce is no uint256/],
    [{ ...good, message: { ...message, actionType: hash } }, /actionType is not that of orders/],
    [{ ...good, message: { ...message, integrationId: hash } }, /integrationId is not zero/],
  ]
  for (const [document, says] of cases) {
    const { code, err } = await show(document)
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringMatching(says) })
    expect(err).toMatch(/^DO NOT SIGN: /)
  }
})

test('a wallet’s digest that is not the one shown is always warned of: types, domain, values, names that stand twice', async () => {
  const good = documentOf('SubaccountApproval')
  const { domain, message } = good
  const types = good.types as Record<string, readonly { readonly name: string; readonly type: string }[]>
  const ours = types.SubaccountApproval ?? []
  const inDomain = (fields: unknown) => ({ ...good, types: { ...types, EIP712Domain: fields } })
  const inTypes = (fields: unknown) => ({ ...good, types: { ...types, SubaccountApproval: fields } })
  const { EIP712Domain: _left, ...bare } = types
  const [first, second, ...rest] = ours
  const cases: readonly (readonly [object | string, RegExp])[] = [
    [{ ...good, types: bare }, /types.EIP712Domain is not the contract's: string name, string version/],
    [inDomain([]), /types.EIP712Domain/],
    [inDomain(domainType.slice(0, 3)), /types.EIP712Domain/],
    [inDomain([...domainType].reverse()), /types.EIP712Domain/],
    [inDomain([...domainType, { name: 'salt', type: 'bytes32' }]), /types.EIP712Domain/],
    [
      inDomain(domainType.map((each) => (each.name === 'chainId' ? { ...each, type: 'uint64' } : each))),
      /Domain/,
    ],
    [inDomain(domainType.map((each) => ({ ...each, type: 'string' }))), /types.EIP712Domain/],
    [inDomain('none'), /types.EIP712Domain/],
    // Two fields in one text: what is hashed is the text.
    [
      inTypes([{ name: second?.name, type: `${first?.type} ${first?.name}, ${second?.type}` }, ...rest]),
      /types.SubaccountApproval/,
    ],
    [inTypes(ours.map(({ name, type }) => `${type} ${name}`)), /types.SubaccountApproval/],
    [inTypes(ours.map(({ name, type }) => ({ name, type: [type] }))), /types.SubaccountApproval/],
    [inTypes(ours.map((each) => ({ ...each, more: '' }))), /types.SubaccountApproval/],
    [{ ...good, domain: { ...domain, chainId: [42_161] } }, /domain is not the venue's/],
    [{ ...good, domain: { ...domain, chainId: '42161 ' } }, /domain is not the venue's/],
    [{ ...good, domain: { ...domain, chainId: '4.2161e4' } }, /domain is not the venue's/],
    [{ ...good, domain: { ...domain, chainId: '042161' } }, /domain is not the venue's/],
    [{ ...good, domain: { ...domain, chainId: true } }, /domain is not the venue's/],
    [
      { ...good, domain: { ...domain, verifyingContract: domain.verifyingContract?.replace('0x', '0X') } },
      /domain is not the venue's/,
    ],
    [
      { ...good, message: { ...message, subaccount: account.replace('0x', '0X') } },
      /subaccount is no address/,
    ],
    [{ ...good, message: { ...message, nonce: '0X1' } }, /nonce is no uint256/],
    [{ ...good, message: { ...message, nonce: '01' } }, /nonce is no uint256/],
    [{ ...good, message: { ...message, nonce: 2 ** 53 } }, /nonce is no uint256/],
    [JSON.stringify(good).replace('"90"', '"90","maxAllowedCount":"91"'), /maxAllowedCount" is set twice/],
    [
      JSON.stringify(good).replace('"90"', '"90","maxAllowed\\u0043ount":"91"'),
      /maxAllowedCount" is set twice/,
    ],
  ]
  for (const [document, says] of cases) {
    const { code, err } = await show(document)
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringMatching(says) })
    expect(err).toMatch(/^DO NOT SIGN: /)
  }
  for (const chainId of [42_161, '42161', '0xa4b1']) {
    const { code, out } = await show({ ...good, domain: { ...domain, chainId } })
    expect([chainId, code]).toEqual([chainId, 0])
    expect(out).toContain(
      hashTypedData({
        domain,
        types: bare as TypedData,
        primaryType: 'SubaccountApproval',
        message: message as Record<string, unknown>,
      }),
    )
  }
})

test('what has no end is warned of: counts, times, amounts and prices; what has one is not', async () => {
  const most = (2n ** 256n - 1n).toString()
  const far = String(endSeconds + 800 * 86_400)
  const granted = documentOf('SubaccountApproval')
  const bridged = documentOf('BridgeOut')
  const made = documentOf('CreateOrder')
  const changed = documentOf('UpdateOrder')
  const numbers = (changes: object, more: object = {}) => ({
    ...made,
    message: { ...made.message, ...more, numbers: { ...order.numbers, ...changes } },
  })
  const swapped = { addresses: { ...order.addresses, swapPath: [account] } }
  const cases: readonly (readonly [object, RegExp])[] = [
    [
      { ...granted, message: { ...approval, maxAllowedCount: '1000000000300' } },
      /maxAllowedCount is 1,000,000,000,300/,
    ],
    [{ ...granted, message: { ...approval, maxAllowedCount: most } }, /maxAllowedCount is 115,792/],
    [{ ...granted, message: { ...approval, expiresAt: far } }, /expiresAt is .* more than a year away/],
    [{ ...granted, message: { ...approval, deadline: most } }, /deadline is .* more than a year away/],
    [{ ...bridged, message: { ...bridge, amount: most } }, /amount is .* it has no end/],
    [{ ...bridged, message: { ...bridge, minAmountOut: '0' } }, /minAmountOut is 0/],
    [numbers({ sizeDeltaUsd: most }), /numbers.sizeDeltaUsd is .* no end/],
    [numbers({ initialCollateralDeltaAmount: most }), /initialCollateralDeltaAmount is .* no end/],
    [numbers({ executionFee: most }), /executionFee is .* no end/],
    [numbers({ acceptablePrice: most }), /any price is taken/],
    [numbers({ acceptablePrice: 0n }, { isLong: false }), /any price is taken/],
    [numbers({ acceptablePrice: 0n }, { orderType: '4' }), /any price is taken/],
    [numbers({}, swapped), /minOutputAmount is 0/],
    [
      {
        ...documentOf('Batch'),
        message: {
          ...batch,
          createOrderParamsList: [{ ...order, numbers: { ...order.numbers, executionFee: most } }],
        },
      },
      /createOrderParamsList\[0\].numbers.executionFee/,
    ],
    [
      { ...changed, message: { account, params: { ...change, executionFeeIncrease: most }, ...ends } },
      /params.executionFeeIncrease/,
    ],
  ]
  for (const [document, says] of cases) {
    const { code, err } = await show(document)
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringMatching(says) })
    expect(err).toMatch(/^WARNING: /)
  }
  // A whole exit, a stop with any price, and a price that bounds the other side are the protocol's own.
  for (const document of [
    numbers({ sizeDeltaUsd: most, initialCollateralDeltaAmount: most }, { orderType: '4' }),
    numbers({ acceptablePrice: most }, { orderType: '6', isLong: false }),
    numbers({ acceptablePrice: 1n }, { orderType: '4' }),
  ])
    expect(await show(document)).toMatchObject({ code: 0, err: '' })
})

test('what is no typed data is refused, and nothing of a file can move the cursor of a terminal', async () => {
  expect(await perpd(cwd, ['message', 'nowhere.json'])).toMatchObject({ code: 2 })
  for (const text of ['nonsense', '[]', 'null', '1'])
    expect(await show(text)).toMatchObject({ code: 1, err: expect.stringContaining('no JSON object') })
  const evil = documentOf('SubaccountApproval')
  const { out, err } = await show({
    ...evil,
    message: { ...evil.message, subaccount: '\u001b[2Jx\n0x', '\u001bmore': 1 },
  })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not come
  expect(out + err).not.toMatch(/\u001b/)
})

test('a removal that perpd wrote shows what is behind its relay parameters, and only when they are its own', async () => {
  const terms = {
    subaccount: account,
    feeAmount: 1_500_000n as TokenAmount,
    userNonce: 7n,
    deadline: 1_800_000_000n,
  }
  const text = removalRequestText(arbitrum, removalOf(arbitrum, terms), terms)
  const { code, out } = await show(text)
  expect(code).toBe(0)
  expect(out).toContain(
    'a fee of at most 1.5 USDC, nothing to call or to permit, until 2027-01-15T08:00:00.000Z',
  )
  const other = await show(text.replace('"1500000"', '"1"'))
  expect(other).toMatchObject({ code: 1, err: expect.stringContaining('relayParams is not the hash') })
  expect(other.out).not.toContain('nothing to call')
})
