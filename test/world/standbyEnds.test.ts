/** A perpd that waits for its journal and is stopped: it leaves nothing behind that says it still runs. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
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
      const standby = perpd([
        'run',
        ...[`--journal.path=${join(folder.path, 'journal.db')}`, `--control.tokenFile=${tokens}`],
        ...[`--paper.keyFile=${join(folder.path, 'key')}`, '--paper.port=0', '--control.port=0'],
        ...[`--strategies.paths=${join(import.meta.dirname, '../../strategies')}`, '--log.format=json'],
        ...[`--journal.url=${cluster.url()}`, '--journal.account=pair', '--journal.standby=true'],
      ])
      const address = `${tokens}.address`
      await until('its address', () => existsSync(address) || undefined, {
        ...{ seen: standby.said, timeoutMs: 60_000 },
      })
      const { address: url } = JSON.parse(readFileSync(address, 'utf8'))
      expect((await fetch(`${url}/livez`)).status).toBe(200)
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
