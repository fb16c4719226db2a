/**
 * A fleet at work, by hand: `node bench/fleet.ts [accounts] [instances an account] [seconds] [nodes] [endpoints]`. Daemons of this checkout share the accounts out over a
 * private PostgreSQL and a paper venue, all real processes. Each instance of `guard` has a turn in ten seconds. In every tenth account one instance is of a kind of the
 * user's own, which runs in a thread, opens a position, and closes it after ten seconds. It prints commits, the 99th percentile of a commit, requests to the venue, and each node's processor time and memory. The load of the machine
 * stands beside it: processor time says most where it is high.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { freePort, startCluster } from '../test/support/postgres.ts'
import { type SharedDesk, startDesk } from '../test/world/desks.ts'
import { type Running, scratch, startPaper, until } from '../test/world/processes.ts'

const [accounts = 100, instances = 10, seconds = 120, count = 3, endpoints = 0] = process.argv
  .slice(2)
  .map(Number)

/** Writes the strategies of an account that trades, or of one that watches; all of a sort read the same files. */
function writeStrategies(folder: string, isTrading: boolean): readonly string[] {
  const size = ['size:', '  usd: 200', '  leverage: 2', '  collateral: short']
  const market = 'market: ETH/USD [WETH-USDC]'
  const turn = join(import.meta.dirname, '..', 'test', 'world', 'strategies', 'turn.ts')
  const texts = Array.from({ length: instances }, (_, at) =>
    at === 0 && isTrading
      ? [`kind: ${turn}`, market, 'cadenceSeconds: 10', ...size, 'params:', '  holdSeconds: 10']
      : ['kind: guard', market, 'cadenceSeconds: 10'],
  )
  return texts.map((lines, at) => {
    const path = join(folder, `${isTrading ? 'trading' : 'watching'}-${at}.yaml`)
    writeFileSync(path, `${lines.join('\n')}\n`)
    return path
  })
}

/** Figures of a process of Linux: processor time so far in seconds, and resident memory in MB. */
function figuresOf({ child: { pid } }: Running): { readonly processor: number; readonly memory: number } {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return { processor: (Number(fields[11]) + Number(fields[12])) / 100, memory: Number(kilobytes) / 1024 }
}

/** Sums of a node's metrics: series by name, the buckets of commits by their upper bound. */
async function metricsOf(
  port: number,
): Promise<{ readonly sums: Map<string, number>; readonly buckets: Map<number, number> }> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const [sums, buckets] = [new Map<string, number>(), new Map<number, number>()]
  for (const line of text.split('\n')) {
    const [, name = '', labels = '', value = ''] = /^(perpd_\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (name === '') continue
    sums.set(name, (sums.get(name) ?? 0) + Number(value))
    const [, most] = /le="([^"]+)"/.exec(labels) ?? []
    if (name !== 'perpd_journal_commit_duration_seconds_bucket' || most === undefined) continue
    const bound = most === '+Inf' ? Number.POSITIVE_INFINITY : Number(most)
    buckets.set(bound, (buckets.get(bound) ?? 0) + Number(value))
  }
  return { sums, buckets }
}

/** Returns the upper bound of the bucket that has the 99th percentile, ms. */
function p99Of(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  const counts = [...after].map(([bound, value]) => [bound, value - (before.get(bound) ?? 0)] as const)
  const sorted = counts.toSorted(([one], [other]) => one - other)
  const all = sorted.at(-1)?.[1] ?? 0
  return 1000 * (sorted.find(([, value]) => value >= all * 0.99)?.[0] ?? 0)
}

