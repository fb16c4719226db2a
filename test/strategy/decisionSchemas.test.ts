/** Decisions whose verdict is kept: the schemas of decisions and the check that is made of them agree on each, and name the same wrong field. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decodeExact } from '../../src/domain/records.ts'
import { decisionProblem } from '../../src/strategy/decisionProblem.ts'
import { strategyDecision } from '../../src/strategy/strategyDecision.ts'

/** A decision, and the field that is wrong in it; absent: it is good. */
interface Kept {
  readonly decision: { readonly kind?: unknown }
  readonly field?: string
}

const corpus = decodeExact(
  readFileSync(join(import.meta.dirname, '../fixtures/decisions.json'), 'utf8'),
) as readonly Kept[]

test('each kept decision is refused for the field that was wrong in it, and each good one goes through', () => {
  const found = corpus.map(({ decision }) => decisionProblem(decision)?.field)
  expect(found).toEqual(corpus.map(({ field }) => field))
  const good = corpus.filter(({ field }) => field === undefined)
  expect([good.length > 20, corpus.length - good.length > 150]).toEqual([true, true])
})

test('the schema itself accepts and refuses the same', () => {
  const differs = corpus.filter(
    ({ decision, field }) => strategyDecision.safeParse(decision).success !== (field === undefined),
  )
  expect(differs).toEqual([])
})

test('an optional field may be there as undefined, and a needed one may not', () => {
  const stop = { kind: 'stop-task', label: 'one', reason: 'enough' }
  expect(decisionProblem({ ...stop, facts: undefined })).toBeUndefined()
  expect(decisionProblem({ ...stop, label: undefined })).toMatchObject({ field: 'label' })
})
