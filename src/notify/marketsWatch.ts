/**
 * Watches whether hosts contradict the facts of markets. From the first contradiction to the end of the last is one story, notified again when one is
 * added or ends in between. Pure but for its state.
 */
import { contradictionKey } from '../domain/accountRecords/marketEntry.ts'
import type { Event } from '../domain/event.ts'
import { phrase } from '../monitor/log/phrase.ts'
import { counted } from '../monitor/text.ts'
import type { Notice } from './notice.ts'

const common = { kind: 'market-contradicted', cause: 'contradictions' } as const

/** Takes events in their order; gives what is told of them. */
export function createMarketsWatch(): (event: Event) => readonly Notice[] {
  const open = new Set<string>()

  return (event) => {
    if (event.type !== 'market.contradicted' && event.type !== 'market.settled') return []
    const keys = event.contradictions.map(contradictionKey)
    const { text } = phrase(event)
    if (event.type === 'market.contradicted') {
      for (const key of keys) open.add(key)
      return [
        {
          ...{ ...common, level: 'error', stage: String(open.size), text },
          action:
            'Check which one matches the contracts on the chain: perpd markets. Only if the chain confirms the host: perpd markets trust NAME --by NAME',
        },
      ]
    }
    for (const key of keys) open.delete(key)
    if (open.size === 0) return [{ ...common, level: 'info', isEnd: true, text }]
    const left = `${counted(open.size, 'contradiction')} ${open.size === 1 ? 'stays' : 'stay'}`
    return [{ ...common, level: 'info', stage: String(open.size), text: `${text}; ${left}` }]
  }
}