const names = Array.from({ length: accounts }, (_, at) => `a${at + 1}`)
const cluster = await startCluster('max_connections = 1000\n')
const paper = await startPaper(['--paper.keeperDelayMs=300'])
const nodes: {
  readonly name: string
  readonly port: number
  readonly folder: string
  readonly running: Running
}[] = []
const folders = Array.from({ length: count }, () => scratch())
const keys = join(folders[0]?.path ?? '', 'keys')
mkdirSync(keys)
const shared: SharedDesk = {
  ...{ hosts: paper.hosts, url: cluster.url(), names, keys },
  flags: ['--cluster.name=bench', ...paper.hosts.rpc.slice(0, endpoints).map((url) => `--rpc.http=${url}`)],
}
try {
  for (const [at, { path }] of folders.entries()) {
    const [trading, watching] = [writeStrategies(path, true), writeStrategies(path, false)]
    const own = Object.fromEntries(
      names.map((name, nth) => [name, { strategies: { paths: nth % 10 === 0 ? trading : watching } }]),
    )
    writeFileSync(join(path, 'perpd.json'), JSON.stringify({ accounts: own }))
    const port = await freePort()
    const flags = [...(shared.flags ?? []), `--cluster.node=n${at + 1}`, `--control.port=${port}`]
    const asked = ['--log.level=warn', '--api.requestsPerSecondPerHost=1000', '--control.console=false']
    nodes.push({
      name: `n${at + 1}`,
      port,
      folder: path,
      running: startDesk(path, { ...shared, flags: [...flags, ...asked] }),
    })
  }
  const held = () => Number(cluster.sql("SELECT count(*) FROM perpd_head WHERE holder <> ''"))
  const startedMs = performance.now()
  await until(
    'each account is held',
    () => {
      for (const { name, running } of nodes)
        if (running.child.exitCode !== null) throw new Error(`${name} ended\n${running.said().slice(-2_000)}`)
      try {
        return held() === accounts || undefined
      } catch {
        return undefined
      }
    },
    { timeoutMs: 600_000, seen: () => nodes.map(({ running }) => running.said().slice(-1_500)).join('\n') },
  )
  const heldMs = performance.now() - startedMs
  // For two minutes endpoints cannot say yet that nothing happened to an account, so its lists are read.
  await new Promise((resolve) => setTimeout(resolve, endpoints > 0 ? 150_000 : 20_000))
  const look = async () => ({
    atMs: performance.now(),
    metrics: await Promise.all(nodes.map(({ port }) => metricsOf(port))),
    nodes: nodes.map(({ running }) => figuresOf(running)),
    venue: figuresOf(paper),
    commits: Number(cluster.sql('SELECT sum(xact_commit) FROM pg_stat_database')),
    records: Number(cluster.sql('SELECT sum(seq) FROM perpd_head')),
  })
  const before = await look()
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
  const after = await look()
  const took = (after.atMs - before.atMs) / 1_000
  const rate = (to: number, from: number) => ((to - from) / took).toFixed(1)
  const sumOf = (at: typeof before, name: string) =>
    at.metrics.reduce((sum, { sums }) => sum + (sums.get(name) ?? 0), 0)
  const series = (name: string) => rate(sumOf(after, name), sumOf(before, name))
  const holders = cluster
    .sql("SELECT split_part(holder, ' ', 1), count(*) FROM perpd_head GROUP BY 1")
    .replaceAll('\n', ', ')
  const connections = cluster.sql(
    "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'",
  )
  const lines = [
    `${accounts} accounts, ${accounts * instances} instances, ${count} nodes, ${took.toFixed(0)} s, load ${loadavg()[0]?.toFixed(1)}`,
    `all held after ${(heldMs / 1000).toFixed(0)} s; ${holders}`,
    `commits of journals ${series('perpd_journal_commit_duration_seconds_count')}/s, p99 at most ${nodes.map((_, at) => p99Of(before.metrics[at]?.buckets ?? new Map(), after.metrics[at]?.buckets ?? new Map()).toFixed(0)).join(', ')} ms; transactions of the server ${rate(after.commits, before.commits)}/s, records ${rate(after.records, before.records)}/s, connections ${connections}`,
    `turns ${series('perpd_ticks_total')}/s, requests to the hosts ${series('perpd_http_attempts_total')}/s, processor of the venue ${((after.venue.processor - before.venue.processor) / took).toFixed(2)} of a core`,
    ...nodes.map(({ name }, at) => {
      const [from, to] = [before.nodes[at], after.nodes[at]]
      return `${name}: ${(((to?.processor ?? 0) - (from?.processor ?? 0)) / took).toFixed(2)} of a core, ${to?.memory.toFixed(0)} MB`
    }),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
} finally {
  for (const { running } of nodes) running.child.kill('SIGKILL')
  paper.child.kill('SIGTERM')
  await paper.ended
  cluster.remove()
  for (const folder of folders) folder.remove()
}
