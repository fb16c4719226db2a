/** Commands of the page before they are sent, made of the forms that the rows of operator commands have printed. Pure. */
import type { CommandForm, FormField } from '../../../operator/commandRow.ts'
import { commandForms } from './commandForms.ts'
import type { Answer, Status } from './pageWire.ts'

/** A field of a command's form. Values are texts; a command makes a body of them. */
export interface CommandField {
  readonly name: string
  readonly label: string
  readonly value: string
  /** Values that the field accepts; absent: free text. */
  readonly choices?: readonly { readonly value: string; readonly label: string }[]
  /** Suggestions for the field; other values may be typed as well. */
  readonly suggestions?: readonly { readonly value: string; readonly label: string }[]
  readonly isOptional?: true
  /** Most characters; absent: the field does not say. */
  readonly most?: number
  /** Returns a sentence on the fault of a value, which is then not sent; undefined: there is none. */
  readonly problem?: (value: string) => string | undefined
  readonly hint?: string
  /** A number pad on a phone. */
  readonly isNumber?: true
}

/** Values of a form, by the names of its fields. */
export type FieldValues = Readonly<Record<string, string>>

/** A command, before it is sent. */
export interface PageCommand {
  readonly title: string
  /** Effects of the command, a sentence each. */
  readonly effects: readonly string[]
  /** Facts of the moment that the command is about, a name and a value each. */
  readonly now?: (status: Status) => readonly (readonly [name: string, value: string])[]
  readonly path: string
  /** Its body, but for `by`. */
  readonly body: (values: FieldValues) => Readonly<Record<string, unknown>>
  readonly fields: readonly CommandField[]
  /** Words on the button that sends it. */
  readonly send: string
  /** Word that must be typed before the command can be sent. */
  readonly typed?: string
  /** The body of the same command that only tells what it would do; it must be seen before it is sent. */
  readonly preview?: (values: FieldValues) => Readonly<Record<string, unknown>>
  /** The body of the same command that only tells what it would find, shown as soon as it is there: the command does not wait for it. */
  readonly shown?: (values: FieldValues) => Readonly<Record<string, unknown>>
  /** Word that must be typed as well because of the preview's result; undefined: none. */
  readonly typedFor?: (seen: Answer) => string | undefined
  readonly isDanger?: true
  /** It is sent by old figures of the account too: it stops trading, or is no command of an account. */
  readonly isStop?: true
}

/** A percentage that was typed in basis points; what is none stays as it is typed, and the daemon refuses it by its value. */
export function percentBps(percent: string): number | string {
  const text = percent.trim()
  const [, sign, whole, fraction = ''] = /^(-?)(\d{1,3})(?:\.(\d{1,2}))?%?$/.exec(text) ?? []
  return whole === undefined ? text : Number(`${sign}${whole}${fraction.padEnd(2, '0')}`)
}

/** A whole number that was typed; what is none stays as it is typed, and the daemon refuses it by its value. */
function wholeNumber(typed: string): number | string {
  return /^\d{1,9}$/.test(typed) ? Number(typed) : typed
}

type Body = Readonly<Record<string, unknown>>

/** Facts that a form is filled with. */
export interface Filled {
  /** Values for the texts and the route, by the names in braces and behind colons. */
  readonly known?: FieldValues
  /** Fields of the body besides those of the form. */
  readonly body?: Body
  /** Values of the form's fields at the beginning. */
  readonly values?: FieldValues
  readonly suggestions?: Readonly<Record<string, CommandField['suggestions']>>
  readonly problems?: Readonly<Record<string, CommandField['problem']>>
}

/** A command from its form. An effect that is empty once it is filled is left out. */
export function formCommand(
  name: keyof typeof commandForms,
  { known = {}, body: more = {}, values: initial = {}, suggestions = {}, problems = {} }: Filled = {},
): PageCommand {
  const form = commandForms[name]
  const { fields = [], title, effects, send, typed, isDanger, preview } = form
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_, word: string) => known[word] ?? '')
  const body = (values: FieldValues): Body => ({ ...more, ...form.body, ...given(fields, values) })
  const { confirm: _, ...shownBody } = form.body ?? {}
  const previewOf = (values: FieldValues): Body => ({
    ...more,
    ...shownBody,
    ...given(fields, values),
    preview: true,
  })
  return {
    title: filled(title),
    effects: effects.map(filled).filter((effect) => effect !== ''),
    path: form.route.replace(/:(\w+)/, (_, word: string) => encodeURIComponent(known[word] ?? '')),
    fields: fields.map(({ gives: _, as: __, ...field }) => ({
      ...field,
      value: initial[field.name] ?? field.value ?? '',
      ...(suggestions[field.name] === undefined ? {} : { suggestions: suggestions[field.name] }),
      ...(problems[field.name] === undefined ? {} : { problem: problems[field.name] }),
    })) as readonly CommandField[],
    body,
    send,
    ...(typed === undefined ? {} : { typed }),
    ...(isDanger === undefined ? {} : { isDanger }),
    ...(preview === 'first' ? { preview: previewOf } : preview === 'meanwhile' ? { shown: previewOf } : {}),
  }
}

/** Names of the forms that a section of the page has a button for, in the order of the rows. */
export function formsAt(place: NonNullable<CommandForm['place']>): readonly (keyof typeof commandForms)[] {
  const names = Object.keys(commandForms) as readonly (keyof typeof commandForms)[]
  return names.filter((name) => commandForms[name].place === place)
}

function given(fields: readonly FormField[], values: FieldValues): Body {
  const body: Record<string, unknown> = {}
  for (const { name, gives = name, isOptional, as, value: initial = '' } of fields) {
    const text = (values[name] ?? initial).trim()
    if (as === 'loosen' || as === 'reduce' || as === 'own') {
      if (text === as) body[as === 'reduce' ? as : gives] = true
    } else if (text !== '' || isOptional !== true) {
      body[gives] = as === undefined ? text : valuesAs[as](text)
    }
  }
  if (body.reduce === true) delete body.leverage
  return body
}

const valuesAs = { percent: percentBps, whole: wholeNumber, weights: weightsOf }

/** `ETH=50, BTC=-30` as basis points by market, each once; a text that is none goes as it is typed, and is refused with its value. */
function weightsOf(text = ''): Body | string {
  const found = new Map<string, number | string>()
  for (const part of text.split(',')) {
    const [, market, percent = ''] = /^\s*([^=]+?)\s*=\s*(\S+)\s*$/.exec(part) ?? []
    if (market === undefined || found.has(market)) return text
    found.set(market, percentBps(percent))
  }
  return Object.fromEntries(found)
}
