/** `perpd close --all`: every position through the same door as one of them, after one question, with what became of each. */
import { isatty } from 'node:tty'
import type { MonotonicClock, Timer } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { StatusBody } from '../../control/routes.ts'
import type { OrderRow } from '../../domain/summaries/orderView.ts'
import { counted, money, span } from '../../monitor/text.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { BPS_ONE, bps } from '../../protocol/units.ts'
import type { Call } from '../call/command.ts'
import { type CommandAnswer, queryStatus } from '../call/daemonClient.ts'
import { percentFlag } from '../call/numberFlags.ts'
import { commander, confirm, idOf } from '../call/whoAsks.ts'
import { wrapped } from '../output/screen.ts'
import { table } from '../output/table.ts'
import { ask, askAgain, followed, isRefusal, outcomeText } from './manualOrderCommand.ts'

/** Longest id of one close, as the daemon takes it, and what a position adds to it. */
const MOST_ID = 40
const POSITION_MARK = 11
/** Longest time that a list of positions may lag behind fills, ms; then only the listed positions are closed. */
const SETTLE_MS = 20_000
const POLL_MS = 500

/** One position that is to be closed, and the command for it. */
interface Closing {
  readonly symbol: string
  readonly direction: 'long' | 'short'
  readonly sizeUsd: bigint
  readonly body: Readonly<Record<string, string | number>>
}

/** Result of one close; `error`: it was refused, or its result is not known. */
interface Outcome {
  readonly closing: Closing
  readonly statement: string | null
  readonly intentId: string | null
  readonly order: OrderRow | null
  readonly error: string | null
  readonly isDone: boolean
  /** It was taken, and had no end within the time for it. */
  readonly isUnderWay: boolean
  /** No answer came: the journal alone knows whether it was taken. */
  readonly isUnsure: boolean
}

/**
 * Closes every position, or a share of each. Exit code 0 when all of them were closed; 1 when one was refused or came to nothing, 5 when
 * all that is left is under way still.
 *
 * @param clock by which it waits for a list that lags
 */
export async function closeAll(call: Call, clock: MonotonicClock & Timer = systemClock): Promise<number> {
  const { flags, positionals, out, err } = call
  if (positionals.length > 0 || flags.has('collateral')) {
    throw new CommandError(
      '--all closes every position: leave out market, direction and --collateral.',
      exitCodes.configuration,
    )
  }
  const id = idOf(flags)
  if (id.length > MOST_ID - POSITION_MARK) {
    throw new CommandError(
      `--id has at most ${MOST_ID - POSITION_MARK} characters with --all.`,
      exitCodes.error,
    )
  }
  const shareBps = percentFlag(flags, 'share') ?? BPS_ONE
  const status = await settledStatus(call, clock)
  const all = closingsOf(status, { id, shareBps, by: commander(call) })
  const isJson = flags.has('json')
  if (all.length === 0) {
    if (isJson) out('[]')
    else
      out(
        status.feedAgesMs.positions === undefined
          ? `The positions are not read yet: perpd is ${status.state}.`
          : 'No open positions; nothing was sent.',
      )
    for (const each of [...status.unlistedFills, ...status.closedFills]) err(wrapped('', each).join('\n'))
    if (status.unlistedFills.length > 0) return exitCodes.timeout
    return status.feedAgesMs.positions === undefined ? exitCodes.error : exitCodes.ok
  }
  if (!flags.has('yes')) {
    // The question is for the person at the terminal, and no part of the JSON.
    const show = isJson ? err : out
    show(questionText(await quoted(call, all), shareBps, call.width))
    if (!isatty(0)) {
      throw new CommandError(
        'No terminal to confirm the closes; nothing was sent. To send them: --yes',
        exitCodes.error,
      )
    }
    if (!(await confirm())) {
      show('Nothing was sent.')
      return exitCodes.error
    }
  }
  const sent: Outcome[] = []
  // All are sent before any is waited for.
  for (const closing of all) sent.push(await send(call, closing))
  const outcomes = flags.has('no-wait') ? sent : await Promise.all(sent.map((each) => follow(call, each)))
  const open = outcomes.filter(({ isDone }) => !isDone)
  if (isJson) {
    const rows = outcomes.map(({ closing: { symbol, direction }, statement, intentId, order, error }) => ({
      market: symbol,
      direction,
      statement,
      intentId,
      order,
      error,
    }))
    out(JSON.stringify(rows, undefined, 2))
  } else {
    for (const outcome of outcomes) out(lineOf(outcome, call.width))
    out(summary(outcomes, flags.has('no-wait'), shareBps))
  }
  if (outcomes.some(({ isUnsure }) => isUnsure)) err(askAgain(id))
  for (const each of status.unlistedFills) err(wrapped('', `not closed, list lags: ${each}`).join('\n'))
  if (open.some(({ isUnderWay }) => !isUnderWay)) return exitCodes.error
  return open.length === 0 && status.unlistedFills.length === 0 ? exitCodes.ok : exitCodes.timeout
}

/** The status once the list of positions shows every fill, or after `SETTLE_MS`: what it does not show yet is not closed. */
async function settledStatus({ loaded, err }: Call, clock: MonotonicClock & Timer): Promise<StatusBody> {
  const untilMs = clock.monotonicMs() + SETTLE_MS
  let isTold = false
  for (;;) {
    const status = await queryStatus(loaded)
    if (status.unlistedFills.length === 0) return status
    if (clock.monotonicMs() >= untilMs) {
      const still = `After ${span(SETTLE_MS)} the list of positions still lacks fills. Positions that it lacks are not closed now; retry in a few seconds.`
      err(wrapped('', still).join('\n'))
      return status
    }
    if (!isTold) err('Waiting until the list of positions shows the newest fills.')
    isTold = true
    await clock.sleep(POLL_MS)
  }
}

