/** How contradicted, settled, proven and trusted facts of markets read. */
import type { Event } from '../../domain/event.ts'
import { counted, plain } from '../text.ts'
import { type Line, line } from './line.ts'

/** Most names and clauses of one line. */
const MOST_SHOWN = 3

function some(texts: readonly string[], separator: string): string {
  const shown = texts.slice(0, MOST_SHOWN).map(plain).join(separator)
  const more = texts.length - MOST_SHOWN
  return more > 0 ? `${shown}${separator}and ${more} more` : shown
}

/** The line of something about what markets are. */
export function marketLine(
  event: Extract<
    Event,
    { type: 'market.contradicted' | 'market.settled' | 'market.proven' | 'market.trusted' }
  >,
): Line {
  switch (event.type) {
    case 'market.contradicted': {
      const { contradictions, symbols } = event
      const clauses = contradictions.map(({ host, statement }) => `${host} ${statement}`)
      return line(
        'error',
        'market',
        `${some(clauses, '; ')}. Nothing is added on ${some(symbols, ', ')}, and what is held there is reduced by our own facts. See perpd markets`,
        { hosts: hostsOf(contradictions), symbols, contradictions: contradictions.length },
      )
    }
    case 'market.settled': {
      const { contradictions, symbols, by } = event
      const how =
        by === undefined ? 'said right again by its hosts' : `settled by ${plain(by)} in spite of its hosts`
      return line(
        'info',
        'market',
        `${counted(contradictions.length, 'contradiction')} ${how}: ${some(symbols, ', ')}`,
        {
          hosts: hostsOf(contradictions),
          symbols,
          ...(by === undefined ? {} : { by }),
        },
      )
    }
    case 'market.proven':
      return line('info', 'market', `the chain proves ${plain(event.symbol)} (${event.marketToken})`, {
        market: event.symbol,
        market_token: event.marketToken,
      })
    case 'market.trusted':
      return line(
        'warn',
        'market',
        `${plain(event.by)} trusts ${plain(event.symbol)} (${event.marketToken})`,
        {
          market: event.symbol,
          market_token: event.marketToken,
          by: event.by,
        },
      )
  }
}

function hostsOf(contradictions: readonly { readonly host: string }[]): readonly string[] {
  return [...new Set(contradictions.map(({ host }) => host))]
}
