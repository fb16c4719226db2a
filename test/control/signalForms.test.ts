/** Fields of signals as senders fill them in: a refusal names the field and its form, and no word of a library. */
import { expect, test } from 'vitest'
import { readSignal } from '../../src/control/signalBody.ts'

const signal = {
  secret: 'x',
  sentAt: 1_795_784_849_000,
  nonce: 'abcdefgh1',
  strategy: 'eth-signal',
  action: 'long',
}
const read = (change: object) => readSignal({ body: { ...signal, ...change } })

test.each([
  [
    'sentAt',
    [1_795_784_849, '1795784849', '2026-11-23 14:05:00', '2026-02-30T00:00:00Z', '{{timenow}}', '', null],
    '13 digits',
  ],
  ['action', ['LONG', 'buy', '{{strategy.order.action}}', '', null, 1], 'one of long, short, flat, reverse'],
  ['market', ['{{ticker}}', 'BINANCE:ETHUSDT', '', null, 5], 'ETH/USD [WETH-USDC]'],
  [
    'size',
    [
      250,
      '250',
      '50%',
      {},
      { percent: 5 },
      { usd: '1,000' },
      { usd: '1e3' },
      { usd: null },
      { shareBps: '5000' },
      null,
    ],
    '{"usd": "250"}',
  ],
  ['stop', ['1,739.5', '{{close}}', 'NaN', '', -1, null], 'like "250"'],
  ['ttlSeconds', ['60', '5m', 0, 86_401, 1.5, null], 'whole seconds from 1 to 86400'],
  ['strategy', ['eth_signal', 'ETH', 'eth-signal.yaml', '', null], 'the name of a strategy file'],
  ['nonce', ['short', 12_345_678, 'x'.repeat(201), null], 'a text of 8 to 200 characters'],
])('%s', (field, values, form) => {
  for (const value of values) {
    const answer = read({ [field]: value })
    const reason = answer.ok ? 'taken' : answer.problem.reason
    expect([value, reason]).toEqual([value, expect.stringContaining(`${field}: expected `)])
    expect(reason).toContain(form)
  }
})

test('times with a zone go through, and mean the same moment', () => {
  const times = [
    '2026-11-27T13:47:29Z',
    '2026-11-27T13:47:29+00:00',
    '2026-11-27T14:47:29.000+01:00',
    1_795_787_249_000,
  ]
  const sent = times.map((sentAt) => {
    const answer = read({ sentAt })
    return answer.ok ? answer.message.terms.sentAtMs : answer.problem.reason
  })
  expect(new Set(sent)).toEqual(new Set([1_795_787_249_000]))
})
