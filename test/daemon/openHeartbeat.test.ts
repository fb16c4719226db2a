/** The heartbeat of a configuration: its file, who may read it, what it holds, and that it is asked. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Config } from '../../src/config/configTypes.ts'
import { CommandError, exitCodes } from '../../src/config/exit.ts'
import { openHeartbeat } from '../../src/daemon/notices/openHeartbeat.ts'
import type { Event } from '../../src/domain/event.ts'
import { KeyFileError } from '../../src/keys/privateFile.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-heartbeat-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Opens the heartbeat whose file holds this. */
function open(text: string | undefined, mode = 0o600, emit: (event: Event) => void = () => undefined) {
  const path = join(folder, 'heartbeat.url')
  if (text !== undefined) {
    writeFileSync(path, text)
    chmodSync(path, mode)
  }
  const notify = { heartbeatSeconds: 3_600, ...(text === undefined ? {} : { heartbeatUrlFile: path }) }
  return openHeartbeat({ notify, isPaper: true } as Config, emit, () => 'well')
}

/** What opening it throws. */
function thrown(...args: Parameters<typeof open>): unknown {
  try {
    open(...args)
  } catch (error) {
    return error
  }
  return undefined
}

test('without a file nothing beats, and its end is no wait', async () => {
  const none = open(undefined)
  none.fail()
  await none.stop()
})

test('a file that others may read is refused', () => {
  const error = thrown('https://hc.example/ping/hushhush', 0o644)
  expect(error).toBeInstanceOf(KeyFileError)
  expect(error).toMatchObject({ code: 'KEY_FILE_PERMISSIONS' })
  expect(String(error)).toContain('The file of notify.heartbeatUrlFile is open to others.')
  expect(String(error)).not.toContain('key file')
  expect(String(error)).not.toContain('hush')
})

test('a credential of systemd, which its group may read, is taken as those of sinks are', async () => {
  const path = join(folder, 'credential')
  writeFileSync(path, 'http://127.0.0.1:9/ping')
  chmodSync(path, 0o440)
  const config = { notify: { heartbeatSeconds: 3_600, heartbeatUrlFile: path }, isPaper: false } as Config
  const opened = (directory?: string) =>
    openHeartbeat(
      config,
      () => undefined,
      () => 'silent',
      directory,
    )
  expect(() => opened(join(folder, 'elsewhere'))).toThrow(KeyFileError)
  await opened(folder).stop()
})

test('what is no address of TLS or of this machine ends the start with 4, and is not repeated', () => {
  for (const text of ['hushhush', 'http://hc.example/hushhush', 'file:///hushhush', '']) {
    const error = thrown(text)
    expect(error).toBeInstanceOf(CommandError)
    expect(error).toMatchObject({ exitCode: exitCodes.configuration })
    expect(String(error)).toContain('notify.heartbeatUrlFile names it')
    expect(String(error)).not.toContain('hush')
  }
})

test('an address with a line feed behind it is asked at once, and told when it fails', async () => {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const told: Event[] = []
  const heartbeat = open(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/ping\n`,
    0o600,
    (event) => void told.push(event),
  )
  await expect.poll(() => told.length, { timeout: 20_000 }).toBe(1)
  heartbeat.fail()
  await heartbeat.stop()
  server.close()
  expect(paths).toEqual(['/ping', '/ping/fail'])
  expect(told).toMatchObject([
    { type: 'notice.ended', sink: 'heartbeat', kind: 'well', result: 'sent' },
    { type: 'notice.ended', sink: 'heartbeat', kind: 'fail', result: 'sent' },
  ])
})
