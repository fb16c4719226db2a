/**
 * Rules for the return values of a user's code: each tells whether a value is valid for its field. If not, it names the wrong value with its path and
 * text. Pure. A shown value is short: a message is read in a log, on one line.
 */

import { isObject } from '../base/isObject.ts'
import { WideDecimal } from '../protocol/units.ts'
import { didYouMean } from '../strategy/didYouMean.ts'

/** Fault of a value, or of one inside it. */
export interface Fault {
  /** From the value that was looked at to the wrong one: names of fields and places in lists. */
  readonly path: readonly (string | number)[]
  /** One clause that follows the path: `is 7; expected true or false`. */
  readonly clause: string
}

/** Rule for a field. */
export interface FieldRule {
  readonly faultOf: (value: unknown) => Fault | undefined
}

/** A rule that one test decides; `expected` follows "expected". */
export function rule(
  isGood: (value: unknown) => boolean,
  expected: string | ((value: unknown) => string),
): FieldRule {
  return {
    faultOf: (value) =>
      isGood(value)
        ? undefined
        : wrong(shown(value), typeof expected === 'string' ? expected : expected(value)),
  }
}

/** One of these values. */
export function oneOf(...values: readonly unknown[]): FieldRule {
  return rule((value) => values.includes(value), inWords(values.map(String), 'or'))
}

/** A value that may be absent. */
export function optional({ faultOf }: FieldRule): FieldRule {
  return { faultOf: (value) => (value === undefined ? undefined : faultOf(value)) }
}

/** A list whose every member keeps a rule; `members` are they in words. */
export function listOf(members: string, { faultOf }: FieldRule): FieldRule {
  return {
    faultOf(value) {
      if (!Array.isArray(value)) return wrong(shown(value), `a list of ${members}`)
      for (let at = 0; at < value.length; at += 1) {
        const fault = faultOf(value[at])
        if (fault !== undefined) return inside(at, fault)
      }
      return undefined
    },
  }
}

/**
 * Accepts an object with these fields and no other. `what` names it where a field is unknown, `otherNameOf` finds the field meant by names of other
 * programs.
 */
export function objectOf(
  what: string,
  rules: Readonly<Record<string, FieldRule>>,
  otherNameOf: (name: string, known: readonly string[]) => string | undefined = () => undefined,
): FieldRule {
  const known = Object.keys(rules)
  return {
    faultOf(value) {
      if (!isObject(value)) return wrong(shown(value), `an object with ${inWords(known, 'and')}`)
      const stranger = Object.keys(value).find((name) => !known.includes(name))
      if (stranger !== undefined) {
        const near = otherNameOf(stranger, known) ?? didYouMean(stranger, known)
        const hint = near === undefined ? `its fields are ${known.join(', ')}` : `did you mean ${near}?`
        return { path: [stranger], clause: `is not a field of ${what}; ${hint}` }
      }
      for (const [name, { faultOf }] of Object.entries(rules)) {
        const fault = faultOf(value[name])
        if (fault !== undefined) return inside(name, fault)
      }
      return undefined
    },
  }
}

/** An object with whatever names, whose every value keeps a rule. */
export function recordOf(expected: string, { faultOf }: FieldRule): FieldRule {
  return {
    faultOf(value) {
      if (!isObject(value)) return wrong(shown(value), expected)
      for (const [name, inner] of Object.entries(value)) {
        const fault = faultOf(inner)
        if (fault !== undefined) return inside(name, fault)
      }
      return undefined
    },
  }
}

/** Accepts a bigint. `unit` names its unit, `write` how a decimal text is written as one. */
export function bigintOf(unit: string, write: (decimal: string) => string): FieldRule {
  return {
    faultOf(value) {
      if (typeof value === 'bigint') return undefined
      const decimal = decimalOf(value)
      if (decimal === undefined) return wrong(shown(value), `a bigint, ${unit}: ${write('12.5')}`)
      return wrong(
        `the ${typeof value === 'number' ? 'number' : 'text'} ${shown(value)}`,
        `a bigint, ${write(decimal)}`,
      )
    },
  }
}

/** More than this is no amount as people write it, but one with its 30 decimals that was turned into a number. */
const MOST_WRITTEN = 1e15

/** Returns the amount that somebody meant by a number or a text; undefined where that cannot be decided. */
function decimalOf(value: unknown): string | undefined {
  if (typeof value === 'string') return /^\d{1,15}(\.\d{1,18})?$/.test(value) ? value : undefined
  if (typeof value !== 'number' || !(value > 0 && value < MOST_WRITTEN)) return undefined
  return new WideDecimal(value).toFixed()
}

function wrong(given: string, expected: string): Fault {
  return { path: [], clause: `is ${given}; expected ${expected}` }
}

function inside(name: string | number, { path, clause }: Fault): Fault {
  return { path: [name, ...path], clause }
}

/** `tpsl[0].triggerPrice`; with `[]` for every place in a list where `isOfAll`. */
export function pathText(path: readonly (string | number)[], isOfAll = false): string {
  return path
    .map((step, at) => {
      if (typeof step === 'number') return isOfAll ? '[]' : `[${step}]`
      if (!/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(step) && at > 0) return `[${shown(step)}]`
      return at === 0 ? cut(step) : `.${cut(step)}`
    })
    .join('')
}

/** A value in a few words: scalars as they are written, anything else by its shape. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case 'bigint':
      return cut(`${value}n`)
    case 'string':
      return cut(JSON.stringify(value))
    case 'function':
      return 'a function'
    case 'object':
      return value === null ? 'null' : shapeOf(value)
    default:
      return String(value)
  }
}

/** Names of an object's fields that are shown. */
const MOST_NAMES = 6

function shapeOf(value: object): string {
  if (Array.isArray(value)) {
    return value.length === 0 ? 'an empty list' : `a list of ${value.length}`
  }
  const names = Object.keys(value).map(cut)
  if (names.length === 0) return 'an object without fields'
  const [few, others] = [names.slice(0, MOST_NAMES), names.length - MOST_NAMES]
  return `an object with ${others > 0 ? `${few.join(', ')} and ${others} more` : inWords(few, 'and')}`
}

/** `a, b and c`. */
function inWords(words: readonly string[], last: 'and' | 'or'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`
}

/** Longest text of a value, characters: an order key in quotes fits. */
const LONGEST = 68

function cut(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text
}
