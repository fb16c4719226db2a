/**
 * `perpd subaccount revoke`: takes a delegated key's right away. The owner's word for it goes through the venue's relay and
 * is followed until every host, and the chain where endpoints are configured, shows that the key is gone; without the owner's key or signature, the transaction that the
 * owner sends is printed instead.
 */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { encodeFunctionData, parseAbi } from 'viem/utils'
import type { Api } from '../../api/client.ts'
import { isoTime } from '../../base/clock.ts'
import { BaseError } from '../../base/errors.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { refuseOpenProcess } from '../../daemon/hardening.ts'
import { signingPolicyOf } from '../../daemon/runSettings.ts'
import { type HostStatus, isGone, statusAtAll } from '../../daemon/signers/keyStatuses.ts'
import { readRemovalRequest, removalRequestText, removalTypedData } from '../../daemon/signers/removalFile.ts'
import {
  readApprovalFile,
  readSignature,
  removeApprovalFile,
  writeWhole,
} from '../../daemon/signers/subaccountFile.ts'
import type { ChainReader } from '../../domain/machine/chainReader.ts'
import type { Difference } from '../../domain/orderEvent.ts'
import { type RemovalTerms, removalDifferences, removalOf } from '../../execution/approval/removal.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import { reasonOfBytes } from '../../protocol/protocolErrors.ts'
import { encodeRemovalCall } from '../../protocol/signing/relayCalldata.ts'
import type { TokenAmount } from '../../protocol/units.ts'
import type { Call } from '../call/command.ts'
import { removalFeeOf } from './removalFee.ts'
import { delegatedOf, fileFlag, ownerKey, ownerOf, withApi } from './subaccountParties.ts'
import { approvalStatusText, queryChain, type SentRemoval, withChain } from './subaccountStatuses.ts'

/** Longest time that the command follows the removal; a sent message may still land until its deadline. */
const followMs = 180_000
const pollMs = 1_000
/** A message that is carried elsewhere and back has this much less than the longest deadline that is signed, seconds. */
const carryMarginSeconds = 60

/** Forgets the approval here, and ends on the chain what the owner approved; exit code 0 when it is gone or not ours to send. */
export async function revokeSubaccount(call: Call): Promise<number> {
  const { flags, loaded } = call
  const { config } = loaded
  refuseOpenProcess(config, call)
  const subaccount = delegatedOf(config, flags)
  const outFile = fileFlag(call, 'out')
  const signatureFile = fileFlag(call, 'signature')
  const requestFile = fileFlag(call, 'request')
  if ((signatureFile === undefined) !== (requestFile === undefined)) {
    throw new CommandError('--request FILE and --signature FILE go together.', exitCodes.configuration)
  }
  const isSigned = signatureFile !== undefined
  const hasKey = config.isPaper || flags.has('owner-keystore')
  if (flags.has('transaction') || (!hasKey && !isSigned && outFile === undefined)) {
    forgetApproval(call)
    return printTransaction(call, subaccount)
  }
  const key = outFile === undefined && !isSigned ? await ownerKey(call) : undefined
  const owner = ownerOf(config, key?.address)
  const warning = unusedApproval(config, owner, subaccount)
  forgetApproval(call)
  if (outFile !== undefined) return await writeRequest(call, { owner, subaccount, path: outFile })
  const { chain } = config.venue
  const send = async (api: Api, reader: ChainReader | undefined): Promise<number> => {
    const before = await statusAtAll(api, owner, subaccount)
    // A host that is silent might know better: then it is sent, which harms nothing.
    if (isGone(before) && before.every(({ status }) => status !== undefined)) {
      call.out(approvalStatusText(before, owner, subaccount))
      call.err(`Nothing was sent: every host says that the chain does not know the key.${warning(before)}`)
      return exitCodes.ok
    }
    const nowSeconds = nowSecondsOf(api)
    const terms =
      requestFile === undefined
        ? termsOf(subaccount, {
            feeAmount: await removalFeeOf(config, api, reader),
            deadlineSeconds: nowSeconds + config.execution.relayDeadlineSeconds,
          })
        : readRemovalRequest(chain, requestFile)
    const removal = removalOf(chain, terms)
    const meant = { owner, subaccount, nowSeconds }
    refuse(removalDifferences(chain, policyOf(config), meant, terms))
    const brought = signatureFile === undefined ? undefined : readSignature(signatureFile)
    const request = { digest: removal.digest, typedData: removalTypedData(chain, removal) }
    const signature = brought ?? (await key?.sign(request)) ?? '0x'
    refuse(removalDifferences(chain, policyOf(config), meant, terms, signature))
    const { relayParams } = removal
    const data = encodeRemovalCall({ account: owner, subaccount, relayParams, signature })
    const task = await submit(call, api, data, { digest: removal.digest, deadline: terms.deadline })
    const router = chain.contracts.subaccountGelatoRelayRouter
    const sent = { router, digest: removal.digest, signature, deadlineSeconds: Number(terms.deadline) }
    return await follow(call, api, reader, { owner, subaccount, task, warning, ...sent })
  }
  return await withApi(call, (api) => withChain(config, (reader) => send(api, reader)))
}

