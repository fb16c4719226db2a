/**
 * `perpd subaccount create | approve | status | revoke`: a delegated key for the daemon, and its owner's word for it. The
 * owner's key is used here for one signature, or not at all: the approval can be signed elsewhere and brought back.
 */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { encodeFunctionData, parseAbi } from 'viem'
import { type Api, createApi } from '../api/client.ts'
import { createNodeFetch } from '../api/nodeFetch.ts'
import type { SubaccountStatus } from '../api/subaccounts.ts'
import { systemClock } from '../api/systemClock.ts'
import type { SubaccountApprovalMessage } from '../chains/subaccountApproval.ts'
import { type Address, type Hex, sameHex } from '../domain/address.ts'
import type { Signer } from '../domain/signer.ts'
import {
  approvalDifferences,
  approvalOf,
  ownerDigestOf,
  signedApprovalDifferences,
} from '../execution/verifyApproval.ts'
import { decryptKeystore } from '../keys/keystore.ts'
import { createLocalSigner, paperSigner, readPaperKey } from '../keys/local.ts'
import { readPassword } from '../keys/password.ts'
import type { Call } from './command.ts'
import type { Config } from './config/types.ts'
import { CommandError, exitCodes } from './exit.ts'
import { passwordSources } from './keySources.ts'
import { newKey } from './keys.ts'
import { readKeystore } from './signer.ts'
import {
  approvalText,
  readApprovalFile,
  readRequest,
  removeApprovalFile,
  requestText,
  typedDataOf,
  writeWhole,
} from './subaccountFile.ts'
import { columns } from './table.ts'

const DAY_SECONDS = 86_400
const defaultDays = 7
const defaultActions = 1_000
const mostDays = 365

/** Makes the delegated key: a random one in an encrypted file; on paper, the daemon's own. Prints its address. */
export async function createSubaccount(call: Call): Promise<number> {
  const { config } = call.loaded
  if (!config.isPaper) return await newKey(call)
  call.out(paperSigner(config.paper.keyFile).address)
  call.err(
    `Next: perpd subaccount approve. On paper the owner's key is made too, in ${config.paper.ownerKeyFile}`,
  )
  return exitCodes.ok
}

/** Builds an approval, has it signed here or takes the signature from a file, checks all of it, and keeps it for the daemon. */
export async function approveSubaccount(call: Call): Promise<number> {
  const { flags, loaded, out, err } = call
  const { config } = loaded
  const { chain } = config.venue
  const requestFile = fileFlag(flags, 'request')
  const outFile = fileFlag(flags, 'out')
  const signatureFile = fileFlag(flags, 'signature')
  const subaccount = delegatedOf(config, flags)
  const signOwner = outFile === undefined && signatureFile === undefined ? await ownerKey(call) : undefined
  const owner = ownerOf(config, signOwner?.address)
  if (signatureFile !== undefined && requestFile === undefined) {
    throw new CommandError('--signature needs the message that was signed: --request FILE.', exitCodes.error)
  }
  const message =
    requestFile === undefined ? await buildMessage(call, owner, subaccount) : readRequest(requestFile)
  const digest = ownerDigestOf(chain, message)
  err(messageText(message, owner, chain.name))
  if (outFile !== undefined) {
    writeWhole(outFile, requestText(chain, message))
    out(digest)
    err(
      `${outFile} holds what ${owner} is to sign (eth_signTypedData_v4). Bring the signature back: perpd subaccount approve --request ${outFile} --signature FILE`,
    )
    return exitCodes.ok
  }
  const signature =
    signatureFile === undefined
      ? await signOwner?.sign({ digest, typedData: typedDataOf(chain, message) })
      : (readFileSync(signatureFile, 'utf8').trim() as Hex)
  const approval = { ...message, signature: signature ?? '0x' }
  const differences = signedApprovalDifferences(chain, owner, subaccount, approval)
  if (differences.length > 0) {
    const rows = differences.map((each) => `  ${each.field}: expected ${each.expected}, found ${each.found}`)
    throw new CommandError(`The approval is not kept:\n${rows.join('\n')}`, exitCodes.error)
  }
  writeWhole(config.account.approvalFile, approvalText(approval))
  out(approval.signature)
  err(
    `${config.account.approvalFile} holds the approval; a running daemon takes it within seconds, and the first order carries it.\nTo trade with it: --account.owner ${owner}`,
  )
  return exitCodes.ok
}

