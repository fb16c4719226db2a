/** What `perpd doctor` says of files with secrets: a credential of systemd is as good as a file of one's own, where the daemon takes one. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { checkSecrets } from '../../src/cli/doctor/machineChecks.ts'
import type { Config } from '../../src/config/configTypes.ts'

const folder = mkdtempSync(join(tmpdir(), 'perpd-doctor-'))
afterAll(() => rmSync(folder, { recursive: true }))

const file = (name: string): string => {
  const path = join(folder, name)
  writeFileSync(path, 'hushhush')
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
