/** Bodies that a broken or hostile venue may send: every decoder answers with a DecodeError or with what the body says. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DecodeError } from '../../src/api/transport/apiErrors.ts'
import { ask, bodyOf, names, pathsOf, valueAt, withValue } from './decoders.ts'
import { failureOf, fixtureText } from './support.ts'

const poisons = fc.oneof(
  fc.constantFrom<unknown>(
    undefined,
    null,
    true,
    '',
    '-1',
    '1.5',
    '1e30',
    '0x1',
    ' 1',
    '01',
    'NaN',
    '1'.repeat(80),
    -1,
    1.5,
    2 ** 60,
    [],
    {},
    [null],
    '__proto__',
    '0xzz',
  ),
  fc.json().map((text) => JSON.parse(text) as unknown),
)

test.each(names)(
  '%s: one poisoned value is an error that names it, or changes nothing else',
  async (name) => {
    const body = JSON.parse(bodyOf(name)) as unknown
    const paths = pathsOf(body)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), poisons, async (path, poison) => {
        const result = await ask(name, withValue(body, path, poison)).then(
          ({ value }) => ({ value }),
          (error: unknown) => ({ error }),
        )
        if ('error' in result) expect(result.error).toBeInstanceOf(DecodeError)
      }),
      { seed: 20261120, numRuns: 400 },
    )
  },
)

test.each(names)('%s: arbitrary JSON is an error or a value, never a crash', async (name) => {
  await fc.assert(
    fc.asyncProperty(fc.json(), async (text) => {
      const error = await ask(name, text).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      if (error !== undefined) expect(error).toBeInstanceOf(DecodeError)
    }),
    { seed: 20261120, numRuns: 150 },
  )
})

const amountFields =
  /^(?:size|collateral|remaining|min|max|mark|median|entry|liquidation|pnl|net|position(?:Value|Fee)|available|base|jit|long|short|funding|borrowing|initial|trigger|acceptable|execution|callback|validFrom|feeAmount|userNonce|deadline|desChainId|leverage$|balance|allowance|cumulative|total|current|treasury|weekly|lifetime|recent|open|pool|rates|virtual|volume|fees|revenue|tvl|byNetwork|byVersion|arbitrum|v2|value|openInterest|high|low|close|nonce|composeGas|nativeFee|relayerFee|gasPaymentTokenAmount|marketTokenAmount|approvalNonce|multichain)/

/** Rows with the honest values where they lack some. */
function withGaps(rows: Record<string, unknown>, honest: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(rows).map(([at, row]) => [at, { ...(honest[at] as object), ...(row as object) }]),
  )
}

test.each(names)('%s: no amount survives as a float, an exponent or a fraction', async (name) => {
  const body = JSON.parse(bodyOf(name)) as unknown
  // The echo is opaque; unread fields of rows pass by. What is read must be refused.
  const amounts = pathsOf(body).filter(
    (path) =>
      amountFields.test(String(path.at(-1))) &&
      /^-?\d+$/.test(String(valueAt(body, path))) &&
      typeof valueAt(body, path) === 'string',
  )
  const honest = (await ask(name, body)).value
  for (const path of amounts) {
    for (const poison of ['1.5', '1e30', 1.5, 1e30, true, '0x10']) {
      // The document calls this one alone a decimal text; with a point it is read as dollars, exactly.
      if (poison === '1.5' && path.at(-1) === 'positionValueInUsd') continue
      const result = await ask(name, withValue(body, path, poison)).catch((error: unknown) => error)
      if (result instanceof DecodeError) continue
      // The field is not read: the value must not have changed, but for the echo, which is verbatim.
      const { echo: _echo, ...read } = (result as { value: Record<string, unknown> }).value
      const { echo: _honest, ...wanted } = honest as Record<string, unknown>
      // Further fields of a position are for people alone: one that cannot be read is absent, and none has another value.
      const isPosition = name.startsWith('positions')
      expect({ path, ...(isPosition ? { ...wanted, ...withGaps(read, wanted) } : read) }).toEqual({
        path,
        ...wanted,
      })
    }
  }
})

test.each([
  ['oracle-tickers', '[]', 'the body is an empty list'],
  ['markets', '[]', 'the body is an empty list'],
  ['markets-tickers', '{"message":"ok"}', 'the body is not a list'],
  ['oracle-candles', '{"candles":[[1800000000,1,2,3,1]]}', 'candles[0][2] is a high below the low'],
  ['oracle-candles', '{"candles":[[1800000000,1,null,1,1]]}', 'candles[0][2] is not a finite number'],
  ['oracle-candles', '{"candles":[[1800000000,1,1,0,1]]}', 'candles[0][3] is not a positive price'],
  [
    'trading-capacity',
    '{"availableLiquidity":"1"}',
    'baseAvailableLiquidity is not an unsigned whole number',
  ],
  ['trades', '{"trades":[],"nextCursor":null}', 'hasMore is not true or false'],
  ['submit', '{"requestId":"6f1c-0a7e"}', 'status is not a text with content'],
  ['relay-submit', '{"status":"pending"}', 'taskId is not a text with content'],
] as const)('%s: %s is refused in words', async (name, body, words) => {
  const error = await failureOf(ask(name, body))
  expect(error).toBeInstanceOf(DecodeError)
  expect((error as DecodeError).shortMessage).toContain(words)
})

test('a median outside min and max, and a minimum above the maximum, are refused', async () => {
  const tickers = JSON.parse(fixtureText('oracle-tickers')) as unknown
  expect(await failureOf(ask('oracle-tickers', withValue(tickers, [0, 'medianPrice'], '1')))).toMatchObject({
    path: '[0].medianPrice',
  })
  const market = JSON.parse(fixtureText('markets-tickers')) as unknown
  expect(
    await failureOf(ask('markets-tickers', withValue(market, [1, 'minPrice'], `9${'0'.repeat(34)}`))),
  ).toMatchObject({ path: '[1].minPrice' })
})