/** Prints what is left; exit code 0 when the key may trade. */
export async function subaccountStatus(call: Call): Promise<number> {
  const { config } = call.loaded
  const subaccount = delegatedOf(config, call.flags)
  const owner = ownerOf(config, undefined)
  const status = await withApi(config, (api) => statusOf(api, owner, subaccount))
  const approval = readApprovalFile(config.account.approvalFile, config.venue.chain, owner, subaccount)
  const isWaiting = approval !== undefined && approval.nonce === status.approvalNonce
  const nowSeconds = systemClock.now() / 1000
  const isUsable = status.isActive && status.remainingActions > 0n && status.expiresAtSeconds > nowSeconds
  const willBe = isWaiting && Number(approval.expiresAt) > nowSeconds
  call.out(
    columns([
      ['owner', owner],
      ['delegated key', subaccount],
      ['on the chain', status.isActive ? 'approved' : 'not approved'],
      ['actions left', `${status.remainingActions} of ${status.maxAllowedCount}`],
      [
        'ends',
        status.expiresAtSeconds === 0
          ? 'never approved'
          : new Date(status.expiresAtSeconds * 1000).toISOString(),
      ],
      [
        'approval',
        approval === undefined
          ? `none in ${config.account.approvalFile}`
          : isWaiting
            ? `waits for the next order: ${approval.maxAllowedCount - status.currentActionsCount} actions until ${timeOf(approval.expiresAt)}`
            : 'used: the chain knows it',
      ],
      [
        'may trade',
        isUsable ? 'yes' : willBe ? 'yes, with the approval that waits' : 'no: perpd subaccount approve',
      ],
    ]),
  )
  return isUsable || willBe ? exitCodes.ok : exitCodes.error
}

const routerAbi = parseAbi(['function removeSubaccount(address subaccount)'])

/** Forgets the approval here, and prints the transaction by which the owner takes the key's right away on the chain. */
export async function revokeSubaccount(call: Call): Promise<number> {
  const { config } = call.loaded
  const { chain } = config.venue
  const subaccount = delegatedOf(config, call.flags)
  const data = encodeFunctionData({ abi: routerAbi, functionName: 'removeSubaccount', args: [subaccount] })
  if (existsSync(config.account.approvalFile)) removeApprovalFile(config.account.approvalFile)
  call.out(
    JSON.stringify(
      { chainId: chain.chainId, to: chain.contracts.subaccountRouter, data, value: '0' },
      undefined,
      2,
    ),
  )
  call.err(
    `${config.account.approvalFile} is gone: no order carries it any more. What the chain knows already ends when the owner sends this transaction,\nand not before. Halt the daemon now: perpd trading halted. What it signed may land until its deadline. Then: perpd subaccount status`,
  )
  return exitCodes.ok
}

/** The owner's key: on paper one that perpd makes; else a keystore that was named, opened for one signature. */
async function ownerKey({ flags, keys, loaded }: Call): Promise<Signer> {
  const { config } = loaded
  const path = fileFlag(flags, 'owner-keystore')
  if (config.isPaper) {
    if (path === undefined) return paperSigner(config.paper.ownerKeyFile)
    throw new CommandError(
      'The paper profile signs with keys of its own and loads no other: a signature made on paper is valid on the live chain.',
      exitCodes.configuration,
    )
  }
  if (path === undefined) {
    throw new CommandError(
      "Who signs? Name the owner's keystore with --owner-keystore FILE, or sign elsewhere: --out FILE, then --request FILE --signature FILE.",
      exitCodes.error,
    )
  }
  const fd = flags.get('password-fd')
  const sources = passwordSources(keys, fd === undefined ? undefined : Number(fd))
  const password = await readPassword(sources, "Password of the owner's key: ")
  return createLocalSigner(await decryptKeystore(readKeystore(path, '--owner-keystore'), password))
}

function ownerOf({ account, isPaper, paper }: Config, key: Address | undefined): Address {
  const owner =
    account.owner ??
    key ??
    (isPaper && existsSync(paper.ownerKeyFile) ? readPaperKey(paper.ownerKeyFile).address : undefined)
  if (owner === undefined)
    throw new CommandError('Whose account? Set account.owner to its address.', exitCodes.configuration)
  if (key !== undefined && !sameHex(owner, key)) {
    throw new CommandError(
      `account.owner is ${owner}, but the owner's key is that of ${key}`,
      exitCodes.configuration,
    )
  }
  return owner
}

