/** `perpd balance`: what is in the wallet and in positions, read by the running daemon. */
import { exitCodes } from '../../config/exit.ts'
import type { StatusBody } from '../../control/routes.ts'
import type { Plain } from '../../domain/summaries/orderView.ts'
import { counted, money, span } from '../../monitor/text.ts'
import type { BalanceReport } from '../../operator/operatorReads.ts'
import { formatUnits } from '../../protocol/units.ts'
import type { Call } from '../call/command.ts'
import { queryDaemon, queryStatus } from '../call/daemonClient.ts'
import { type Column, fitTable } from '../output/fitTable.ts'
import { wrapped } from '../output/screen.ts'
import { equityAge } from '../results/statusParts.ts'

type Balance = Plain<BalanceReport>

/** Shows the balance, as text or with `--json`. Exit code 3 when no daemon answers. */
export async function balance({ loaded, flags, width, out }: Call): Promise<number> {
  const status = await queryStatus(loaded)
  const report = await queryDaemon(loaded, '/api/balance', isBalance)
  if (flags.has('json')) out(JSON.stringify({ ...report, equity: status.equity ?? null }, undefined, 2))
  else out(balanceText(report, status, width))
  return exitCodes.ok
}

function isBalance(body: unknown): body is Balance {
  return typeof body === 'object' && body !== null && 'tokens' in body && 'walletUsd' in body
}

const columns: readonly Column<Balance['tokens'][number]>[] = [
  { title: 'TOKEN', rank: 0, of: ({ symbol, isNative }) => `${symbol}${isNative ? ' (gas)' : ''}` },
  {
    title: 'AMOUNT',
    rank: 0,
    isFigure: true,
    of: ({ amount, decimals }) => formatUnits(BigInt(amount), decimals),
  },
  {
    title: 'WORTH',
    rank: 0,
    isFigure: true,
    of: ({ worthUsd }) => (worthUsd === null ? 'no price' : money(BigInt(worthUsd))),
  },
  { title: 'ADDRESS', rank: 1, of: ({ address }) => address },
]

/** The tokens that are there, the largest first, and the parts that the equity is the sum of. */
export function balanceText(report: Balance, { equity, nowMs }: StatusBody, width: number): string {
  const { tokens, positionsUsd, positions, readAtMs, missing, account } = report
  const rows = tokens
    .filter(({ amount }) => BigInt(amount) > 0n)
    .toSorted((one, other) => (BigInt(one.worthUsd ?? 0) > BigInt(other.worthUsd ?? 0) ? -1 : 1))
  const table = rows.length === 0 ? 'The wallet is empty.' : fitTable(columns, rows, width)
  const [gasCoinUsd, feesUsd] = [BigInt(report.gasCoinUsd ?? 0), BigInt(report.executionFeesUsd)]
  const gasCoin = tokens.find(({ isNative }) => isNative)
  const wrappedCoin = rows.find(({ isWrapped }) => isWrapped)
  const sum = money(BigInt(report.sumUsd))
  const lines = [
    ['account', account],
    [
      'wallet',
      `${money(BigInt(report.walletUsd) - gasCoinUsd)}${gasCoinUsd === 0n ? '' : ', without the gas coin'}`,
    ],
    ['orders', `${money(BigInt(report.ordersUsd))} held by ${counted(report.payingOrders, 'open order')}`],
    ['positions', `${money(BigInt(positionsUsd))} in ${counted(positions, 'position')}, after pending fees`],
    ...equityLines(sum, equity, nowMs),
    [
      'gas coin',
      gasCoin === undefined
        ? 'unknown without a chain endpoint; not part of the equity'
        : `${formatUnits(BigInt(gasCoin.amount), gasCoin.decimals)} ${gasCoin.symbol}${gasCoin.worthUsd === null ? '' : ` (${money(BigInt(gasCoin.worthUsd))})`}, not part of the equity; keepers return unused execution fees in it`,
    ],
    ...(feesUsd === 0n
      ? []
      : [['fees', `${money(feesUsd)} of execution fees in open orders, not part of the equity`]]),
    ...(wrappedCoin === undefined
      ? []
      : [[wrappedCoin.symbol, 'the relay returns the unused part of its fee in it; part of the equity']]),
    ...(missing === 0
      ? []
      : [['missing', `${counted(missing, 'row')} could not be read and are missing in the figures`]]),
    ['read', `${span(Math.max(0, nowMs - readAtMs))} ago`],
  ].flatMap(([name = '', words = '']) => wrapped(name.padEnd(11), words, width))
  return `${table}\n\n${lines.join('\n')}`
}

/**
 * The equity as the sum of the parts above it. While lists settle the parts may be of different instants: then their sum is told
 * as that, and the equity is the last one of before.
 */
function equityLines(sum: string, equity: StatusBody['equity'], nowMs: number): string[][] {
  if (equity === undefined) return [['sum', sum]]
  const age = equityAge(equity, nowMs)
  if (age === '') return [['equity', `${sum}, the sum of these`]]
  return [
    ['sum', `${sum}, from lists that may be of different instants`],
    ['equity', `${money(BigInt(equity.equityUsd))}${age}`],
  ]
}
