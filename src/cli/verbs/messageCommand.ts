/**
 * `perpd message FILE`: what typed data of the venue would do if its owner signed it, and the digest of it as it is computed
 * here. For whoever is asked to sign something in a wallet: nothing is signed, asked or sent.
 */
import { resolve } from 'node:path'
import { fileBounds } from '../../base/boundedJson.ts'
import { BaseError, reasonOf } from '../../base/errors.ts'
import { JsonTextError, jsonProblem, parseStrict } from '../../base/strictJson.ts'
import { systemClock } from '../../base/systemClock.ts'
import { readTextFile } from '../../base/textFile.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { readRemovalRequest } from '../../daemon/signers/removalFile.ts'
import { type Address, type Hex, sameHex, ZERO_ADDRESS, ZERO_HASH } from '../../protocol/address.ts'
import type { Contracts } from '../../protocol/chains/chain.ts'
import { chains } from '../../protocol/chains/index.ts'
import { SUBACCOUNT_ORDER_ACTION } from '../../protocol/signing/approvalTypes.ts'
import { type Message, messageDigestOf, minifiedDigestOf } from '../../protocol/signing/messages.ts'
import {
  domainType,
  type MessageField,
  type PrimaryType,
  primaryTypes,
  typesOfMessage,
} from '../../protocol/signing/messageTypes.ts'
import {
  domainSeparator,
  relayRouterDomainName,
  relayRouterDomainVersion,
} from '../../protocol/signing/relayRouter.ts'
import { formatUsd, toDecimal, type Usd } from '../../protocol/units.ts'
import type { Call } from '../call/command.ts'
import { columns } from '../output/table.ts'
import { chainIdOf, isSameType } from '../output/typedDataShape.ts'
import { isEndless, unboundedParts } from '../output/unbounded.ts'

type Router = keyof Contracts

const orderRouters: readonly Router[] = [
  'gelatoRelayRouter',
  'subaccountGelatoRelayRouter',
  'multichainOrderRouter',
  'multichainSubaccountRouter',
]
const keyRouters: readonly Router[] = ['subaccountGelatoRelayRouter', 'multichainSubaccountRouter']
const ownerRouters: readonly Router[] = ['gelatoRelayRouter', 'multichainOrderRouter']

/** Which of the pinned contracts take a message of each type (contract `GelatoRelayRouter`, `batch`). */
const takenBy: Readonly<Record<PrimaryType, readonly Router[]>> = {
  Batch: orderRouters,
  CreateOrder: orderRouters,
  UpdateOrder: orderRouters,
  CancelOrder: orderRouters,
  SubaccountApproval: keyRouters,
  RemoveSubaccount: keyRouters,
  BridgeOut: ['multichainTransferRouter'],
  SetTraderReferralCode: ownerRouters,
  RegisterCode: ownerRouters,
  Minified: [...orderRouters, 'multichainTransferRouter'],
}

/** Result of reading a message. */
interface Reading {
  readonly rows: string[][]
  /** Reasons not to sign it; empty for a message that the venue's contracts accept. */
  readonly problems: string[]
}

/** Shows the message of a file; exit code 0 when it is one that the venue's contracts take, with no more in it, and every part of it has an end. */
export async function showMessage({ positionals, cwd, out, err }: Call): Promise<number> {
  const path = resolve(cwd, positionals[0] ?? '')
  const document = jsonOf(path)
  const { rows, problems } = readingOf(document)
  rows.push(...surroundings(document, path, problems))
  if (rows.length > 0) out(columns(rows.map((cells) => cells.map(plain))))
  for (const problem of problems) err(`DO NOT SIGN: ${plain(problem)}`)
  const open = warningsOf(document)
  for (const each of open) err(`WARNING: ${plain(each)}`)
  return problems.length + open.length === 0 ? exitCodes.ok : exitCodes.error
}

/** Warns of each limit that the message leaves open. */
function warningsOf({ primaryType, message }: Message): readonly string[] {
  const known = primaryTypes.find((each) => each === primaryType)
  return known !== undefined && isObject(message) ? unboundedParts(known, message, systemClock.now()) : []
}

