/** The market model against contract and client results, to the unit (a few vectors of every function). */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { givenOf, type Vector, wantedOf } from '../math/vectors.ts'

const { vectors }: { readonly vectors: readonly Vector[] } = JSON.parse(
  readFileSync(new URL('../fixtures/math/vectors.json', import.meta.url), 'utf8'),
)

for (const name of new Set(vectors.map((vector) => vector.function))) {
  test(`${name} gives the venue's numbers to the unit`, () => {
    for (const vector of vectors.filter((one) => one.function === name)) {
      expect(givenOf(vector), vector.id).toEqual(wantedOf(vector))
    }
  })
}
