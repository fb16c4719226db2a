/**
 * Proves the sender of a signal in one of two ways before any field of the message counts: a code over receiver, time, nonce and body
 * (HMAC-SHA256 with a secret that is never sent), in a header; or, where the operator allows it, a secret of the instance's own inside the body, for
 * senders that cannot sign. How long a comparison takes says nothing about a secret.
 */
import { createHmac } from 'node:crypto'
import { Secret } from '../base/secret.ts'
import { jsonProblem, parseStrict } from '../base/strictJson.ts'
import { textOfBytes } from '../base/textFile.ts'
import { isSameCode } from './guard/proof.ts'

/** The header of a signed signal. */
export const signatureHeader = 'x-perpd-signature'

/** Secrets that signals are proven with. */
export interface SignalSecrets {
  /** Signs messages; absent: none is taken by its signature. */
  readonly signing?: Secret
  /** Inside of bodies, by the name of the instance; empty: none is taken by its body. */
  readonly inBody: ReadonlyMap<string, Secret>
}

/** The daemon that a signal is for: a code that was made for another one, with the same secret, holds for nothing here. */
export interface SignalReceiver {
  readonly profile: string
  /** The account that is traded, in small or large hex digits. */
  readonly account: string
}

/** The fields that a signature covers besides the receiver and the body. */
export interface SignedStamp {
  /** By the sender's clock, Unix ms. */
  readonly timestampMs: number
  /** The sender's own, new for each signal: 16 to 64 letters, digits, dashes or underscores. */
  readonly nonce: string
}

/** A message whose sender is proven. */
export interface ProvenSignal {
  /** The body, parsed and not read yet. */
  readonly body: unknown
  /** Stamp of a signed signal; in a body with a secret these are fields. */
  readonly stamp?: SignedStamp
}

/** Proof of a message's sender, or the reason why it fails; it says nothing about the body. */
export type SignalProof =
  | ({ readonly ok: true } & ProvenSignal)
  | {
      readonly ok: false
      /** The answer: to whoever is not proven, nothing about the body. */
      readonly code: 'SIGNAL_UNAUTHORIZED' | 'SIGNAL_NOT_JSON'
      readonly reason: string
      /** The cause for the log and the counter, where it is another. */
      readonly told?: { readonly code: 'SIGNAL_NOT_JSON'; readonly reason: string }
    }

const form = /^timestamp=(\d{13}), ?nonce=([A-Za-z0-9_-]{16,64}), ?mac=([0-9a-f]{64})$/
const bodyBounds = { depth: 4, values: 100 }
const strangers = new Secret('')

/** The code of a signal: HMAC-SHA256 over `perpd signal 2`, profile, account in small letters, time, nonce and body, a line each. */
function signalCode(
  secret: Secret,
  { profile, account }: SignalReceiver,
  { timestampMs, nonce }: SignedStamp,
  body: Uint8Array,
): string {
  return createHmac('sha256', secret.reveal())
    .update(`perpd signal 2\n${profile}\n${account.toLowerCase()}\n${timestampMs}\n${nonce}\n`)
    .update(body)
    .digest('hex')
}

/** The value of the header. */
export function signatureOf(
  secret: Secret,
  receiver: SignalReceiver,
  stamp: SignedStamp,
  body: Uint8Array,
): string {
  const { timestampMs, nonce } = stamp
  return `timestamp=${timestampMs}, nonce=${nonce}, mac=${signalCode(secret, receiver, stamp, body)}`
}

/** Proves a message by its header, or without one by the secret in its body. */
export function proveSignal(
  { signing, inBody }: SignalSecrets,
  receiver: SignalReceiver,
  header: string | undefined,
  bytes: Uint8Array,
): SignalProof {
  if (header === undefined) {
    if (inBody.size > 0) return provenByBody(inBody, bytes)
    return unauthorized
  }
  const [, time = '', nonce = '', mac = ''] = form.exec(header) ?? []
  const stamp = { timestampMs: Number(time), nonce }
  const isSigned = isSameCode(mac, signalCode(signing ?? strangers, receiver, stamp, bytes))
  if (signing === undefined || nonce === '' || !isSigned) return unauthorized
  const read = parsed(bytes)
  return read.ok ? { ok: true, body: read.body, stamp } : { ok: false, ...read.told }
}

function provenByBody(inBody: SignalSecrets['inBody'], bytes: Uint8Array): SignalProof {
  const read = parsed(bytes)
  if (!read.ok) return { ...unauthorized, told: read.told }
  const { body } = read
  const { secret, strategy } = (typeof body === 'object' && body !== null ? body : {}) as Readonly<
    Record<string, unknown>
  >
  const own = typeof strategy === 'string' ? inBody.get(strategy) : undefined
  const isKnown = isSameCode(typeof secret === 'string' ? secret : '', (own ?? strangers).reveal())
  return own === undefined || !isKnown ? unauthorized : { ok: true, body }
}

type Read =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly told: { readonly code: 'SIGNAL_NOT_JSON'; readonly reason: string } }

/** A JSON value, or where the body is none; no word of the body is quoted but a key that stands there twice. */
function parsed(bytes: Uint8Array): Read {
  try {
    return { ok: true, body: parseStrict(textOfBytes(bytes), bodyBounds) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { ok: false, told: { code: 'SIGNAL_NOT_JSON', reason: `its body: ${jsonProblem(error)}` } }
  }
}

const unauthorized = {
  ok: false,
  code: 'SIGNAL_UNAUTHORIZED',
  reason: 'it has no proof of its sender that holds',
} as const
