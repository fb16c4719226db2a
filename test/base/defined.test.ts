import { expect, it } from 'vitest'
import { defined } from '../../src/base/defined.ts'

it('keeps what has a value, null, zero and an empty text included, and leaves out what is undefined', () => {
  const fields = { none: undefined as string | undefined, nothing: null, zero: 0n, empty: '', no: false }
  expect(Object.entries(defined(fields))).toEqual([
    ['nothing', null],
    ['zero', 0n],
    ['empty', ''],
    ['no', false],
  ])
})
