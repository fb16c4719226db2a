/** The file of the log: the lines of standard output, over rotations and failures. */
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLogFile } from '../../src/daemon/logging/logFile.ts'
import { createLog } from '../../src/monitor/log/log.ts'
import { everyEvent } from './events.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-log-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const path = () => join(folder, 'logs', 'perpd.log')
const none = (reason: string): never => {
  throw new Error(reason)
}

test('a line has the same bytes on standard output and in the file, and is kept with the same sentence', () => {
  const lines: string[] = []
  const kept: string[] = []
  const file = openLogFile(path(), () => 0, none)
  const log = createLog({
    level: 'debug',
    format: 'json',
    runId: 'r',
    stream: { write: (text: string) => lines.push(text) },
    file,
    keep: (line) => kept.push(`${line.event} ${line.text}`),
  })
  for (const event of everyEvent) log.listen(event)
  file.close()
  log.note('daemon.failed', 'error', 'after the end')
  expect(readFileSync(path(), 'utf8')).toBe(lines.slice(0, -1).join(''))
  const said = lines.map((text) => JSON.parse(text) as { readonly event: string; readonly message: string })
  expect(said.map(({ event }) => event)).toEqual(kept.map((text) => text.split(' ')[0]))
  expect(statSync(path()).mode & 0o777).toBe(0o600)
})

test('a terminal reads sentences while the file has JSON', () => {
  const shown: string[] = []
  const file = openLogFile(path(), () => 0, none)
  const log = createLog({
    level: 'info',
    format: 'pretty',
    stream: { write: (text: string) => shown.push(text) },
    file,
    now: () => 0,
    color: false,
  })
  log.note('daemon.failed', 'error', 'perpd stops: no luck')
  file.close()
  expect(shown.at(-1)).toBe('00:00:00  error     perpd stops: no luck\n')
  expect(JSON.parse(readFileSync(path(), 'utf8'))).toEqual({
    level: 'error',
    ts: '1970-01-01T00:00:00.000Z',
    event: 'daemon.failed',
    message: 'perpd stops: no luck',
  })
})

test('a file that is moved away gets the lines of its second, and then a new one is begun; none is lost', () => {
  let nowMs = 0
  const file = openLogFile(path(), () => nowMs, none)
  file.write('one\n')
  renameSync(path(), `${path()}.1`)
  file.write('two\n')
  nowMs = 1_000
  file.write('three\n')
  rmSync(path())
  nowMs = 2_000
  file.write('four\n')
  file.close()
  expect([readFileSync(`${path()}.1`, 'utf8'), readFileSync(path(), 'utf8')]).toEqual([
    'one\ntwo\n',
    'four\n',
  ])
})

test('what was in the file before stays', () => {
  for (const text of ['one\n', 'two\n']) {
    const file = openLogFile(path(), () => 0, none)
    file.write(text)
    file.close()
  }
  expect(readFileSync(path(), 'utf8')).toBe('one\ntwo\n')
})

test('a file that cannot be opened ends the start, and one that cannot be begun anew is told once and hurts nothing', () => {
  writeFileSync(join(folder, 'taken'), '')
  expect(() => openLogFile(join(folder, 'taken', 'perpd.log'), () => 0, none)).toThrow(
    /log\.file: .*cannot be opened/,
  )
  let nowMs = 0
  const told: string[] = []
  const file = openLogFile(
    path(),
    () => nowMs,
    (reason) => told.push(reason),
  )
  file.write('one\n')
  rmSync(join(folder, 'logs'), { recursive: true })
  writeFileSync(join(folder, 'logs'), '')
  for (let n = 1; n < 5; n += 1) {
    nowMs = n * 300
    file.write('lost\n')
  }
  expect(existsSync(path())).toBe(false)
  expect(told).toEqual([expect.stringContaining('cannot be written')])
})
