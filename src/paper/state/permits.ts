/** Approvals by signature (ERC-2612): which tokens take them, what their owner signs, and how many were used. */
import { encodeAbiParameters, hashTypedData, keccak256, stringToHex } from 'viem/utils'
import { type Address, type Hex, hexKey } from '../../protocol/address.ts'
import type { CatalogToken } from '../catalog/catalog.ts'

/** Tells whether a token accepts permits, according to its row. */
export function takesPermits(token: CatalogToken): boolean {
  return token.isPermitSupported === true
}

/** The version in a token's domain. */
export function permitVersionOf(token: CatalogToken): string {
  return token.contractVersion ?? '1'
}

/** Where an account keeps how many it used of a token: among its allowances, under a spender that no address is. */
export function permitKey(token: CatalogToken): string {
  return `${hexKey(token.address)}:permits`
}

/** The nonce of the next one. */
export function permitNonceOf(
  allowances: ReadonlyMap<string, bigint> | undefined,
  token: CatalogToken,
): bigint {
  return allowances?.get(permitKey(token)) ?? 0n
}

function domainOf(token: CatalogToken, chainId: number) {
  return { name: token.name, version: permitVersionOf(token), chainId, verifyingContract: token.address }
}

/** `DOMAIN_SEPARATOR` of a token. */
export function permitSeparator(token: CatalogToken, chainId: number): Hex {
  const { name, version, verifyingContract } = domainOf(token, chainId)
  const words = ['bytes32', 'bytes32', 'bytes32', 'uint256', 'address'].map((type) => ({ type }))
  return keccak256(
    encodeAbiParameters(words, [
      keccak256(
        stringToHex('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'),
      ),
      keccak256(stringToHex(name)),
      keccak256(stringToHex(version)),
      BigInt(chainId),
      verifyingContract,
    ]),
  )
}

/** The digest that an owner signs. */
export function permitDigest(
  token: CatalogToken,
  chainId: number,
  {
    amount,
    ...message
  }: {
    readonly owner: Address
    readonly spender: Address
    readonly amount: bigint
    readonly nonce: bigint
    readonly deadline: bigint
  },
): Hex {
  return hashTypedData({
    domain: domainOf(token, chainId),
    types: {
      Permit: [
        { name: 'owner', type: 'address' },
        { name: 'spender', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'nonce', type: 'uint256' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'Permit',
    message: { ...message, value: amount },
  })
}