/** The delegated key's address, without opening it. */
function delegatedOf(config: Config, flags: Call['flags']): Address {
  const named = flags.get('subaccount')
  if (typeof named === 'string' && /^0x[0-9a-f]{40}$/i.test(named)) return named as Address
  if (named !== undefined) throw new CommandError('--subaccount needs an address.', exitCodes.error)
  if (config.isPaper) return readPaperKey(config.paper.keyFile).address
  const { address, keystore } = config.account
  const found =
    address ?? (keystore === undefined ? undefined : readKeystore(keystore, 'account.keystore').address)
  if (found !== undefined) return found
  throw new CommandError(
    'Which key? Name its address with --subaccount ADDRESS, or configure account.keystore.',
    exitCodes.error,
  )
}

/** The message, from our own types; a host is asked for the nonce, and must propose the same message. */
async function buildMessage(
  call: Call,
  owner: Address,
  subaccount: Address,
): Promise<SubaccountApprovalMessage> {
  const { config } = call.loaded
  const { chain } = config.venue
  const days = numberFlag(call.flags, 'days', defaultDays, mostDays)
  const actions = numberFlag(call.flags, 'actions', defaultActions, 1_000_000)
  if (sameHex(owner, subaccount)) {
    throw new CommandError(
      `${owner} is the account itself: a delegated key is another one.`,
      exitCodes.configuration,
    )
  }
  return await withApi(config, async (api) => {
    const status = await statusOf(api, owner, subaccount)
    const grant = {
      subaccount,
      expiresAtSeconds: Math.floor(systemClock.now() / 1000) + days * DAY_SECONDS,
      maxAllowedCount: status.currentActionsCount + BigInt(actions),
      nonce: status.approvalNonce,
    }
    const { value: proposed } = await api.prepareSubaccountApproval({
      account: owner,
      subaccountAddress: subaccount,
      shouldAdd: true,
      expiresAtSeconds: grant.expiresAtSeconds,
      maxAllowedCount: grant.maxAllowedCount,
    })
    const differences = approvalDifferences(chain, grant, proposed)
    if (differences.length > 0) {
      const rows = differences.map(
        (each) => `  ${each.field}: expected ${each.expected}, found ${each.found}`,
      )
      throw new CommandError(
        `The host proposes another approval than the one that was asked for; nothing is signed:\n${rows.join('\n')}`,
        exitCodes.error,
      )
    }
    return approvalOf(chain, grant)
  })
}

async function statusOf(api: Api, account: Address, subaccountAddress: Address): Promise<SubaccountStatus> {
  return (await api.getSubaccountStatus({ account, subaccountAddress }, { isFresh: true })).value
}

async function withApi<T>(config: Config, use: (api: Api) => Promise<T>): Promise<T> {
  const { chain, apiHosts, oracleHosts } = config.venue
  if (apiHosts.length === 0) {
    throw new CommandError(
      'The paper venue inside the daemon cannot be asked by a command. Start one beside it: perpd paper --print-config',
      exitCodes.notRunning,
    )
  }
  const { fetch, close } = createNodeFetch()
  try {
    return await use(
      createApi({
        chain,
        hosts: { api: apiHosts, oracle: oracleHosts },
        fetch,
        clock: systemClock,
        random: Math.random,
        limits: config.api,
      }),
    )
  } finally {
    close()
  }
}

function messageText(message: SubaccountApprovalMessage, owner: Address, chain: string): string {
  return columns([
    ['owner', owner],
    ['delegated key', message.subaccount],
    ['may', `make, change and cancel orders on ${chain}, nothing else`],
    ['actions', `up to number ${message.maxAllowedCount} in all`],
    ['ends', timeOf(message.expiresAt)],
    ['nonce', message.nonce.toString()],
  ])
}

function timeOf(seconds: bigint): string {
  return new Date(Number(seconds) * 1000).toISOString()
}

function fileFlag(flags: Call['flags'], name: string): string | undefined {
  const value = flags.get(name)
  return typeof value === 'string' ? resolve(value) : undefined
}

function numberFlag(flags: Call['flags'], name: string, initial: number, most: number): number {
  const text = flags.get(name)
  if (text === undefined) return initial
  const value = Number(text)
  if (typeof text === 'string' && /^\d+$/.test(text) && value >= 1 && value <= most) return value
  throw new CommandError(`--${name} needs a whole number from 1 to ${most}.`, exitCodes.error)
}
