/** The command that starts tasks on the command line, in the console and on the reference page, by the rows of the kinds. */
import { defined } from '../base/defined.ts'
import { formatUnits, USD_DECIMALS } from '../protocol/units.ts'
import type { TaskField } from '../tasks/taskFields.ts'
import { type AnyTaskRow, nounOf } from '../tasks/taskRow.ts'
import { taskRows } from '../tasks/taskRows.ts'
import { type CommandLine, directionName, marketName, type OwnFlag } from './commandLine.ts'
import type { CommandForm, FormField } from './commandRow.ts'

/** Names of the kinds in a sentence. */
export const taskNames = taskRows.map(({ name }) => name).join(', ')

/** The work of each kind, a line each. */
export const taskLines = taskRows.map(({ name, does }) => `${name}: ${does}`).join('\n')

/** A line of the command line for each kind. */
export const taskExamples = taskRows.map(({ name, example }) => `perpd task start ${name} ${example} --yes`)

/** Name of a field in the operator's body. */
const bodyName = (name: string, { typed = name }: TaskField): string => typed

/** A name without its unit, which the value has where a person types it. */
const plain = (name: string): string => name.replace(/(Bps|Seconds)$/, '')

/** Name of a field's flag. */
export function flagOf(name: string, field: TaskField): string {
  const typed = plain(bodyName(name, field)).replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return field.flagGives?.flag ?? typed
}

/** The flags of these kinds, with the kinds that each belongs to where there are several. */
export function taskFlags(rows: readonly AnyTaskRow[] = taskRows): readonly OwnFlag[] {
  const flags = new Map<string, { readonly value?: string; readonly meanings: Map<string, string[]> }>()
  for (const { name: kind, fields } of rows) {
    for (const [name, field] of Object.entries(fields)) {
      const { flagValue: value, flagGives } = field
      if (value === undefined && flagGives === undefined) continue
      const flag = flagOf(name, field)
      const known = flags.get(flag) ?? { ...defined({ value }), meanings: new Map() }
      flags.set(flag, known)
      const meaning = `${field.means}${initialText(field)}`
      known.meanings.set(meaning, [...(known.meanings.get(meaning) ?? []), kind])
    }
  }
  const of = (kinds: readonly string[]) => (rows.length === 1 ? '' : `${kinds.join(', ')}: `)
  const either = rows.filter(({ works }) => works === 'either').map(({ name }) => name)
  const leverage = `size / collateral of new exposure${either.length === 0 ? '' : '; not with --reduce'}`
  return [
    ...[...flags].map(([name, { meanings, ...value }]) => {
      const doc = [...meanings].map(([meaning, kinds]) => `${of(kinds)}${meaning}`).join('; ')
      return { name, ...value, doc }
    }),
    { name: 'leverage', value: 'N', doc: leverage },
    ...(either.length === 0
      ? []
      : [{ name: 'reduce', doc: `${of(either)}reduce the position instead of adding to it` }]),
    { name: 'collateral', value: 'SIDE', doc: "long or short: which token of the market's pool" },
  ]
}

/** The help of each kind alone, by its name. `shared`: flags of every kind. */
export function taskHelps(shared: readonly OwnFlag[]): Readonly<Record<string, CommandLine>> {
  return Object.fromEntries(
    taskRows.map((row) => {
      const { name, does, doneWhen, works, example, oneOf = [] } = row
      const either = oneOf.map((field) => `--${flagOf(field, row.fields[field] as TaskField)}`)
      const place =
        works === 'none' ? { positional: weightsArgument } : { positional: marketName, more: [directionName] }
      return [
        name,
        {
          name: `task start ${name}`,
          summary: `Start ${nounOf(row)}: ${does}`,
          details: `It is done ${doneWhen}.${either.length === 0 ? '' : ` Give exactly one of ${either.join(' and ')}.`}`,
          ...place,
          flags: [...taskFlags([row]), ...shared],
          examples: [`perpd task start ${name} ${example} --yes`],
        },
      ]
    }),
  )
}

