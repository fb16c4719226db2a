/** Bodies of `perpd task start` for each kind: its flags as the fields of the body. */
import { typedPercentBps } from '../../base/typedNumber.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { type ExecutorKind, executorKinds } from '../../domain/tasks/executorState.ts'
import { parseUnits } from '../../protocol/units.ts'
import { taskRanges } from '../../tasks/taskStart.ts'
import type { Call } from '../call/command.ts'
import {
  dollarsFlag,
  percentFlag,
  timesFlag,
  type WholeBounds,
  wholeFlag,
  wrongValue,
} from '../call/numberFlags.ts'
import { directionOf, poolOf } from '../commands/manualOrderCommand.ts'

type Flags = Call['flags']
type Fields = Readonly<Record<string, unknown>>

/** Flags of each kind besides the budget; a flag of another kind is refused. */
const flagsOf: Readonly<Record<ExecutorKind, readonly string[]>> = {
  twap: ['size', 'parts', 'minutes', 'leverage', 'reduce', 'collateral', 'price', 'share', 'own'],
  accumulate: ['target', 'leverage', 'collateral', 'price', 'share', 'every', 'least'],
  ladder: ['size', 'rungs', 'leverage', 'collateral', 'growth', 'step', 'every', 'profit', 'stop'],
  chase: ['size', 'minutes', 'leverage', 'reduce', 'collateral', 'price', 'offset', 'step', 'every'],
  bracket: ['size', 'leverage', 'collateral', 'entry', 'take-profit', 'stop-loss'],
  rebalance: ['total', 'leverage', 'collateral', 'band', 'share', 'least'],
}
const common = ['max-orders', 'max-fees', 'max-minutes', 'yes', 'id', 'by', 'json']

/** The body without its id and budget. Throws CommandError where a flag is missing, or is of another kind. */
export function startBody({ flags, positionals }: Call): Fields {
  const [word = '', second, third] = positionals
  const kind = executorKinds.find((each) => each === word)
  if (kind === undefined) {
    throw new CommandError(
      `There is no task of the kind ${word}; there are ${executorKinds.join(', ')}.`,
      exitCodes.notFound,
    )
  }
  const own = flagsOf[kind]
  const stray = [...flags.keys()].find((name) => !own.includes(name) && !common.includes(name))
  if (stray !== undefined) throw misused(`--${stray} is of another kind; a ${kind} has --${own.join(' --')}.`)
  if (kind === 'rebalance') return rebalanceBody(flags, second, third)
  if (second === undefined || third === undefined)
    throw misused(
      `Say on which market, and whether long or short: perpd task start ${kind} "ETH/USD [WETH-USDC]" long`,
    )
  return { kind, market: second, direction: directionOf(third), ...pool(flags), ...bodies[kind](flags) }
}

/** The budget that the flags give. */
export function budgetOf(flags: Flags): Fields {
  return {
    ...wholes(flags, { 'max-orders': 'maxOrders', 'max-minutes': 'maxMinutes' }),
    ...numbers(flags, { 'max-fees': 'maxFees' }),
  }
}

const bodies: Readonly<Record<Exclude<ExecutorKind, 'rebalance'>, (flags: Flags) => Fields>> = {
  twap(flags) {
    need(flags, ['size', 'parts', 'minutes'], '--size 5000 --parts 10 --minutes 60')
    return {
      ...opening(flags),
      ...numbers(flags, { size: 'size', price: 'price' }),
      ...wholes(flags, { parts: 'parts', minutes: 'minutes' }),
      ...percents(flags, { share: 'shareBps' }),
      ...(flags.has('own') ? { route: 'own' } : {}),
    }
  },
  accumulate(flags) {
    need(flags, ['target', 'price', 'leverage'], '--target 5000 --price 1900 --leverage 2')
    return {
      ...numbers(flags, { target: 'target', price: 'price', leverage: 'leverage', least: 'least' }),
      ...wholes(flags, { every: 'everySeconds' }),
      ...percents(flags, { share: 'shareBps' }),
    }
  },
  ladder(flags) {
    need(flags, ['size', 'rungs', 'leverage'], '--size 1000 --rungs 5 --step 1% --leverage 2')
    if (flags.has('step') === flags.has('every'))
      throw misused('Say how far the rungs are apart: --step 1% by price, or --every 600 by time in seconds.')
    const growth = timesFlag(flags, 'growth')
    return {
      ...numbers(flags, { size: 'size', leverage: 'leverage' }),
      ...wholes(flags, { rungs: 'rungs', every: 'everySeconds' }),
      ...percents(flags, { step: 'stepBps', profit: 'profitBps', stop: 'stopBps' }),
      ...(growth === undefined ? {} : { growthBps: Number(parseUnits(growth, 4)) }),
    }
  },
  chase(flags) {
    need(flags, ['size', 'price', 'minutes'], '--size 1000 --price 1900 --minutes 30')
    return {
      ...opening(flags),
      ...numbers(flags, { size: 'size', price: 'price' }),
      ...wholes(flags, { minutes: 'minutes', every: 'everySeconds' }),
      ...percents(flags, { offset: 'offsetBps', step: 'stepBps' }),
    }
  },
  bracket(flags) {
    need(flags, ['size', 'leverage', 'stop-loss'], '--size 1000 --leverage 2 --stop-loss 1700')
    return numbers(flags, {
      ...{ size: 'size', leverage: 'leverage', entry: 'entry' },
      ...{ 'take-profit': 'takeProfit', 'stop-loss': 'stopLoss' },
    })
  },
}

