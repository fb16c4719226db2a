/** The page's own reading of the stream: the same events in whatever pieces they come. */
import { expect, test } from 'vitest'
import { createEventReader } from '../../src/control/console/page/feed/eventText.ts'

const text =
  'id: run-1:0:0\nevent: reset\ndata: {"reason":"first"}\n\n: alive\n\nid: run-1:1:0\nevent: log\ndata: {"text":"one: two"}\n\n'
const events = [
  { id: 'run-1:0:0', name: 'reset', data: '{"reason":"first"}' },
  { id: 'run-1:1:0', name: 'log', data: '{"text":"one: two"}' },
]

test('events are whole however the text is cut, signs of life are none, and half of one waits', () => {
  for (let length = 1; length <= text.length; length++) {
    const take = createEventReader()
    const parts = text.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? []
    expect(parts.flatMap((part) => take(part))).toEqual(events)
    expect(take('id: run-1:2:0\nevent: log\n')).toEqual([])
  }
})
