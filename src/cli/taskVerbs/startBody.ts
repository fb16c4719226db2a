/** Bodies of `perpd task start`: its flags as the fields of the kind's body, by the schema of the kind. */
import { isatty } from 'node:tty'
import type { z } from 'zod'
import { typedPercentBps } from '../../base/typedNumber.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { didYouMean } from '../../config/suggest.ts'
import { commandRows } from '../../operator/commands/index.ts'
import { taskNames } from '../../operator/taskForms.ts'
import { taskRows } from '../../tasks/taskRows.ts'
import type { Call } from '../call/command.ts'
import { timesFlag, wrongValue } from '../call/numberFlags.ts'
import { fieldOf, typedValue } from '../call/sendRow.ts'
import { choose } from '../call/whoAsks.ts'
import { directionOf, poolOf } from '../verbs/manualOrderCommand.ts'

type Flags = Call['flags']
type Fields = Readonly<Record<string, unknown>>

const [line] = commandRows.startTask.cli
const known = line?.flags ?? []
const weightsExample =
  'perpd task start rebalance "ETH/USD [WETH-USDC]=50%,BTC/USD [BTC-USDC]=-30%" --total 5000 --leverage 2'

/** The call with the kind that is chosen at the terminal, where none was given. Throws CommandError with the kinds where nobody can be asked. */
export async function withKind(call: Call): Promise<Call> {
  const { positionals, flags } = call
  if (positionals.length > 0) return call
  const isAsked = isatty(0) && !flags.has('yes')
  const at = isAsked
    ? await choose(
        'Which kind of task?',
        taskRows.map(({ name, does }) => `${name}: ${does}`),
        { names: taskRows.map(({ name }) => name), width: call.width },
      )
    : undefined
  const kind = at === undefined ? undefined : taskRows[at]?.name
  if (kind === undefined) throw misused(`task start needs a kind: ${taskNames}.`)
  return { ...call, positionals: [kind] }
}

/** The body without its id. Throws CommandError where a flag is missing, or is of another kind. */
export function startBody({ flags, positionals }: Call): Fields {
  const [word = '', second, third] = positionals
  const row = taskRows.find(({ name }) => name === word)
  if (row === undefined) {
    const names = taskRows.map(({ name }) => name)
    throw new CommandError(
      `No task kind ${word}; expected ${taskNames}.${didYouMean(word, names)}`,
      exitCodes.notFound,
    )
  }
  const { name: kind, works, oneOf = [] } = row
  const shape: Shape = row.body.shape
  const isOwn = (name: string) => fieldIn(shape, name) !== undefined
  const stray = known.find(({ name }) => flags.has(name) && !isOwn(name) && !common.includes(name))
  if (stray !== undefined) {
    const own = known
      .filter(({ name }) => isOwn(name) && !common.includes(name))
      .map(({ name }) => `--${name}`)
    throw misused(`--${stray.name} belongs to another kind; a ${kind} has ${own.join(' ')}.`)
  }
  const place = works === 'none' ? weightsOf(second, third) : sideOf(row, second, third)
  const body: Fields = { kind, ...place, ...fieldsOf(flags, shape) }
  if (works === 'either') return { ...body, ...opening(flags) }
  if (oneOf.length > 0 && oneOf.filter((field) => body[field] !== undefined).length !== 1) {
    const given = known.filter(({ name }) => oneOf.includes(fieldIn(shape, name) ?? ''))
    const each = given.map(({ name }) => exampleWith(name)).join(' or ')
    throw misused(`A ${kind} needs exactly one of ${each}.`)
  }
  return body
}

/** Flags of the command itself, and of its budget. */
const common = ['max-orders', 'max-fees', 'max-minutes', 'yes', 'id', 'by', 'json']

type Shape = Readonly<Record<string, z.core.$ZodType>>

/** The field of a body that a flag gives: `--every` gives `everySeconds`, `--step` gives `stepBps`, `--own` the route. */
function fieldIn(shape: Shape, flag: string): string | undefined {
  const name = flag === 'own' ? 'route' : fieldOf(flag)
  if (name === 'id') return undefined
  return [name, `${name}Bps`, `${name}Seconds`].find((each) => Object.hasOwn(shape, each))
}

/** The fields that flags give, the needed ones first. Throws CommandError. */
function fieldsOf(flags: Flags, shape: Shape): Fields {
  const body: Record<string, unknown> = {}
  for (const flag of known) {
    const field = fieldIn(shape, flag.name)
    const schema = field === undefined ? undefined : shape[field]
    if (field === undefined || schema === undefined) continue
    if (flags.has(flag.name)) {
      body[field] =
        field === 'route'
          ? 'own'
          : field === 'collateral'
            ? poolOf(flags.get('collateral'))
            : typedValue(flags, flag, schema, field)
    } else if (schema._zod.def.type !== 'default' && schema._zod.def.type !== 'optional') {
      const example = exampleWith(flag.name)
      throw misused(`--${flag.name} is missing, for example: ${example}`)
    }
  }
  return body
}

/** The value of a flag in an example of the command's help. */
function exampleWith(flag: string): string {
  const found = (line?.examples ?? []).map((each) => new RegExp(`--${flag} \\S+`).exec(each)?.[0])
  return found.find((each) => each !== undefined) ?? `--${flag}`
}

function sideOf(
  { name, example }: (typeof taskRows)[number],
  market: string | undefined,
  direction: string | undefined,
): Fields {
  if (market === undefined || direction === undefined)
    throw misused(`Give market and direction, for example: perpd task start ${name} ${example}`)
  return { market, direction: directionOf([market, direction]) }
}

function weightsOf(weights: string | undefined, extra: string | undefined): Fields {
  if (weights === undefined || extra !== undefined)
    throw misused(`Give the weights of markets in one word: ${weightsExample}`)
  return { weights: weightsIn(weights, weightsExample) }
}

/** `ETH=50%,BTC=-30%` as basis points by market, each of which stands there once. Throws CommandError. */
function weightsIn(weights: string, example: string): Readonly<Record<string, number>> {
  const found = new Map<string, number>()
  for (const part of weights.split(',')) {
    const [, market = '', percent = ''] = /^\s*(.+?)\s*=\s*(\S+?)\s*$/.exec(part) ?? []
    const basisPoints = typedPercentBps(percent)
    if (basisPoints === undefined)
      throw wrongValue(
        `${part.trim() === '' ? 'An empty part' : part.trim()} is not a weight in ${weights}; expected percents by market, with a decimal point, negative for a short: ${example}`,
      )
    if (found.has(market)) throw wrongValue(`${market} has two weights in ${weights}; keep one.`)
    found.set(market, basisPoints)
  }
  return Object.fromEntries(found)
}

/** Fields that say whether the task reduces or opens, and the leverage of one that opens. */
function opening(flags: Flags): Fields {
  const leverage = timesFlag(flags, 'leverage')
  const isReduce = flags.has('reduce')
  if (isReduce === (leverage !== undefined))
    throw misused(
      isReduce ? '--leverage is for opening: leave it out with --reduce.' : 'Give the leverage: --leverage 2',
    )
  return isReduce ? { reduce: true } : { leverage }
}

/** A flag or an argument that is missing, or that is there and must not be. */
function misused(message: string): CommandError {
  return new CommandError(message, exitCodes.configuration)
}
