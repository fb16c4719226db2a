/** Closed trades: filters that live in the page's address, the rows and their sum, and the file of them. */
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { pageKeyHeaders } from '../feed/pageKey.ts'
import { Head, html, Section, usePage } from '../markup.ts'
import { routeOf } from '../pageAccount.ts'
import { read } from '../pageApi.ts'
import type { ClosedTrade, RoundTrips } from '../pageWire.ts'
import { goTo, usePlace } from '../placeHistory.ts'
import { resultTexts as words } from '../resultTexts.ts'
import { amountOf, NOTHING, placesOf, priceText, signedUsdText, usdText } from '../shownAmount.ts'
import { authorText } from '../shownFigures.ts'
import { momentText, spanText } from '../shownTimes.ts'
import { texts } from '../texts.ts'
import { Card, useIsNarrow } from './cards.ts'
import { toneOf } from './headlineView.ts'

/** Interval between readings while the results are shown, ms. */
const EVERY_MS = 20_000
/** Rows of the first answer, and how many more each time. */
const PAGE_ROWS = 25

const filterNames = ['from', 'to', 'market', 'side', 'strategy', 'reason', 'outcome'] as const
type FilterName = (typeof filterNames)[number]
type Filters = Partial<Record<FilterName, string>>

const reasons = ['stop', 'target', 'signal', 'hand', 'kill', 'liquidation', 'other']
const columns = words.columns
const titles = Object.values(columns)
const figures: readonly string[] = [
  ...[columns.size, columns.prices, columns.held, columns.price, columns.fees],
  ...[columns.funding, columns.sending, columns.pnl, columns.r],
]

/** Returns the filters that the page's address names. */
function filtersOf(query: Readonly<Record<string, string>>): Filters {
  return Object.fromEntries(
    filterNames.flatMap((name) => {
      const value = query[name] ?? ''
      return value === '' ? [] : [[name, value]]
    }),
  )
}

const queryOf = (filters: Filters): string => new URLSearchParams(filters).toString()

/** Reads a route for as long as what needs it is shown, and again every so often. */
export function useReading<T>(path: string | undefined): {
  readonly value: T | undefined
  readonly problem: string
} {
  const { store } = usePage()
  const [found, setFound] = useState<{ readonly path: string; readonly value: T } | undefined>(undefined)
  const [problem, setProblem] = useState('')
  useEffect(() => {
    if (path === undefined) return undefined
    let isOver = false
    const look = async () => {
      const answer = await read<T>(path)
      if (isOver || typeof store.get().session === 'string') return
      setProblem(answer.ok ? '' : answer.status === 400 ? answer.message : words.unread)
      if (answer.ok) setFound({ path, value: answer.value })
    }
    void look()
    const timer = setInterval(() => document.visibilityState === 'visible' && void look(), EVERY_MS)
    return () => {
      isOver = true
      clearInterval(timer)
    }
  }, [path])
  return { value: found?.path === path ? found?.value : undefined, problem }
}

function Filter(props: {
  readonly name: FilterName
  readonly value: string
  readonly among?: readonly string[]
  readonly onValue: (value: string) => void
}): VNode {
  const { name, value, among, onValue } = props
  const onChange = (event: Event) => onValue((event.currentTarget as HTMLInputElement).value)
  return html`<label>${words.filters[name]}
    ${
      among === undefined
        ? html`<input type="date" name=${name} value=${value} onChange=${onChange} />`
        : html`<select name=${name} value=${value} onChange=${onChange}>
            <option value="">${words.any}</option>
            ${among.map((each) => html`<option key=${each} value=${each}>${authorText(each)}</option>`)}
          </select>`
    }
  </label>`
}

const closedText = ({ closedAt }: ClosedTrade): string => momentText(Date.parse(closedAt))
const rText = ({ r }: ClosedTrade): string => (r === null ? NOTHING : r.toFixed(2))
function pricesOf({ entryPrice, exitPrice }: ClosedTrade): readonly string[] {
  const prices = [entryPrice, exitPrice]
  const places = Math.min(...prices.flatMap((price) => (price === null ? [] : [placesOf(price)])))
  return prices.map((price) => (price === null ? NOTHING : priceText(price, places)))
}

