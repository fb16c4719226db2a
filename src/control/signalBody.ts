/** Bodies of signals: what may stand in them, and what they become. Nothing that is not known is let through, and no value is repeated. */
import { z } from 'zod'
import { signalActions } from '../domain/memory/tradeSignal.ts'
import type { SignalMessage } from '../engine/operator/signalInbox.ts'
import { parseUnits, USD_DECIMALS } from '../protocol/units.ts'
import type { ProvenSignal } from './signalProof.ts'

/** How long something may be opened on the word of a signal that does not say, seconds from when it was sent. */
const DEFAULT_TTL_SECONDS = 300

/** A plain decimal text above zero; USD with 30 decimals in code. */
const dollars = z
  .string()
  .regex(
    /^\d{1,15}(\.\d{1,18})?$/,
    'a decimal text like "250" or "1739.5", at most 18 digits after the point',
  )
  .refine((text) => /[1-9]/.test(text), 'above zero')
  .transform((text) => parseUnits(text, USD_DECIMALS))

const fields = {
  strategy: z.string().regex(/^[a-z0-9][a-z0-9-]{0,79}$/, 'the name of a strategy file without .yaml'),
  action: z.enum(signalActions),
  market: z
    .string()
    .regex(/^[\w./ [\]-]{1,80}$/, 'a market of the strategy')
    .optional(),
  name: z
    .string()
    .regex(/^[\w .:#/+-]{1,40}$/, '1 to 40 letters, digits, spaces or . : # / + - _')
    .optional(),
  size: z
    .union([
      z.strictObject({ usd: dollars }),
      z.strictObject({ shareBps: z.number().int().min(1).max(10_000) }),
    ])
    .optional(),
  stop: dollars.optional(),
  target: dollars.optional(),
  ttlSeconds: z.number().int().min(1).max(86_400).default(DEFAULT_TTL_SECONDS),
}

const signedSchema = z.strictObject(fields)

/** Unix ms, or a time as `{{timenow}}` of TradingView: `2026-11-23T14:05:00Z`. */
const time = z.union([
  z.number().int().min(1_000_000_000_000).max(9_999_999_999_999),
  z.iso.datetime().transform((text) => Date.parse(text)),
])
const bodySchema = z.strictObject({
  ...fields,
  secret: z.string(),
  sentAt: time,
  nonce: z.string().regex(/^[\w .:#/+-]{8,100}$/, '8 to 100 letters, digits, spaces or . : # / + - _'),
})

/** The message, or which fields are wrong. */
export type SignalBody =
  | { readonly ok: true; readonly message: Omit<SignalMessage, 'windowMs'> }
  | { readonly ok: false; readonly reason: string }

/** Reads the body of a proven message. */
export function readSignal({ body, stamp }: ProvenSignal): SignalBody {
  if (stamp === undefined) {
    const { success, data, error } = bodySchema.safeParse(body)
    if (!success) return { ok: false, reason: problemsOf(error) }
    const { secret: _, sentAt, nonce, ...rest } = data
    // Nonces of one instance's sender say nothing of another's.
    return { ok: true, message: messageOf(rest, sentAt, `body:${rest.strategy}:${nonce}`) }
  }
  const { success, data, error } = signedSchema.safeParse(body)
  if (!success) return { ok: false, reason: problemsOf(error) }
  return { ok: true, message: messageOf(data, stamp.timestampMs, `signed:${stamp.nonce}`) }
}

function messageOf(
  { strategy, action, market, name, size, stop, target, ttlSeconds }: z.output<typeof signedSchema>,
  sentAtMs: number,
  nonce: string,
): Omit<SignalMessage, 'windowMs'> {
  return {
    terms: {
      strategy,
      action,
      ...(market === undefined ? {} : { market }),
      ...(name === undefined ? {} : { name }),
      ...(size === undefined ? {} : { size }),
      ...(stop === undefined ? {} : { stopPrice: stop }),
      ...(target === undefined ? {} : { targetPrice: target }),
      sentAtMs,
    },
    ttlMs: ttlSeconds * 1000,
    nonce,
  }
}

const known = new Set([...Object.keys(fields), 'secret', 'sentAt', 'nonce', 'usd', 'shareBps'])

/** Each field that is wrong with what is expected; names that are not ours are not repeated, for they may be anything. */
function problemsOf(error: z.ZodError): string {
  const problems = error.issues.map(({ code, path, message }) => {
    const place = path.filter((part) => known.has(String(part))).join('.')
    const where = place === '' ? 'the body' : place
    if (code === 'unrecognized_keys') return `${where}: a field that does not belong there`
    if (code === 'invalid_union') return `${where}: none of its forms`
    return `${where}: ${message}`
  })
  return [...new Set(problems)].join('; ')
}
