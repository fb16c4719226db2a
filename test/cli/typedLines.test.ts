/** Command lines as people type them: what is meant goes through, and what could be meant in two ways is refused with the way to type it. */
import { describe, expect, test } from 'vitest'
import { parseArguments } from '../../src/cli/call/command.ts'
import { commands } from '../../src/cli/commandTable.ts'
import { perpd } from './run.ts'

const market = 'ETH/USD [WETH-USDC]'

function parse(name: string, ...argv: readonly string[]) {
  const command = commands.find((each) => each.name === name)
  if (command === undefined) throw new Error(`there is no command ${name}`)
  return parseArguments(command, argv)
}

describe('what could be meant in two ways is refused', () => {
  test.each([
    [['--size', '50', '--size', '60'], '--size is given twice, as 50 and as 60'],
    [['--size=50', '--leverage=2', '--leverage', '3'], '--leverage is given twice, as 2 and as 3'],
    [['--size', '--leverage', '2'], '--size needs a value'],
    [['--limit', '--yes'], '--limit needs a value'],
    [['—size', '50'], 'Did you mean --size?'],
    [['–size=50'], 'Did you mean --size=50?'],
    [['−size', '50'], 'Did you mean --size?'],
    [['size=50', 'leverage=2'], 'long --size 50 --leverage 2\n'],
    [['50', 'leverage=2'], '--leverage 2 --size 50\n'],
  ])('%j', (words, said) => {
    expect(() => parse('open', market, 'long', ...words)).toThrow(said)
  })

  test('a symbol without its quotes is shown with them', () => {
    expect(() => parse('open', 'ETH/USD', '[WETH-USDC]', 'long')).toThrow(JSON.stringify(market))
    expect(() => parse('close', 'ETH/USD', '[WETH-USDC]', 'long', '--yes')).toThrow(JSON.stringify(market))
  })

  test.each([
    ['cancel', ['']],
    ['task stop', [' ']],
    ['explain', ['']],
    ['strategies pause', ['\t']],
    ['open', ['', 'long']],
    ['limits tighten', ['maxLeverage', '']],
  ])('an empty argument of %s, as a script leaves it: %j', (name, words) => {
    expect(() => parse(name, ...words)).toThrow('An argument is empty')
  })
})

test('what is meant goes through: the same flag with the same value, what is behind two dashes, a negative number', async () => {
  expect(parse('open', market, 'long', '--size', '50', '--size=50').flags.get('size')).toBe('50')
  expect(parse('open', '--size=50', '--', market, 'long').positionals).toEqual([market, 'long'])
  expect(parse('strategies set', 'mine', 'params.shift', '-0.5').positionals.at(-1)).toBe('-0.5')
  expect(parse('trading', 'halted', '--reason', '- all of it -').flags.get('reason')).toBe('- all of it -')
  const { code, out } = await perpd('/', ['--', 'version'])
  expect([code, out]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+$/)])
})
