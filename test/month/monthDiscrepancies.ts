/** Which discrepancies of a month count: those that late evidence of our own fills does not explain soon after the chain could be read. */
import type { Discrepancy } from '../../src/domain/accountRecords/accountRecord.ts'
import type { Event } from '../../src/domain/event.ts'

/**
 * How long a position may differ from the journal until a late fill of our own explains it, counted from the first answer of the chain since, ms. perpd tells
 * of it after ten minutes; a month asks the chain every seven, and a third of its answers are lost, so that eight in a row are sometimes.
 */
const LATE_FILL_MS = 1_800_000

/** Whether a discrepancy is one of a month: where the protocol deleverages, for profits that a pool cannot pay, nobody did wrong. */
export function counts({ kind }: Pick<Discrepancy, 'kind'>): boolean {
  return kind !== 'adl'
}

/** Listens to the events of a month; `say` is told of each discrepancy that counts, once it does. */
export function createDiscrepancyJudge(
  nowMs: () => number,
  say: (text: string) => void,
): (event: Event) => void {
  /** Positions that differ from the journal, by id of the discrepancy. */
  const differing = new Map<string, { readonly statement: string; answeredAtMs?: number }>()
  return (event) => {
    if (event.type === 'chain.read' && event.outcome === 'ok')
      for (const each of differing.values()) each.answeredAtMs ??= nowMs()
    if (event.type === 'account.discrepancy') {
      const { discrepancyId, kind, statement } = event.discrepancy
      if (kind === 'unexplained-position') differing.set(discrepancyId, { statement })
      else if (counts(event.discrepancy)) say(`discrepancy: ${statement}`)
    }
    if (event.type !== 'account.discrepancySettled') return
    const { discrepancyId } = event.discrepancy
    const known = differing.get(discrepancyId)
    differing.delete(discrepancyId)
    if (known === undefined) return
    const lateMs = nowMs() - (known.answeredAtMs ?? nowMs())
    if (event.as !== 'gone' || lateMs > LATE_FILL_MS) say(`discrepancy: ${known.statement}`)
  }
}
