/**
 * Three machines of one account on a PostgreSQL with a synchronous standby, under load and with the venue's faults on, while a seed draws what happens to them:
 * SIGKILL, SIGTERM, SIGSTOP and SIGCONT of daemons, restarts of both servers, and a failover in each hundred events. Whoever ended is started again, as a
 * supervisor does. The venue's own record judges (`killRun.ts`): no message twice, none that the journal does not know, and every intent ends.
 *
 * By hand: `npm run events -- --events 300 --seed 7`. The moments are real time's, so a run is not repeated exactly.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { judge, type KillReport, post, random, restFlags, settle, switches } from './killRun.ts'
import { ofJournal, readMachines, type Shared, startMachine } from './machines.ts'
import { type Running, scratch, startPaper, until } from './processes.ts'
import { isFailoverAt, startServerPair } from './serverPair.ts'

/** Events after which somebody must have traded. */
const EVENTS_PER_PROOF = 5

/** What a run showed. */
interface EventReport extends KillReport {
  /** How often each event happened. */
  readonly events: Readonly<Record<string, number>>
  /** How daemons ended: by exit code, signal, or the name of a fault. */
  readonly ends: Readonly<Record<string, number>>
  /** Takings of the right to write the journal. */
  readonly epochs: number
}

interface Machine {
  readonly folder: string
  running: Running
  isFrozen: boolean
}

/** The faults with which a daemon may end by itself, by a fact that each alone has: another one took over, no answer for long, a server that was replaced. */
const faults = { fenced: 'newerEpoch:', unreachable: 'afterMs:', replaced: 'ageMs:' } as const

/** How a daemon ended, for the counts: an exit code, a signal, or the fault; undefined: as it must not. */
function nameOf(end: number | NodeJS.Signals, said: string): string | undefined {
  // SIGTERM: it had not begun to listen for it.
  if (end === 0 || end === 'SIGKILL' || end === 'SIGTERM') return String(end)
  return Object.entries(faults).find(([, fact]) => end === 1 && said.includes(fact))?.[0]
}

