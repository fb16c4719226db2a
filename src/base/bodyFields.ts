/** Fields that bodies of commands share. */
import { z } from 'zod'
import { decimalForm, typedDecimal, typedPlace } from './typedNumber.ts'

/** One line of text of at most so many characters. */
export const line = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .refine((text) => !/\p{Cc}/u.test(text), 'one line of text')
/** Name of the person or program that gives the command. */
export const by = line(80)
/** Why it is given, for the journal. */
export const reason = line(200).default('no reason given')
/** True if what is looser takes effect too. */
export const confirm = z.boolean().default(false)

/** Forms in which a person types a field: `$250`, `2x`, `25%`. */
export type Typed = 'dollars' | 'times' | 'timesBps' | 'percent' | 'place'
/** Marks a field with its form. */
export const typed = (as: Typed) => ({ typed: as })
/** A decimal number above zero as a person types it, with at most so many digits after the point; its plain digits in code. */
const decimal = (digits: number, as: Typed) =>
  z
    .string()
    .refine((text) => typedDecimal(text, digits) !== undefined, decimalForm(digits, '250 or 0.5'))
    .meta(typed(as))
    .transform((text) => typedDecimal(text, digits) ?? text)
/** Times, as a leverage. */
export const times = decimal(4, 'times')
/** The id that an order by hand is carried out once by. */
export const commandId = z
  .string()
  .regex(/^[A-Za-z0-9._-]{4,40}$/, '4 to 40 letters, digits, dots, dashes or underscores')
/** Direction of a position. */
export const direction = z.enum(['long', 'short'])
/** A token of a market's pool. */
export const pool = z.enum(['long', 'short'])
/** USD, and USD per whole token. */
export const dollars = decimal(18, 'dollars')
/** A share, bps. */
export const shareBps = z.number().int().min(1).max(10_000).meta(typed('percent'))
/** A share of the equity, bps: with leverage up to ten times of it. */
export const equityShare = z.number().int().min(1).max(100_000).meta(typed('percent'))
/** Words of the form of an exit's place. */
const placeForm = 'a price as 1800 or 0.25, or a distance from the entry price as 3% or 2.5%, below 100%'
/** A place as it is typed, in plain digits in code. */
const placeOr = (also: readonly string[], form: string) =>
  z
    .string()
    .refine((text) => also.includes(text) || typedPlace(text) !== undefined, form)
    .meta(typed('place'))
    .transform((text) => typedPlace(text) ?? text)
/** Place of an exit: USD per whole token, or with a percent sign its distance from the entry price, in percent of that price. */
export const exitPlace = placeOr([], placeForm)
/** The same; `none`: that exit is removed. */
export const exitPlaceOrNone = placeOr(['none'], `${placeForm}; or none`)
