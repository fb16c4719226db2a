/** `perpd kill`: stops everything in the running daemon, after one question at a terminal, and reports until nothing is left. */
import { isatty } from 'node:tty'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { Call } from '../call/command.ts'
import { type CommandAnswer, command, commandAnswer, queryStatus } from '../call/daemonClient.ts'
import { accountNameOf, atOnce, withNamedAdvice } from '../call/forAccounts.ts'
import { commander, confirm } from '../call/whoAsks.ts'
import { killQuestion } from '../output/killQuestion.ts'
import { killText } from '../output/killText.ts'

const pollMs = 1_000
/** The question waits this long for its table and is asked without it afterwards, ms. */
const PREVIEW_MS = 5_000
/** Shortest time before a state is reported again, ms. */
const repeatMs = 15_000

/** Tells a state once, also where it goes to and fro between two, and again only when it stands since `repeatMs`. */
export function createTeller(out: (text: string) => void): (text: string, nowMs: number) => void {
  const toldAtMs = new Map<string, number>()
  return (text, nowMs) => {
    // Times and counts behind the first sentence change at each look and say nothing new.
    const key = text.replace(/;.*$/s, (rest) => rest.replaceAll(/\d+/g, '#'))
    const lastMs = toldAtMs.get(key)
    if (lastMs !== undefined && nowMs - lastMs < repeatMs) return
    out(lastMs === undefined ? text : `still ${text}`)
    toldAtMs.set(key, nowMs)
  }
}

/** Asks for the kill and follows it; resolves when it is done. Exit code 3 when no daemon answers: it says what to do then. */
export async function kill(call: Call): Promise<number> {
  const { loaded, flags, out } = call
  const asked = { close: flags.has('close'), exits: flags.has('exits') }
  const body = { ...asked, by: commander(call) }
  // A script is not asked: a kill has always gone through without --yes there.
  if (!flags.has('yes') && isatty(0)) {
    out(killQuestion(await seenBefore(call, body), asked, call.width))
    if (!(await confirm())) {
      out('Nothing was sent.')
      return exitCodes.error
    }
  }
  try {
    out(`${await command(loaded, '/api/kill', body)}.`)
  } catch (error) {
    if (error instanceof CommandError && error.exitCode === exitCodes.notRunning) {
      throw new CommandError(
        `${error.message}\n  A stopped daemon makes no orders, but resting orders stay at the venue. Start it and repeat the kill at once: perpd run & perpd kill${flags.has('close') ? ' --close' : ''}${flags.has('exits') ? ' --exits' : ''}. If it runs but does not respond, halt it with: kill -USR2 PID`,
        exitCodes.notRunning,
      )
    }
    throw error
  }
  const told = createTeller(out)
  for (;;) {
    const { kill: report, openIntents } = await queryStatus(loaded)
    if (report === undefined)
      throw new CommandError('The daemon no longer has a kill in force.', exitCodes.error)
    told(killText(report, openIntents), systemClock.monotonicMs())
    if (report.endedAtMs !== undefined) {
      return report.outcome === 'done' ? exitCodes.ok : exitCodes.error
    }
    await systemClock.sleep(pollMs)
  }
}

/** The same for several accounts at once, after one question for all of them: none waits for the end of another's kill. */
export async function killAll(calls: readonly Call[]): Promise<number> {
  const [first] = calls
  if (first !== undefined && !first.flags.has('yes') && isatty(0)) {
    const asked = { close: first.flags.has('close'), exits: first.flags.has('exits') }
    for (const call of calls) {
      const seen = await seenBefore(call, { ...asked, by: commander(call) })
      withNamedAdvice(call).out(`account ${accountNameOf(call)}\n${killQuestion(seen, asked, call.width)}`)
    }
    if (!(await confirm())) {
      first.out('Nothing was sent.')
      return exitCodes.error
    }
  }
  return await atOnce(calls, (call) => kill({ ...call, flags: new Map([...call.flags, ['yes', true]]) }))
}

/** The preview of a kill, or a sentence where none arrives in time; the kill does not depend on it. */
async function seenBefore(
  { loaded }: Call,
  body: object,
): Promise<NonNullable<CommandAnswer['killing']> | string> {
  try {
    const { killing } = await commandAnswer(loaded, '/api/kill', { ...body, preview: true }, PREVIEW_MS)
    return killing ?? 'perpd does not say'
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return error.message
  }
}
