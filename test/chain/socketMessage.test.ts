/** What a WebSocket endpoint may push: nothing of it leaves its reader as an error, and answers are found by their lowest id. */
import { expect, test } from 'vitest'
import { readSocketMessage } from '../../src/chain/wire/socketMessage.ts'

test('heads, answers, batches in any order and refusals of a whole request are told apart', () => {
  expect(readSocketMessage('{"method":"eth_subscription","params":{"result":{"number":"0x1"}}}')).toEqual({
    kind: 'head',
    head: { number: '0x1' },
  })
  expect(readSocketMessage('{"id":7,"result":1}')).toEqual({ kind: 'answer', id: 7 })
  expect(readSocketMessage('[{"id":9},{"id":7},null,{"id":8}]')).toEqual({ kind: 'answer', id: 7 })
  expect(readSocketMessage('{"id":null,"error":{}}')).toEqual({ kind: 'answer', id: undefined })
})

test('a batch of 300,000 answers, a text of brackets and what is no JSON-RPC at all are read without an error', () => {
  const many = `[${Array.from({ length: 300_000 }, (_unused, id) => `{"id":${id + 5}}`).join()}]`
  expect(readSocketMessage(many)).toEqual({ kind: 'answer', id: 5 })
  for (const text of [
    '['.repeat(100_000),
    '',
    'null',
    '[]',
    '[null]',
    '{"method":"eth_subscription","params":null}',
    '{"id":"1"}',
  ]) {
    expect(readSocketMessage(text)).toEqual({ kind: 'none' })
  }
})