function rebalanceBody(flags: Flags, weights: string | undefined, extra: string | undefined): Fields {
  const example =
    'perpd task start rebalance "ETH/USD [WETH-USDC]=50%,BTC/USD [BTC-USDC]=-30%" --total 5000 --leverage 2'
  if (weights === undefined || extra !== undefined)
    throw misused(`Say the weights of markets in one word: ${example}`)
  need(flags, ['total', 'leverage'], '--total 5000 --leverage 2')
  return {
    kind: 'rebalance',
    weights: weightsIn(weights, example),
    ...pool(flags),
    ...numbers(flags, { total: 'total', leverage: 'leverage', least: 'least' }),
    ...percents(flags, { band: 'bandBps', share: 'shareBps' }),
  }
}

/** `ETH=50%,BTC=-30%` as basis points by market, each of which stands there once. Throws CommandError. */
function weightsIn(weights: string, example: string): Readonly<Record<string, number>> {
  const found = new Map<string, number>()
  for (const part of weights.split(',')) {
    const [, market = '', percent = ''] = /^\s*(.+?)\s*=\s*(\S+?)\s*$/.exec(part) ?? []
    const basisPoints = typedPercentBps(percent)
    if (basisPoints === undefined)
      throw wrongValue(
        `${part.trim() === '' ? 'An empty part' : part.trim()} is no weight of ${weights}; expected percents by market, with a point for decimals and below 0 for a short: ${example}`,
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
      isReduce ? '--leverage is of what opens: not with --reduce.' : 'Say at what leverage: --leverage 2',
    )
  return isReduce ? { reduce: true } : { leverage }
}

function pool(flags: Flags): Fields {
  const collateral = poolOf(flags.get('collateral'))
  return collateral === undefined ? {} : { collateral }
}

function need(flags: Flags, names: readonly string[], example: string): void {
  const missing = names.find((name) => !flags.has(name))
  if (missing !== undefined) throw misused(`--${missing} is missing, for example: ${example}`)
}

/** Ranges and units of the flags with whole numbers; the control port enforces the same. */
const wholeFlags: Readonly<Record<string, WholeBounds>> = {
  every: { least: taskRanges.everySecondsLeast, most: taskRanges.everySecondsMost, unit: ' of seconds' },
  minutes: { least: 1, most: taskRanges.minutesMost, unit: ' of minutes' },
  'max-minutes': { least: 1, most: taskRanges.minutesMost, unit: ' of minutes' },
  'max-orders': { least: 1, most: taskRanges.ordersMost },
  parts: { least: 2, most: taskRanges.partsMost },
  rungs: { least: 2, most: taskRanges.rungsMost },
}

type Names = Readonly<Record<string, string>>

function numbers(flags: Flags, names: Names): Fields {
  return mapped(names, (name) => (name === 'leverage' ? timesFlag(flags, name) : dollarsFlag(flags, name)))
}

function wholes(flags: Flags, names: Names): Fields {
  return mapped(names, (name) => wholeFlag(flags, name, wholeFlags[name] ?? { least: 1, most: 999_999 }))
}

/** Percents as basis points. */
function percents(flags: Flags, names: Names): Fields {
  return mapped(names, (name) => percentFlag(flags, name))
}

function mapped(names: Names, read: (name: string) => unknown): Fields {
  const fields = Object.entries(names).map(([name, field]) => [field, read(name)] as const)
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

/** A flag or an argument that is missing, or that is there and must not be. */
function misused(message: string): CommandError {
  return new CommandError(message, exitCodes.configuration)
}
