/** `perpd open`, `close` and `cancel`: orders by hand, each shown in words, carried out once, and followed to its outcome. */
import { isatty } from 'node:tty'
import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { OrderRow } from '../../domain/summaries/orderView.ts'
import { ended, money, shortId } from '../../monitor/text.ts'
import { delistedText, unknownMarketText } from '../../operator/unknownMarket.ts'
import { type Hex, shortHex } from '../../protocol/address.ts'
import { marketsNamed } from '../../protocol/marketName.ts'
import { formatPrice } from '../../protocol/priceText.ts'
import { BPS_ONE } from '../../protocol/units.ts'
import type { Call } from '../call/command.ts'
import { type CommandAnswer, commandAnswer, queryDaemon, RefusedCommand } from '../call/daemonClient.ts'
import { dollarsFlag, percentFlag, placeFlag, timesFlag, tokensFlag } from '../call/numberFlags.ts'
import { choose, commander, confirm, idOf, isAgreed } from '../call/whoAsks.ts'
import { farQuestion, openQuoteText } from '../output/openQuoteText.ts'
import { closeQuoteText } from '../output/quoteText.ts'
import { wrapped } from '../output/screen.ts'
import { isMarkets, type MarketRow } from './marketsCommand.ts'

/** The daemon asks the venue before it answers, ms. */
const TIMEOUT_MS = 60_000
/** Longest time that the command follows an order, and the interval between its looks, ms. */
const FOLLOW_MS = 60_000
const LOOK_MS = 250

/** Opens or adds to a position, after a confirmation. What is sent is what was shown, or is refused. */
export async function open(call: Call): Promise<number> {
  const { flags, positionals, out } = call
  const [market = ''] = positionals
  const direction = directionOf(positionals)
  const wish = sizeWish(flags)
  const leverage = timesFlag(flags, 'leverage')
  if (wish === undefined || leverage === undefined) {
    await checkMarket(call, market)
    throw new CommandError(
      wish === undefined
        ? 'Give the size, one of: --size USD, --tokens N, --equity PERCENT, --risk USD; for example --size 500'
        : 'Give the leverage: --leverage N, for example --leverage 2',
      exitCodes.configuration,
    )
  }
  const [limit, stopEntry] = [dollarsFlag(flags, 'limit'), dollarsFlag(flags, 'stop-entry')]
  if (limit !== undefined && stopEntry !== undefined)
    throw new CommandError('Give --limit or --stop-entry, not both.', exitCodes.configuration)
  const [takeProfit, stopLoss] = [placeFlag(flags, 'take-profit'), placeFlag(flags, 'stop-loss')]
  const collateral = poolOf(flags.get('collateral'))
  const id = idOf(flags)
  const far = flags.has('far') ? true : undefined
  const asked = {
    ...{ id, market, direction, ...wish, leverage },
    ...defined({ collateral, limit, stopEntry, takeProfit, stopLoss, far }),
    by: commander(call),
  }
  const isConfirmed = flags.has('yes')
  const isJson = flags.has('json')
  if (isConfirmed && isJson) return await carryOut(call, ORDERS, id, asked)
  const { body, preview } = await previewOn(call, ORDERS, asked)
  const { quote } = preview
  // An id that was used before: what it did is told, and nothing is asked.
  if (quote === undefined) return await outcomeOf(call, preview)
  // The question is for the person at the terminal, and no part of the JSON.
  const show = isJson ? call.err : out
  show(openQuoteText(quote.rows))
  const isFar = quote.farBps !== null
  if (!isConfirmed && !isatty(0)) {
    throw new CommandError(
      'No terminal to confirm the order; nothing was sent. To send it: --yes',
      exitCodes.error,
    )
  }
  if (!isConfirmed && !(await confirm(far === true ? undefined : farQuestion(quote)))) {
    show('Nothing was sent.')
    return exitCodes.error
  }
  const agreed = { far: far === true || (isFar && !isConfirmed) ? true : undefined }
  return await carryOut(call, ORDERS, id, { ...body, ...defined(agreed), quoted: quote.quoted })
}

const ORDERS = '/api/orders'