/** Runs it; `say` hears of progress. Throws when a daemon ends as it must not, and when nobody trades for three minutes. */
export async function eventRun(
  {
    events,
    seed,
    machines: count = 3,
  }: { readonly events: number; readonly seed: number; readonly machines?: number },
  say: (text: string) => void = () => {},
): Promise<EventReport> {
  const startedMs = performance.now()
  const draw = random(seed)
  const oneOf = <T>(all: readonly T[]): T => all[Math.floor(draw() * all.length)] as T
  const folders = Array.from({ length: count }, () => scratch())
  const paper = await startPaper([
    ...[`--paper.seed=${seed}`, '--paper.orderDeadlineSeconds=8', '--paper.keeperDelayMs=300'],
  ])
  const servers = await startServerPair()
  const { url } = servers
  const shared: Shared = {
    ...{ hosts: paper.hosts, url, keyFile: join(folders[0]?.path ?? '', 'key') },
    flags: [
      '--journal.synchronousStandby=true',
      // Relays here give up and land all the same: only the chain can tell.
      ...paper.hosts.rpc.map((each) => `--rpc.http=${each}`),
      '--api.timeoutMs=1000',
    ],
  }
  const happened: Record<string, number> = {}
  const ends: Record<string, number> = {}
  const note = (counts: Record<string, number>, name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1
  }
  const start = (folder: string): Running => {
    const running = startMachine(folder, shared)
    void running.ended.then((end) => note(ends, nameOf(end, running.said()) ?? `${end}, unexpected`))
    return running
  }
  const machines = folders.map(
    ({ path }): Machine => ({ folder: path, running: start(path), isFrozen: false }),
  )
  const isOver = ({ child }: Running): boolean => child.exitCode !== null || child.signalCode !== null

  /** Starts again what ended. */
  async function supervise(): Promise<void> {
    for (const machine of machines) {
      const { running } = machine
      if (!isOver(running)) continue
      const end = await running.ended
      if (nameOf(end, running.said()) === undefined)
        throw new Error(`a daemon ended by itself with ${end}\n${running.said().slice(-4_000)}`)
      Object.assign(machine, { running: start(machine.folder), isFrozen: false })
    }
  }

  async function somebodyTrades(): Promise<void> {
    const intents = () =>
      ofJournal(url, async (journal) => (await journal.summary()).intents).catch(() => undefined)
    let before: number | undefined
    await until(
      'somebody trades',
      async () => {
        await supervise()
        const now = await intents()
        before ??= now
        return (now !== undefined && before !== undefined && now > before) || undefined
      },
      { seen: () => machines.map(({ running }) => running.said().slice(-3_000)).join('\n----\n') },
    )
  }

  const alive = () => machines.filter(({ running, isFrozen }) => !isFrozen && !isOver(running))
  let undo: Readonly<Record<string, unknown>> | undefined
  const happenings: Readonly<Record<string, () => void | Promise<void>>> = {
    SIGKILL: () => void oneOf(machines).running.child.kill('SIGKILL'),
    SIGTERM: () => void alive()[0]?.running.child.kill('SIGTERM'),
    SIGSTOP() {
      const machine = oneOf(machines)
      if (machine.isFrozen || isOver(machine.running)) return
      const { running } = machine
      machine.isFrozen = true
      running.child.kill('SIGSTOP')
      setTimeout(() => {
        running.child.kill('SIGCONT')
        if (machine.running === running) machine.isFrozen = false
      }, draw() * 12_000)
    },
    'restart fast': () => servers.restart('fast'),
    'restart immediate': () => servers.restart('immediate'),
    'restart of the standby': () => servers.restart('immediate', 'standby'),
    async 'faults of the venue'() {
      if (undo !== undefined) await post(`${paper.control}/faults`, undo)
      const [fault, back] = oneOf(switches)
      undo = back
      await post(`${paper.control}/faults`, fault)
    },
  }
  // How often each is drawn, of 20.
  const drawn = [
    ...Array<string>(6).fill('SIGKILL'),
    ...Array<string>(3).fill('SIGTERM'),
    ...Array<string>(4).fill('SIGSTOP'),
    ...['restart fast', 'restart fast', 'restart immediate', 'restart immediate', 'restart of the standby'],
    ...Array<string>(2).fill('faults of the venue'),
  ]

  try {
    await somebodyTrades()
    for (let event = 1; event <= events; event += 1) {
      const isFailover = isFailoverAt(event, events)
      const name = isFailover ? 'failover' : oneOf(drawn)
      note(happened, name)
      await (isFailover ? servers.failover(event) : happenings[name]?.())
      await new Promise((resolve) => setTimeout(resolve, draw() * 1_500))
      await supervise()
      if (event % EVENTS_PER_PROOF === 0) await somebodyTrades()
      if (event % 10 === 0)
        say(`${event} of ${events} events, ${Math.round((performance.now() - startedMs) / 1000)} s`)
    }
    if (undo !== undefined) await post(`${paper.control}/faults`, undo)
    for (const { running } of machines) {
      running.child.kill('SIGCONT')
      running.child.kill('SIGTERM')
      await running.ended
    }
    const [{ path: folder } = { path: '' }] = folders
    const rest = { ...shared, strategies: 0, flags: [...(shared.flags ?? []), ...restFlags(folder)] }
    await settle(startMachine(folder, rest), () => readMachines(url)).catch((error: unknown) =>
      say(String(error)),
    )
    const epochs = Number(servers.sql('SELECT epoch FROM perpd_head'))
    const report = await judge(readMachines(url), paper.control, {
      ...{ kills: happened.SIGKILL ?? 0, beforeReady: 0 },
      seconds: Math.round((performance.now() - startedMs) / 1000),
    })
    return { ...report, events: happened, ends, epochs }
  } finally {
    for (const { running } of machines) running.child.kill('SIGKILL')
    paper.child.kill('SIGTERM')
    await paper.ended
    servers.remove()
    for (const folder of folders) folder.remove()
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      events: { type: 'string', default: '300' },
      seed: { type: 'string', default: '7' },
      machines: { type: 'string', default: '3' },
    },
  })
  const report = await eventRun(
    { events: Number(values.events), seed: Number(values.seed), machines: Number(values.machines) },
    (text) => process.stderr.write(`${text}\n`),
  )
  process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`)
  const isGood =
    report.receivedTwice.length + report.lost.length + report.open.length + report.discrepancies.length ===
      0 && report.unread <= report.armedUnseen
  process.exitCode = isGood ? 0 : 1
}
