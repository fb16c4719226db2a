/** One field of a strategy file is changed in its text, and nothing else of it. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { setField } from '../../src/engine/roster/setField.ts'
import { shippedStrategies } from '../support/shippedFiles.ts'

type Fields = Record<string, unknown>

const text = `# Follows the trend of ETH.
kind: trend                       # what it is
market: "ETH/USD [WETH-USDC]"     # full symbol

size:
  usd: 300                        # size of one order
  leverage: 2

params:
  period: "5m"                    # length of a candle
  fastCandles: 12                 # the fast one

exit: { stopLoss: { bps: 300 } }
markets: [a, b]
`

test('a value is replaced where it stands, with its comment, its place and everything else as they were', () => {
  expect(setField(text, 'params.fastCandles', '20')).toEqual({
    ok: true,
    was: '12',
    text: text.replace('fastCandles: 12 ', 'fastCandles: 20 '),
  })
  expect(setField(text, 'params.period', '"15m"')).toMatchObject({
    was: '"5m"',
    text: text.replace('"5m"', '"15m"'),
  })
  expect(setField(text, 'exit.stopLoss.bps', '400')).toMatchObject({
    text: text.replace('bps: 300', 'bps: 400'),
  })
})

test('a field that was left out gets a line of its own after the last one of its block, and after its comment', () => {
  const inParams = setField(text, 'params.slowCandles', '48')
  expect(inParams).toMatchObject({ ok: true })
  expect(inParams.ok && inParams.text).toBe(
    text.replace('# the fast one\n', '# the fast one\n  slowCandles: 48\n'),
  )
  const atTop = setField(text, 'cadenceSeconds', '5')
  expect(atTop.ok && atTop.text).toBe(`${text.trimEnd()}\ncadenceSeconds: 5\n`)
})

test.each([
  ['colour', '1', 'FIELD_UNKNOWN'],
  ['kind', 'grid', 'FIELD_NEEDS_RESTART'],
  ['market', '"BTC/USD [BTC-USDC]"', 'FIELD_NEEDS_RESTART'],
  ['params', '1', 'FIELD_NOT_ONE_VALUE'],
  ['params.nested.deep', '1', 'FIELD_NOT_ONE_VALUE'],
  ['exit.takeProfit', '5', 'FIELD_NOT_ONE_VALUE'],
  ['params.fastCandles', '1 # more', 'VALUE_NOT_ONE_VALUE'],
  ['params.fastCandles', '1\nlimits: {}', 'VALUE_NOT_ONE_VALUE'],
  ['params.fastCandles', '{ a: 1 }', 'VALUE_NOT_ONE_VALUE'],
  ['params.fastCandles', '"open', 'VALUE_NOT_ONE_VALUE'],
  ['params.fastCandles', '', 'VALUE_NOT_ONE_VALUE'],
])('%s as %s is refused as %s', (field, value, code) => {
  expect(setField(text, field, value)).toMatchObject({ ok: false, code })
})

test('whatever is set in a shipped file, the file says it then, and everything else as before', () => {
  const files = shippedStrategies.map((path) => readFileSync(path, 'utf8'))
  fc.assert(
    fc.property(
      fc.constantFrom(...files),
      fc.constantFrom(
        'cadenceSeconds',
        'slippageBps',
        'limits.maxOrdersPerHour',
        'params.anyThing',
        'size.usd',
      ),
      fc.oneof(fc.integer({ min: 1, max: 1_000_000 }), fc.boolean(), fc.constant('long')),
      (before, field, value) => {
        const changed = setField(before, field, String(value))
        if (!changed.ok) return
        const [was, is] = [parse(before) as Fields, parse(changed.text) as Fields]
        const path = field.split('.')
        const key = path.at(-1) ?? ''
        const holder = (root: Fields): Fields =>
          path.slice(0, -1).reduce<Fields>((node, each) => (node[each] ?? {}) as Fields, root)
        expect(holder(is)[key]).toBe(value)
        delete holder(is)[key]
        delete holder(was)[key]
        expect(is).toEqual(was)
        const comments = (each: string) => each.match(/#.*/g)
        expect(comments(changed.text)).toEqual(comments(before))
      },
    ),
    { seed: 5, numRuns: 500 },
  )
})