/** The size as the flags ask for it; undefined: none does. Throws CommandError, also where two do. */
function sizeWish(flags: Call['flags']): Readonly<Record<string, string | number>> | undefined {
  const wish = defined({
    size: dollarsFlag(flags, 'size'),
    tokens: tokensFlag(flags, 'tokens'),
    equityBps: percentFlag(flags, 'equity', 999),
    risk: dollarsFlag(flags, 'risk'),
  })
  const given = Object.keys(wish).length
  if (given > 1)
    throw new CommandError(
      'Give the size once: --size, --tokens, --equity or --risk.',
      exitCodes.configuration,
    )
  return given === 0 ? undefined : wish
}

/** Throws where the running daemon knows no market of that name: nothing else is asked for then. Without a daemon it says nothing. */
async function checkMarket({ loaded }: Call, name: string): Promise<void> {
  let listed: readonly MarketRow[]
  try {
    listed = await queryDaemon(loaded, '/api/markets', isMarkets)
  } catch (error) {
    if (error instanceof CommandError) return
    throw error
  }
  const open = listed.filter(({ status }) => status !== 'delisted')
  if (listed.length === 0 || marketsNamed(open, name).length > 0) return
  const gone = delistedText(listed, open, name)
  const symbols = open.map(({ symbol }) => symbol)
  const [reason, code, exitCode] =
    gone === undefined
      ? [unknownMarketText(symbols, name), 'MARKET_UNKNOWN', exitCodes.notFound]
      : [gone, 'MARKET_NOT_LISTED', exitCodes.error]
  throw new CommandError(wrapped('', `perpd refuses: ${reason} (${code})`).join('\n'), exitCode)
}

/** Closes a position, or a share of it. */
export async function close(call: Call): Promise<number> {
  const { flags, positionals } = call
  const [market] = positionals
  if (market === undefined || positionals[1] === undefined) {
    throw new CommandError(
      'Name the position: perpd close MARKET long|short (perpd positions lists them), or close all: perpd close --all',
      exitCodes.configuration,
    )
  }
  const id = idOf(flags)
  const collateral = poolOf(flags.get('collateral'))
  const direction = directionOf(positionals)
  const shareBps = percentFlag(flags, 'share') ?? BPS_ONE
  const body = {
    id,
    market,
    direction,
    shareBps,
    ...defined({ collateral }),
    by: commander(call),
  }
  return await carryOutAgreed(call, '/api/positions/close', body, {
    textOf: ({ closing }) => (closing === undefined ? undefined : closeQuoteText(closing)),
    mayLoosen: false,
  })
}

/** Cancels what rests of an order. */
export async function cancel(call: Call): Promise<number> {
  const id = idOf(call.flags)
  const [wanted = ''] = call.positionals
  const path = `/api/orders/${encodeURIComponent(wanted)}/cancel`
  const body = { id, by: commander(call) }
  if (!call.flags.has('yes')) {
    // A cancel is not asked about, but for one that leaves a position without a stop-loss.
    const { statement, isLastStop } = await ask(call, path, { ...body, preview: true })
    const text = wrapped('', ended(statement)).join('\n')
    const isSent = isLastStop !== true || (await isAgreed(call, async () => ({ text, isLooser: true }), true))
    if (!isSent) return exitCodes.error
  }
  return await carryOut(call, path, id, body, wanted)
}

/** Moves the trigger of what rests of an order. */
export async function move(call: Call): Promise<number> {
  const id = idOf(call.flags)
  const [wanted = '', price = ''] = call.positionals
  const path = `/api/orders/${encodeURIComponent(wanted)}/move`
  const body = { id, price, by: commander(call) }
  const textOf = ({ intentId, statement }: CommandAnswer) =>
    intentId === undefined ? wrapped('', ended(statement)).join('\n') : undefined
  return await carryOutAgreed(call, path, body, { textOf, mayLoosen: true })
}

/**
 * Sends a command once a person at the terminal agreed to it, and follows its order.
 *
 * @param textOf the words of a preview; undefined: the id was used before, what it did is told, and nothing is asked
 */
async function carryOutAgreed<Body extends { readonly id: string }>(
  call: Call,
  path: string,
  body: Body,
  {
    textOf,
    mayLoosen,
  }: { readonly textOf: (preview: CommandAnswer) => string | undefined; readonly mayLoosen: boolean },
): Promise<number> {
  let before: CommandAnswer | undefined
  const preview = async () => {
    const answer = await ask(call, path, { ...body, preview: true })
    const text = textOf(answer)
    if (text === undefined) before = answer
    return text === undefined ? undefined : { text, isLooser: answer.isLooser === true }
  }
  const isSent = await isAgreed(call, preview, mayLoosen)
  if (before !== undefined) return await outcomeOf(call, before)
  return isSent ? await carryOut(call, path, body.id, body) : exitCodes.error
}

