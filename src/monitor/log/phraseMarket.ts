/** Formats the log lines about contradicted, settled, proven and trusted facts of markets. */
import { defined } from '../../base/defined.ts'
import type { AccountEvent } from '../../domain/accountEvent.ts'
import { counted, plain } from '../text.ts'
import { line, type Phrases } from './line.ts'

/** Most names and clauses of one line. */
const MOST_SHOWN = 3

function some(texts: readonly string[], separator: string): string {
  const shown = texts.slice(0, MOST_SHOWN).map(plain).join(separator)
  const more = texts.length - MOST_SHOWN
  return more > 0 ? `${shown}${separator}and ${more} more` : shown
}

/** The line of each event about what markets are. */
export const marketPhrases: Phrases<Extract<AccountEvent['type'], `market.${string}`>> = {
  'market.contradicted': (event) => {
    const { contradictions, symbols } = event
    const clauses = contradictions.map(({ host, statement }) => `${host} ${statement}`)
    return line(
      'error',
      'market',
      `${some(clauses, '; ')}. Increases on ${some(symbols, ', ')} wait, and reductions there use the pinned facts. See perpd markets`,
      { hosts: hostsOf(contradictions), symbols, contradictions: contradictions.length },
    )
  },
  'market.settled': (event) => {
    const { contradictions, symbols, by } = event
    const how =
      by === undefined ? 'confirmed again by its hosts' : `trusted by ${plain(by)} despite its hosts`
    return line(
      'info',
      'market',
      `${counted(contradictions.length, 'contradiction')} ${how}: ${some(symbols, ', ')}`,
      {
        hosts: hostsOf(contradictions),
        symbols,
        ...defined({ by }),
      },
    )
  },
  'market.proven': (event) =>
    line('info', 'market', `the chain proves ${plain(event.symbol)} (${event.marketToken})`, {
      market: event.symbol,
      market_token: event.marketToken,
    }),
  'market.trusted': (event) =>
    line('warn', 'market', `${plain(event.by)} trusts ${plain(event.symbol)} (${event.marketToken})`, {
      market: event.symbol,
      market_token: event.marketToken,
      by: event.by,
    }),
}

function hostsOf(contradictions: readonly { readonly host: string }[]): readonly string[] {
  return [...new Set(contradictions.map(({ host }) => host))]
}
