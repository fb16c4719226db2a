/** The files of an approval: what the owner is to sign, and what was signed. Neither is a secret; both are checked when read. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileBounds } from '../../base/boundedJson.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import { jsonProblem, parseStrict } from '../../base/strictJson.ts'
import { readTextFile } from '../../base/textFile.ts'
import type { SignRequest } from '../../domain/signer.ts'
import { signedApprovalDifferences } from '../../execution/approval/verifyApproval.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { contractSignature } from '../../protocol/crypto/secp256k1.ts'
import { approvalTypes } from '../../protocol/signing/approvalTypes.ts'
import { domainType } from '../../protocol/signing/messageTypes.ts'
import { relayRouterDomain } from '../../protocol/signing/relayRouter.ts'
import type {
  SubaccountApproval,
  SubaccountApprovalMessage,
} from '../../protocol/signing/subaccountApproval.ts'

/** A file of an approval cannot be used. */
export class ApprovalFileError extends BaseError {}

/** An object of JSON, not judged yet. */
export type Json = Readonly<Record<string, unknown>>

/** Typed data as wallets take it (eth_signTypedData_v4); `beside` stands next to it, and wallets leave it out. */
export function requestText({ types, ...rest }: SignRequest['typedData'], beside: Json = {}): string {
  const whole = { ...rest, types: { EIP712Domain: domainType, ...types }, ...beside }
  return `${JSON.stringify(whole, undefined, 2)}\n`
}

/** The typed data of an approval with our own types and the pinned router, its integers as decimal texts. */
export function typedDataOf(chain: Chain, message: SubaccountApprovalMessage): SignRequest['typedData'] {
  return {
    domain: relayRouterDomain(chain.chainId, chain.contracts.subaccountGelatoRelayRouter),
    types: approvalTypes,
    primaryType: 'SubaccountApproval',
    message: plain(message),
  }
}

/**
 * The message in a file of typed data; its domain and types are ours whatever the file says, so only the message is read.
 *
 * @throws ApprovalFileError APPROVAL_FILE_UNREADABLE
 */
export function readRequest(path: string): SubaccountApprovalMessage {
  const { message } = readJson(path)
  if (!isRecord(message)) throw unreadable(path, 'it has no message')
  return messageOf(path, message)
}

/** A signature in a file, in the form that the contracts take where it has one; what else is in it is for the checks to tell. */
export function readSignature(path: string): Hex {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw unreadable(path, reasonOf(cause))
  }
  try {
    return contractSignature(text)
  } catch (error) {
    if (error instanceof RangeError) return text as Hex
    throw error
  }
}

/** Writes a file whole or not at all. */
export function writeWhole(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // A leftover, or a link that somebody planted, is removed and never written through.
  rmSync(`${path}.new`, { force: true })
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true, flag: 'wx' })
  renameSync(`${path}.new`, path)
}

/** The text of a signed approval's file. */
export function approvalText({ signature, ...message }: SubaccountApproval): string {
  return `${JSON.stringify({ ...plain(message), signature }, undefined, 2)}\n`
}

/**
 * The owner's signed approval in a file, checked against owner, key and chain; undefined when there is no file.
 *
 * @throws ApprovalFileError APPROVAL_FILE_UNREADABLE, or APPROVAL_NOT_OURS when it says anything else.
 */
export function readApprovalFile(
  path: string,
  chain: Chain,
  owner: Address,
  subaccount: Address,
): SubaccountApproval | undefined {
  if (!existsSync(path)) return undefined
  const fields = readJson(path)
  const { signature } = fields
  if (typeof signature !== 'string' || !/^0x[0-9a-f]{130}$/i.test(signature)) {
    throw unreadable(path, 'it has no signature of 65 bytes')
  }
  const approval = { ...messageOf(path, fields), signature: signature as Hex }
  const differences = signedApprovalDifferences(chain, owner, subaccount, approval)
  if (differences.length === 0) return approval
  throw new ApprovalFileError('The approval is for another account or another key.', {
    code: 'APPROVAL_NOT_OURS',
    facts: {
      path,
      differences: differences
        .map((each) => `${each.field}: expected ${each.expected}, found ${each.found}`)
        .join('; '),
    },
    details:
      'perpd ignores it. Configure its key and owner, or write an approval of this key to another file: perpd subaccount approve --account.approvalFile FILE',
  })
}

/** Removes the file, so that no order carries the approval any more. */
export function removeApprovalFile(path: string): void {
  rmSync(path, { force: true })
}

/** A message with its integers as decimal texts, as files and wallets have it. */
export function plain(message: SubaccountApprovalMessage): Json {
  return Object.fromEntries(
    approvalTypes.SubaccountApproval.map(({ name }) => {
      const value = message[name]
      return [name, typeof value === 'bigint' ? value.toString() : value]
    }),
  )
}

function messageOf(path: string, fields: Json): SubaccountApprovalMessage {
  const of = (name: string, form: RegExp): string => {
    const value = fields[name]
    if (typeof value === 'string' && form.test(value)) return value
    throw unreadable(path, `${name} is not what it should be`)
  }
  const uint = (name: string): bigint => {
    const value = BigInt(of(name, /^(?:0|[1-9]\d{0,77})$/))
    if (value < 2n ** 256n) return value
    throw unreadable(path, `${name} is more than a uint256 holds`)
  }
  const { shouldAdd } = fields
  if (typeof shouldAdd !== 'boolean') throw unreadable(path, 'shouldAdd is not true or false')
  return {
    subaccount: of('subaccount', /^0x[0-9a-f]{40}$/i) as Address,
    shouldAdd,
    expiresAt: uint('expiresAt'),
    maxAllowedCount: uint('maxAllowedCount'),
    actionType: of('actionType', /^0x[0-9a-f]{64}$/i) as Hex,
    nonce: uint('nonce'),
    desChainId: uint('desChainId'),
    deadline: uint('deadline'),
    integrationId: of('integrationId', /^0x[0-9a-f]{64}$/i) as Hex,
  }
}

/** The object of a JSON file. Throws ApprovalFileError APPROVAL_FILE_UNREADABLE. */
export function readJson(path: string): Json {
  let value: unknown
  try {
    value = parseStrict(readTextFile(path), fileBounds)
  } catch (cause) {
    // No word of the text is quoted: a key's file may have been named by mistake.
    throw unreadable(path, cause instanceof SyntaxError ? jsonProblem(cause) : reasonOf(cause))
  }
  if (isRecord(value)) return value
  throw unreadable(path, 'it is no JSON object')
}

/** Tells whether a value is a JSON object. */
export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The error of a file that does not say what it should. */
export function unreadable(path: string, reason: string): ApprovalFileError {
  return new ApprovalFileError('The file of the approval cannot be read.', {
    code: 'APPROVAL_FILE_UNREADABLE',
    facts: { path, reason },
    details: 'perpd ignores it. Write a new one: perpd subaccount approve',
  })
}