/** Sends a command and follows its order. The id is told first, so that whoever lost the daemon can ask again. */
async function carryOut(
  call: Call,
  path: string,
  id: string,
  body: object,
  cancelled?: string,
): Promise<number> {
  const { err } = call
  let answer: CommandAnswer
  try {
    answer = await ask(call, path, body)
  } catch (error) {
    // Nothing was sent where nobody runs.
    if (error instanceof CommandError && !isRefusal(error) && !error.message.startsWith('No perpd runs'))
      err(askAgain(id))
    throw error
  }
  try {
    return await outcomeOf(call, answer, cancelled)
  } catch (error) {
    if (error instanceof CommandError) err(askAgain(id))
    throw error
  }
}

/** One command; a refusal fits the screen. */
export async function ask({ loaded }: Call, path: string, body: object): Promise<CommandAnswer> {
  try {
    return await commandAnswer(loaded, path, body, TIMEOUT_MS)
  } catch (error) {
    if (!(error instanceof RefusedCommand)) throw error
    throw new RefusedCommand(
      error.message
        .split('\n')
        .flatMap((line) => wrapped('', line))
        .join('\n'),
      error.exitCode,
      error.pools,
    )
  }
}

/** A command's preview, with the body that it is of: at a terminal a market that means several pools is asked for. */
export async function previewOn<Body extends object>(
  call: Call,
  path: string,
  body: Body,
): Promise<{ readonly body: Body; readonly preview: CommandAnswer }> {
  try {
    return { body, preview: await ask(call, path, { ...body, preview: true }) }
  } catch (error) {
    const pools = error instanceof RefusedCommand ? error.pools : []
    if (pools.length === 0 || call.flags.has('yes') || !isatty(0)) throw error
    // One after the other: each asks the venue.
    const previews: (CommandAnswer | undefined)[] = []
    for (const { symbol } of pools) previews.push(await previewIn(call, path, { ...body, market: symbol }))
    const at = await choose(
      'Several pools have that name.',
      pools.map(({ symbol, freeUsd }, each) => {
        const free = freeUsd === null ? 'capacity unknown' : `${money(BigInt(freeUsd))} free`
        const quote = previews[each]?.quote
        const cost = quote && `, costs about ${money(BigInt(quote.expected.totalUsd))} to open`
        return `${symbol}, ${free}${cost ?? ''}`
      }),
    )
    const market = at === undefined ? undefined : pools[at]?.symbol
    if (market === undefined) throw error
    const chosen = { ...body, market }
    return { body: chosen, preview: await ask(call, path, { ...chosen, preview: true }) }
  }
}

/** The preview on one of several pools; undefined where it is refused there, which a choice of it shows. */
async function previewIn(call: Call, path: string, body: object): Promise<CommandAnswer | undefined> {
  try {
    return await ask(call, path, { ...body, preview: true })
  } catch (error) {
    if (error instanceof RefusedCommand) return undefined
    throw error
  }
}

/** Tells whether the daemon refused the command and so did nothing. */
export function isRefusal({ message }: CommandError): boolean {
  return message.startsWith('perpd refuses: ')
}

/** Says how to find out whether the daemon accepted the command. */
export function askAgain(id: string): string {
  return wrapped(
    '',
    `perpd may have accepted the command; check perpd orders, which works without the daemon. When perpd runs again you can safely repeat the command with --id ${id}.`,
  ).join('\n')
}

/** Tells the order of an answer to its outcome. Exit code 0: it did what it should, or rests; 1: it came to nothing; 5: it is not known yet. */
async function outcomeOf(
  call: Call,
  { statement, intentId }: CommandAnswer,
  cancelled?: string,
): Promise<number> {
  const { loaded, flags, out } = call
  const isJson = flags.has('json')
  if (!isJson) out(wrapped('', ended(statement)).join('\n'))
  if (intentId === undefined || flags.has('no-wait')) {
    if (isJson) out(JSON.stringify({ statement, intentId: intentId ?? null, order: null }, undefined, 2))
    return exitCodes.ok
  }
  const { order, isDone, isOver } = await followed(loaded, intentId)
  out(isJson ? JSON.stringify({ statement, intentId, order }, undefined, 2) : outcomeText(order, cancelled))
  if (!isOver) return exitCodes.timeout
  return isDone ? exitCodes.ok : exitCodes.error
}

