/** What a running daemon on paper serves at /metrics is what alerts and dashboards ask for; a real Prometheus reads it where there is one. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { conventionBreaches } from '../monitor/conventions.ts'
import { alerts, askedSeries, dashboardQueries, deployFolder, recordings } from '../monitor/promql.ts'
import { killLeftOver, perpd, type Running, scratch, until } from './processes.ts'

vi.setConfig({ testTimeout: 180_000 })

let folder: ReturnType<typeof scratch>
let prometheus: ChildProcess | undefined
beforeEach(() => {
  folder = scratch()
})
afterEach(async () => {
  if (prometheus?.exitCode === null) {
    prometheus.kill('SIGKILL')
    await once(prometheus, 'close')
  }
  await killLeftOver()
  folder.remove()
})

/** Starts a daemon on paper that opens a position; resolves with the address of its control port. */
async function tradingDaemon(): Promise<{ readonly daemon: Running; readonly url: string }> {
  cpSync(join(deployFolder, '..', 'strategies'), join(folder.path, 'strategies'), { recursive: true })
  const daemon = perpd(['run', '--control.port=0', '--log.format=json'], { cwd: folder.path })
  const seen = { seen: daemon.said, timeoutMs: 30_000 }
  const line = await until(
    'the daemon serves',
    () =>
      daemon
        .stdout()
        .split('\n')
        .find((each) => each.includes('"event":"daemon.started"')),
    seen,
  )
  await until(
    'the position',
    () => (daemon.stdout().includes('"event":"order.filled"') ? true : undefined),
    seen,
  )
  return { daemon, url: String(JSON.parse(line).status_url) }
}

const expressions = [...recordings, ...alerts, ...dashboardQueries()].map(({ expr }) => expr)

test('a daemon on paper serves every series that rules and dashboards ask for, by the conventions', async () => {
  const { url } = await tradingDaemon()
  const text = await (await fetch(new URL('/metrics', url))).text()
  expect(conventionBreaches(text)).toEqual([])
  const served = new Set<string>(['up', ...recordings.map(({ record }) => record)])
  for (const [, name = '', type = ''] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm))
    for (const end of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) served.add(name + end)
  for (const { series } of expressions.flatMap(askedSeries)) expect([...served]).toContain(series)
})

const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0
if (!hasPrometheus)
  process.stderr.write('prometheus is not here: no real one reads the daemon (Debian: prometheus)\n')

test.runIf(hasPrometheus)(
  'a real Prometheus reads the daemon, loads all rules, and answers every query',
  async () => {
    const { url } = await tradingDaemon()
    const port = await freePort()
    const file = join(folder.path, 'prometheus.yaml')
    const shipped = readFileSync(join(deployFolder, 'prometheus', 'prometheus.yaml'), 'utf8')
    writeFileSync(
      file,
      shipped
        .replace(/perpd:\d+/, new URL(url).host)
        .replace('[rules.yaml]', `[${join(deployFolder, 'prometheus', 'rules.yaml')}]`)
        .replaceAll('15s', '1s'),
    )
    prometheus = spawn('prometheus', [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder.path, 'prometheus')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ])
    let said = ''
    prometheus.stderr?.setEncoding('utf8').on('data', (more: string) => {
      said += more
    })
    const ask = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`).catch(() => undefined)
      return (await answer?.json().catch(() => undefined)) as Answer | undefined
    }
    const rules = await until(
      'all rules are evaluated',
      async () => {
        const loaded = (await ask('rules'))?.data.groups?.flatMap((group) => group.rules) ?? []
        return loaded.length > 0 && loaded.every(({ health }) => health !== 'unknown') ? loaded : undefined
      },
      { seen: () => said, timeoutMs: 30_000 },
    )
    expect(rules.map(({ name }) => name).sort()).toEqual(
      [...alerts.map(({ alert }) => alert), ...recordings.map(({ record }) => record)].sort(),
    )
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([])
    const isUp = async () => (await ask('query?query=up'))?.data.result?.[0]?.value[1] === '1' || undefined
    await until('the target is up', isUp, { timeoutMs: 30_000 })
    // A rate is of two looks.
    const rate = 'query?query=rate(process_cpu_seconds_total[5m])'
    const hasRates = async () => ((await ask(rate))?.data.result ?? []).length > 0 || undefined
    await until('two looks', hasRates, { timeoutMs: 30_000 })
    let withData = 0
    for (const expr of expressions) {
      const answer = await ask(`query?query=${encodeURIComponent(expr)}`)
      expect([expr, answer?.status, answer && 'warnings' in answer]).toEqual([expr, 'success', false])
      if ((answer?.data.result ?? []).length > 0) withData++
    }
    expect(withData).toBeGreaterThan(30)
  },
)

/** What Prometheus' API answers to the questions asked here. */
interface Answer {
  readonly status: string
  readonly data: {
    readonly groups?: readonly {
      readonly rules: readonly { readonly name: string; readonly health: string }[]
    }[]
    readonly result?: readonly { readonly value: readonly [number, string] }[]
  }
}

/** A port of this machine that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
