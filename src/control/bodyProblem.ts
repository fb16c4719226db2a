/** Describes the faults of a command's body for the person who typed it. */
import type { z } from 'zod'
import { shownValue } from '../base/boundedJson.ts'

type Issue = z.core.$ZodIssue

/** Most characters of a refused value that are shown. */
const MOST_SHOWN = 60

/** Names of fields as people know them; others are told as they are written. */
const names: Readonly<Record<string, string>> = {
  by: 'the name of who commands',
  reason: 'the reason',
  shareBps: 'the share',
  market: 'the market',
  value: 'the value',
  field: 'the field',
}

/** One problem as a clause: `the reason has more than 200 characters`. */
export function bodyProblem(issue: Issue): string {
  const field = issue.path.join('.')
  const name = field === '' ? 'the body' : (names[field] ?? field)
  const isShare = field === 'shareBps'
  const figure = (value: number | bigint) => (isShare ? `${Number(value) / 100} percent` : String(value))
  switch (issue.code) {
    case 'too_big':
      return issue.origin === 'string'
        ? `${name} has more than ${issue.maximum} characters`
        : `${name} is more than ${figure(issue.maximum)}`
    case 'too_small':
      return issue.origin === 'string' ? `${name} is empty` : `${name} is less than ${figure(issue.minimum)}`
    case 'invalid_type':
      if (issue.message.endsWith('received undefined')) return `${name} is missing`
      return `${name} is ${shown(issue.input)}, which is no ${isShare ? 'percentage with at most two digits after the point' : (typeWords[issue.expected] ?? issue.expected)}`
    case 'invalid_value':
      return `${name} is none of ${issue.values.map(String).join(', ')}`
    case 'unrecognized_keys':
      return `${name} has fields that no such command has: ${issue.keys.join(', ')}`
    default:
      return typeof issue.input === 'string'
        ? `${name} is ${shown(issue.input)}; expected ${issue.message}`
        : `${name}: ${issue.message}`
  }
}

/** A value as it was sent, cut where it is long. */
function shown(value: unknown): string {
  const text = shownValue(value)
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text
}

const typeWords: Readonly<Record<string, string>> = {
  int: 'whole number',
  string: 'text',
  boolean: 'true or false',
  object: 'object of fields',
}