/**
 * Waits until an order has ended or rests, for a minute at most. `isDone`: it did what it should, or rests; `isOver`: it has ended
 * or rests, and the minute was enough.
 */
export async function followed(
  loaded: Call['loaded'],
  intentId: string,
): Promise<{ readonly order: OrderRow; readonly isDone: boolean; readonly isOver: boolean }> {
  const untilMs = systemClock.monotonicMs() + FOLLOW_MS
  for (;;) {
    const { order } = await queryDaemon(loaded, `/api/orders/${intentId}`, isStory)
    const isOver = order.closedAt !== null || order.standing === 'resting' || order.standing === 'open'
    if (isOver || systemClock.monotonicMs() > untilMs)
      return { order, isDone: isOver && isGood(order), isOver }
    await systemClock.sleep(LOOK_MS)
  }
}

function isStory(body: unknown): body is { readonly order: OrderRow } {
  return typeof body === 'object' && body !== null && 'order' in body
}

function isGood({ outcome, closedAt }: OrderRow): boolean {
  return closedAt === null || outcome === 'EXECUTED' || outcome === 'PARTIAL'
}

/**
 * `order 1a2b3c4d is executed at $3,000.10, fees $0.30`; of a cancel that went through, what it cancelled.
 *
 * @param cancelled the order that was to be cancelled, as it was named; absent: its id is not known here
 */
export function outcomeText(order: OrderRow, cancelled?: string): string {
  const { standing, closedAt, reason, legs, intentId, kind, outcome } = order
  const id = shortId(intentId)
  const more = `perpd explain ${id}`
  if (kind === 'cancel' && outcome === 'EXECUTED') {
    const what =
      cancelled === undefined ? 'the named order' : `the resting part of order ${nameOf(cancelled)}`
    return wrapped('', `${what} is cancelled, by order ${id} (${more})`).join('\n')
  }
  if (closedAt === null && standing !== 'resting' && standing !== 'open') {
    return wrapped(
      '',
      `order ${id} is ${standing}: its outcome is not known yet, perpd keeps following it; ${more}`,
    ).join('\n')
  }
  const fills = legs.filter(({ role, status }) => role === 'main' && status === 'filled')
  const figures = fills.map(({ executionPrice, feesUsd, pnlUsd }) =>
    [
      executionPrice === null ? '' : ` at ${formatPrice(BigInt(executionPrice))}`,
      feesUsd === null ? '' : `, fees ${money(BigInt(feesUsd))}`,
      pnlUsd === null ? '' : `, PnL ${money(BigInt(pnlUsd))} after all costs`,
    ].join(''),
  )
  const exits = legs.filter(({ role, status }) => role !== 'main' && status === 'resting').length
  const resting = exits === 0 ? '' : `; ${exits} exit${exits === 1 ? ' rests' : 's rest'} at the venue`
  const word = standing === 'open' ? 'filled' : standing
  const why = isGood(order) || reason === null ? '' : `: ${reason}`
  return wrapped('', `order ${id} is ${word}${figures.join('')}${resting}${why} (${more})`).join('\n')
}

/** The id of an order, or its key at the venue, short as it is shown elsewhere. */
function nameOf(order: string): string {
  return order.toLowerCase().startsWith('0x') ? shortHex(order as Hex) : shortId(order)
}

/** The direction, `long` or `short`, of the words MARKET DIRECTION. Throws CommandError. */
export function directionOf([market = '', word]: readonly string[]): 'long' | 'short' {
  if (word === 'long' || word === 'short') return word
  const isTurned = market === 'long' || market === 'short'
  const meant = isTurned ? `; the market comes first: ${word} ${market}` : '; expected long or short'
  throw new CommandError(`${word} is not a direction${meant}.`, exitCodes.error)
}

/** `--collateral`: a token of the pool. Throws CommandError. */
export function poolOf(word: string | true | undefined): 'long' | 'short' | undefined {
  if (word === undefined || word === 'long' || word === 'short') return word
  throw new CommandError(
    `--collateral is ${word}; expected long or short, a token of the market's pool.`,
    exitCodes.error,
  )
}
