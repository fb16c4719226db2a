/** The picture of candles: a chart of the library with lines, marks and a crosshair. It knows prices and times, and nothing of orders. */
import {
  type CandlestickData,
  CandlestickSeries,
  createChart,
  createSeriesMarkers,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  LineSeries,
  LineStyle,
  type Logical,
  type UTCTimestamp,
} from 'lightweight-charts'
import { colour } from '../views/chartPlace.ts'
import type { Candle } from './candleList.ts'
import type { FillMarker } from './chartMarkers.ts'
import { crosshairText, tickText } from './chartTimes.ts'
import type { ShownIndicator } from './decisionLines.ts'

/** A line at a price, with its words. */
export interface ChartLine {
  readonly key: string
  /** USD. */
  readonly price: number
  readonly title: string
  /** Name of a colour of the page's sheet. */
  readonly colour: string
  readonly style: 'solid' | 'dashed' | 'dotted' | 'sparse'
}

/** Listens to the chart. */
export interface ChartListener {
  /** The crosshair is at this candle; undefined: it is at none. */
  onCandle(candle: Candle | undefined): void
  /** Places in the list of candles, cut to whole numbers, between which the chart is seen; `from` is negative where its left part is empty. */
  onSeen(from: number, to: number): void
  /** The mark of a fill of this order is clicked. */
  onFill(order: string): void
}

/** A drawn chart. */
export interface CandleChart {
  /** Draws other candles; `added`: how many came in front of those of before, so that the same ones stay in sight. */
  setCandles(candles: readonly Candle[], places: number, added: number): void
  /** Draws the candle that runs anew, or one more. */
  setRunning(candle: Candle): void
  setMarkers(markers: readonly FillMarker[]): void
  /** Draws these lines over the candles and no others, where there are candles. The price axis does not follow them. */
  setIndicators(indicators: readonly ShownIndicator[]): void
  setLines(lines: readonly ChartLine[]): void
  /** Prices that the price axis shows, by the lowest and the highest of the candles in sight. */
  setRange(
    range: (candles: { readonly low: number; readonly high: number }) => {
      readonly low: number
      readonly high: number
    },
  ): void
  /** Place of a price from the upper edge of the picture, px; null: it is out of sight. */
  yOf(price: number): number | null
  /** Price at a place from the upper edge of the picture; null: none. */
  priceAt(y: number): number | null
  /** Puts the crosshair at a candle, or takes it away. */
  point(candle: Candle | undefined): void
  /** Lets the picture be panned and zoomed, or not. */
  setFree(isFree: boolean): void
  /** Shows the newest candles. */
  showNewest(): void
  /** Takes the colours of the page anew. */
  paint(): void
  close(): void
}

const styles: Readonly<Record<ChartLine['style'], LineStyle>> = {
  solid: LineStyle.Solid,
  dashed: LineStyle.Dashed,
  dotted: LineStyle.Dotted,
  sparse: LineStyle.SparseDotted,
}

/** Candles in sight at first. */
const firstSeen = 120
/** Bars without a candle at the right: the words of a fill of the newest candle and the titles of lines stand there. */
const roomBars = 16

