/** The chart of one market at a time, with own fills, stops, targets, entries and liquidations; what is drawn is said below it too. */
import type { VNode } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { html, Section, useDaemonNow, usePage, useSlice } from '../markup.ts'
import { read } from '../pageApi.ts'
import type { Candles } from '../pageWire.ts'
import { goTo, usePlace } from '../placeHistory.ts'
import {
  fillsSinceMs,
  type Level,
  oldPricesText,
  type PriceChart,
  placedApart,
  priceChartOf,
  priceRange,
  timeRange,
} from '../shownChart.ts'
import { shownPositions } from '../shownFigures.ts'
import { momentText } from '../shownTimes.ts'
import { texts } from '../texts.ts'
import { colour, type Drawing, plainAxis, timeAxis, useChart, utcDate } from './chartPlace.ts'
import { drawCandles } from './drawCandles.ts'

const { prices: words } = texts
/** Interval between readings of the candles, ms. */
const everyMs = 15_000
const periods = ['1m', '5m', '15m', '1h', '4h', '1d'] as const

const levelColour: Readonly<Record<Level['kind'], string>> = {
  entry: '--ink',
  liquidation: '--down',
  stop: '--warn',
  target: '--up',
  order: '--muted',
}
/** Dash pattern of each kind of level, so that colour is not its only sign. */
const levelDash: Readonly<Record<Level['kind'], readonly number[]>> = {
  entry: [],
  liquidation: [2, 3],
  stop: [8, 4],
  target: [8, 4],
  order: [3, 6],
}

/** Height of a level's name, px. */
const levelTextPx = 14

