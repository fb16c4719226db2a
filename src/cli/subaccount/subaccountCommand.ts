/**
 * `perpd subaccount create | approve | status` (revoke: subaccountRevoke.ts): a delegated key for the daemon, and its owner's word for it. The
 * owner's key is used here for one signature, or not at all: the approval can be signed elsewhere and brought back.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isoTime } from '../../base/clock.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { chooseEvidence } from '../../daemon/evidence/evidenceSource.ts'
import { refuseOpenProcess } from '../../daemon/hardening.ts'
import type { ApprovalFacts } from '../../daemon/signers/approvalFacts.ts'
import { type BuiltApproval, buildApproval } from '../../daemon/signers/buildApproval.ts'
import { statusOf } from '../../daemon/signers/keyStatuses.ts'
import {
  ApprovalFileError,
  approvalText,
  plain,
  readApprovalFile,
  readRequest,
  readSignature,
  requestText,
  typedDataOf,
  writeWhole,
} from '../../daemon/signers/subaccountFile.ts'
import { ownerDigestOf, signedApprovalDifferences } from '../../execution/approval/verifyApproval.ts'
import { paperSigner } from '../../keys/local.ts'
import { refuseTaken } from '../../keys/privateFile.ts'
import { type Address, sameHex } from '../../protocol/address.ts'
import type {
  SubaccountApproval,
  SubaccountApprovalMessage,
} from '../../protocol/signing/subaccountApproval.ts'
import type { Call } from '../call/command.ts'
import { wholeFlag } from '../call/numberFlags.ts'
import { columns } from '../output/table.ts'
import { unboundedParts } from '../output/unbounded.ts'
import { newKey } from '../verbs/keysCommand.ts'
import {
  approvedKeys,
  delegatedOf,
  fileFlag,
  ownerKey,
  ownerOf,
  paperKeys,
  withApi,
} from './subaccountParties.ts'

const DAY_SECONDS = 86_400
const defaultDays = 7
const defaultActions = 1_000
const mostDays = 365
const mostActions = 1_000_000
/** Most that a key can ever be said to have used and to have left. */
const mostUpTo = 1_000_000_000

/**
 * Makes the delegated key: a random one in an encrypted file. On paper it is bare, and another one each time: the daemon's own
 * key when there is none yet, with an owner's beside it, else one in a file of its own. Prints its address.
 */
export async function createSubaccount(call: Call): Promise<number> {
  const { config } = call.loaded
  if (!config.isPaper) return await newKey(call)
  const { keyFile, ownerKeyFile } = config.paper
  const named = fileFlag(call, 'file')
  const isFirst = !existsSync(keyFile)
  const path = named ?? (isFirst ? keyFile : freeName(dirname(keyFile)))
  refuseTaken(path, '--file')
  call.out(paperSigner(path).address)
  const keyFlag = path === keyFile ? '' : ` --paper.keyFile ${path}`
  if (isFirst) paperSigner(ownerKeyFile)
  if (existsSync(ownerKeyFile)) {
    const stays = isFirst ? '' : ` perpd still uses ${keyFile} unless --paper.keyFile names the new one.`
    call.err(
      `${path} holds the key.${stays}\nNext: perpd subaccount approve${keyFlag}. On paper the owner's key is in ${ownerKeyFile}.`,
    )
    return exitCodes.ok
  }
  call.err(
    `${path} holds the key. The account's own stays in ${keyFile}.\nNext, to let the new key trade for that account: perpd subaccount approve${keyFlag} --paper.ownerKeyFile ${keyFile}\nThen run perpd with the same two settings, and the account.owner that is printed.`,
  )
  return exitCodes.ok
}

function freeName(folder: string): string {
  for (let number = 1; ; number += 1) {
    const path = join(folder, `delegated-${number}.key`)
    if (!existsSync(path)) return path
  }
}

