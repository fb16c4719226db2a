/** A perpd that waits for its journal and is stopped: it leaves nothing behind that says it still runs. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { systemdProgram } from '../../src/daemon/systemd.ts'
import { openPostgresStore } from '../../src/journal/postgres/openPostgres.ts'
import { startCluster } from '../support/postgres.ts'
import { killLeftOver, perpd, scratch, until } from './processes.ts'

afterEach(killLeftOver)

test.for(['SIGTERM', 'SIGINT'] as const)(
  'a standby that is stopped (%s) takes its address back, ends with 0, and takes no right',
  {
    timeout: 120_000,
  },
  async (signal) => {
    const cluster = await startCluster()
    const [holder, folder] = [scratch(), scratch()]
    const place = {
      url: new Secret(cluster.url()),
      account: 'pair',
      needsStandby: false,
      signatureLivesMs: 60_000,
    }
    try {
      const { store } = await openPostgresStore({
        ...{ path: join(holder.path, 'journal.db'), clockNow: Date.now, holder: 'another', postgres: place },
      })
      const tokens = join(folder.path, 'control.token')
      const told = signal === 'SIGTERM' ? await listening(join(folder.path, 'notify')) : undefined
      const standby = perpd(
        [
          // The command has the setting by itself.
          ...(signal === 'SIGTERM' ? ['standby'] : ['run', '--journal.standby=true']),
          ...[`--journal.path=${join(folder.path, 'journal.db')}`, `--control.tokenFile=${tokens}`],
          ...[`--paper.keyFile=${join(folder.path, 'key')}`, '--control.port=0'],
          // It never gets so far as to ask them.
          ...['--venue.apiHosts=http://127.0.0.1:1/v1', '--venue.oracleHosts=http://127.0.0.1:1'],
          ...[`--strategies.paths=${join(import.meta.dirname, '../../strategies')}`, '--log.format=json'],
          ...[`--journal.url=${cluster.url()}`, '--journal.account=pair'],
        ],
        { env: told?.env ?? {} },
      )
      const address = `${tokens}.address`
      await until('its address', () => existsSync(address) || undefined, {
        ...{ seen: standby.said, timeoutMs: 60_000 },
      })
      const { address: url } = JSON.parse(readFileSync(address, 'utf8'))
      expect((await fetch(`${url}/livez`)).status).toBe(200)
      // A unit of type notify waits for this, and ends what does not say it; its watchdog is fed too.
      if (told !== undefined) {
        const isReady = () => /READY=1\nSTATUS=standby: waits; held by /.test(told.said()) || undefined
        await until('it says that it is ready', isReady, { seen: told.said, timeoutMs: 30_000 })
        await until('its watchdog', () => told.said().includes('WATCHDOG=1') || undefined, {
          ...{ seen: told.said, timeoutMs: 30_000 },
        })
        told.close()
      }
      standby.child.kill(signal)
      expect(await standby.ended, standby.said()).toBe(0)
      expect(existsSync(address)).toBe(false)
      expect(standby.stdout()).toContain(`"journal.waiting"`)
      const status = perpd(['status', `--control.tokenFile=${tokens}`])
      expect(await status.ended).toBe(3)
      // The holder was never asked to give way.
      expect(store.lease.epoch).toBe(1)
      await store.lease.renew()
      await store.close()
    } finally {
      for (const each of [holder, folder]) each.remove()
      cluster.remove()
    }
  },
)

/** A service manager's socket, and all that was told there; undefined where systemd's own program is missing. */
async function listening(socket: string) {
  if (systemdProgram() === undefined) return undefined
  const lines = [
    'import socket',
    's = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)',
    `s.bind(${JSON.stringify(socket)})`,
    'while True: print(s.recv(4096).decode(), flush=True)',
  ]
  const reader = spawn('python3', ['-c', lines.join('\n')])
  let said = ''
  reader.stdout.on('data', (bytes) => {
    said += String(bytes)
  })
  await until('the socket', () => existsSync(socket) || undefined, { seen: () => said, timeoutMs: 20_000 })
  return {
    env: { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '2000000' },
    said: () => said,
    close: () => void reader.kill(),
  }
}
