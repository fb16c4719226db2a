/**
 * A signer in another process, asked over HTTP: JSON-RPC as Web3Signer speaks it, `eth_accounts` and `eth_signTypedData`.
 *
 * Such a signer does not judge what it signs, so it stands behind the same verification as a key in this process; and it
 * is not believed either: a signature counts only when it is over the digest that was computed here, by the account's own
 * key, in the one form that the contracts take.
 */
import { fileBounds, parseBounded } from '../base/boundedJson.ts'
import { defined } from '../base/defined.ts'
import { BaseError, reasonOf } from '../base/errors.ts'
import type { Secret } from '../base/secret.ts'
import type { Signer, SignRequest } from '../domain/signer.ts'
import { type Address, type Hex, sameHex } from '../protocol/address.ts'
import { contractSignature, recoverSigner } from '../protocol/crypto/secp256k1.ts'
import { domainType } from '../protocol/signing/messageTypes.ts'

/** A remote signer gave no signature, or none that can be used. */
export class RemoteSignerError extends BaseError {}

/** Sends a request; the caller bounds the response's size and follows no redirect. */
export type SignerFetch = (
  url: string,
  init: {
    readonly method: 'POST'
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly signal: AbortSignal
  },
) => Promise<{ readonly status: number; text(): Promise<string> }>

/** Where the signer is, and whom it signs for. */
export interface RemoteSignerOptions {
  /** https, or http on this machine. */
  readonly url: string
  /** The account it must hold the key of. */
  readonly address: Address
  /** Sent as `authorization: Bearer ...`. */
  readonly token: Secret | undefined
  /** Longest wait for an answer, ms. */
  readonly timeoutMs: number
  readonly fetch: SignerFetch
}

/**
 * Connects: asks which accounts the signer has, and gives a signer for the configured one.
 *
 * @throws RemoteSignerError REMOTE_SIGNER_UNREACHABLE when nobody answers in time, REMOTE_SIGNER_REFUSED when the answer is
 * an error, REMOTE_SIGNER_ANSWER when it is none that can be read, REMOTE_SIGNER_ADDRESS when the account is not there.
 * `sign` rejects with the same, and with REMOTE_SIGNER_SIGNATURE when the signature is not the account's over the digest.
 */
export async function connectRemoteSigner(options: RemoteSignerOptions): Promise<Signer> {
  const { address } = options
  const ask = createAsk(options)
  const accounts = await ask('eth_accounts', [])
  if (!Array.isArray(accounts) || !accounts.every((each) => typeof each === 'string')) {
    throw unreadable(options, 'eth_accounts gives no list of addresses')
  }
  if (!accounts.some((each) => sameHex(each, address))) {
    throw new RemoteSignerError('The remote signer does not hold the key of the account.', {
      code: 'REMOTE_SIGNER_ADDRESS',
      facts: { signer: options.url, account: address, accounts: accounts.length },
      details: 'Nothing was signed. Give it that key, or correct account.address.',
    })
  }
  return {
    address,
    async sign(request) {
      // Web3Signer takes the document as text.
      const signature = await ask('eth_signTypedData', [address, typedDataText(request)])
      return checkedSignature(options, request.digest, signature)
    },
  }
}

/** EIP-712 as JSON: the domain's own type stands among the types, whole numbers are decimal text. */
function typedDataText({ typedData }: SignRequest): string {
  const document = { ...typedData, types: { EIP712Domain: domainType, ...typedData.types } }
  return JSON.stringify(document, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
}

/** The signature in the one form that is used, or an error that says what is wrong with it. */
function checkedSignature(options: RemoteSignerOptions, digest: Hex, signature: unknown): Hex {
  const wrong = (reason: string): RemoteSignerError =>
    new RemoteSignerError(`The remote signer returned an invalid signature: ${reason}.`, {
      code: 'REMOTE_SIGNER_SIGNATURE',
      facts: { signer: options.url, account: options.address, digest },
      details: 'perpd discarded it and sent nothing. Check the signer before you continue.',
    })
  let usable: Hex
  let by: Address
  try {
    usable = contractSignature(typeof signature === 'string' ? signature : '')
    by = recoverSigner(digest, usable)
  } catch (error) {
    throw wrong(reasonOf(error).replace(/0x[0-9a-f]{130}/gi, 'the signature'))
  }
  if (!sameHex(by, options.address)) throw wrong(`for the digest computed here it is the signature of ${by}`)
  return usable
}

type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>

function createAsk(options: RemoteSignerOptions): Ask {
  const { url, token, timeoutMs, fetch } = options
  let lastId = 0
  return async (method, params) => {
    const id = ++lastId
    let status: number
    let text: string
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...defined({ authorization: token === undefined ? undefined : `Bearer ${token.reveal()}` }),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      status = answer.status
      text = await answer.text()
    } catch (cause) {
      throw new RemoteSignerError(`The remote signer does not answer: ${reasonOf(cause)}.`, {
        code: 'REMOTE_SIGNER_UNREACHABLE',
        facts: { signer: url, method, timeoutMs },
        details: 'Nothing was signed. Check that it runs, and account.remoteSigner.',
        cause,
      })
    }
    return resultOf(options, { id, method, status, text })
  }
}

function resultOf(
  options: RemoteSignerOptions,
  answer: { readonly id: number; readonly method: string; readonly status: number; readonly text: string },
): unknown {
  const { id, method, status, text } = answer
  let body: unknown
  try {
    body = parseBounded(text, fileBounds)
  } catch {
    body = undefined
  }
  const fields = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  if (fields.error !== undefined && fields.error !== null) {
    throw refused(options, method, status, messageOf(fields.error))
  }
  if (status !== 200) throw refused(options, method, status, 'no reason given')
  if (fields.jsonrpc !== '2.0' || fields.id !== id || !Object.hasOwn(fields, 'result')) {
    throw unreadable(options, `the response to ${method} is not a JSON-RPC result`)
  }
  return fields.result
}

function messageOf(error: unknown): string {
  const { message } = Object(error) as { message?: unknown }
  return typeof message === 'string' ? message : 'no reason given'
}

/** A stranger's words: short, on one line, and never with what was sent to prove who asks. */
function refused(
  { url, token }: RemoteSignerOptions,
  method: string,
  status: number,
  message: string,
): RemoteSignerError {
  const clean = token === undefined ? message : message.replaceAll(token.reveal(), '[secret]')
  return new RemoteSignerError('The remote signer refused.', {
    code: 'REMOTE_SIGNER_REFUSED',
    facts: { signer: url, method, status, says: clean.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 200) },
    details: 'Nothing was signed. Check the log of the signer.',
  })
}

function unreadable({ url }: RemoteSignerOptions, reason: string): RemoteSignerError {
  return new RemoteSignerError('The response of the remote signer cannot be read.', {
    code: 'REMOTE_SIGNER_ANSWER',
    facts: { signer: url, reason },
    details: 'Nothing was signed. Check that account.remoteSigner names a signer.',
  })
}