const weightsArgument = {
  name: 'weights',
  doc: 'weights of markets, as "ETH/USD [WETH-USDC]=50%,BTC/USD [BTC-USDC]=-30%"',
}

function initialText({ initial, show, flagValue }: TaskField): string {
  if (initial === undefined || flagValue === undefined) return ''
  const text =
    typeof initial === 'bigint'
      ? formatUnits(initial, USD_DECIMALS)
      : flagValue === 'PERCENT'
        ? Number(initial) / 100
        : show(initial as never)
  return `, ${text} when not given`
}

/** The fields of each kind's body, in a sentence. */
export function taskBodiesText(): string {
  const all = ['collateral', 'maxOrders', 'maxFees', 'maxMinutes']
  const listed = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ')
  const each = taskRows.map(({ name, body, fields, works }) => {
    const own = Object.entries(fields)
    const needed = own.filter(([, { given }]) => given === 'needed').map(([field, of]) => bodyName(field, of))
    const others = own.filter(([, { given }]) => given !== 'needed').map(([field, of]) => bodyName(field, of))
    const leverage = works === 'either' ? '`leverage` or `reduce`' : '`leverage`'
    const known = needed.filter((field) => field in body.shape)
    return `${name}: ${listed(known)}, ${leverage}${others.length === 0 ? '' : `; may have ${listed(others)}`}`
  })
  return `every kind may have ${listed(all)}. ${each.join('. ')}`
}

const side: readonly FormField[] = [
  { name: 'market', label: 'Market' },
  {
    name: 'direction',
    label: 'Side',
    value: 'long',
    choices: [
      { value: 'long', label: 'long' },
      { value: 'short', label: 'short' },
    ],
  },
]
const action: FormField = {
  name: 'action',
  label: 'Action',
  value: 'open',
  as: 'reduce',
  choices: [
    { value: 'open', label: 'open' },
    { value: 'reduce', label: 'reduce' },
  ],
}
const maxFees: FormField = {
  name: 'maxFees',
  label: 'Fees at most, USD',
  isOptional: true,
  isNumber: true,
  hint: 'needed where they may exceed 2% of the size',
}
const leverage: FormField = { name: 'leverage', label: 'Leverage', value: '2', isNumber: true }

/** Forms of the console, one for each kind by its name. */
export function taskForms(): Readonly<Record<string, CommandForm>> {
  return Object.fromEntries(taskRows.map((row) => [row.name, formOf(row)]))
}

function formOf(row: AnyTaskRow): CommandForm {
  const { name, does, works, fields } = row
  const [first, ...others] = Object.entries(fields).flatMap(([field, of]) => formField(field, of))
  return {
    title: `Start ${nounOf(row)}`,
    effects: [
      capital(does),
      'Its orders count as orders by hand and obey all limits. It resumes after restarts until it is done, stopped or out of budget.',
    ],
    fields: [
      ...(works === 'none' ? [] : side),
      ...(works === 'either' ? [action] : []),
      ...(first === undefined ? [] : [first]),
      works === 'either' ? { ...leverage, isOptional: true, hint: 'only for opening' } : leverage,
      ...others,
      maxFees,
    ],
    body: { kind: name },
    send: 'Start task',
    preview: 'first',
    place: 'tasks',
    button: `${capital(name)}…`,
  }
}

function capital(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`
}

function formField(name: string, field: TaskField): readonly FormField[] {
  const { form, given, flagValue } = field
  if (form === undefined) return []
  const [label, value] = form
  const gives = bodyName(name, field)
  const as = flagValue === undefined ? 'weights' : flagValue === 'PERCENT' ? 'percent' : 'whole'
  return [
    {
      name: plain(gives),
      ...defined({ gives: plain(gives) === gives ? undefined : gives }),
      label,
      ...defined({ value }),
      ...(flagValue === undefined
        ? { hint: 'ETH=50, BTC=-30; negative for a short, 0 to close' }
        : { isNumber: true }),
      ...(given === 'needed' ? {} : { isOptional: true }),
      ...(flagValue === 'USD' || flagValue === 'PRICE' ? {} : { as }),
    },
  ]
}