/** Draws a chart into a place, as large as that is. */
export function createCandleChart(place: HTMLElement, listener: ChartListener): CandleChart {
  const chart = createChart(place, chartOptions())
  const series = chart.addSeries(CandlestickSeries, seriesOptions(2))
  const marks = createSeriesMarkers<UTCTimestamp>(series as never, [])
  let marked: readonly FillMarker[] = []
  const indicated = new Map<string, { readonly line: ISeriesApi<'Line'>; readonly tone: string }>()
  const lines = new Map<string, { readonly line: IPriceLine; shown: ChartLine }>()
  let byTime = new Map<number, Candle>()
  let newestSeconds = Number.NEGATIVE_INFINITY
  let places = -1
  // The newest price has a line of its own: the library would give its label the colour of a hollow candle.
  let last: IPriceLine | undefined
  const showLast = (price: number | undefined): void => {
    if (price === undefined) return
    const options = { ...lineOptions({ key: '', price, title: '', colour: '--accent', style: 'sparse' }) }
    if (last === undefined) last = series.createPriceLine(options)
    else last.applyOptions(options)
  }

  chart.subscribeCrosshairMove(({ time }) => listener.onCandle(byTime.get(Number(time))))
  chart.subscribeClick(({ hoveredObjectId: order }) => {
    if (typeof order === 'string') listener.onFill(order)
  })
  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
    if (range !== null) listener.onSeen(Math.floor(range.from), Math.ceil(range.to))
  })

  return {
    setCandles(candles, wanted, added) {
      const range = byTime.size === 0 ? null : chart.timeScale().getVisibleLogicalRange()
      if (wanted !== places) {
        series.applyOptions(seriesOptions(wanted))
        chart.applyOptions({ localization: { priceFormatter: priceFormat(wanted) } })
        places = wanted
      }
      byTime = new Map(candles.map((candle) => [candle.timestampSeconds, candle]))
      newestSeconds = candles.at(-1)?.timestampSeconds ?? Number.NEGATIVE_INFINITY
      series.setData(candles.map(drawn))
      showLast(candles.at(-1)?.close)
      if (range === null) showNewest(chart, candles.length)
      else if (added > 0)
        chart.timeScale().setVisibleLogicalRange({ from: range.from + added, to: range.to + added })
    },
    setRunning(candle) {
      // The library draws no candle before its newest one.
      if (candle.timestampSeconds < newestSeconds) return
      newestSeconds = candle.timestampSeconds
      byTime.set(candle.timestampSeconds, candle)
      series.update(drawn(candle))
      showLast(candle.close)
    },
    setMarkers(markers) {
      const isSame =
        markers.length === marked.length && markers.every((each, at) => isSameMarker(each, marked[at]))
      // A chart that is panned asks at every frame.
      if (isSame) return
      marked = markers
      marks.setMarkers(markers.map(markerOptions))
    },
    setIndicators(indicators) {
      const labels = new Set(indicators.map(({ label }) => label))
      for (const [label, { line }] of indicated) {
        if (labels.has(label)) continue
        chart.removeSeries(line)
        indicated.delete(label)
      }
      for (const { label, tone, points } of indicators) {
        const line = indicated.get(label)?.line ?? chart.addSeries(LineSeries)
        indicated.set(label, { line, tone })
        line.applyOptions(indicatorOptions(tone))
        // A point where there is no candle would make a place for one.
        const seen = points.filter(([at]) => byTime.has(at))
        line.setData(seen.map(([at, value]) => ({ time: at as UTCTimestamp, value })))
      }
    },
    setLines(wanted) {
      const keys = new Set(wanted.map(({ key }) => key))
      for (const [key, { line }] of lines) {
        if (keys.has(key)) continue
        series.removePriceLine(line)
        lines.delete(key)
      }
      for (const shown of wanted) {
        const known = lines.get(shown.key)
        if (known === undefined)
          lines.set(shown.key, { line: series.createPriceLine(lineOptions(shown)), shown })
        else if (!isSameLine(known.shown, shown)) {
          known.line.applyOptions(lineOptions(shown))
          known.shown = shown
        }
      }
    },
    setRange(range) {
      series.applyOptions({
        autoscaleInfoProvider: (
          own: () => { priceRange: { minValue: number; maxValue: number } | null } | null,
        ) => {
          const info = own()
          if (info === null || info.priceRange === null) return info
          const { low, high } = range({ low: info.priceRange.minValue, high: info.priceRange.maxValue })
          return { ...info, priceRange: { minValue: low, maxValue: high } }
        },
      })
    },
    yOf: (price) => series.priceToCoordinate(price),
    priceAt: (y) => series.coordinateToPrice(y),
    point(candle) {
      if (candle === undefined) chart.clearCrosshairPosition()
      else chart.setCrosshairPosition(candle.close, candle.timestampSeconds as UTCTimestamp, series)
    },
    setFree(isFree) {
      chart.applyOptions({ handleScroll: isFree ? scrolls : false, handleScale: isFree })
    },
    showNewest: () => showNewest(chart, byTime.size),
    paint() {
      chart.applyOptions(chartOptions())
      series.applyOptions(seriesOptions(Math.max(2, places)))
      showLast(last?.options().price)
      marks.setMarkers(marked.map(markerOptions))
      for (const { line, tone } of indicated.values()) line.applyOptions(indicatorOptions(tone))
      for (const { line, shown } of lines.values()) line.applyOptions(lineOptions(shown))
    },
    close: () => chart.remove(),
  }
}

