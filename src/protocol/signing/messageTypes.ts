/**
 * The EIP-712 types of every message that the venue's routers take (contract `RelayUtils`), apart from the
 * hashing of them. `Batch` and `SubaccountApproval` are what perpd signs day by day; the others are its owner's.
 */
import { approvalTypes } from './approvalTypes.ts'
import { batchTypes } from './batchTypes.ts'

/** One field of a struct, as EIP-712 has it. */
export interface MessageField {
  readonly name: string
  readonly type: string
}

/** The type of the domain of every relay router, which wallets want among the types. */
export const domainType: readonly MessageField[] = [
  { name: 'name', type: 'string' },
  { name: 'version', type: 'string' },
  { name: 'chainId', type: 'uint256' },
  { name: 'verifyingContract', type: 'address' },
]

/** Last fields of the routers' own messages. */
const surroundings = [
  { name: 'relayParams', type: 'bytes32' },
  { name: 'subaccountApproval', type: 'bytes32' },
] as const
const account = { name: 'account', type: 'address' } as const
const referral = [{ name: 'referralCode', type: 'bytes32' }, surroundings[0]] as const

/** Every struct by name, its fields in the contract's order. */
export const messageTypes = {
  ...batchTypes,
  ...approvalTypes,
  CreateOrder: [account, ...batchTypes.CreateOrderParams, ...surroundings],
  UpdateOrder: [account, { name: 'params', type: 'UpdateOrderParams' }, ...surroundings],
  CancelOrder: [account, { name: 'key', type: 'bytes32' }, ...surroundings],
  RemoveSubaccount: [{ name: 'subaccount', type: 'address' }, surroundings[0]],
  BridgeOut: [
    { name: 'token', type: 'address' },
    { name: 'amount', type: 'uint256' },
    { name: 'minAmountOut', type: 'uint256' },
    { name: 'provider', type: 'address' },
    { name: 'data', type: 'bytes' },
    surroundings[0],
  ],
  SetTraderReferralCode: referral,
  RegisterCode: referral,
  Minified: [{ name: 'digest', type: 'bytes32' }],
} as const satisfies Readonly<Record<string, readonly MessageField[]>>

/** The structs that are signed; the others stand inside them. */
export const primaryTypes = [
  'Batch',
  'CreateOrder',
  'UpdateOrder',
  'CancelOrder',
  'SubaccountApproval',
  'RemoveSubaccount',
  'BridgeOut',
  'SetTraderReferralCode',
  'RegisterCode',
  'Minified',
] as const satisfies readonly (keyof typeof messageTypes)[]

/** Name of a struct that is signed. */
export type PrimaryType = (typeof primaryTypes)[number]

/** The fields of a struct by its name, or undefined when the venue has none of that name. */
export function fieldsOfStruct(name: string): readonly MessageField[] | undefined {
  return Object.hasOwn(messageTypes, name) ? messageTypes[name as keyof typeof messageTypes] : undefined
}

/** The structs that a message of a type is made of, the type itself first: what typed data lists as its `types`. */
export function typesOfMessage(primaryType: PrimaryType): Readonly<Record<string, readonly MessageField[]>> {
  const found: Record<string, readonly MessageField[]> = {}
  const visit = (name: string): void => {
    const fields = Object.hasOwn(found, name) ? undefined : fieldsOfStruct(name)
    if (fields === undefined) return
    found[name] = fields
    for (const { type } of fields) visit(type.replace('[]', ''))
  }
  visit(primaryType)
  return found
}
