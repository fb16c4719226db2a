/** Values in decisions of a strategy. `expected` continues a refusal ("expected ..."), `write` shows how a decimal text becomes the value. */
import { z } from 'zod'
import type { Address, Hex } from '../../protocol/address.ts'

/** Words about a value, and about the object that has it; zod's registry keeps them. */
export interface ValueWords {
  /** Meaning of a field, a sentence or a clause. */
  readonly description?: string
  /** Expected value; absent where its schema says it. */
  readonly expected?: string
  /** Code that writes a decimal text, which stands for `#`, as this value. */
  readonly write?: string
  /** The object in a refusal of an unknown field; absent: by the field that has it. */
  readonly name?: string
  /** Members of a list, plural. */
  readonly members?: string
}

/** Gives words to a value. */
export const words = (about: ValueWords): ValueWords & Record<string, unknown> => ({ ...about })

const hex = (bytes: number, expected: string) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`))
    .meta(words({ expected })) as unknown as z.ZodType<Hex>

/** An address. */
export const address: z.ZodType<Address> = hex(20, 'an address')
/** Key of an order at the venue. */
export const orderKey = hex(32, 'an order key, 32 bytes in hex')
/** An amount, USD. */
export const usdAmount = z
  .bigint()
  .meta(words({ expected: 'a bigint, USD with 30 decimals', write: "usd('#')" }))
/** USD per whole token. */
export const usdPrice = z
  .bigint()
  .meta(words({ expected: 'a bigint, USD with 30 decimals per whole token', write: "usd('#')" }))
/** An amount of a token. */
export const tokenAmount = z
  .bigint()
  .meta(
    words({ expected: "a bigint, in the token's smallest unit", write: "parseUnits('#', token.decimals)" }),
  )
/** Size / collateral. */
export const leverageBps = z.int().meta(words({ expected: 'whole basis points, 10000 = 1x' }))
/** A side. */
export const sideDirection = z.enum(['long', 'short'])
/** A text that says something. */
const sentence = z
  .string()
  .min(1)
  .meta(words({ expected: 'a sentence' }))
/** A whole number in a range. */
export const whole = (least: number, most: number) => z.int().min(least).max(most)

const fact = z.union([z.string(), z.number(), z.boolean()]).meta(
  words({
    expected: 'a text, a finite number, true or false (formatUsd(price) makes a text of an amount)',
  }),
)
/** Values that explain a decision. They are written to the journal as JSON, which has no bigint and no NaN. */
export const explaining = z
  .record(z.string(), fact)
  .meta(words({ expected: 'an object of texts, finite numbers and true or false' }))
  .readonly()

/** Fields at the end of every decision. */
export const explained = {
  reason: sentence.describe('One plain sentence: why. Logs and `perpd explain` show it.'),
  facts: explaining
    .exactOptional()
    .describe('Numbers and words behind the reason; `perpd explain` shows them.'),
}