/** The parts of a PnL, by their columns. */
function partsOf(of: ClosedTrade | RoundTrips['sums']): readonly (readonly [name: string, text: string])[] {
  return [
    [columns.price, signedUsdText(amountOf(of.pricePnlUsd) + amountOf(of.impactUsd))],
    [columns.fees, signedUsdText(-amountOf(of.feesUsd))],
    [columns.funding, signedUsdText(-amountOf(of.fundingUsd) - amountOf(of.borrowingUsd))],
    [columns.sending, signedUsdText(-amountOf(of.sendingUsd))],
  ]
}

function TradeLine({ trade }: { readonly trade: ClosedTrade }): VNode {
  const { show } = usePage()
  const closed = closedText(trade)
  const by = trade.closedBy
  return html`<tr>
    <th scope="row" class="num" data-label=${columns.closed}>${
      by === null ? closed : html`<button class="link" onClick=${() => show(by)}>${closed}</button>`
    }</th>
    <td class="text" data-label=${columns.market}>${trade.market} ${trade.direction}</td>
    <td class="text" data-label=${columns.strategy}>${authorText(trade.strategy)}</td>
    <td class="num" data-label=${columns.size}>${usdText(trade.largestUsd)}</td>
    <td class="num" data-label=${columns.prices}>${pricesOf(trade).join(' > ')}</td>
    <td data-label=${columns.reason} title=${trade.why}>${trade.reason}</td>
    <td class="num" data-label=${columns.held}>${spanText(trade.durationSeconds * 1_000)}</td>
    ${partsOf(trade).map(([name, text]) => html`<td key=${name} class="num" data-label=${name}>${text}</td>`)}
    <td class=${`num ${toneOf(amountOf(trade.pnlUsd))}`} data-label=${columns.pnl}>${signedUsdText(trade.centsUsd)}</td>
    <td class="num" data-label=${columns.r}>${rText(trade)}</td>
  </tr>`
}

/** A closed trade on a phone: two lines, and everything else of it behind a tap. */
function TradeCard({ trade }: { readonly trade: ClosedTrade }): VNode {
  const { show } = usePage()
  const { market, direction, closedBy: by } = trade
  const [entry = NOTHING, exit = NOTHING] = pricesOf(trade)
  const what = texts.orders.what(
    authorText(trade.strategy),
    market.split(' ')[0] ?? market,
    direction,
    usdText(trade.largestUsd),
  )
  const facts = [
    [columns.closed, closedText(trade)],
    [columns.market, market],
    [columns.held, spanText(trade.durationSeconds * 1_000)],
    ...partsOf(trade),
    [columns.r, rText(trade)],
  ] as const
  return html`<${Card}
    first=${[what, html`<span class=${toneOf(amountOf(trade.pnlUsd))}>${signedUsdText(trade.centsUsd)}</span>`]}
    second=${[`${closedText(trade).slice(5, 16)} ${entry} > ${exit}`, trade.reason]}>
    <dl class="facts">${facts.map(([name, text]) => html`<div key=${name}><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>
    ${by === null ? '' : html`<div class="tools"><button onClick=${() => show(by)}>${texts.orders.storyButton}</button></div>`}
  <//>`
}

function SumCard({ sums }: { readonly sums: RoundTrips['sums'] }): VNode {
  return html`<${Card} first=${[words.sum(sums.trades, sums.won), html`<span class=${toneOf(amountOf(sums.pnlUsd))}>${signedUsdText(sums.pnlUsd)}</span>`]}
    second=${[words.sumParts, '']}>
    <dl class="facts">${partsOf(sums).map(([name, text]) => html`<div key=${name}><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>
  <//>`
}

function SumLine({ sums }: { readonly sums: RoundTrips['sums'] }): VNode {
  return html`<tr class="sum">
    <th scope="row" colspan="7">${words.sum(sums.trades, sums.won)}</th>
    ${partsOf(sums).map(([name, text]) => html`<td key=${name} class="num" data-label=${name}>${text}</td>`)}
    <td class=${`num ${toneOf(amountOf(sums.pnlUsd))}`} data-label=${columns.pnl}>${signedUsdText(sums.pnlUsd)}</td>
    <td></td>
  </tr>`
}

