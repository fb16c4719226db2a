/** Bodies of signals: what may stand in them, and what they become. Nothing that is not known is let through, and no value is repeated. */
import { z } from 'zod'
import { defined } from '../base/defined.ts'
import { marked } from '../base/shownText.ts'
import { plainDecimal } from '../base/typedNumber.ts'
import { type SignalAction, signalActions } from '../domain/memory/tradeSignal.ts'
import type { SignalMessage } from '../operator/port/signalInbox.ts'
import { parseUnits, USD_DECIMALS, WideDecimal } from '../protocol/units.ts'
import type { ProvenSignal } from './signalProof.ts'

/** Default lifetime of a signal that states none, seconds from its sending; later it opens nothing. */
const DEFAULT_TTL_SECONDS = 300
const MOST_TTL_SECONDS = 86_400

const dollarsForm = 'a decimal text like "250" or "1739.5" above zero, at most 18 digits after the point'

/** A decimal text above zero, or a number as services fill in one, small ones with an exponent; USD with 30 decimals in code. */
const dollars = z.union([z.string().max(40), z.number()]).transform((written, context) => {
  const plain = plainDecimal(plainDigits(String(written)), 18)
  if (plain !== undefined) return parseUnits(plain, USD_DECIMALS)
  context.addIssue(dollarsForm)
  return z.NEVER
})

/** A number with an exponent (`7.1e-7`) by its digits; any other text as it is. */
function plainDigits(text: string): string {
  return /^\d{1,15}(?:\.\d{1,18})?e-\d{1,2}$/i.test(text) ? new WideDecimal(text).toFixed() : text
}

/** Fewest characters of a nonce. */
const LEAST_NONCE = 8
/** Most characters of a text that is the sender's own to choose. */
const MOST_LABEL = 200
/** Any text up to a length: services fill in names of orders, with whatever stands in them. */
const label = (least: number) =>
  z.string().refine((text) => text.length >= least && text.length <= MOST_LABEL)

const fields = {
  strategy: z.string().regex(/^[a-z0-9][a-z0-9-]{0,79}$/),
  action: z.enum(signalActions),
  market: z
    .string()
    .regex(/^[\w./ [\]-]{1,80}$/)
    .optional(),
  name: label(1).transform(marked).optional(),
  size: z
    .union([
      z.strictObject({ usd: dollars }),
      z.strictObject({ shareBps: z.number().int().min(1).max(10_000) }),
    ])
    .optional(),
  stop: dollars.optional(),
  target: dollars.optional(),
  ttlSeconds: z.number().int().min(1).max(MOST_TTL_SECONDS).default(DEFAULT_TTL_SECONDS),
}

const signedSchema = z.strictObject(fields)

/** Unix ms, as a number or its digits, or a time as `{{timenow}}` of TradingView: `2026-11-23T14:05:00Z`. */
const time = z.union([
  z.number().int().min(1_000_000_000_000).max(9_999_999_999_999),
  z
    .string()
    .regex(/^[1-9]\d{12}$/)
    .transform(Number),
  z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
])
const bodySchema = z.strictObject({
  ...fields,
  secret: z.string(),
  sentAt: time,
  nonce: label(LEAST_NONCE),
})

/** The fault of a message whose sender is proven, and the strategy and action that it was for, as far as that can be read. */
export interface SignalProblem {
  readonly reason: string
  readonly strategy?: string
  readonly action?: SignalAction
}

/** The message, or which fields are wrong. */
export type SignalBody =
  | { readonly ok: true; readonly message: Omit<SignalMessage, 'windowMs'> }
  | { readonly ok: false; readonly problem: SignalProblem }

/** Reads the body of a proven message. */
export function readSignal({ body, stamp }: ProvenSignal): SignalBody {
  if (stamp === undefined) {
    const { success, data, error } = bodySchema.safeParse(body)
    if (!success) return { ok: false, problem: problemOf(body, error) }
    const { secret: _, sentAt, nonce, ...rest } = data
    // Nonces of one instance's sender say nothing of another's.
    return { ok: true, message: messageOf(rest, sentAt, `body:${rest.strategy}:${nonce}`) }
  }
  const { success, data, error } = signedSchema.safeParse(body)
  if (!success) return { ok: false, problem: problemOf(body, error) }
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
      ...defined({ market, name, size, stopPrice: stop, targetPrice: target }),
      sentAtMs,
    },
    ttlMs: ttlSeconds * 1000,
    nonce,
  }
}

function problemOf(body: unknown, error: z.ZodError): SignalProblem {
  const { data } = meant.safeParse(body)
  return {
    reason: problemsOf(error),
    ...defined({ strategy: data?.strategy, action: data?.action }),
  }
}

const meant = z.object({
  strategy: fields.strategy.optional().catch(undefined),
  action: fields.action.optional().catch(undefined),
})

/** The form of each field, as a refusal says it. */
const forms: Readonly<Record<string, string>> = {
  strategy: 'the name of a strategy file without .yaml',
  action: `one of ${signalActions.join(', ')}`,
  market: 'a market of the strategy by its symbol, as "ETH/USD [WETH-USDC]"',
  name: `a text of 1 to ${MOST_LABEL} characters`,
  size: '{"usd": "250"} or {"shareBps": 5000}',
  'size.usd': dollarsForm,
  'size.shareBps': 'whole basis points from 1 to 10000',
  stop: dollarsForm,
  target: dollarsForm,
  ttlSeconds: `whole seconds from 1 to ${MOST_TTL_SECONDS}, as a number`,
  secret: 'a text',
  sentAt: 'Unix milliseconds, 13 digits, or a time as 2026-11-23T14:05:00Z',
  nonce: `a text of ${LEAST_NONCE} to ${MOST_LABEL} characters`,
}

const known = new Set(Object.keys(forms).flatMap((place) => place.split('.')))

/** Each field that is wrong with what is expected; names that are not ours are not repeated, for they may be anything. */
function problemsOf(error: z.ZodError): string {
  const problems = error.issues.map(({ code, path }) => {
    const place = path.filter((part) => known.has(String(part))).join('.')
    const where = place === '' ? 'the body' : place
    if (code === 'unrecognized_keys') return `${where}: a field that does not belong there`
    return `${where}: expected ${forms[place] ?? 'a JSON object with the fields of a signal'}`
  })
  return [...new Set(problems)].join('; ')
}
