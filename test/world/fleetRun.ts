/**
 * A fleet of three nodes and many accounts on a PostgreSQL with a synchronous standby, under load and with the venue's faults on, while a seed draws what
 * happens: SIGKILL, SIGTERM, SIGSTOP and SIGCONT of nodes, restarts of both servers, moves and drains, and a failover in each hundred events. Whoever ended is
 * started again, as a supervisor does. The venue's own record judges: no message twice, none that no journal knows, and every intent ends.
 *
 * By hand: `npm run fleet-events -- --events 60 --accounts 12 --seed 7`. The moments are real time's, so a run is not repeated exactly. With `--other CHECKOUT`
 * node two runs that version and node three each of both in turn, as in a rolling upgrade; `--pause 60` leaves up to so many seconds between two events.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { atDesk, countIntents, judgeDesk, type SharedDesk, startDesk, writeDesk } from './desks.ts'
import { post, random, restFlags, switches } from './killRun.ts'
import { type Running, scratch, startPaper, until } from './processes.ts'
import { isFailoverAt, startServerPair } from './serverPair.ts'

/** Time after which the venue is sound again, ms. */
const FAULT_MS = 40_000
/** Events after which some account must have traded. */
const EVENTS_PER_PROOF = 5

interface Node {
  readonly name: string
  readonly folder: string
  running: Running
  isFrozen: boolean
  /** Times that its process was asked to end; asked again while it follows its orders it ends at once, with 1. */
  asked: number
}

/** What a run does. */
interface FleetRun {
  readonly events: number
  readonly seed: number
  readonly accounts: number
  /** Program of another version. */
  readonly other?: string | undefined
  /** Longest time between two events. */
  readonly pauseMs?: number
}

/** Runs it; `say` hears of progress. Throws when nobody trades for three minutes, and when the rest does not end in four. */
export async function fleetRun(
  { events, seed, accounts, other, pauseMs = 1_500 }: FleetRun,
  say: (text: string) => void = () => undefined,
) {
  const startedMs = performance.now()
  const draw = random(seed)
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(draw() * all.length)] as T
  const names = Array.from({ length: accounts }, (_, at) => `a${at + 1}`)
  const folders = ['one', 'two', 'three'].map((name) => ({ name, folder: scratch() }))
  const keys = join(folders[0]?.folder.path ?? '', 'keys')
  mkdirSync(keys)
  const paper = await startPaper([
    ...[`--paper.seed=${seed}`, '--paper.orderDeadlineSeconds=8', '--paper.keeperDelayMs=300'],
  ])
  const servers = await startServerPair('max_connections = 300\n')
  const shared: SharedDesk = {
    ...{ hosts: paper.hosts, url: servers.url, names, keys },
    flags: [
      '--cluster.name=desk',
      '--journal.synchronousStandby=true',
      // Relays here give up and land all the same: only the chain can tell.
      ...paper.hosts.rpc.map((each) => `--rpc.http=${each}`),
      '--api.timeoutMs=1000',
      // A strategy here trades without pause, as long as a run takes.
      '--risk.reductionFeesPerDayUsd=1000000',
    ],
  }
  let starts = 0
  const start = (name: string, folder: string): Running => {
    starts += 1
    const isOther = name === 'two' || (name === 'three' && starts % 2 === 1)
    const own = { ...shared, flags: [...(shared.flags ?? []), `--cluster.node=${name}`] }
    return startDesk(folder, own, isOther ? other : undefined)
  }
  const nodes = folders.map(({ name, folder: { path } }): Node => {
    writeDesk(path, shared)
    return { name, folder: path, running: start(name, path), isFrozen: false, asked: 0 }
  })
  const isOver = ({ child }: Running): boolean => child.exitCode !== null || child.signalCode !== null
  const happened: Record<string, number> = {}

  /** Starts again what ended; a daemon ends by itself when the server was away for too long for all of its accounts, and as no other fault. */
  async function supervise(): Promise<void> {
    for (const node of nodes) {
      if (!isOver(node.running)) continue
      const end = await node.running.ended
      const isAskedTwice = end === 1 && node.asked > 1
      if (end !== 0 && end !== 'SIGKILL' && end !== 'SIGTERM' && !isAskedTwice)
        throw new Error(`a node ended by itself with ${end}\n${node.running.said().slice(-4_000)}`)
      Object.assign(node, { running: start(node.name, node.folder), isFrozen: false, asked: 0 })
    }
  }

  async function allIntents(): Promise<number | undefined> {
    try {
      const counts = await Promise.all(names.map((name) => countIntents(shared.url, name)))
      return counts.reduce((sum, count) => sum + count, 0)
    } catch {
      return undefined
    }
  }

  async function somebodyTrades(): Promise<void> {
    let before: number | undefined
    await until(
      'somebody trades',
      async () => {
        await supervise()
        const now = await allIntents()
        before ??= now
        return (now !== undefined && before !== undefined && now > before) || undefined
      },
      { seen: () => nodes.map(({ running }) => running.said().slice(-3_000)).join('\n----\n') },
    )
  }

  const fleet = (...args: readonly string[]) =>
    atDesk(
      nodes[0]?.folder ?? '',
      ...['fleet', ...args, `--journal.url=${shared.url}`, '--journal.standby=true', '--cluster.name=desk'],
    )
  let undo: Readonly<Record<string, unknown>> | undefined
  const happenings: Readonly<Record<string, () => unknown>> = {
    SIGKILL: () => oneOf(nodes).running.child.kill('SIGKILL'),
    SIGTERM() {
      const node = oneOf(nodes)
      if (node.isFrozen) return
      node.asked += 1
      node.running.child.kill('SIGTERM')
    },
    SIGSTOP() {
      const node = oneOf(nodes)
      const { running } = node
      if (node.isFrozen || isOver(running)) return
      node.isFrozen = true
      running.child.kill('SIGSTOP')
      setTimeout(() => {
        running.child.kill('SIGCONT')
        if (node.running === running) node.isFrozen = false
      }, draw() * 12_000)
    },
    'restart fast': () => servers.restart('fast'),
    'restart immediate': () => servers.restart('immediate'),
    'restart of the standby': () => servers.restart('immediate', 'standby'),
    move: () => fleet('move', oneOf(names), oneOf(nodes).name),
    drain: () => fleet('drain', oneOf(nodes).name),
    async 'faults of the venue'() {
      if (undo !== undefined) await post(`${paper.control}/faults`, undo)
      const [fault, back] = oneOf(switches)
      undo = back
      await post(`${paper.control}/faults`, fault)
      // What fails for longer keeps strategies from trying again, and then nobody trades.
      setTimeout(() => {
        if (undo !== back) return
        undo = undefined
        void post(`${paper.control}/faults`, back).catch(() => {})
      }, FAULT_MS).unref()
    },
  }
  // How often each is drawn, of 20.
  const drawn = [
    ...Array<string>(5).fill('SIGKILL'),
    ...Array<string>(3).fill('SIGTERM'),
    ...Array<string>(4).fill('SIGSTOP'),
    ...['restart fast', 'restart immediate', 'restart of the standby', 'move', 'move', 'drain'],
    ...Array<string>(2).fill('faults of the venue'),
  ]
  try {
    await somebodyTrades()
    for (let event = 1; event <= events; event += 1) {
      const isFailover = isFailoverAt(event, events)
      const name = isFailover ? 'failover' : oneOf(drawn)
      happened[name] = (happened[name] ?? 0) + 1
      await (isFailover ? servers.failover(event) : happenings[name]?.())
      await new Promise((resolve) => setTimeout(resolve, draw() * pauseMs))
      await supervise()
      if (event % EVENTS_PER_PROOF === 0) await somebodyTrades()
      if (event % 10 === 0)
        say(`${event} of ${events} events, ${Math.round((performance.now() - startedMs) / 1000)} s`)
    }
    if (undo !== undefined) await post(`${paper.control}/faults`, undo)
    for (const { running } of nodes) {
      running.child.kill('SIGCONT')
      running.child.kill('SIGTERM')
      await running.ended
    }
    await rest(nodes[0], shared, paper.control)
    const report = await judgeDesk(shared.url, names, paper.control)
    const heads = servers.sql('SELECT count(*), sum(epoch) FROM perpd_head').split('|').map(Number)
    return {
      ...report,
      ...{ events: happened, accounts: heads[0], epochs: heads[1], intents: await allIntents() },
      seconds: Math.round((performance.now() - startedMs) / 1000),
    }
  } finally {
    for (const { running } of nodes) running.child.kill('SIGKILL')
    paper.child.kill('SIGTERM')
    await paper.ended
    servers.remove()
    for (const { folder } of folders) folder.remove()
  }
}

