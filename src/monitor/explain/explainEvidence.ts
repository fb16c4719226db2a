/** Evidence as lines of text: who said it, when, and every fact that shows it. Pure. */
import { isoTime } from '../../base/clock.ts'
import type { Evidence } from '../../domain/order/intent.ts'

const levels: Readonly<Record<Evidence['level'], string>> = {
  'chain-final': 'the chain, final',
  'chain-latest': 'the chain, provisional',
  api: 'host and own rows',
  venue: 'the venue itself',
  local: 'this journal',
  operator: 'an operator',
}

/** The level and the sentence, on one line. */
export function seen({ level, statement }: Evidence): string {
  return `${levels[level]}: ${statement}`
}

/** All of it, one fact a line. */
export function evidenceLines(evidence: Evidence): string[] {
  const { block, logIndex, host, status, endpoints, serverDateMs } = evidence
  const log = logIndex === undefined ? '' : `, log ${logIndex}`
  return [
    `${levels[evidence.level]}, seen ${timeOf(evidence.atMs)}: ${evidence.statement}`,
    ...(block === undefined
      ? []
      : [`block ${block.number} of ${timeOf(block.timestampSeconds * 1_000)}${log}, hash ${block.hash}`]),
    ...(endpoints === undefined || endpoints.length === 0 ? [] : [`shown by ${endpoints.join(' and ')}`]),
    ...(host === undefined ? [] : [`host ${host}${status === undefined ? '' : ` says ${status}`}`]),
    ...(serverDateMs === undefined ? [] : [`at ${timeOf(serverDateMs)} by the host's clock`]),
    ...(evidence.orderKeys ?? []).map((key) => `order ${key}`),
    ...(evidence.transactionHashes ?? []).map((hash) => `transaction ${hash}`),
    ...(evidence.tradeIds ?? []).map((id) => `trade ${id}`),
  ]
}

/** `2026-08-22 21:03:11 UTC`. */
export function timeOf(atMs: number): string {
  return `${isoTime(atMs).slice(0, 19).replace('T', ' ')} UTC`
}