function forgetApproval({ loaded: { config }, err }: Call): void {
  const path = config.account.approvalFile
  if (!existsSync(path)) return
  removeApprovalFile(path)
  err(`${path} was removed: orders no longer carry it.`)
}

/** Warns of an approval that was signed and never used: removing the key does not consume it. */
function unusedApproval(
  config: Config,
  owner: Address,
  subaccount: Address,
): (looks: readonly HostStatus[]) => string {
  let found: ReturnType<typeof readApprovalFile>
  try {
    found = readApprovalFile(config.account.approvalFile, config.venue.chain, owner, subaccount)
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
  }
  return (looks) => {
    const isUnused = found !== undefined && looks.some(({ status }) => status?.approvalNonce === found.nonce)
    return isUnused
      ? `\nIts signed approval was never used: anyone with a copy of it and the key can restore the key until ${timeOf(found?.deadline ?? 0n)}.\nThe next approval of this owner that an order carries to the chain, for any key, consumes its nonce.`
      : ''
  }
}

const routerAbi = parseAbi(['function removeSubaccount(address subaccount)'])

function printTransaction({ loaded, out, err }: Call, subaccount: Address): number {
  const { chain } = loaded.config.venue
  const data = encodeFunctionData({ abi: routerAbi, functionName: 'removeSubaccount', args: [subaccount] })
  const transaction = { chainId: chain.chainId, to: chain.contracts.subaccountRouter, data, value: '0' }
  out(JSON.stringify(transaction, undefined, 2))
  err(
    `The key's right on the chain ends only when the owner sends this transaction. The relay can send it instead, for a fee and without\na wallet's transaction: --owner-keystore FILE, or --out FILE to sign elsewhere. Halt the daemon now: perpd trading halted. Orders that it\nsigned may land until their deadline. Then: perpd subaccount status`,
  )
  return exitCodes.ok
}

async function writeRequest(
  call: Call,
  {
    owner,
    subaccount,
    path,
  }: { readonly owner: Address; readonly subaccount: Address; readonly path: string },
): Promise<number> {
  const { loaded, out, err } = call
  const { config } = loaded
  const { chain } = config.venue
  const feeAmount = await withApi(call, (api) =>
    withChain(config, (reader) => removalFeeOf(config, api, reader)),
  )
  const nowSeconds = Math.floor(systemClock.now() / 1000)
  const deadlineSeconds = nowSeconds + Math.max(config.signing.maxDeadlineSeconds - carryMarginSeconds, 0)
  const terms = termsOf(subaccount, { feeAmount, deadlineSeconds })
  const removal = removalOf(chain, terms)
  refuse(removalDifferences(chain, policyOf(config), { owner, subaccount, nowSeconds }, terms))
  writeWhole(path, removalRequestText(chain, removal, terms))
  out(removal.digest)
  err(
    `${path} has the message for ${owner} to sign (eth_signTypedData_v4) before ${timeOf(terms.deadline)}. Nothing is revoked until it is sent:\nperpd subaccount revoke --request ${path} --signature FILE`,
  )
  return exitCodes.ok
}

function termsOf(
  subaccount: Address,
  { feeAmount, deadlineSeconds }: { readonly feeAmount: TokenAmount; readonly deadlineSeconds: number },
): RemovalTerms {
  return {
    subaccount,
    feeAmount,
    userNonce: BigInt(`0x${randomBytes(32).toString('hex')}`),
    deadline: BigInt(deadlineSeconds),
  }
}

