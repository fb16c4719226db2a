/** The sinks of a run: what a letter needs is loaded before the daemon goes on, so that no letter holds the loop up. */
import { expect, test } from 'vitest'
import type { Config } from '../../src/config/configTypes.ts'
import { openNotifier } from '../../src/daemon/notices/notifySinks.ts'
import { sinkSettings } from '../../src/notify/sinkSettings.ts'

function configOf(sinks: readonly object[]): Config {
  const notify = { sinks, maxWaiting: 10, timeoutMs: 1_000 }
  return {
    notify,
    control: {},
    rpc: { http: [], ws: [] },
    journal: {},
    profile: 'paper',
    isPaper: true,
  } as never
}
const mail = sinkSettings(() => true).parse({
  ...{ type: 'email', name: 'mail', host: 'localhost', from: 'a@example.org', to: ['b@example.org'] },
})

test('a daemon that writes letters does not go on before what they need is loaded', async () => {
  const loading = Promise.withResolvers<void>()
  let asked = 0
  let isOpen = false
  const opening = openNotifier(configOf([mail]), () => undefined, {
    load: () => {
      asked += 1
      return loading.promise
    },
  }).then((notifier) => {
    isOpen = true
    return notifier
  })
  await new Promise((turned) => setImmediate(turned))
  expect([asked, isOpen]).toEqual([1, false])
  loading.resolve()
  const notifier = await opening
  expect(notifier.sinks.map(({ settings }) => settings.name)).toEqual(['mail'])
  await notifier.close(0)
})

test('what cannot be loaded ends no start, and a daemon without letters loads nothing', async () => {
  const fail = () => Promise.reject(new Error('it is not installed'))
  await (await openNotifier(configOf([mail]), () => undefined, { load: fail })).close(0)
  let asked = 0
  const none = await openNotifier(configOf([]), () => undefined, {
    load: async () => {
      asked += 1
    },
  })
  expect(asked).toBe(0)
  await none.close(0)
})