/** Hands a text to the browser as a file. */
function download(name: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

/** The section of closed trades. */
export function TradesView(): VNode {
  const { announce } = usePage()
  const filters = filtersOf(usePlace().query)
  const isNarrow = useIsNarrow()
  const [most, setMost] = useState(PAGE_ROWS)
  const [refused, setRefused] = useState('')
  const query = queryOf(filters)
  const { value, problem } = useReading<RoundTrips>(`/api/round-trips?${query}&limit=${most}`)
  const isFiltered = query !== ''

  function change(next: Filters): void {
    goTo({ page: 'results', query: next })
    setMost(PAGE_ROWS)
  }

  function filter(name: FilterName, text: string): void {
    const { [name]: _, ...others } = filters
    change(text === '' ? others : { ...others, [name]: text })
  }

  async function csv(): Promise<void> {
    try {
      const answer = await fetch(routeOf(`/api/round-trips?${query}&as=csv`), {
        headers: pageKeyHeaders(),
        credentials: 'same-origin',
        cache: 'no-store',
      })
      if (!answer.ok) throw new Error(answer.statusText)
      download('closed-trades.csv', await answer.text())
      setRefused('')
    } catch (error) {
      const text = words.noCsv(error instanceof Error ? error.message : '')
      setRefused(text)
      announce(text)
    }
  }

  const among: Readonly<Partial<Record<FilterName, readonly string[]>>> = {
    market: value?.markets ?? [],
    side: ['long', 'short'],
    strategy: value?.strategies ?? [],
    reason: reasons,
    outcome: ['won', 'lost'],
  }
  const rows = value?.rows ?? []
  const left = (value?.sums.trades ?? 0) - rows.length
  const { openUsd = '0', outsideUsd = '0' } = value?.besides ?? {}
  const totalUsd = amountOf(value?.sums.pnlUsd ?? '0') + amountOf(openUsd) + amountOf(outsideUsd)
  const chosen = html`<div class="filters">
      ${filterNames.map(
        (name) =>
          html`<${Filter} key=${name} name=${name} value=${filters[name] ?? ''} among=${among[name]} onValue=${(text: string) => filter(name, text)} />`,
      )}
      ${isFiltered ? html`<button onClick=${() => change({})}>${words.clear}</button>` : ''}
    </div>`
  const last = value === undefined ? undefined : html`<${isNarrow ? SumCard : SumLine} sums=${value.sums} />`
  const list = isNarrow
    ? html`<ul class="cards">${rows.map((trade) => html`<${TradeCard} key=${trade.id} trade=${trade} />`)}${last}</ul>`
    : html`<div class="scroll"><table>
        <${Head} titles=${titles} figures=${figures} />
        <tbody>${rows.map((trade) => html`<${TradeLine} key=${trade.id} trade=${trade} />`)}${last}</tbody>
      </table></div>`
  const tools = html`<button aria-label=${words.csvLabel} disabled=${rows.length === 0} onClick=${csv}>${words.csv}</button>`
  return html`<${Section} id="trades" title=${words.title} count=${String(value?.sums.trades ?? '')} tools=${tools}>
    ${isNarrow ? html`<details open=${isFiltered}><summary>${words.filtersOn(Object.keys(filters).length)}</summary>${chosen}</details>` : chosen}
    ${problem === '' && refused === '' ? '' : html`<p class="warn" role="alert">${problem || refused}</p>`}
    ${
      rows.length === 0
        ? html`<p class="muted">${value === undefined ? words.waiting : isFiltered ? words.noMatch : words.none}</p>`
        : html`${list}<p class="muted">${isFiltered ? '' : `${words.besides(signedUsdText(openUsd), signedUsdText(outsideUsd), signedUsdText(totalUsd))} `}${words.priceHint}</p>`
    }
    ${left > 0 ? html`<div class="tools"><button onClick=${() => setMost(most + PAGE_ROWS)}>${texts.more(Math.min(left, PAGE_ROWS))}</button></div>` : ''}
  <//>`
}
