/** Starts tasks from the page: each kind has a form, whose texts become the body that the daemon accepts. Pure. */
import {
  type CommandField,
  type FieldValues,
  type PageCommand,
  percentBps,
  wholeNumber,
} from './formCommand.ts'
import { texts } from './texts.ts'

const { startTask: words } = texts.commands

/** A kind that can be started from the page. */
export type StartedKind = keyof typeof words.kinds

/** The kinds, in the order of their buttons. */
export const startedKinds = Object.keys(words.kinds) as readonly StartedKind[]

type Body = Readonly<Record<string, unknown>>

/** Names of fields that go as they are typed, when they are. */
const typedFields: Readonly<Record<StartedKind, readonly string[]>> = {
  twap: ['size', 'price'],
  bracket: ['size', 'entry', 'stopLoss', 'takeProfit'],
  ladder: ['size'],
  chase: ['size', 'price'],
  accumulate: ['target', 'price'],
  rebalance: ['total'],
}
/** Form fields with a whole number; the next table maps form fields with a percentage to the body's field in basis points. */
const wholeFields = ['parts', 'minutes', 'rungs']
const percentFields: Readonly<Record<string, string>> = {
  step: 'stepBps',
  profit: 'profitBps',
  stop: 'stopBps',
}

const leverage: CommandField = { name: 'leverage', label: words.leverage, value: '2', isNumber: true }
const number = (name: keyof typeof words.fields, value = '', isOptional = false): CommandField => ({
  name,
  label: words.fields[name],
  value,
  isNumber: true,
  ...(isOptional ? { isOptional: true } : {}),
})
const action: CommandField = { name: 'action', label: words.action, value: 'open', choices: words.actions }
const openingLeverage: CommandField = { ...leverage, hint: words.leverageHint }

const ownFields: Readonly<Record<StartedKind, readonly CommandField[]>> = {
  twap: [
    action,
    number('size'),
    number('parts', '10'),
    number('minutes', '60'),
    openingLeverage,
    number('price', '', true),
  ],
  bracket: [
    number('size'),
    leverage,
    number('entry', '', true),
    number('stopLoss'),
    number('takeProfit', '', true),
  ],
  ladder: [
    number('size'),
    leverage,
    number('rungs', '5'),
    number('step', '1'),
    number('profit', '2', true),
    number('stop', '8', true),
  ],
  chase: [action, number('size'), number('minutes', '15'), openingLeverage, number('price')],
  accumulate: [number('target'), leverage, number('price')],
  rebalance: [
    { name: 'weights', label: words.weights, value: '', hint: words.weightsHint },
    number('total'),
    leverage,
  ],
}

/** Starts a task of a kind; what it would do is shown first. */
export function startTaskCommand(kind: StartedKind, symbols: readonly string[], id: string): PageCommand {
  const own = words.kinds[kind]
  const [first = ''] = symbols
  const side: readonly CommandField[] =
    kind === 'rebalance'
      ? []
      : [
          { name: 'market', label: words.market, value: first },
          { name: 'direction', label: words.direction, value: 'long', choices: words.directions },
        ]
  const fields = [...side, ...ownFields[kind]]
  const body = (values: FieldValues): Body => ({
    id,
    kind,
    ...(kind === 'rebalance'
      ? { weights: weightsOf(values.weights) }
      : { market: values.market?.trim() ?? '', direction: values.direction }),
    ...(values.action === 'reduce' ? { reduce: true } : given('leverage', values.leverage)),
    ...Object.assign({}, ...typedFields[kind].map((name) => given(name, values[name]))),
    ...figuresOf(values, fields),
  })
  return {
    title: own.title,
    effects: [own.effect, words.goesOn],
    path: '/api/tasks',
    fields,
    body,
    preview: (values) => ({ ...body(values), preview: true }),
    send: words.send,
  }
}

function given(name: string, value: string | undefined): Body {
  return value === undefined || value.trim() === '' ? {} : { [name]: value.trim() }
}

/** Whole numbers, and percents as basis points; the daemon says what is wrong with one that is none. */
function figuresOf(values: FieldValues, fields: readonly CommandField[]): Body {
  const body: Record<string, unknown> = {}
  for (const { name } of fields) {
    const text = values[name]?.trim() ?? ''
    const inBps = percentFields[name]
    if (text === '') continue
    if (wholeFields.includes(name)) body[name] = wholeNumber(text)
    else if (inBps !== undefined) body[inBps] = percentBps(text)
  }
  return body
}

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
