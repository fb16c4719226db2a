/** What of a strategy file is taken over while perpd runs, and how a change of it is told. */
import { expect, test } from 'vitest'
import { changedFields, livesOf, writtenFields } from '../../src/strategy/files/fileLife.ts'
import { fileSchema } from '../../src/strategy/files/fileSchema.ts'

test('every field of a strategy file says in the schema when a change of it is taken over', () => {
  const lives = livesOf(fileSchema)
  expect([...lives].filter(([, when]) => when === undefined)).toEqual([])
  const restart = [...lives].filter(([, when]) => when === 'restart').map(([name]) => name)
  expect(restart).toEqual(['kind', 'market', 'markets'])
})

test('a change is told by field, old and new, in the words of the file', () => {
  const before = writtenFields({
    size: { usd: 250, leverage: 2 },
    params: { periods: [9, 21] },
    enabled: true,
  })
  const after = writtenFields({
    size: { usd: '300.5', leverage: 2 },
    params: { periods: [9] },
    slippageBps: 20,
    enabled: true,
  })
  expect(changedFields(before, after)).toEqual([
    { field: 'size.usd', from: '250', to: '"300.5"' },
    { field: 'slippageBps', to: '20' },
    { field: 'params.periods.1', from: '21' },
  ])
  expect(changedFields(after, after)).toEqual([])
})

test('a list that becomes empty, and a value that is longer than a line, are told too', () => {
  const before = writtenFields({ markets: ['A'], note: 'x'.repeat(300) })
  const after = writtenFields({ markets: [], note: 'y'.repeat(300) })
  const changes = changedFields(before, after)
  expect(changes.map(({ field }) => field)).toEqual(['markets', 'note', 'markets.0'])
  for (const { from = '', to = '' } of changes) expect(from.length + to.length).toBeLessThan(300)
})