/** Has one node follow every order to its end, with strategies that ask for nothing new. */
async function rest(node: Node | undefined, shared: SharedDesk, control: string): Promise<void> {
  if (node === undefined) return
  const [flag = ''] = restFlags(node.folder)
  const strategies = { paths: [flag.replace('--strategies.paths=', '')] }
  writeFileSync(
    join(node.folder, 'perpd.json'),
    JSON.stringify({ accounts: Object.fromEntries(shared.names.map((name) => [name, { strategies }])) }),
  )
  const last = startDesk(node.folder, { ...shared, flags: (shared.flags ?? []).slice(1) })
  try {
    await until(
      'every intent ended',
      async () => (await judgeDesk(shared.url, shared.names, control)).open.length === 0 || undefined,
      { timeoutMs: 240_000, seen: last.said },
    )
  } catch (error) {
    // The report names what is open.
    process.stderr.write(`${String(error).slice(0, 2_000)}\n`)
  } finally {
    last.child.kill('SIGTERM')
    await last.ended
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      events: { type: 'string', default: '60' },
      seed: { type: 'string', default: '7' },
      accounts: { type: 'string', default: '12' },
      other: { type: 'string' },
      pause: { type: 'string', default: '1.5' },
    },
  })
  const report = await fleetRun(
    {
      ...{ events: Number(values.events), seed: Number(values.seed), accounts: Number(values.accounts) },
      other: values.other === undefined ? undefined : join(values.other, 'src', 'cli', 'bin.ts'),
      pauseMs: Number(values.pause) * 1_000,
    },
    (text) => process.stderr.write(`${text}\n`),
  )
  process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`)
  const isGood =
    report.armedTwice.length + report.receivedTwice.length + report.lost.length + report.open.length === 0
  process.exitCode = isGood ? 0 : 1
}
