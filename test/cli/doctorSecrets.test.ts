/** What `perpd doctor` says of files with secrets: a credential of systemd is as good as a file of one's own, where the daemon takes one. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { checkSecrets } from '../../src/cli/doctor/machineChecks.ts'
import type { Config } from '../../src/config/configTypes.ts'
import { secretProblems } from '../../src/daemon/ownFiles/secretFiles.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-doctor-'))
afterAll(() => rmSync(folder, { recursive: true }))

const file = (name: string): string => {
  const path = join(folder, name)
  writeFileSync(path, name === 'heartbeat' ? 'https://alive.example/hush' : 'hushhush')
  chmodSync(path, 0o440)
  return path
}
const configOf = (notify: object, control: object = {}): Config =>
  ({
    account: {},
    paper: {},
    otel: {},
    control: { tokenFile: join(folder, 'none'), ...control },
    notify: { sinks: [], ...notify },
    isPaper: true,
  }) as unknown as Config

test('a secret of a sink or the heartbeat that systemd gives is no finding, and one that lies elsewhere is', () => {
  const config = configOf({
    heartbeatUrlFile: file('heartbeat'),
    sinks: [{ type: 'telegram', name: 'phone', tokenFile: file('telegram') }],
  })
  expect(checkSecrets(config, folder)).toMatchObject([{ level: 'pass' }])
  expect(checkSecrets(config, undefined)).toMatchObject([
    {
      level: 'fail',
      statement: expect.stringContaining('The file of notify.heartbeatUrlFile is open to others'),
    },
    { level: 'fail', statement: expect.stringContaining('notify.sinks (phone.tokenFile)') },
  ])
})

test('a file that the daemon takes from no credential is a finding there too', () => {
  const config = configOf({}, { signalSecretFile: file('signals') })
  expect(checkSecrets(config, folder)).toMatchObject([{ level: 'fail' }])
})

const secret = 'hush-'.repeat(8)
const own = (name: string, content: string): string => {
  const path = join(folder, name)
  writeFileSync(path, content, { mode: 0o600 })
  chmodSync(path, 0o600)
  return path
}
/** Errors that check and doctor give for a configuration; they name files and never hold what is in them. */
const said = (config: Config): readonly string[] => {
  const found = checkSecrets(config, undefined).filter(({ level }) => level === 'fail')
  const text = [...found.map(({ statement }) => statement), ...secretProblems(config, undefined)]
  expect(text.join()).not.toContain('hush')
  expect(found.length).toBe(secretProblems(config, undefined).length)
  return found.map(({ statement }) => statement)
}

test.each([
  ['an empty file', ''],
  ['a line of spaces', '   \n'],
  ['a secret with a space in it', `hush ${secret}`],
  ['one that is too short', 'hush'],
  ['two lines', `${secret}\n${secret}\n`],
  ['letters beyond ASCII', `${secret}ü`],
])('a secret of signals, in a body and for a signature, is judged by its form: %s', (_what, content) => {
  const bodies = mkdtempSync(join(folder, 'bodies-'))
  writeFileSync(join(bodies, 'eth-trend'), content, { mode: 0o600 })
  expect(said(configOf({}, { signalBodySecrets: bodies }))).toEqual([expect.stringContaining('eth-trend')])
  const signalSecretFile = own('signing', content)
  expect(said(configOf({}, { signalSecretFile }))).toEqual([expect.stringContaining('signing')])
})

test('secrets as people write them are taken: a line break, a mark of byte order, carriage returns', () => {
  const bodies = mkdtempSync(join(folder, 'bodies-'))
  for (const [at, content] of [secret, `${secret}1\n`, `\ufeff${secret}2`, `${secret}3\r\n`].entries())
    writeFileSync(join(bodies, `one-${at}`), content, { mode: 0o600 })
  // An editor's own files are of no instance.
  writeFileSync(join(bodies, '.one-1.swp'), '', { mode: 0o644 })
  expect(said(configOf({}, { signalBodySecrets: bodies }))).toEqual([])
})

test('a secret that stands twice, a body file that others read and a folder that is not there are findings', () => {
  const bodies = mkdtempSync(join(folder, 'bodies-'))
  for (const name of ['one', 'two']) writeFileSync(join(bodies, name), secret, { mode: 0o600 })
  expect(said(configOf({}, { signalBodySecrets: bodies }))).toEqual([
    expect.stringContaining('holds the same secret as'),
  ])
  const tokenFile = own('token', 'A'.repeat(43))
  const signalSecretFile = own('signing', 'A'.repeat(43))
  expect(said(configOf({}, { tokenFile, signalSecretFile }))).toEqual([
    expect.stringContaining('a token of the control port'),
  ])
  chmodSync(join(bodies, 'two'), 0o644)
  expect(said(configOf({}, { signalBodySecrets: bodies }))).toEqual([
    expect.stringContaining('is open to others'),
  ])
  const gone = join(folder, 'nowhere')
  expect(said(configOf({}, { signalBodySecrets: gone }))).toEqual([expect.stringContaining(gone)])
})

test('a token of the control port, of a sink, an address and headers are judged by their form too', () => {
  const bad = own('bad', 'hush hush')
  const phone = { type: 'telegram', name: 'phone', tokenFile: bad }
  expect(said(configOf({ heartbeatUrlFile: bad, sinks: [phone] }, { tokenFile: bad }))).toEqual([
    expect.stringContaining('no token of the control port'),
    expect.stringContaining('does not hold an https:// address'),
    expect.stringContaining('notify.sinks (phone.tokenFile)'),
  ])
  const traced = { ...configOf({}), otel: { headersFile: bad } } as unknown as Config
  expect(said(traced)).toEqual([expect.stringContaining('otel.headersFile')])
  const [url, token] = [own('url', 'https://alive.example/hush\n'), own('good', '123:hush_-hush\n')]
  expect(said(configOf({ heartbeatUrlFile: url, sinks: [{ ...phone, tokenFile: token }] }))).toEqual([])
})