/** The closes of what is held. Two positions on one side of a market are told apart by the token that backs each. */
export function closingsOf(
  { positions, unlisted = [], symbols }: Pick<StatusBody, 'positions' | 'unlisted' | 'symbols'>,
  { id, shareBps, by }: { readonly id: string; readonly shareBps: number; readonly by: string },
): readonly Closing[] {
  const known = unlisted.map((side) => ({ ...side, sizeInUsd: side.sizeUsd }))
  const held = [...positions, ...known].filter(({ sizeInUsd }) => BigInt(sizeInUsd) > 0n)
  const sideOf = ({ marketToken, direction }: (typeof held)[number]) =>
    `${marketToken}:${direction}`.toLowerCase()
  return held.map((position, at): Closing => {
    const { marketToken, direction, sizeInUsd } = position
    const ofSide = held.filter((each) => sideOf(each) === sideOf(position))
    const isFirst = held.findIndex((each) => sideOf(each) === sideOf(position)) === at
    const collateral = ofSide.length === 1 ? undefined : isFirst ? 'long' : 'short'
    return {
      symbol: symbols[marketToken.toLowerCase()] ?? marketToken,
      direction,
      sizeUsd: bps(BigInt(sizeInUsd), shareBps),
      body: {
        id: `${id}.${marketToken.slice(2, 10)}${direction.slice(0, 1)}${collateral?.slice(0, 1) ?? ''}`,
        market: marketToken,
        direction,
        shareBps,
        ...defined({ collateral }),
        by,
      },
    }
  })
}

/** A close, and what it would bring and cost; no quote where it would be refused, which is told when it is sent. */
interface Quoted {
  readonly closing: Closing
  readonly quote?: NonNullable<CommandAnswer['closing']>
}

async function quoted(call: Call, all: readonly Closing[]): Promise<readonly Quoted[]> {
  return await Promise.all(
    all.map(async (closing): Promise<Quoted> => {
      try {
        const answer = await ask(call, '/api/positions/close', { ...closing.body, preview: true })
        return answer.closing === undefined ? { closing } : { closing, quote: answer.closing }
      } catch (error) {
        if (error instanceof CommandError) return { closing }
        throw error
      }
    }),
  )
}

/** Question before all positions are closed: for each its PnL, the expected cost of closing, and the worst price of a fill. */
export function questionText(all: readonly Quoted[], shareBps: number, width: number): string {
  const rows = all.map(({ closing: { symbol, direction, sizeUsd }, quote }) => [
    `${direction} ${symbol}`,
    money(sizeUsd),
    ...(quote === undefined
      ? ['?', '?', '?']
      : [
          money(BigInt(quote.pnlUsd)),
          money(BigInt(quote.expected.totalUsd)),
          quote.boundPrice === null ? 'any' : formatPrice(BigInt(quote.boundPrice)),
        ]),
  ])
  const columns = [
    { title: 'CLOSE', rank: 0 },
    { title: 'SIZE', rank: 0, isFigure: true },
    { title: 'PNL', rank: 0, isFigure: true },
    { title: 'COST', rank: 0, isFigure: true },
    { title: 'WORST PRICE', rank: 1, word: 'worst price', isFigure: true },
  ]
  const notes = wrapped(
    '',
    'PNL is before closing costs. COST is the expected cost of closing: fee, price impact, sending and execution. Each fills no worse than at its worst price, or not at all.',
    width,
  )
  const share = shareBps === 10_000 ? '' : `${shareBps / 100} percent of `
  const rest = wrapped(
    '',
    `perpd closes each at the market: ${share}${counted(all.length, 'position')}. Entry orders stay and strategies continue; perpd kill --close halts and cancels too.`,
    width,
  )
  return [table(columns, rows, width), '', ...notes, '', ...rest].join('\n')
}

async function send(call: Call, closing: Closing): Promise<Outcome> {
  const nothing = {
    closing,
    statement: null,
    intentId: null,
    order: null,
    error: null,
    isDone: false,
    isUnderWay: false,
    isUnsure: false,
  }
  let answer: CommandAnswer
  try {
    answer = await ask(call, '/api/positions/close', closing.body)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { ...nothing, error: error.message, isUnsure: !isRefusal(error) }
  }
  const { statement, intentId } = answer
  return { ...nothing, statement, intentId: intentId ?? null, isDone: call.flags.has('no-wait') }
}

async function follow({ loaded }: Call, outcome: Outcome): Promise<Outcome> {
  if (outcome.intentId === null) return outcome
  try {
    const { order, isDone, isOver } = await followed(loaded, outcome.intentId)
    return { ...outcome, order, isDone, isUnderWay: !isOver }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return { ...outcome, error: error.message }
  }
}

function lineOf({ closing, statement, order, error }: Outcome, width: number): string {
  const { direction, symbol } = closing
  const words = (error ?? (order === null ? statement : outcomeText(order)) ?? '').replaceAll(/\s+/g, ' ')
  return wrapped(`${direction} ${symbol}: `, words, width).join('\n')
}

function summary(outcomes: readonly Outcome[], isUnfollowed: boolean, shareBps: number): string {
  const done = outcomes.filter(({ isDone }) => isDone).length
  const what = shareBps === 10_000 ? 'closed' : 'reduced'
  const text = `${done} of ${counted(outcomes.length, 'position')} ${isUnfollowed ? `${done === 1 ? 'is' : 'are'} on the way to be ${what}` : what}.`
  return done === outcomes.length
    ? text
    : `${text} Not closed or still unknown: ${outcomes
        .filter(({ isDone }) => !isDone)
        .map(({ closing: { direction, symbol } }) => `${direction} ${symbol}`)
        .join(', ')}. Check: perpd positions`
}