/** A page on a phone can be scrolled past the chart: a vertical touch is not the chart's. */
const scrolls = { vertTouchDrag: false, horzTouchDrag: true, mouseWheel: true, pressedMouseMove: true }

function showNewest(chart: IChartApi, count: number): void {
  chart
    .timeScale()
    .setVisibleLogicalRange({ from: (count - firstSeen) as Logical, to: (count + roomBars) as Logical })
}

function drawn({ timestampSeconds, open, high, low, close }: Candle): CandlestickData<UTCTimestamp> {
  return { time: timestampSeconds as UTCTimestamp, open, high, low, close }
}

function priceFormat(places: number): (price: number) => string {
  const format = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: places,
    maximumFractionDigits: places,
  })
  return (price) => format.format(price)
}

function chartOptions() {
  const [ink, line, sheet] = [colour('--muted'), colour('--line'), colour('--sheet')]
  return {
    autoSize: true,
    layout: {
      // The logo would bring a style of its own, which the page's policy forbids; a link stands below.
      attributionLogo: false,
      background: { color: sheet },
      textColor: ink,
      fontSize: 11,
    },
    grid: { vertLines: { color: line }, horzLines: { color: line } },
    rightPriceScale: { borderColor: line },
    timeScale: { borderColor: line, timeVisible: true, secondsVisible: false, tickMarkFormatter: tickText },
    localization: { timeFormatter: crosshairText },
    handleScroll: scrolls,
    crosshair: { mode: 0 },
  }
}

function seriesOptions(places: number) {
  const [up, down, sheet] = [colour('--up'), colour('--down'), colour('--sheet')]
  return {
    // Hollow where the price rose, filled where it fell, so that colour is not the only sign.
    ...{ upColor: sheet, downColor: down, borderUpColor: up, borderDownColor: down },
    ...{ wickUpColor: up, wickDownColor: down, lastValueVisible: false, priceLineVisible: false },
    priceFormat: { type: 'price' as const, precision: places, minMove: 10 ** -places },
  }
}

function indicatorOptions(tone: string) {
  return {
    ...{ color: colour(`--${tone}`), lineWidth: 1 as const, lastValueVisible: false },
    ...{ priceLineVisible: false, crosshairMarkerVisible: false },
    // A price far away would make a line of the candles.
    autoscaleInfoProvider: () => null,
  }
}

function lineOptions({ price, title, colour: name, style }: ChartLine) {
  return {
    ...{ price, title, color: colour(name), lineStyle: styles[style], lineWidth: 1 as const },
    axisLabelVisible: true,
  }
}

function markerOptions({ atSeconds, side, text, order }: FillMarker) {
  return {
    id: order,
    time: atSeconds as UTCTimestamp,
    position: side === 'sell' ? ('aboveBar' as const) : ('belowBar' as const),
    shape: ({ both: 'circle', buy: 'arrowUp', sell: 'arrowDown' } as const)[side],
    color: colour({ both: '--ink', buy: '--up', sell: '--down' }[side]),
    text,
  }
}

function isSameMarker(one: FillMarker, other: FillMarker | undefined): boolean {
  return (
    one.atSeconds === other?.atSeconds &&
    one.side === other.side &&
    one.text === other.text &&
    one.order === other.order
  )
}

function isSameLine(one: ChartLine, other: ChartLine): boolean {
  return (
    one.price === other.price &&
    one.title === other.title &&
    one.colour === other.colour &&
    one.style === other.style
  )
}
