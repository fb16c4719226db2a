/**
 * The table of docs/reference/messages.md held to the verifier, and the verifier to the table: each row has one rule here, each field of
 * each order one row; what a row says is signed is signed, and what it refuses is refused for the reason that it gives.
 */
import { describe, expect, test } from 'vitest'
import { batchTypes } from '../../../src/protocol/signing/batchTypes.ts'
import { changeNames, orderNames } from '../../support/messageScenes.ts'
import { type Change, type Rule, scenes, textOf } from '../../support/ruleCases.ts'
import { type RuleRow, readRuleTable } from '../../support/ruleTable.ts'
import { codeOf, judgeBatch, judgePrepared, wholeOf } from '../../support/wholeMessage.ts'
import { amountRules } from './amounts.ts'
import { answerRules } from './answer.ts'
import { changeRules } from './changes.ts'
import { messageRules } from './message.ts'
import { placeRules } from './places.ts'
import { priceRules } from './prices.ts'

const table = readRuleTable()
const sets = [placeRules, amountRules, priceRules, changeRules, messageRules, answerRules]
const rules: Readonly<Record<string, Rule>> = Object.assign({}, ...sets)
const keyOf = ({ field, holdsFor }: RuleRow): string => `${field} | ${holdsFor}`

test('every row of the table has one rule here, and every rule its row', () => {
  const rows = table.rows.map(keyOf)
  expect(new Set(rows).size).toBe(rows.length)
  expect([...rows].sort()).toEqual(Object.keys(rules).sort())
  expect(sets.flatMap((set) => Object.keys(set))).toHaveLength(rows.length)
})

test('every field of every order and update that can be signed has one row', () => {
  const rowsOf = (field: string, name: string) =>
    table.rows.filter((row) => row.field === field && table.namesOf(row.holdsFor).has(name)).length
  const fields = [
    ...batchTypes.CreateOrderAddresses.map(({ name }) => `addresses.${name}`),
    ...batchTypes.CreateOrderNumbers.map(({ name }) => `numbers.${name}`),
    ...batchTypes.CreateOrderParams.filter(({ type }) => !type.startsWith('CreateOrder')).map(
      ({ name }) => name,
    ),
  ]
  expect(fields).toHaveLength(22)
  for (const field of fields)
    for (const name of orderNames) expect(rowsOf(field, name), `${field} of ${name}`).toBe(1)
  for (const { name: field } of batchTypes.UpdateOrderParams)
    for (const name of ['edit', 'own update'])
      expect(rowsOf(`updateOrderParamsList[].${field}`, name), `${field} of ${name}`).toBe(1)
  for (const { name: field } of batchTypes.Batch) {
    const found = [`message.${field}`, field].map((name) => rowsOf(name, 'cancel'))
    expect(
      found.reduce((sum, count) => sum + count, 0),
      field,
    ).toBe(1)
  }
})

test('the groups of the table name every order and change that a scene is of, and nothing else', () => {
  const named = [...table.namesOf('every message')]
  expect(named.sort()).toEqual([...orderNames, ...changeNames].sort())
})

test('the honest message of every scene is signed, in an answer and alone', () => {
  for (const scene of scenes) {
    for (const judge of [judgePrepared, judgeBatch]) {
      const result = judge(wholeOf(scene))
      expect('kind' in result ? result.differences : [], textOf(scene)).toEqual([])
    }
  }
  expect(scenes.length).toBeGreaterThan(90)
})

/** Whether a difference's path names the row's field; of a list, whatever stands in it. */
function names(row: RuleRow, path: string): boolean {
  if (path.startsWith(`message.${row.field}`)) return true
  const plain = path
    .replace(/\[\d+\]/g, '[]')
    .replace(/^message\.createOrderParamsList\[\]\.(?=.)/, '')
    .replace(/^message\.(?=(create|update|cancel)Order)/, '')
  return plain === row.field || plain.startsWith(`${row.field}.`) || plain.startsWith(`${row.field}[]`)
}

describe.each(table.rows.map((row) => [keyOf(row), row] as const))('%s', (key, row) => {
  const rule = rules[key]
  const isOfAnswer = row.holdsFor === 'every prepare answer'
  const ofRow = scenes.filter(({ name }) => table.namesOf(row.holdsFor).has(name))

  test('is signed and refused as the table says', () => {
    const seen = { signed: 0, moved: 0, harmful: 0 }
    for (const scene of ofRow) {
      const { signed = {}, moved = {}, harmful = {} } = rule?.(scene) ?? {}
      const hold = (what: string, change: Change, code: string | undefined): void => {
        const whole = change(wholeOf(scene))
        const text = `${textOf(scene)}: ${what}`
        for (const judge of isOfAnswer ? [judgePrepared] : [judgePrepared, judgeBatch]) {
          const result = judge(whole)
          const differences = 'kind' in result ? result.differences : []
          expect([codeOf(result), differences], text).toEqual([
            code,
            code === 'signed' ? [] : expect.anything(),
          ])
          const isNamed = differences.some(({ field }) => names(row, field))
          expect(isNamed || code === 'signed', `${text} names ${JSON.stringify(differences)}`).toBe(true)
        }
      }
      for (const [what, change] of Object.entries(signed)) hold(what, change, 'signed')
      for (const [what, change] of Object.entries(moved)) hold(what, change, row.code)
      for (const [what, change] of Object.entries(harmful)) hold(what, change, 'TYPED_DATA_MISMATCH')
      seen.signed += Object.keys(signed).length
      seen.moved += Object.keys(moved).length
      seen.harmful += Object.keys(harmful).length
    }
    expect(seen.signed, 'nothing is signed').toBeGreaterThan(0)
    expect(seen.moved > 0, 'what moves by itself').toBe(row.code !== undefined)
    expect(seen.harmful > 0, 'what is tampering').toBe(row.harm !== '')
  })
})