function jsonOf(path: string): Message {
  let value: unknown
  try {
    value = parseStrict(readTextFile(path), fileBounds)
  } catch (cause) {
    if (!(cause instanceof SyntaxError))
      throw new CommandError(`${path} cannot be read: ${reasonOf(cause)}`, exitCodes.notFound)
    const why = plain(jsonProblem(cause))
    throw new CommandError(
      cause instanceof JsonTextError && cause.isRepeatedKey
        ? `DO NOT SIGN: in ${plain(path)} ${why}; a wallet may sign the value that is not shown here.`
        : `${plain(path)} holds no JSON object: ${why}.`,
      exitCodes.error,
    )
  }
  if (isObject(value)) return value
  throw new CommandError(`${path} holds no JSON object: typed data is expected.`, exitCodes.error)
}

function isObject(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readingOf({ domain, types, primaryType, message }: Message): Reading {
  const problems: string[] = []
  const known = primaryTypes.find((each) => each === primaryType)
  if (known === undefined || !isObject(domain) || !isObject(message)) {
    problems.push(
      `the venue's routers do not take this message: primaryType is ${JSON.stringify(primaryType)}; they take ${primaryTypes.join(', ')}`,
    )
    return { rows: [], problems }
  }
  checkTypes(problems, known, types)
  const separator = checkDomain(problems, known, domain)
  const rows = [
    ['type', known],
    ['it', meaningOf(known, message)],
    ['at', whereOf(domain)],
  ]
  if (separator !== undefined) {
    try {
      const digest = messageDigestOf(separator, known, message)
      rows.push(['digest', digest], ['minified', minifiedDigestOf(separator, digest)])
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      problems.push(`${error.message}; so it has no digest`)
    }
  }
  checkMessage(problems, known, message)
  return { rows: [...rows, ...rowsOf('message', message)], problems }
}

/**
 * A wallet signs by the types that stand in the file, that of the domain included: they must be those of the contracts, field
 * by field and in their order. Without EIP712Domain some wallets sign another domain, or none.
 */
function checkTypes(problems: string[], primaryType: PrimaryType, types: unknown): void {
  const ours: Readonly<Record<string, readonly MessageField[]>> = {
    EIP712Domain: domainType,
    ...typesOfMessage(primaryType),
  }
  const theirs = isObject(types) ? types : {}
  for (const name of new Set([...Object.keys(ours), ...Object.keys(theirs)])) {
    const found = Object.hasOwn(theirs, name) ? theirs[name] : undefined
    // A type of theirs may be named like what every object has.
    const own = Object.hasOwn(ours, name) ? ours[name] : undefined
    if (isSameType(own, found)) continue
    const shape = own?.map((each) => `${each.type} ${each.name}`).join(', ')
    problems.push(`types.${name} is not the contract's: ${shape ?? 'none'}`)
  }
}

/** The domain separator, unless the domain is none of a relay router. */
function checkDomain(problems: string[], primaryType: PrimaryType, domain: Message): Hex | undefined {
  const { name, version, chainId, verifyingContract, ...rest } = domain
  const id = chainIdOf(chainId)
  const isOurs =
    name === relayRouterDomainName &&
    version === relayRouterDomainVersion &&
    id !== undefined &&
    typeof verifyingContract === 'string' &&
    /^0x[0-9a-fA-F]{40}$/.test(verifyingContract)
  if (!isOurs || Object.keys(rest).length > 0) {
    problems.push(
      `domain is not the venue's; expected ${relayRouterDomainName}, version ${relayRouterDomainVersion}, chainId and verifyingContract, and no more`,
    )
    return undefined
  }
  const places = placesOf(id, verifyingContract)
  if (!places.some(({ router }) => takenBy[primaryType].includes(router))) {
    problems.push(
      `${verifyingContract} is not a contract of the venue for a ${primaryType} on chain ${id}; the signature would be for another contract`,
    )
  }
  return domainSeparator(id, verifyingContract as Address)
}

/** The pinned contracts that an address is; a message that is signed on another chain is for a contract of any of ours. */
function placesOf(chainId: number, address: string): readonly { chain: string; router: Router }[] {
  return Object.values(chains).flatMap(({ name, chainId: own, contracts }) =>
    (Object.entries(contracts) as [Router, Address][])
      .filter(([router, at]) => sameHex(at, address) && (own === chainId || router.startsWith('multichain')))
      .map(([router]) => ({ chain: name, router })),
  )
}

function whereOf({ chainId, verifyingContract }: Message): string {
  const places = placesOf(chainIdOf(chainId) ?? 0, String(verifyingContract))
  const names = places.map(({ chain, router }) => `${router} of ${chain}`)
  return `${names.length === 0 ? 'an unknown contract' : names.join(' or ')}, ${verifyingContract}, signed on chain ${chainId}`
}

function meaningOf(primaryType: PrimaryType, message: Message): string {
  const count = (name: string): number => (Array.isArray(message[name]) ? message[name].length : 0)
  switch (primaryType) {
    case 'Batch':
      return `makes ${count('createOrderParamsList')} orders, changes ${count('updateOrderParamsList')} and cancels ${count('cancelOrderKeys')}, all or none`
    case 'CreateOrder':
      return 'makes one order'
    case 'UpdateOrder':
      return 'changes one order'
    case 'CancelOrder':
      return 'cancels one order'
    case 'SubaccountApproval':
      return message.shouldAdd === true
        ? `lets the key ${message.subaccount} make, change and cancel orders of the signer, up to action ${message.maxAllowedCount}, until ${timeOf(message.expiresAt)}`
        : `changes count and end of the key ${message.subaccount}, and adds none`
    case 'RemoveSubaccount':
      return `revokes the key ${message.subaccount}`
    case 'BridgeOut':
      return `sends ${message.amount} units of the token ${message.token} out of the account on this chain to another one`
    case 'SetTraderReferralCode':
      return "sets the signer's referral code"
    case 'RegisterCode':
      return 'registers a referral code for the signer'
    case 'Minified':
      return 'refers to another message that is not shown: its digest must be that of the message you mean'
  }
}

/** Reports values that the types allow although neither perpd nor the venue's own page would request them. */
function checkMessage(problems: string[], primaryType: PrimaryType, message: Message): void {
  if (primaryType !== 'SubaccountApproval') return
  const { actionType, integrationId } = message
  if (!sameHex(String(actionType), SUBACCOUNT_ORDER_ACTION)) problems.push('actionType is not that of orders')
  if (!sameHex(String(integrationId), ZERO_HASH)) problems.push('integrationId is not zero')
}

/** Every value by its path. */
function rowsOf(path: string, value: unknown): string[][] {
  if (Array.isArray(value)) {
    return value.length === 0 ? [[path, 'none']] : value.flatMap((each, at) => rowsOf(`${path}[${at}]`, each))
  }
  if (isObject(value)) return Object.entries(value).flatMap(([name, each]) => rowsOf(`${path}.${name}`, each))
  return [[path, textOf(path.split('.').at(-1) ?? '', value)]]
}

function textOf(name: string, value: unknown): string {
  const text = String(value)
  if (name === 'relayParams')
    return `${text} (a hash of fee, nonce, deadline, permits and calls, which it does not show)`
  if (text === ZERO_ADDRESS) return 'none'
  if (/^\d+$/.test(text)) {
    if (isEndless(BigInt(text))) return `${text} (practically the largest number)`
    if (name.endsWith('Usd')) return `${text} (${formatUsd(BigInt(text) as Usd)})`
    if (['expiresAt', 'deadline', 'validFromTime'].includes(name)) return `${text} (${timeOf(value)})`
  }
  return text
}

/** Whatever a file says reaches a terminal in one line. */
function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 500)
}

/** Checks the relay parameters of a removal that perpd wrote; the file states them next to the message. */
function surroundings(document: Message, path: string, problems: string[]): string[][] {
  const { domain, primaryType, perpd } = document
  const chain = Object.values(chains).find(({ chainId }) => isObject(domain) && chainId === domain.chainId)
  if (primaryType !== 'RemoveSubaccount' || perpd === undefined || chain === undefined) return []
  try {
    const { feeAmount, deadline } = readRemovalRequest(chain, path)
    const { decimals, symbol } = chain.feeToken
    const fee = `${toDecimal(feeAmount, decimals).toFixed()} ${symbol}`
    return [
      ['relayParams', `a fee of at most ${fee}, nothing to call or to permit, until ${timeOf(deadline)}`],
    ]
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    problems.push(String(error.facts.reason))
    return []
  }
}

function timeOf(seconds: unknown): string {
  const ms = Number(seconds) * 1000
  return ms > 0 && ms < 8.64e15 ? new Date(ms).toISOString() : 'no time'
}
