/** Signals around the end of a daemon. */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { Engine } from '../../src/daemon/engine.ts'
import { listenForSignals } from '../../src/daemon/signals.ts'
import type { Log } from '../../src/monitor/log/log.ts'

test('a Ctrl-C that npm forwards after everything was closed still finds a listener; the process does not end by it', async () => {
  const before = process.listenerCount('SIGINT')
  const stopped: string[] = []
  const stop = async (signal: string) => void stopped.push(signal)
  const engine = { stop, abort: () => stopped.push('abort') } as unknown as Engine
  const note = vi.fn()
  const ended = Promise.withResolvers<number>()
  const quiet = listenForSignals(engine, { note } as unknown as Log, ended.reject, ended.resolve)
  process.emit('SIGINT', 'SIGINT')
  expect(await ended.promise).toBe(0)
  quiet()
  expect(process.listenerCount('SIGINT')).toBe(before + 1)
  process.emit('SIGINT', 'SIGINT')
  expect([stopped, note.mock.calls]).toEqual([['SIGINT'], []])
})

test('without a signal nothing of it is left behind', async () => {
  const before = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'].map((each) => process.listenerCount(each))
  const quiet = listenForSignals(
    {} as Engine,
    {} as Log,
    () => undefined,
    () => undefined,
  )
  quiet()
  await wait(0)
  expect(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'].map((each) => process.listenerCount(each))).toEqual(
    before,
  )
})
