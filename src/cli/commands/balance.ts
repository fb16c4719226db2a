/** `perpd balance`: what is in the wallet and in positions, read by the running daemon. */
import { exitCodes } from '../../config/exit.ts'
import type { StatusBody } from '../../control/routes.ts'
import type { Plain } from '../../domain/views/orderView.ts'
import type { BalanceReport } from '../../engine/operator/operatorReads.ts'
import { counted, money, span } from '../../monitor/text.ts'
import { formatUnits } from '../../protocol/units.ts'
import type { Call } from '../call/command.ts'
import { queryDaemon, queryStatus } from '../call/daemonClient.ts'
import { type Column, fitTable } from '../output/fitTable.ts'
import { equityAge } from './statusCommand.ts'

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

/** The tokens that are there, the largest first, and the sums. */
export function balanceText(
  { tokens, walletUsd, positionsUsd, positions, readAtMs, missing, account }: Balance,
  { equity, nowMs }: Pick<StatusBody, 'equity' | 'nowMs'>,
  width: number,
): string {
  const rows = tokens
    .filter(({ amount }) => BigInt(amount) > 0n)
    .toSorted((one, other) => (BigInt(one.worthUsd ?? 0) > BigInt(other.worthUsd ?? 0) ? -1 : 1))
  const table = rows.length === 0 ? 'The wallet is empty.' : fitTable(columns, rows, width)
  const lines = [
    `account    ${account}`,
    `wallet     ${money(BigInt(walletUsd))}`,
    `positions  ${money(BigInt(positionsUsd))} in ${counted(positions, 'position')}, after pending fees`,
    ...(equity === undefined
      ? []
      : [`equity     ${money(BigInt(equity.equityUsd))}, without the gas coin${equityAge(equity, nowMs)}`]),
    ...(missing === 0 ? [] : [`${counted(missing, 'row')} could not be read: the figures lack them`]),
    `read       ${span(Math.max(0, nowMs - readAtMs))} ago`,
  ]
  return `${table}\n\n${lines.join('\n')}`
}