/** Builds an approval, has it signed here or takes the signature from a file, checks all of it, and keeps it for the daemon. */
export async function approveSubaccount(call: Call): Promise<number> {
  const { flags, loaded, out, err } = call
  const { config } = loaded
  const { chain } = config.venue
  refuseOpenProcess(config, call)
  const requestFile = fileFlag(call, 'request')
  const outFile = fileFlag(call, 'out')
  const signatureFile = fileFlag(call, 'signature')
  const subaccount = delegatedOf(config, flags)
  const signOwner = outFile === undefined && signatureFile === undefined ? await ownerKey(call) : undefined
  const owner = ownerOf(config, signOwner?.address)
  if (signatureFile !== undefined && requestFile === undefined) {
    throw new CommandError(
      '--signature needs the message that was signed: --request FILE.',
      exitCodes.configuration,
    )
  }
  const { message, facts } =
    requestFile === undefined
      ? await buildMessage(call, owner, subaccount, outFile === undefined)
      : { message: readRequest(requestFile), facts: undefined }
  const digest = ownerDigestOf(chain, message)
  err(messageText(message, owner, chain.name, facts))
  const unbounded = unboundedParts('SubaccountApproval', plain(message), systemClock.now())
  for (const each of unbounded) err(`WARNING: ${each}`)
  if (outFile !== undefined) {
    // A wallet shows none of this. Those figures are the hosts' own: with an endpoint the chain says what was used.
    if (unbounded.length > 0)
      throw new CommandError(
        `${outFile} is not written: the approval would have no end.\n  Give the total with --up-to N, or configure an endpoint of the chain (rpc.http).`,
        exitCodes.error,
      )
    writeWhole(outFile, requestText(typedDataOf(chain, message)))
    out(digest)
    err(
      `${outFile} has the message for ${owner} to sign (eth_signTypedData_v4). Bring the signature back: perpd subaccount approve --request ${outFile} --signature FILE`,
    )
    return exitCodes.ok
  }
  const signature =
    signatureFile === undefined
      ? await signOwner?.sign({ digest, typedData: typedDataOf(chain, message) })
      : readSignature(signatureFile)
  const approval = { ...message, signature: signature ?? '0x' }
  const differences = signedApprovalDifferences(chain, owner, subaccount, approval)
  if (differences.length > 0) {
    const rows = differences.map((each) => `  ${each.field}: expected ${each.expected}, found ${each.found}`)
    throw new CommandError(`The approval is refused:\n${rows.join('\n')}`, exitCodes.error)
  }
  writeWhole(config.account.approvalFile, approvalText(approval))
  out(approval.signature)
  err(
    `${config.account.approvalFile} holds the approval; a running daemon takes it within seconds, and the first order carries it.\nTo trade with it: perpd run --account.owner ${owner}${sameKeys(call)}`,
  )
  return exitCodes.ok
}

/** The flags that named the keys, for the next command: the daemon needs the same ones. */
function sameKeys({ loaded: { config, origins } }: Call): string {
  const { keyFile, ownerKeyFile } = config.paper
  return Object.entries({ keyFile, ownerKeyFile })
    .filter(([name]) => config.isPaper && origins[`paper.${name}`]?.startsWith('flag'))
    .map(([name, path]) => ` --paper.${name} ${path}`)
    .join('')
}

/** Prints what is left; exit code 0 when the key may trade. */
export async function subaccountStatus(call: Call): Promise<number> {
  const { config } = call.loaded
  const subaccount = delegatedOf(config, call.flags)
  const owner = ownerOf(config, undefined)
  const others = config.isPaper
    ? paperKeys(config.paper.keyFile).filter(
        ({ path, address }) =>
          path !== config.paper.ownerKeyFile && !sameHex(address, subaccount) && !sameHex(address, owner),
      )
    : []
  const keyFlags = (path: string): string =>
    ` --paper.keyFile ${path}${call.loaded.origins['paper.ownerKeyFile'] === 'default' ? '' : ` --paper.ownerKeyFile ${config.paper.ownerKeyFile}`}`
  const { status, unused } = await withApi(call, async (api) => ({
    status: await statusOf(api, owner, subaccount),
    unused: await Promise.all(
      others.map(async (each) => ({ ...each, status: await statusOf(api, owner, each.address) })),
    ),
  }))
  const approval = approvalIn(config, owner, subaccount)
  const isWaiting = approval !== undefined && approval.nonce === status.approvalNonce
  const nowSeconds = systemClock.now() / 1000
  const isUsable = status.isActive && status.remainingActions > 0n && status.expiresAtSeconds > nowSeconds
  const willBe = isWaiting && Number(approval.expiresAt) > nowSeconds
  call.out(
    columns([
      ['owner', owner],
      ['delegated key', `${subaccount}${sourceOf(call)}`],
      ['on the chain', status.isActive ? 'approved' : 'not approved'],
      ['actions left', `${status.remainingActions} of ${status.maxAllowedCount}`],
      ['ends', status.expiresAtSeconds === 0 ? 'never approved' : isoTime(status.expiresAtSeconds * 1000)],
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
        isUsable ? 'yes' : willBe ? 'yes, with the waiting approval' : 'no: perpd subaccount approve',
      ],
      ...unused.map(({ path, address, status: { isActive } }) => [
        'another key',
        `${address}, in ${path}: not in use, ${isActive ? `and still approved; revoke it: perpd subaccount revoke${keyFlags(path)}` : `and not approved, so harmless. To use it instead: perpd subaccount approve${keyFlags(path)}`}`,
      ]),
    ]),
  )
  return isUsable || willBe ? exitCodes.ok : exitCodes.error
}

