/**
 * The machine that a daemon runs on, where others have taken its disk or its port: the journal, the guard's table and the address
 * are real files, and the operator's word goes through the real control port. Files and sockets take no simulated time.
 */

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scheduler } from '../../src/backtest/lab/scheduler.ts'
import type { Clock } from '../../src/base/clock.ts'
import { command } from '../../src/cli/call/daemonClient.ts'
import type { Config } from '../../src/config/configTypes.ts'
import type { ControlServer } from '../../src/control/server.ts'
import { leaveAddress } from '../../src/daemon/controlAddress.ts'
import { journalAnswers } from '../../src/daemon/controlPort/journalAnswers.ts'
import { openControl } from '../../src/daemon/controlPort/openControl.ts'
import { openTokens } from '../../src/daemon/ownFiles/controlTokens.ts'
import type { Event } from '../../src/domain/event.ts'
import type { GuardTable } from '../../src/domain/guardTable.ts'
import { freeBytesBeside } from '../../src/journal/freeSpace.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { openSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import { createLevelTable } from '../../src/monitor/log/levelTable.ts'
import { createLogRing } from '../../src/monitor/log/logRing.ts'
import type { EngineApi } from '../../src/operator/port/engineStatus.ts'
import { readImage, writeImage } from '../simulation/diskImage.ts'
import { type EndingDisk, endDisk } from './diskTap.ts'
import type { MachineMoves } from './machineMoves.ts'

/** Parts of a daemon that are of the machine. */
export interface MachineParts {
  readonly journal: Journal
  readonly table: GuardTable
}

/** A machine. */
export interface Machine {
  readonly config: Config
  /** Opens what a daemon has there. Throws what opening throws. */
  open(clock: Clock): Promise<MachineParts>
  /** Opens its door. */
  serve(engine: EngineApi, emit: (event: Event) => void): Promise<void>
  /** Ends the daemon at once, on the files as they are. */
  crash(): Promise<void>
  /** The operator's command, as `perpd kill --close` sends it. Throws CommandError when nobody answers. */
  kill(): Promise<string>
  /** What the other one does all the time. */
  look(): void
  close(): Promise<void>
}

/** What it stands on. */
export interface MachineOptions {
  readonly moves: MachineMoves
  /** Told when something real begins that takes no simulated time, and of its end. */
  readonly scheduler: Scheduler
  /** The settings, with these flags on top. */
  readonly configOf: (flags: readonly string[]) => Config
  readonly fatal: (error: unknown) => void
}

/** Makes one, with a folder and a port of its own. */
export async function createMachine(options: MachineOptions): Promise<Machine> {
  const { moves, scheduler, fatal } = options
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'perpd-machine-'))
  const path = join(root, 'journal.db')
  const port = await freePort()
  const flags = [
    `--journal.path=${path}`,
    `--control.tokenFile=${join(root, 'control.token')}`,
    `--control.port=${port}`,
  ]
  const config = options.configOf(flags)
  const disk: EndingDisk = endDisk(root)
  let running: { readonly journal: Journal; control?: ControlServer } | undefined
  let taker: Server | undefined
  const during = <T>(work: Promise<T>): Promise<T> => scheduler.busy(() => work)
  const { fillsDisk, takesPort } = moves
  if (fillsDisk !== undefined) {
    scheduler.after(fillsDisk.atMs, () => {
      if (fillsDisk.isLong) disk.useUpLog(path)
      disk.fill(fillsDisk.leftBytes)
    })
  }
  if (takesPort?.atMs === 0) taker = await bind(port, takers[takesPort.does])
  else if (takesPort !== undefined) {
    // He asks for it until he gets it.
    const ask = (): void => {
      const asked = during(bind(port, takers[takesPort.does]))
      asked.then(
        (server) => {
          taker = server
        },
        () => void scheduler.after(100, ask),
      )
    }
    scheduler.after(takesPort.atMs, ask)
  }

  return {
    config,
    async open(clock) {
      const { journal } = openSqliteJournal(
        {
          path,
          clockNow: clock.now,
          holder: 'adversary',
          isReserved: true,
          freeBytes: () => freeBytesBeside(path),
          maintenance: { later: scheduler.after },
          soon: scheduler.soon,
        },
        {},
      )
      running = { journal }
      const table = await journal.openGuardTable()
      return {
        journal,
        table: { ...table, append: (entry, kept) => during(table.append(entry, kept)) },
      }
    },
    async serve(engine, emit) {
      const life = running
      if (life === undefined) throw new TypeError('nothing runs that could be served')
      // The engine's answers take simulated time.
      const asked: EngineApi = {
        ...engine,
        operate: async (word, commander) => {
          scheduler.hold(-1)
          try {
            return await engine.operate(word, commander)
          } finally {
            scheduler.hold(1)
          }
        },
      }
      const control = await during(
        openControl(emit, {
          ...quiet,
          host: '127.0.0.1',
          port: config.control.port,
          tokens: openTokens(config),
          engine: asked,
          ...journalAnswers(config, life.journal),
        }),
      )
      life.control = control
      leaveAddress(config, control.localUrl, { note: (_event, _level, text) => fatal(new Error(text)) })
    },
    async crash() {
      const { journal, control } = running ?? {}
      running = undefined
      await during(
        disk.uncounted(async () => {
          const image = readImage(path)
          await control?.close()
          await journal?.close()
          for (const ending of ['', '-wal', '-shm']) rmSync(path + ending, { force: true })
          writeImage(path, image)
        }),
      )
    },
    kill: () => during(command({ config, origins: {} }, '/api/kill', { close: true, by: 'ann' })),
    look() {
      if (fillsDisk?.isHungry === true) disk.takeFreed()
    },
    async close() {
      disk.close()
      await running?.control?.close()
      await running?.journal.close()
      taker?.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** What stands around the control port and is not asked here. */
const quiet = {
  metrics: { contentType: 'text/plain', render: async () => '' },
  health: { live: () => ({ ok: true, reasons: [] }), ready: () => ({ ok: true, reasons: [] }) },
  nextStart: () => ({ settings: [], warnings: [] }),
  recent: {
    log: createLogRing('run-1'),
    levels: createLevelTable({ level: 'info', levels: [] }),
    decisions: { all: () => [] },
    hosts: { all: () => [] },
    incidents: { open: () => [], blocking: () => [] },
  },
  isMetricsOpen: false,
  isHealthOpen: true,
  requestsPerSecond: 1_000,
}

/** What he who has the port does with a connection. */
const takers: Readonly<Record<NonNullable<MachineMoves['takesPort']>['does'], (socket: Socket) => void>> = {
  drop: (socket) => socket.destroy(),
  answer: (socket) => {
    const said = JSON.stringify({ ok: true, challenge: 'mine', statement: 'everything is closed' })
    socket.end(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${said.length}\r\n\r\n${said}`,
    )
  },
  wait: () => {},
}

/** Listens at a port of this machine. Rejects while somebody else has it. */
function bind(port: number, taken: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      taken(socket)
    })
    server.unref()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

async function freePort(): Promise<number> {
  const server = await bind(0, takers.drop)
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
