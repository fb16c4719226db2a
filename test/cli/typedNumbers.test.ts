/** Numbers that people type: plain digits go through, and commas that can only group them; any other mark is refused by name wherever a number can be typed. */
import { expect, test } from 'vitest'
import { unitsOf } from '../../src/account/limitValue.ts'
import type { Call } from '../../src/cli/call/command.ts'
import { dollarsFlag, percentFlag, timesFlag, wholeFlag } from '../../src/cli/call/numberFlags.ts'
import { startBody } from '../../src/cli/taskVerbs/startBody.ts'
import { directionOf } from '../../src/cli/verbs/manualOrderCommand.ts'
import { percentBps } from '../../src/control/console/page/formCommand.ts'
import { startTaskCommand } from '../../src/control/console/page/pageCommands.ts'
import { parseCommand } from '../../src/control/parseCommand.ts'
import { commandRows } from '../../src/operator/commands/index.ts'

const marked = [
  '0,500',
  '0,001',
  '1,0000',
  '12,34,567',
  '1000,000',
  '1,000,',
  '1,234.5,678',
  '1.2.3',
  '-5',
  '1_000',
  "1'000",
  '1 000',
  '1.850,250',
  '1e3',
  '0x10',
  '+5',
  '5.',
  '.5',
  '٣',
  '',
]

const flagsOf = (fields: Readonly<Record<string, string>>): Call['flags'] => new Map(Object.entries(fields))

test.each(marked)('%j is no number at any flag, and the refusal names flag, value and form', (text) => {
  const read = [
    dollarsFlag,
    timesFlag,
    percentFlag,
    (flags: Call['flags'], name: string) => wholeFlag(flags, name, { least: 1, most: 9_999 }),
  ]
  const shown = /^[\x21-\x7e]/.test(text) ? text : JSON.stringify(text)
  for (const each of read) {
    expect(() => each(flagsOf({ size: text }), 'size')).toThrow(`--size is ${shown}`)
    expect(() => each(flagsOf({ size: text }), 'size')).toThrow('; expected ')
  }
})

test('a sign that is not seen is named by its code, so that nobody looks for it in vain', () => {
  for (const [text, code] of [
    ['100\u00a0', 'U+00A0'],
    ['1\u200b00', 'U+200B'],
    ['１００', 'U+FF11'],
    ['−5', 'U+2212'],
  ] as const)
    expect(() => dollarsFlag(flagsOf({ size: text }), 'size')).toThrow(code)
  expect(() => dollarsFlag(flagsOf({ size: ' 5 ' }), 'size')).toThrow('--size is " 5 "; expected')
})

test('a comma that can only group is read at every flag and field, in plain digits from then on', () => {
  const flags = flagsOf({ a: '61,493.10', b: '$1,234,567.5', c: '1,850', d: '1,000x', e: '2,500' })
  expect(['a', 'b', 'c'].map((name) => dollarsFlag(flags, name))).toEqual(['61493.10', '1234567.5', '1850'])
  expect(timesFlag(flags, 'd')).toBe('1000')
  expect(wholeFlag(flags, 'e', { least: 1, most: 9_999 })).toBe(2_500)
  const body = { id: 'abcd', market: 'ETH', direction: 'long', size: '1,234.5', leverage: '2', by: 'ann' }
  const parsed = parseCommand(commandRows.openPosition, { ...body, limit: '61,493.10', stopLoss: '60,000' })
  expect(parsed).toMatchObject({ command: { size: '1234.5', limit: '61493.10', stopLoss: '60000' } })
})

test('plain digits go through, with the sign of their unit before or behind them', () => {
  const flags = flagsOf({ a: '1250.5', b: '$99', c: '2.5x', d: '25%', e: '0.01', f: '60' })
  expect(['a', 'b'].map((name) => dollarsFlag(flags, name))).toEqual(['1250.5', '99'])
  expect(timesFlag(flags, 'c')).toBe('2.5')
  expect(['d', 'e'].map((name) => percentFlag(flags, name))).toEqual([2_500, 1])
  expect(wholeFlag(flags, 'f', { least: 1, most: 60 })).toBe(60)
})

