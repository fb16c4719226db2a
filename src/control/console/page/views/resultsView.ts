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
import { amountOf, NOTHING, priceText, signedUsdText, usdText } from '../shownAmount.ts'
import { momentText, spanText } from '../shownTimes.ts'
import { texts } from '../texts.ts'
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
            ${among.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}
          </select>`
    }
  </label>`
}

function TradeLine({ trade }: { readonly trade: ClosedTrade }): VNode {
  const { show } = usePage()
  const prices = [trade.entryPrice, trade.exitPrice].map((price) =>
    price === null ? NOTHING : priceText(price),
  )
  const fundingUsd = amountOf(trade.fundingUsd) + amountOf(trade.borrowingUsd)
  const priceUsd = amountOf(trade.pricePnlUsd) + amountOf(trade.impactUsd)
  const closed = momentText(Date.parse(trade.closedAt))
  const by = trade.closedBy
  return html`<tr>
    <th scope="row" class="num" data-label=${columns.closed}>${
      by === null ? closed : html`<button class="link" onClick=${() => show(by)}>${closed}</button>`
    }</th>
    <td class="text" data-label=${columns.market}>${trade.market} ${trade.direction}</td>
    <td class="text" data-label=${columns.strategy}>${trade.strategy}</td>
    <td class="num" data-label=${columns.size}>${usdText(trade.largestUsd)}</td>
    <td class="num" data-label=${columns.prices}>${prices.join(' > ')}</td>
    <td data-label=${columns.reason} title=${trade.why}>${trade.reason}</td>
    <td class="num" data-label=${columns.held}>${spanText(trade.durationSeconds * 1_000)}</td>
    <td class="num" data-label=${columns.price}>${signedUsdText(priceUsd)}</td>
    <td class="num" data-label=${columns.fees}>${signedUsdText(-amountOf(trade.feesUsd))}</td>
    <td class="num" data-label=${columns.funding}>${signedUsdText(-fundingUsd)}</td>
    <td class="num" data-label=${columns.sending}>${signedUsdText(-amountOf(trade.sendingUsd))}</td>
    <td class=${`num ${toneOf(amountOf(trade.pnlUsd))}`} data-label=${columns.pnl}>${signedUsdText(trade.centsUsd)}</td>
    <td class="num" data-label=${columns.r}>${trade.r === null ? NOTHING : trade.r.toFixed(2)}</td>
  </tr>`
}

function SumLine({ sums }: { readonly sums: RoundTrips['sums'] }): VNode {
  const fundingUsd = amountOf(sums.fundingUsd) + amountOf(sums.borrowingUsd)
  return html`<tr class="sum">
    <th scope="row" colspan="7">${words.sum(sums.trades, sums.won)}</th>
    <td class="num" data-label=${columns.price}>${signedUsdText(amountOf(sums.pricePnlUsd) + amountOf(sums.impactUsd))}</td>
    <td class="num" data-label=${columns.fees}>${signedUsdText(-amountOf(sums.feesUsd))}</td>
    <td class="num" data-label=${columns.funding}>${signedUsdText(-fundingUsd)}</td>
    <td class="num" data-label=${columns.sending}>${signedUsdText(-amountOf(sums.sendingUsd))}</td>
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
  const tools = html`<button aria-label=${words.csvLabel} disabled=${rows.length === 0} onClick=${csv}>${words.csv}</button>`
  return html`<${Section} id="trades" title=${words.title} count=${String(value?.sums.trades ?? '')} tools=${tools}>
    <div class="filters">
      ${filterNames.map(
        (name) =>
          html`<${Filter} key=${name} name=${name} value=${filters[name] ?? ''} among=${among[name]} onValue=${(text: string) => filter(name, text)} />`,
      )}
      ${isFiltered ? html`<button onClick=${() => change({})}>${words.clear}</button>` : ''}
    </div>
    ${problem === '' && refused === '' ? '' : html`<p class="warn" role="alert">${problem || refused}</p>`}
    ${
      rows.length === 0
        ? html`<p class="muted">${value === undefined ? words.waiting : isFiltered ? words.noMatch : words.none}</p>`
        : html`<div class="scroll"><table>
            <${Head} titles=${titles} figures=${figures} />
            <tbody>${rows.map((trade) => html`<${TradeLine} key=${trade.id} trade=${trade} />`)}
              ${value === undefined ? '' : html`<${SumLine} sums=${value.sums} />`}</tbody>
          </table></div>
          <p class="muted">${isFiltered ? '' : `${words.besides(signedUsdText(openUsd), signedUsdText(outsideUsd), signedUsdText(totalUsd))} `}${words.priceHint}</p>`
    }
    ${left > 0 ? html`<div class="tools"><button onClick=${() => setMost(most + PAGE_ROWS)}>${texts.more(Math.min(left, PAGE_ROWS))}</button></div>` : ''}
  <//>`
}