/** The fee goes through the chain's own market for it and no other. */
function policyOf(config: Config) {
  return signingPolicyOf(config)({ swapMarkets: new Map(), nativePriceUsd: undefined })
}

function refuse(differences: readonly Difference[]): void {
  if (differences.length === 0) return
  const rows = differences.map((each) => `  ${each.field}: expected ${each.expected}, found ${each.found}`)
  throw new CommandError(`The removal is not sent:\n${rows.join('\n')}`, exitCodes.error)
}

/** One POST, never repeated. The task to ask by; undefined when the answer was lost. */
async function submit(
  { loaded, err }: Call,
  api: Api,
  data: Hex,
  { digest, deadline }: { readonly digest: Hex; readonly deadline: bigint },
): Promise<string | undefined> {
  const to = loaded.config.venue.chain.contracts.subaccountGelatoRelayRouter
  err(`Sending the removal ${digest}; it may land until ${timeOf(deadline)}.`)
  try {
    const { value, host } = await api.submitRelay({ to, data })
    err(`${host} accepted it: task ${value.taskId}, ${value.status}`)
    return value.taskId
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    err(`The relay's answer is inconclusive, and the removal may still land: ${error.shortMessage}`)
    return undefined
  }
}

/** A sent removal that the command follows. */
interface Sent extends SentRemoval {
  readonly subaccount: Address
  readonly task: string | undefined
  readonly warning: (looks: readonly HostStatus[]) => string
}

/** Asks relay, hosts and chain until the key is gone, the relay has had its last word, or the time is over. */
async function follow(
  { out, err }: Call,
  api: Api,
  reader: ChainReader | undefined,
  sent: Sent,
): Promise<number> {
  const { owner, subaccount, task, deadlineSeconds } = sent
  const endMs = systemClock.monotonicMs() + followMs
  let said = 'pending'
  for (;;) {
    const { text, isLast } = await relayStatement(api, task)
    if (text !== said) err(`The relay says: ${text}`)
    said = text
    const looks = await statusAtAll(api, owner, subaccount)
    const chain = await queryChain(reader, sent)
    // Endpoints that are silent leave it to the hosts; one that knows nothing of the removal does not.
    const isDenied = chain !== undefined && chain.answered > 0 && !chain.isUsed
    if (isGone(looks) && !isDenied) {
      out(approvalStatusText(looks, owner, subaccount, chain))
      err(
        `The key is revoked: its new signatures revert, and so do earlier ones that have not landed. A running daemon sees it within seconds.\nIts resting orders and positions stay: cancel and close them with the owner's wallet, or with another delegated key.${sent.warning(looks)}`,
      )
      return exitCodes.ok
    }
    if (isLast || systemClock.monotonicMs() >= endMs || nowSecondsOf(api) > deadlineSeconds + 30) {
      out(approvalStatusText(looks, owner, subaccount, chain))
      err(
        `NOT CONFIRMED. Halt the daemon (perpd trading halted). The removal may land until ${timeOf(BigInt(deadlineSeconds))}; run this again,\nor have the owner send the transaction that perpd subaccount revoke --transaction prints.`,
      )
      return isLast ? exitCodes.error : exitCodes.timeout
    }
    await systemClock.sleep(pollMs)
  }
}

/** Returns the relay's statement about a task, and whether the task has ended. */
async function relayStatement(
  api: Api,
  task: string | undefined,
): Promise<{ text: string; isLast: boolean }> {
  if (task === undefined) return { text: 'pending', isLast: false }
  try {
    const { value } = await api.getRelayStatus({ taskId: task })
    const { status, txHash, reason, revertData } = value
    const why = revertData === undefined ? '' : reasonOfBytes(revertData)
    const words = [status, txHash, why === '' ? reason : why].filter((word) => word !== undefined)
    return { text: words.join(' '), isLast: status === 'reverted' || status === 'failed' }
  } catch (error) {
    // A 404 right after the submit proves nothing, and neither does silence.
    if (!(error instanceof BaseError)) throw error
    return { text: 'pending', isLast: false }
  }
}

/** The time by the hosts' clock, Unix seconds. */
function nowSecondsOf(api: Api): number {
  const [host = ''] = api.hosts.api
  return Math.floor((systemClock.now() + (api.clockSkewMs(host) ?? 0)) / 1000)
}

function timeOf(seconds: bigint): string {
  return isoTime(Number(seconds) * 1000)
}
