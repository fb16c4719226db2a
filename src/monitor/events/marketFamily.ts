/** Events of contradicted, settled, proven and trusted facts of markets. */

import type { AccountEvent } from '../../domain/accountEvent.ts'
import { contradictionKey } from '../../domain/accountRecords/marketEntry.ts'
import type { SeriesMaker } from '../seriesMaker.ts'
import { counted, plain } from '../text.ts'
import type { EventFamily, EventOf, Field, Seen } from './eventRow.ts'

function series({ counter }: SeriesMaker) {
  return {
    contradicted: counter(
      'perpd_contradictions_total',
      'Rows of hosts that contradicted the pinned facts of a market or a token, each counted once.',
    ),
  }
}

/** Most names and clauses of one line. */
const MOST_SHOWN = 3

function some(texts: readonly string[], separator: string): string {
  const shown = texts.slice(0, MOST_SHOWN).map(plain).join(separator)
  const more = texts.length - MOST_SHOWN
  return more > 0 ? `${shown}${separator}and ${more} more` : shown
}

const hosts: Field<Extract<AccountEvent, { type: 'market.contradicted' | 'market.settled' }>> = [
  'hosts',
  ({ contradictions }) => [...new Set(contradictions.map(({ host }) => host))],
]

function settledText({ contradictions, symbols, by }: EventOf<'market.settled'>): string {
  return `${counted(contradictions.length, 'contradiction')} ${by === undefined ? 'confirmed again by its hosts' : `trusted by ${plain(by)} despite its hosts`}: ${some(symbols, ', ')}`
}

/** Contradictions that are open, from the first to the end of the last one incident. */
function partsOf(open: Seen['open']): ReadonlySet<string> {
  return open('contradictions')?.parts ?? new Set()
}

/** Events of facts of markets. */
export const marketFamily: EventFamily<
  Extract<AccountEvent, { type: `market.${string}` }>,
  ReturnType<typeof series>
> = {
  series,
  rows: {
    'market.contradicted': {
      levels: ['error'],
      meaning: 'Hosts contradict the pinned facts of a market; increases there wait.',
      word: 'market',
      text({ contradictions, symbols }) {
        const clauses = contradictions.map(({ host, statement }) => `${host} ${statement}`)
        return `${some(clauses, '; ')}. Increases on ${some(symbols, ', ')} wait, and reductions there use the pinned facts. See perpd markets`
      },
      fields: [hosts, 'symbols', ['contradictions', ({ contradictions }) => contradictions.length]],
      moves: ({ contradicted }, { contradictions }) => contradicted.inc(contradictions.length),
      notice({ contradictions }, { open }) {
        const parts = new Set([...partsOf(open), ...contradictions.map(contradictionKey)])
        return {
          ...{ kind: 'market-contradicted', cause: 'contradictions', stage: String(parts.size), parts },
          action:
            'Compare the facts of the market (perpd markets) with the contracts on the chain. Only if the chain confirms the host: perpd markets trust MARKET --by NAME',
        }
      },
    },
    'market.settled': {
      levels: ['info'],
      meaning: 'Contradictions about markets ended.',
      word: 'market',
      text: settledText,
      fields: [hosts, 'symbols', 'by'],
      notice(event, { open }) {
        const settled = new Set(event.contradictions.map(contradictionKey))
        const parts = partsOf(open).difference(settled)
        const common = { kind: 'market-contradicted', cause: 'contradictions' } as const
        if (parts.size === 0) return { ...common, isEnd: true }
        const left = `${counted(parts.size, 'contradiction')} ${parts.size === 1 ? 'stays' : 'stay'}`
        return { ...common, stage: String(parts.size), parts, text: `${settledText(event)}; ${left}` }
      },
    },
    'market.proven': {
      levels: ['info'],
      meaning: 'The chain proved a market that is not shipped.',
      word: 'market',
      text: ({ symbol, marketToken }) => `the chain proves ${plain(symbol)} (${marketToken})`,
      fields: [['market', ({ symbol }) => symbol], 'market_token'],
    },
    'market.trusted': {
      levels: ['warn'],
      meaning: 'An operator trusts a market that is not shipped.',
      word: 'market',
      text: ({ by, symbol, marketToken }) => `${plain(by)} trusts ${plain(symbol)} (${marketToken})`,
      fields: [['market', ({ symbol }) => symbol], 'market_token', 'by'],
    },
  },
}
