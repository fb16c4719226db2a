/** The log's way to standard output: bounded where nobody reads, counted, and no end of the daemon when the reader goes. */
import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { createLogOutput, type OutputStream } from '../../src/daemon/logging/logOutput.ts'
import type { Event } from '../../src/domain/event.ts'

/** A stream whose reader takes nothing until it is told to. */
function pipe(): {
  readonly stream: OutputStream
  readonly written: string[]
  drain(): void
  /** The reader goes; the next write fails. */
  go(): void
  fail(): void
} {
  const events = new EventEmitter()
  const written: string[] = []
  let waiting = 0
  let isGone = false
  const stream = {
    get writableLength() {
      return waiting
    },
    write(text: string, done?: (error?: Error) => void) {
      if (isGone) done?.(new Error('write EPIPE'))
      else written.push(text)
      waiting += text.length
      return waiting < 16
    },
    on: (event: string, listener: (error: NodeJS.ErrnoException) => void) => events.on(event, listener),
  } as OutputStream
  return {
    stream,
    written,
    drain() {
      waiting = 0
      events.emit('drain')
    },
    go() {
      isGone = true
    },
    fail: () => events.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
  }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('lines that nobody takes wait up to a bound, are dropped and counted beyond it, and written again when they are taken', async () => {
  const { stream, written, drain } = pipe()
  const output = createLogOutput(stream, 100)
  const events: Event[] = []
  output.report((event) => events.push(event))
  for (let n = 0; n < 20; n += 1) output.write('0123456789')
  await nextTurn()
  expect(written).toHaveLength(10)
  expect(events).toEqual([{ type: 'log.output', state: 'stuck', lines: 1 }])
  drain()
  output.write('after')
  await nextTurn()
  expect(written.slice(10)).toEqual(['after'])
  expect(events.slice(1)).toEqual([{ type: 'log.output', state: 'taken', lines: 10 }])
})

test('a reader that takes lines, however slowly, loses none and nothing is reported', async () => {
  const { stream, written, drain } = pipe()
  const output = createLogOutput(stream, 100)
  const events: Event[] = []
  output.report((event) => events.push(event))
  for (let n = 0; n < 50; n += 1) {
    output.write('0123456789')
    if (n % 9 === 8) drain()
  }
  await nextTurn()
  expect(written).toHaveLength(50)
  expect(events).toEqual([])
})

test('a reader that goes away is reported once, also when it went before anybody listened, and nothing is written any more', async () => {
  const { stream, written, fail } = pipe()
  const output = createLogOutput(stream, 100)
  output.write('a')
  fail()
  fail()
  const events: Event[] = []
  output.report((event) => events.push(event))
  output.write('b')
  fail()
  await nextTurn()
  expect(written).toEqual(['a'])
  expect(events).toMatchObject([{ type: 'log.output', state: 'lost' }])
})

test('the last lines go to another stream where their reader went away, and to nothing else before the end', async () => {
  const { stream, written, go, fail } = pipe()
  const output = createLogOutput(stream, 100)
  const last: string[] = []
  const events: Event[] = []
  output.report((event) => events.push(event))
  output.write('a')
  go()
  output.write('lost')
  output.lastLinesTo({ write: (text) => void last.push(text) })
  output.write('b')
  fail()
  output.write('c')
  await nextTurn()
  expect([written, last, events]).toEqual([['a'], ['b', 'c'], []])
})