/** Draws the levels over the candles, each with its name at its left end, the names below each other where the lines are close. */
function drawLevels(plot: uPlot, levels: readonly Level[]): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.textAlign = 'left'
  ctx.textBaseline = 'bottom'
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`
  const bottom = bbox.top + bbox.height
  const seen = levels
    .map((level) => ({ ...level, y: plot.valToPos(level.price, 'y', true) }))
    .filter(({ y }) => y >= bbox.top && y <= bottom)
  const gap = levelTextPx * devicePixelRatio
  const places = placedApart(
    seen.map(({ y }) => y - 2 * devicePixelRatio),
    gap,
    { top: bbox.top + gap, bottom },
  )
  for (const { kind, y } of seen) {
    ctx.strokeStyle = colour(levelColour[kind])
    ctx.lineWidth = devicePixelRatio
    ctx.setLineDash(levelDash[kind].map((part) => part * devicePixelRatio))
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(bbox.left + bbox.width, y)
    ctx.stroke()
  }
  const x = bbox.left + 6 * devicePixelRatio
  for (const [index, { kind, y, text }] of seen.entries()) {
    const name = `${words.levels[kind]} ${text}`
    const place = places[index] ?? y
    // On a sheet of its own, so that no line makes it hard to read.
    ctx.globalAlpha = 0.8
    ctx.fillStyle = colour('--sheet')
    ctx.fillRect(x, place - gap + devicePixelRatio, ctx.measureText(name).width, gap)
    ctx.globalAlpha = 1
    ctx.fillStyle = colour(levelColour[kind])
    ctx.fillText(name, x, place)
  }
  ctx.restore()
}

function optionsOf(
  size: { readonly width: number; readonly height: number },
  chart: () => PriceChart,
): uPlot.Options {
  const dots = (label: string, name: string, size: number): uPlot.Series => ({
    label,
    stroke: colour(name),
    paths: () => null,
    points: { show: true, size, fill: colour(name) },
  })
  return {
    ...size,
    tzDate: utcDate,
    padding: [8, 12, 0, 0],
    legend: { show: false },
    scales: {
      x: { range: () => [...timeRange(chart())] as [number, number] },
      y: { range: () => [...priceRange(chart())] as [number, number] },
    },
    axes: [
      timeAxis(),
      {
        ...plainAxis(),
        size: 76,
        values: (_, splits) => splits.map((value) => value.toLocaleString('en-US')),
      },
    ],
    series: [
      {},
      { label: words.price, paths: () => null, points: { show: false } },
      dots(words.buys, '--up', 9),
      dots(words.sells, '--down', 9),
    ],
    hooks: {
      drawAxes: [(plot) => drawCandles(plot, chart())],
      draw: [(plot) => drawLevels(plot, chart().levels)],
    },
  }
}

const drawing: Drawing<PriceChart> = {
  heightPx: 240,
  optionsOf,
  dataOf: ({ xs, closes, buys, sells }) => [[...xs], [...closes], [...buys], [...sells]],
}

/** The picture, and in words what is in it. */
function Picture({
  chart,
  sinceMs,
}: {
  readonly chart: PriceChart
  /** From when on orders' fills are in it, Unix ms; undefined: all. */
  readonly sinceMs: number | undefined
}): VNode {
  const place = useChart(chart, drawing)
  const { levels, fills } = chart
  const told = [
    ...levels.map(({ kind, direction, text }) => words.level(words.levels[kind], direction, text)),
    ...fills
      .slice(-4)
      .map(({ isBuy, text, atMs }) => words.fill(isBuy ? words.bought : words.sold, text, momentText(atMs))),
  ]
  return html`<figure class="curves">
    <div ref=${place} aria-hidden="true"></div>
    <figcaption class="levels">${
      told.length === 0
        ? html`<span class="muted">${words.nothing}</span>`
        : told.map((text) => html`<span key=${text} class="num">${text}</span>`)
    }${
      sinceMs === undefined ? '' : html`<span class="warn">${words.fillsSince(momentText(sinceMs))}</span>`
    }</figcaption>
  </figure>`
}

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
    return [...new Set([...known, ...markets.map(({ symbol }) => symbol)])].filter((symbol) => symbol !== '')
  }, [status?.positions, status?.strategies, orders, markets])
}

/** The market of Trade: the one that the address names, else the first of those to choose from. Undefined: there is none yet. */
export function useMarket(): string | undefined {
  const { item } = usePlace()
  const [first] = useMarkets()
  return item ?? first
}

/** Prices of a chart: candles, or why there are none. */
type Prices = Candles | 'none' | 'unread' | undefined

/** Reads candles of a market for as long as it is shown. */
function useCandles(market: string | undefined, period: string): Prices {
  const { store } = usePage()
  const [prices, setPrices] = useState<Prices>(undefined)
  useEffect(() => {
    setPrices(undefined)
    if (market === undefined) return undefined
    let isOver = false
    const look = async () => {
      const answer = await read<Candles>(`/api/candles?market=${encodeURIComponent(market)}&period=${period}`)
      if (isOver || typeof store.get().session === 'string') return
      if (answer.ok) setPrices(answer.value)
      else if (answer.status === 404) setPrices('none')
      // Prices that cannot be read now stay as they were, and their age is shown.
      else setPrices((before) => before ?? 'unread')
    }
    void look()
    const timer = setInterval(() => document.visibilityState === 'visible' && void look(), everyMs)
    return () => {
      isOver = true
      clearInterval(timer)
    }
  }, [market, period])
  return prices
}

/** Shows the age of the prices when they are not current. */
function Age({ candles }: { readonly candles: Candles }): VNode {
  const text = oldPricesText(candles, useDaemonNow())
  return html`${text === undefined ? '' : html`<p class="warn">${text}</p>`}`
}

/** The section. */
export function PriceView(): VNode {
  const all = useMarkets()
  const [period, setPeriod] = useState<string>('5m')
  const market = useMarket()
  const prices = useCandles(market, period)
  const candles = typeof prices === 'object' ? prices : undefined
  const status = useSlice((state) => state.status)
  const orders = useSlice((state) => state.orders)
  const isAllOrders = useSlice((state) => state.isAllOrders)
  const allSince = useSlice((state) => state.allSince)
  const positions = useMemo(
    () => (status === undefined ? [] : shownPositions(status, [], [])),
    [status?.positions],
  )
  const chart = useMemo(
    () => (candles === undefined ? undefined : priceChartOf(candles, { orders, positions })),
    [candles, orders, positions],
  )
  const chosenIn = (event: Event) => (event.currentTarget as HTMLSelectElement).value
  const tools =
    market === undefined
      ? ''
      : html`<select aria-label=${words.market} value=${market} onChange=${(event: Event) => goTo({ page: 'trade', item: chosenIn(event) })}>
          ${[...new Set([market, ...all])].map((symbol) => html`<option key=${symbol} value=${symbol}>${symbol}</option>`)}
        </select>
        <select aria-label=${words.period} value=${period} onChange=${(event: Event) => setPeriod(chosenIn(event))}>
          ${periods.map((each) => html`<option key=${each} value=${each}>${each}</option>`)}
        </select>`
  const empty =
    market === undefined ? words.noMarket : typeof prices === 'string' ? words[prices] : words.waiting
  return html`<${Section} id="prices" title=${texts.sections.prices} tools=${tools}>
    ${chart === undefined || chart.candles.length === 0 ? html`<p class="muted">${empty}</p>` : html`<${Picture} key=${market} chart=${chart} sinceMs=${fillsSinceMs(chart, { ...(allSince === undefined ? {} : { allSince }), isAllOrders })} />`}
    ${candles === undefined ? '' : html`<${Age} candles=${candles} />`}
  <//>`
}
