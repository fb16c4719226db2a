/** The section of the chart: one market at a time, chosen here or by the address. */
import type { VNode } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import { TradeChart } from '../chart/tradeChart.ts'
import { html, Section, useSlice } from '../markup.ts'
import { goTo, usePlace } from '../placeHistory.ts'
import { tradable } from '../shownFigures.ts'
import { texts } from '../texts.ts'

const { prices: words } = texts

/** Markets to choose from: those with positions first, then those of strategies and of known orders, then all others; none before the first status. */
export function useMarkets(): readonly string[] {
  const status = useSlice((state) => state.status)
  const orders = useSlice((state) => state.orders)
  const markets = useSlice((state) => state.markets)
  return useMemo(() => {
    if (status === undefined) return []
    const held = status.positions.map(({ marketToken }) => status.symbols[marketToken.toLowerCase()] ?? '')
    const strategies = status.strategies.flatMap(({ symbols }) => symbols)
    const known = [...held, ...strategies, ...orders.map(({ market }) => market)]
    return [...new Set([...known, ...tradable(markets)])].filter((symbol) => symbol !== '')
  }, [status?.positions, status?.strategies, orders, markets])
}

/** The market of Trade: the one that the address names, else the first of those to choose from. Undefined: there is none yet. */
export function useMarket(): string | undefined {
  const { item } = usePlace()
  const [first] = useMarkets()
  return item ?? first
}

/** The section. */
export function PriceView(): VNode {
  const all = useMarkets()
  const market = useMarket()
  // The library comes beside the status and the candles, not after them. A picture that finds it missing says so.
  useEffect(() => void import('../chart/candleChart.ts').catch(() => undefined), [])
  const onMarket = (event: Event) =>
    goTo({ page: 'trade', item: (event.currentTarget as HTMLSelectElement).value })
  const tools =
    market === undefined
      ? ''
      : html`<select aria-label=${words.market} value=${market} onChange=${onMarket}>
          ${[...new Set([market, ...all])].map((symbol) => html`<option key=${symbol} value=${symbol}>${symbol}</option>`)}
        </select>`
  return html`<${Section} id="prices" title=${texts.sections.prices} tools=${tools}>
    ${market === undefined ? html`<p class="muted">${words.noMarket}</p>` : html`<${TradeChart} key=${market} market=${market} />`}
  <//>`
}