test.each(['size', 'leverage', 'rungs', 'step', 'growth', 'max-fees', 'max-orders'])(
  'a task with a comma in --%s is refused before anything is asked',
  (name) => {
    const plain = {
      size: '1000',
      leverage: '2',
      rungs: '5',
      step: '1%',
      growth: '1.5',
      'max-fees': '5',
      'max-orders': '9',
    }
    const begin = (fields: Readonly<Record<string, string>>) => {
      const call = {
        flags: flagsOf(fields),
        positionals: ['ladder', 'ETH/USD [WETH-USDC]', 'long'],
      } as unknown as Call
      return startBody(call)
    }
    expect(begin(plain)).toMatchObject({ size: '1000', growthBps: 15_000, stepBps: 100 })
    expect(() => begin({ ...plain, [name]: '1,5' })).toThrow(`--${name} is 1,5; expected`)
  },
)

test('weights with a decimal comma, or of one market twice, are refused with the part that is meant', () => {
  const begin = (weights: string) =>
    startBody({
      flags: flagsOf({ total: '100', leverage: '2' }),
      positionals: ['rebalance', weights],
    } as unknown as Call)
  expect(begin('ETH=50.5%, BTC=-30')).toMatchObject({ weights: { ETH: 5_050, BTC: -3_000 } })
  expect(() => begin('ETH=50,5%,BTC=-30')).toThrow('5% is not a weight')
  expect(() => begin('ETH=50,ETH=30')).toThrow('ETH has two weights')
})

test.each([
  ['open', { size: '0,500' }, 'size is "0,500"; expected digits'],
  ['open', { leverage: '2,5' }, 'leverage is "2,5"; expected digits'],
  ['open', { limit: '0,125' }, 'limit is "0,125"; expected digits'],
  ['close', { shareBps: '50,5' }, 'the share is "50,5", which is no percentage'],
] as const)('the control port refuses %s with %j and names the value', (type, field, problem) => {
  const body = { id: 'abcd', market: 'ETH', direction: 'long', by: 'ann' }
  const whole = type === 'open' ? { ...body, size: '500', leverage: '2.5' } : body
  const row = type === 'open' ? commandRows.openPosition : commandRows.closePosition
  expect(parseCommand(row, whole).ok).toBe(true)
  const parsed = parseCommand(row, { ...whole, ...field })
  expect(parsed.ok ? '' : parsed.problem).toContain(problem)
})

test('a form hands on what it cannot read as it was typed, so that the refusal shows it', () => {
  const { body } = startTaskCommand('ladder', ['ETH/USD [WETH-USDC]'], 'abcd')
  const typed = { market: 'ETH', direction: 'long', size: '1,00', leverage: '2', rungs: '1,0', step: '1,5' }
  expect(body(typed)).toMatchObject({ size: '1,00', rungs: '1,0', stepBps: '1,5' })
  const parsed = parseCommand(commandRows.startTask, { ...body(typed), by: 'ann' })
  expect(parsed.ok ? '' : parsed.problem).toContain('rungs is "1,0", which is no')
  expect(['50.5', '50.5%', '-30'].map(percentBps)).toEqual([5_050, 5_050, -3_000])
  const { body: weighed } = startTaskCommand('rebalance', [], 'abcd')
  expect(weighed({ weights: 'ETH=50,BTC=-30', total: '100' })).toMatchObject({
    weights: { ETH: 5_000, BTC: -3_000 },
  })
  expect(weighed({ weights: 'ETH=50,5,BTC=-30', total: '100' })).toMatchObject({
    weights: 'ETH=50,5,BTC=-30',
  })
})

test('a limit that is tightened is typed as plain digits', () => {
  expect(unitsOf('maxOrderSizeUsd', '250')).toBe(250n * 10n ** 30n)
  for (const text of marked) expect(unitsOf('maxOrderSizeUsd', text)).toBeUndefined()
})

test('market and direction that changed places are told what was meant', () => {
  expect(directionOf(['BTC', 'short'])).toBe('short')
  expect(() => directionOf(['long', 'BTC'])).toThrow('the market comes first: BTC long')
  expect(() => directionOf(['BTC', 'up'])).toThrow('expected long or short')
})
