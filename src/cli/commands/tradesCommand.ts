/** `perpd trades`: every fill of an order of perpd's, newest first. Works with the daemon running or not. */
import { CommandError, exitCodes } from '../../config/exit.ts'
import { withJournal } from '../../daemon/journalFile.ts'
import { signedOrderAmong } from '../../domain/order/signedOrder.ts'
import { type TradeRow, tradeRows } from '../../domain/views/tradeView.ts'
import { money, shortId } from '../../monitor/text.ts'
import { formatUsd } from '../../protocol/units.ts'
import type { Call } from '../call/command.ts'
import { type Column, fitTable } from '../output/fitTable.ts'
import { wrapped } from '../output/screen.ts'
import { changesIn } from './ordersCommand.ts'

const DEFAULT_LIMIT = 50

/** Lists fills, as text or with `--json`. */
export async function trades({ loaded, flags, width, out, err }: Call): Promise<number> {
  const [word, strategy] = [flags.get('limit') ?? String(DEFAULT_LIMIT), flags.get('strategy')]
  if (typeof word !== 'string' || !/^[1-9]\d{0,8}$/.test(word)) {
    throw new CommandError(`--limit is ${String(word)}; expected a whole number from 1.`, exitCodes.error)
  }
  const limit = Number(word)
  const rows = await withJournal(loaded.config, async (journal) => {
    const states = await journal.intents()
    const changes = changesIn(states)
    return states
      .filter(({ intent }) => strategy === undefined || intent.strategy === strategy)
      .flatMap((state) => tradeRows(state, (orderKey) => signedOrderAmong(changes, state, orderKey)))
      .toSorted((one, other) => other.filledAt.localeCompare(one.filledAt))
  })
  const shown = rows.slice(0, limit)
  if (flags.has('json')) out(JSON.stringify(shown, undefined, 2))
  else out(tradesText(shown, width))
  if (!flags.has('json') && rows.length > limit)
    err(`The newest ${limit} of ${rows.length}. More with --limit N`)
  return exitCodes.ok
}

const columns: readonly Column<TradeRow>[] = [
  {
    title: 'FILLED (UTC)',
    rank: 0,
    wraps: true,
    of: ({ filledAt }) => filledAt.slice(0, 19).replace('T', ' '),
  },
  { title: 'MARKET', rank: 0, wraps: true, of: ({ market }) => market },
  {
    title: 'TRADE',
    rank: 0,
    wraps: true,
    of: ({ kind, direction, isProvisional }) =>
      `${kind} ${direction}${isProvisional ? ' (not final yet)' : ''}`,
  },
  { title: 'SIZE', rank: 0, isFigure: true, of: ({ sizeDeltaUsd }) => dollars(sizeDeltaUsd) },
  {
    title: 'PRICE',
    rank: 0,
    isFigure: true,
    of: ({ executionPrice }) => (executionPrice === null ? '' : formatUsd(BigInt(executionPrice))),
  },
  { title: 'FEES', rank: 2, isFigure: true, of: ({ feesUsd }) => dollars(feesUsd) },
  { title: 'PNL', rank: 1, isFigure: true, of: ({ pnlUsd }) => dollars(pnlUsd) },
  { title: 'STRATEGY', rank: 3, of: ({ strategy }) => strategy },
  { title: 'ORDER', rank: 4, of: ({ intentId }) => shortId(intentId) },
  { title: 'PRICE IMPACT', rank: 5, isFigure: true, of: ({ priceImpactUsd }) => dollars(priceImpactUsd) },
]

/** The table; PnL of what opens is empty. */
export function tradesText(rows: readonly TradeRow[], width: number): string {
  if (rows.length === 0) return 'No trades yet.'
  const legend = wrapped(
    '',
    'PNL is the fill alone, as the venue counts it; perpd orders has it after all costs, those of the entry included. Price is that of the fill, with price impact. The entry price of perpd positions is without it: there the impact is settled when the position closes.',
  )
  return [fitTable(columns, rows, width), '', ...legend].join('\n')
}

function dollars(amount: string | null): string {
  return amount === null ? '' : money(BigInt(amount))
}
