/** Every field that the notes on the wire list is read, as it was sent, and nothing is made of what is not there. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DecodeError } from '../../src/api/transport/apiErrors.ts'
import { ask, bodyOf, names, valueAt, withValue } from './decoders.ts'
import { wireFields } from './wireFields.ts'

/** Fields whose absence is documented to mean false or zero. */
const absentMeansNone: ReadonlySet<string> = new Set([
  'isSpotOnly',
  'synthetic',
  'isStable',
  'isNative',
  'isWrapped',
  'isSynthetic',
  'provisional',
  // Not a flag: without it the formula has none (gaps: conflict 4).
  'oracleDecimals',
])

/**
 * Fields that decide nothing, and must not cost what comes with them: an odd one is left out, as if it were not there. What
 * identifies is not among them, nor any amount that something is decided by.
 */
const leftOut: Readonly<Record<string, readonly string[]>> = {
  prepare: ['idempotencyKey', 'traceId'],
  submit: [
    'requestId',
    'taskId',
    'txHash',
    'createdTxnHash',
    'executionTxnHash',
    'cancellationReason',
    'error',
    'traceId',
  ],
  'relay-submit': ['status'],
  'relay-status': ['txHash', 'reason', 'revertData'],
  // Further figures of a position are for people: one that cannot be read must not hide the position.
  'positions-with-orders': [
    'pendingBorrowingFeesUsd',
    'pendingFundingFeesUsd',
    'pendingClaimableFundingFeesUsd',
    'closingFeeUsd',
    'uiFeeUsd',
    'fundingFeeAmount',
    'claimableLongTokenAmount',
    'claimableShortTokenAmount',
    'positionFeeAmount',
    'traderDiscountAmount',
    'uiFeeAmount',
    'pendingImpactAmount',
    'remainingCollateralAmount',
    'pnlPercentage',
    'pnlAfterFeesPercentage',
    'pnlAfterAllFees',
    'pnlAfterAllFeesPercentage',
    'netValueAfterAllFees',
    'netPriceImapctDeltaUsd',
    'priceImpactDiffUsd',
    'pendingImpactUsd',
    'closePriceImpactDeltaUsd',
    'leverageWithPnl',
    'leverageWithoutPnl',
    'hasLowCollateral',
    'isOpening',
    'indexName',
    'poolName',
    'data',
  ],
}
const alikeFor: Readonly<Record<string, string>> = { status: 'submit', 'withdraw-status': 'submit' }

function isLeftOut(fixture: string, field: string): boolean {
  return leftOut[alikeFor[fixture] ?? fixture]?.includes(field) === true
}

test.each(wireFields)('$fixture $at: what decides nothing is left out when it is odd', async (table) => {
  const { fixture, at, names: fields } = table
  const body = JSON.parse(bodyOf(fixture)) as unknown
  for (const field of fields.filter((each) => isLeftOut(fixture, each))) {
    const without = withValue(body, [...at, field], undefined)
    for (const odd of [[['payload-mismatch']], 7, false, ...(field === 'status' ? [] : [''])]) {
      // An id that is there and is not ours is refused.
      const read = ask(fixture, withValue(body, [...at, field], odd)).catch((error: unknown) => error)
      if (field === 'requestId') expect(await read).toBeInstanceOf(DecodeError)
      else expect(await read, field).toMatchObject({ value: (await ask(fixture, without)).value })
    }
  }
})

test.each(wireFields)(
  '$fixture $at: every field of the wire is read',
  async ({ fixture, at, names: fields }) => {
    const body = JSON.parse(bodyOf(fixture)) as unknown
    const unread: string[] = []
    for (const field of fields.filter((each) => !isLeftOut(fixture, each))) {
      // No field is a word inside a list inside a list; so what is read must be refused.
      const error = await ask(fixture, withValue(body, [...at, field], [['payload-mismatch']])).catch(
        (thrown: unknown) => thrown,
      )
      const isNamed = error instanceof DecodeError && error.path.split(/[.[]/).includes(field)
      if (!isNamed) unread.push(field)
    }
    expect(unread).toEqual([])
  },
)

test.each(wireFields)('$fixture $at: a field of a newer venue changes nothing', async ({ fixture, at }) => {
  const body = JSON.parse(bodyOf(fixture)) as unknown
  const newer = withValue(body, [...at, 'aFieldOfTomorrow'], { deep: ['1.5', null] })
  // The echo is verbatim; figures of the stats are read under whatever name they have.
  const { echo: _newer, ...got } = (await ask(fixture, newer)).value as Record<string, unknown>
  const { echo: _body, ...wanted } = (await ask(fixture, body)).value as Record<string, unknown>
  expect(got).toEqual(wanted)
})

test.each(wireFields)('$fixture $at: null is refused or stays nothing, it is never a zero', async (table) => {
  const { fixture, at, names: fields } = table
  const body = JSON.parse(bodyOf(fixture)) as unknown
  const readWith = (field: string, value: unknown) =>
    ask(fixture, withValue(body, [...at, field], value)).then(
      (read) => ({ value: read.value }),
      () => undefined,
    )
  const zeroed: string[] = []
  for (const field of fields.filter((each) => !isLeftOut(fixture, each))) {
    const nothing = await readWith(field, null)
    if (nothing === undefined) continue
    for (const zero of ['0', 0, false]) {
      if (isDeepStrictEqual(nothing, await readWith(field, zero))) zeroed.push(field)
    }
  }
  expect(zeroed.filter((field) => !absentMeansNone.has(field))).toEqual([])
})

/** Every bigint below a value. */
function bigintsOf(value: unknown): readonly bigint[] {
  if (typeof value === 'bigint') return [value]
  if (value instanceof Map) return [...value.values()].flatMap(bigintsOf)
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(bigintsOf) : []
}

test.each(wireFields)('$fixture $at: an amount is read as it was sent, digit for digit', async (table) => {
  const { fixture, at, names: fields } = table
  const body = JSON.parse(bodyOf(fixture)) as unknown
  const isGroup = (field: string) => typeof (valueAt(body, [...at, field]) ?? '') === 'object'
  const leaves = fields.filter((field) => !isGroup(field))
  const before = bigintsOf((await ask(fixture, body)).value)
  const digits = fc.bigInt({ min: 10n ** 12n, max: 2n ** 200n })
  await fc.assert(
    fc.asyncProperty(digits, async (sent) => {
      for (const field of leaves) {
        const read = await ask(fixture, withValue(body, [...at, field], sent.toString())).catch(
          (error: unknown) => error,
        )
        // No amount, or a minimum above its maximum.
        if (read instanceof DecodeError) continue
        const amounts = bigintsOf((read as { readonly value: unknown }).value)
        // A count, a time or a text.
        if (isDeepStrictEqual(amounts, before)) continue
        // None is lost by it. The oracle's prices are scaled, of a token with 18 decimals here.
        expect(amounts.length, field).toBeGreaterThanOrEqual(before.length)
        expect(amounts.includes(sent) || amounts.includes(sent * 10n ** 18n), field).toBe(true)
      }
    }),
    { seed: 20261121, numRuns: 4 },
  )
})

test('every decoder has its fields listed', () => {
  const listed = new Set(wireFields.map(({ fixture }) => fixture))
  const bare = ['oracle-ping', 'oracle-candles', 'oracle-markets-state', 'risk-oracle-markets', 'apy']
  const alike = ['positions', 'edit-prepare', 'cancel-prepare', 'classic-prepare']
  expect(names.filter((name) => !listed.has(name)).sort()).toEqual([...bare, ...alike].sort())
})