/** Which key the status is of, and by what. */
function sourceOf({ flags, loaded: { config, origins } }: Call): string {
  if (flags.has('subaccount')) return ', named by --subaccount'
  const { account, paper } = config
  if (config.isPaper) return `, in use: ${paper.keyFile} (paper.keyFile, ${origins['paper.keyFile']})`
  if (account.address !== undefined) return `, in use: account.address (${origins['account.address']})`
  return `, in use: ${account.keystore} (account.keystore, ${origins['account.keystore']})`
}

/** The approval that is kept for this key. Throws CommandError with the keys that it is for, where they are paper's. */
function approvalIn(config: Config, owner: Address, subaccount: Address): SubaccountApproval | undefined {
  const { account, isPaper, paper, venue } = config
  try {
    return readApprovalFile(account.approvalFile, venue.chain, owner, subaccount)
  } catch (error) {
    const keys = isPaper ? approvedKeys(paper.keyFile, account.approvalFile, venue.chain) : undefined
    if (!(error instanceof ApprovalFileError) || keys === undefined) throw error
    throw new CommandError(
      `${account.approvalFile} is not an approval of ${owner} for ${subaccount}, but for other keys:\n  perpd subaccount status ${keys}`,
      exitCodes.configuration,
    )
  }
}

/**
 * The message, from our own types: the operator's figures over what the chain, or every host, says is used. A host must
 * propose the same message.
 *
 * @param isSignedHere whether the next step is a signature by a key that is here; nobody reads the figures before it.
 */
async function buildMessage(
  call: Call,
  owner: Address,
  subaccount: Address,
  isSignedHere: boolean,
): Promise<BuiltApproval> {
  const { config } = call.loaded
  const { chain } = config.venue
  const days = wholeFlag(call.flags, 'days', { least: 1, most: mostDays }) ?? defaultDays
  const actions = wholeFlag(call.flags, 'actions', { least: 1, most: mostActions }) ?? defaultActions
  const upTo = wholeFlag(call.flags, 'up-to', { least: 1, most: mostUpTo })
  if (upTo !== undefined && call.flags.has('actions')) {
    throw new CommandError('--actions and --up-to exclude each other: give one.', exitCodes.configuration)
  }
  if (sameHex(owner, subaccount)) {
    throw new CommandError(
      `${owner} is the account itself; a delegated key must be another address.`,
      exitCodes.configuration,
    )
  }
  return await withApi(call, async (api) => {
    const urls = chooseEvidence(config, undefined).http.map((url) => url.reveal())
    return await buildApproval(
      { chain, api, urls, timeoutMs: config.rpc.timeoutMs, clock: systemClock },
      {
        owner,
        subaccount,
        expiresAtSeconds: Math.floor(systemClock.now() / 1000) + days * DAY_SECONDS,
        maxAllowedCount({ usedActions, by, isProven }) {
          const most = upTo === undefined ? usedActions + BigInt(actions) : BigInt(upTo)
          if (isSignedHere && !isProven && !config.isPaper && upTo === undefined && usedActions > 0n) {
            throw new CommandError(
              `${by} says that the key has used ${usedActions} actions, and no endpoint of the chain proves it: ${actions} more would be signed as up to number ${most} in total. Nothing is signed.\n  If that is right, confirm it with --up-to ${most}. Or set an endpoint (rpc.http), or sign elsewhere (--out).`,
              exitCodes.error,
            )
          }
          return most
        },
      },
    )
  })
}

function messageText(
  message: SubaccountApprovalMessage,
  owner: Address,
  chain: string,
  facts: ApprovalFacts | undefined,
): string {
  const { maxAllowedCount, nonce } = message
  const used =
    facts === undefined
      ? ''
      : `: ${maxAllowedCount - facts.usedActions} more than the ${facts.usedActions} used so far, as ${facts.by} says`
  return columns([
    ['owner', owner],
    ['delegated key', message.subaccount],
    ['may', `make, change and cancel orders on ${chain}, nothing else`],
    ['actions', `up to number ${maxAllowedCount} in total${used}`],
    ['ends', timeOf(message.expiresAt)],
    ['nonce', facts === undefined ? nonce.toString() : `${nonce}, as ${facts.by} says`],
  ])
}

function timeOf(seconds: bigint): string {
  return isoTime(Number(seconds) * 1000)
}
