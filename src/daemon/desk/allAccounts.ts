/** All accounts of a process as one: what a signal, a probe, a service manager or a dead man's switch asks for is of each of them. */
import { BaseError } from '../../base/errors.ts'
import type { Config } from '../../config/configTypes.ts'
import type { DeskAccount } from '../../control/deskRoutes.ts'
import type { AccountContext } from '../../control/routes.ts'
import type { StandbyStatus } from '../../control/standbyRoutes.ts'
import type { Metrics } from '../../monitor/metrics/metrics.ts'
import type { OperatorAnswer } from '../../operator/operatorAnswer.ts'
import { beatOf } from '../notices/openHeartbeat.ts'
import type { ChatAccount } from '../notices/takeChats.ts'
import { serviceStatus } from '../openService.ts'
import type { SignalledEngine } from '../signals.ts'
import type { AccountStart } from './accountStart.ts'
import type { RunningAccount } from './runningAccount.ts'

/** Told that an account runs; the returned function is called when it does not any more. */
export type SeatListener = (running: RunningAccount) => () => Promise<void>

/** An account of a process, running or not. */
export interface Seat {
  readonly name: string | undefined
  /** Its configuration. */
  readonly config: Config
  /** Undefined: it waits, or a fault kept it from opening. */
  readonly running: () => RunningAccount | undefined
  /** Reason why a fault keeps its trader from running; undefined: none does. */
  readonly fault: () => string | undefined
  /** Its wait for its journal; undefined: it does not wait. */
  readonly waits: () => StandbyStatus | undefined
  /** Adds a listener, before anything runs. */
  readonly listen: (listener: SeatListener) => void
  /** Drains its trader where it runs; one that waits stops to wait. */
  readonly stop: (signal: string) => Promise<void>
}

/** Makes the seat of an account that is opened once: with it, or with none where a fault kept it from opening. */
function fixedSeat(
  { name, config }: AccountStart,
  running: RunningAccount | undefined,
  fault: () => string | undefined,
): Seat {
  return {
    ...{ name, config, fault },
    running: () => running,
    waits: () => undefined,
    listen: (listener) => void (running !== undefined && listener(running)),
    async stop(signal) {
      if (fault() === undefined) await running?.trader.stop(signal)
    },
  }
}

/** Returns the seats of accounts that are opened once. */
export function fixedSeats(
  accounts: readonly AccountStart[],
  running: readonly RunningAccount[],
  faults: ReadonlyMap<string | undefined, string>,
): readonly Seat[] {
  return accounts.map((start) => {
    const { name } = start
    const one = running.find((each) => each.start.name === name)
    return fixedSeat(start, one, () => faults.get(name))
  })
}

/** Tells of each named account that does not wait whether its trader runs. */
export function accountStates(seats: readonly Seat[]) {
  return seats.flatMap(({ name, fault, waits }) =>
    name === undefined || waits() !== undefined ? [] : [{ name, isRunning: fault() === undefined }],
  )
}

/** Returns the accounts that chats command now. */
export function chatAccounts(seats: readonly Seat[]): readonly ChatAccount[] {
  return seats.flatMap(({ name, running }) => {
    const one = running()
    return one === undefined ? [] : [{ name, engine: one.engine, books: () => one.journal.books() }]
  })
}

/** Returns the traders of all accounts as one for signals: each is drained, left or commanded. One that a fault stopped is left out. */
export function allTraders(seats: readonly Seat[]): SignalledEngine {
  const [only] = seats
  if (seats.length === 1 && only?.name === undefined) {
    const trader = only?.running()?.trader
    if (trader !== undefined) return trader
  }
  const going = () =>
    seats.flatMap(({ name = '', running, fault }) => {
      const one = running()
      return one === undefined || fault() !== undefined ? [] : [{ name, running: one }]
    })
  return {
    stop: async (signal) => {
      await Promise.all(seats.map((seat) => seat.stop(signal)))
    },
    abort() {
      for (const { running } of seats) running()?.trader.abort()
    },
    async operate(command, commander) {
      const answers = going().map(async ({ name, running }) => {
        try {
          return { name, answer: await running.trader.operate(command, commander) }
        } catch (error) {
          // A journal that cannot be written is the fault of that account alone.
          if (!(error instanceof BaseError)) throw error
          running.fail(error)
          return { name, answer: { ok: false, code: error.code, reason: error.message } as const }
        }
      })
      return joined(await Promise.all(answers))
    },
  }
}

/** One answer for several accounts: refused where one refuses, and said with each account's name. */
function joined(
  answers: readonly { readonly name: string; readonly answer: OperatorAnswer }[],
): OperatorAnswer {
  const text = answers
    .map(({ name, answer }) => `${name}: ${answer.ok ? answer.statement : answer.reason}`)
    .join('; ')
  const refused = answers.flatMap(({ answer }) => (answer.ok ? [] : [answer]))
  const [first] = refused
  if (first !== undefined) return { ok: false, code: first.code, reason: text }
  const isTold = answers.every(({ answer }) => answer.ok && answer.isChanged === true)
  return { ok: true, statement: text, ...(isTold && { isChanged: true }) }
}

/** Returns the accounts as the routes of several take them; `served` gives what each answers from. */
export function deskAccounts(
  seats: readonly Seat[],
  served: (running: RunningAccount) => AccountContext,
  waitingMetrics: (config: Config) => Metrics,
): readonly DeskAccount[] {
  return seats.map((seat) => {
    const metrics = waitingMetrics(seat.config)
    return {
      ...{ name: seat.name ?? '', fault: seat.fault },
      serve: (mount) => seat.listen((running) => mount(served(running))),
      waiting() {
        const status = seat.waits()
        return status === undefined ? undefined : { status, metrics }
      },
    }
  })
}

/** One line of `systemctl status`. */
export function statusOfAll(seats: readonly Seat[]): string {
  return seats
    .map(({ name, running, fault, waits }) => {
      const text = seatText(fault(), running(), waits())
      return name === undefined ? text : `${name} ${text}`
    })
    .join('; ')
}

function seatText(
  fault: string | undefined,
  running: RunningAccount | undefined,
  waits: StandbyStatus | undefined,
): string {
  if (fault !== undefined) return 'stopped by a fault'
  if (running !== undefined) return serviceStatus(running.trader.status())
  return waits?.reason ?? 'stopped by a fault'
}

/** Tells whether each account that runs does its work. */
export function areAlive(seats: readonly Seat[]): boolean {
  return seats.every(({ running, fault }) => {
    const one = running()
    return (
      one === undefined ||
      (one.start.name !== undefined && fault() !== undefined) ||
      one.health.live(one.trader.status()).ok
    )
  })
}

/** Derives the heartbeat of all: silent when one hangs, a failure when one is halted by no person, or stopped by a fault. */
export function beatOfAll(seats: readonly Seat[]): ReturnType<typeof beatOf> {
  const isAlive = areAlive(seats)
  const halts = seats.flatMap(({ running }) => running()?.trader.status().halts ?? [])
  const beat = beatOf(isAlive, halts)
  const isFault = seats.some(({ name, fault }) => name !== undefined && fault() !== undefined)
  return beat === 'well' && isFault ? 'fail' : beat
}
