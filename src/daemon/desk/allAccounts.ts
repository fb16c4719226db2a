/** All accounts of a process as one: what a signal, a probe, a service manager or a dead man's switch asks for is of each of them. */
import { BaseError } from '../../base/errors.ts'
import type { DeskAccount } from '../../control/deskRoutes.ts'
import type { OperatorAnswer } from '../../operator/operatorAnswer.ts'
import { beatOf } from '../notices/openHeartbeat.ts'
import { serviceStatus } from '../openService.ts'
import type { SignalledEngine } from '../signals.ts'
import type { RunningAccount } from './runningAccount.ts'

/** An account of a process, running or not. */
export interface Seat {
  readonly name: string | undefined
  /** Absent: a fault kept it from opening. */
  readonly running?: RunningAccount
  /** Reason why its trader does not run; undefined: it runs. */
  readonly fault: () => string | undefined
}

/** Returns the traders of all accounts as one for signals: each is drained, left or commanded. One that a fault stopped is left out. */
export function allTraders(seats: readonly Seat[]): SignalledEngine {
  const all = seats.flatMap(({ name, running, fault }) =>
    running === undefined ? [] : [{ name, running, fault }],
  )
  const [only] = all
  if (all.length === 1 && only !== undefined && only.name === undefined) return only.running.trader
  const going = () => all.filter(({ fault }) => fault() === undefined)
  return {
    stop: async (signal) => {
      await Promise.all(going().map(({ running }) => running.trader.stop(signal)))
    },
    abort() {
      for (const { running } of all) running.trader.abort()
    },
    async operate(command, commander) {
      const answers = going().map(async ({ name = '', running }) => {
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
  served: (running: RunningAccount) => NonNullable<DeskAccount['served']>,
): readonly DeskAccount[] {
  return seats.map(({ name = '', running, fault }) => ({
    ...{ name, fault },
    ...(running !== undefined && { served: served(running) }),
  }))
}

/** One line of `systemctl status`. */
export function statusOfAll(seats: readonly Seat[]): string {
  return seats
    .map(({ name, running, fault }) => {
      const reason = fault()
      const text =
        reason !== undefined || running === undefined
          ? 'stopped by a fault'
          : serviceStatus(running.trader.status())
      return name === undefined ? text : `${name} ${text}`
    })
    .join('; ')
}

/** Tells whether each account that runs does its work. */
export function areAlive(seats: readonly Seat[]): boolean {
  return seats.every(
    ({ running, fault }) =>
      running === undefined ||
      (running.start.name !== undefined && fault() !== undefined) ||
      running.health.live(running.trader.status()).ok,
  )
}

/** Derives the heartbeat of all: silent when one hangs, a failure when one is halted by no person, or stopped by a fault. */
export function beatOfAll(seats: readonly Seat[]): ReturnType<typeof beatOf> {
  const isAlive = areAlive(seats)
  const halts = seats.flatMap(({ running }) => running?.trader.status().halts ?? [])
  const beat = beatOf(isAlive, halts)
  const isFault = seats.some(({ name, fault }) => name !== undefined && fault() !== undefined)
  return beat === 'well' && isFault ? 'fail' : beat
}
