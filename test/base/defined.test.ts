import { expect, it } from 'vitest'
import { defined, someOf } from '../../src/base/defined.ts'

it('keeps what has a value, null, zero and an empty text included, and leaves out what is undefined', () => {
  const fields = { none: undefined as string | undefined, nothing: null, zero: 0n, empty: '', no: false }
  expect(Object.entries(defined(fields))).toEqual([
    ['nothing', null],
    ['zero', 0n],
    ['empty', ''],
    ['no', false],
  ])
})

it('gives a list with an element as it is, and nothing for an empty one', () => {
  const list = [0n]
  expect(someOf(list)).toBe(list)
  expect(someOf([])).toBeUndefined()
})
