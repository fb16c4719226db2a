/** The terminal that was taken over: its size while it changes, and what is left of it at the end. */
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { openLiveTerminal, type TerminalStreams } from '../../src/cli/live/liveTerminal.ts'

test('a screen that gets another size is told at once and has that size, until it is given back', () => {
  const stdout = Object.assign(new PassThrough(), { columns: 120, rows: 40 })
  const stdin = Object.assign(new PassThrough(), { setRawMode: () => stdin })
  const seen: [number, number][] = []
  const terminal = openLiveTerminal(
    {
      onKey: () => {},
      onResize: () => void seen.push([terminal.columns(), terminal.rows()]),
      onEnd: () => {},
    },
    { stdin, stdout } as unknown as TerminalStreams,
  )
  const resize = (columns: number, rows: number) => {
    Object.assign(stdout, { columns, rows })
    stdout.emit('resize')
  }
  resize(72, 20)
  resize(200, 60)
  // A terminal that does not know its size has the usual one.
  resize(0, 0)
  expect(seen).toEqual([
    [72, 20],
    [200, 60],
    [80, 24],
  ])
  terminal.close()
  resize(90, 30)
  expect(seen.length).toBe(3)
})
