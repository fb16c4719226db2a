/** The picture of a chart in its frame: what is drawn, read by keys, and dragged. The library is loaded when the first one is shown. */
import type { VNode } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { html, usePage } from '../markup.ts'
import type { Candles } from '../pageWire.ts'
import { chartNumber } from '../shownAmount.ts'
import type { CandleChart, ChartLine, ChartListener } from './candleChart.ts'
import { type Candle, periodSeconds, runningCandle } from './candleList.ts'
import { type Level, lineTitle, shownRange } from './chartLevels.ts'
import { type ChartFill, markersOf } from './chartMarkers.ts'
import { chartTexts as words } from './chartTexts.ts'
import { crosshairText } from './chartTimes.ts'
import { indicatorText, type ShownIndicator } from './decisionLines.ts'
import { createLevelDrag, type LevelDrag } from './levelDrag.ts'
import { draggedText, reachedLevel, type WantedMove } from './levelMoves.ts'

/** Properties of the picture. */
interface PictureProps {
  readonly report: Candles
  readonly levels: readonly Level[]
  readonly fills: readonly ChartFill[]
  readonly indicators: readonly ShownIndicator[]
  readonly places: number
  /** Newest mark, USD with 30 decimals; undefined: none is known that is live. */
  readonly mark: bigint | undefined
  /** The daemon's clock, Unix ms. */
  readonly nowMs: number
  readonly moving: ReadonlyMap<string, string>
  readonly wanted: WantedMove | undefined
  /** A line may be dragged. */
  readonly mayMove: boolean
  readonly priceOf: (price: number) => string
  readonly wantedOf: (level: Level, text: string) => WantedMove | undefined
  readonly onWanted: (wanted: WantedMove) => void
  /** Older candles come into sight. */
  readonly onOlder: () => void
}

const colours: Readonly<Record<Level['kind'], string>> = {
  entry: '--ink',
  liquidation: '--down',
  stop: '--warn',
  target: '--up',
  limit: '--muted',
  'stop entry': '--muted',
  other: '--muted',
}
/** Width of the text of a mark, about, px. */
const textPx = 130
/** Older candles are loaded when fewer than these are left of what is seen. */
const fewLeft = 120
/** Between two readings of the crosshair aloud, ms. */
const speakMs = 2_000

/** The lines of levels: what is held is dotted, what rests is solid, and where it is to go is dashed. */
function linesOf(
  levels: readonly Level[],
  moving: ReadonlyMap<string, string>,
  wanted: WantedMove | undefined,
): readonly ChartLine[] {
  const lines = levels.map((level): ChartLine => {
    const { key, kind, price, order } = level
    const to = moving.get(key)
    const title = to === undefined ? lineTitle(level) : `${lineTitle(level)} ${words.moving(to)}`
    const style = order !== undefined ? 'solid' : kind === 'entry' ? 'dotted' : 'sparse'
    return { key, price, title, colour: colours[kind], style }
  })
  if (wanted === undefined) return lines
  const { level, priceUsd, distance, pnl } = wanted
  const title = [level.name, distance, pnl].filter((part) => part !== undefined).join(' ')
  return [
    ...lines,
    { key: 'wanted', price: chartNumber(priceUsd), title, colour: colours[level.kind], style: 'dashed' },
  ]
}

/** Loads the library and draws, for as long as the place is there. Undefined before; `failed`: it cannot be loaded. */
function useChart(
  place: { readonly current: HTMLDivElement | null },
  newest: {
    readonly current: ChartListener
  },
): CandleChart | 'failed' | undefined {
  const [chart, setChart] = useState<CandleChart | 'failed' | undefined>(undefined)
  useEffect(() => {
    let drawn: CandleChart | undefined
    let isOver = false
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    const paint = () => drawn?.paint()
    import('./candleChart.ts').then(
      ({ createCandleChart }) => {
        if (isOver || place.current === null) return
        drawn = createCandleChart(place.current, {
          onCandle: (candle) => newest.current.onCandle(candle),
          onSeen: (from, to) => newest.current.onSeen(from, to),
          onFill: (order) => newest.current.onFill(order),
        })
        setChart(drawn)
      },
      () => setChart('failed'),
    )
    scheme.addEventListener('change', paint)
    return () => {
      isOver = true
      scheme.removeEventListener('change', paint)
      drawn?.close()
    }
  }, [])
  return chart
}

/** Reads candles by keys: left, right, the first and the newest; the crosshair goes along. */
function useKeyboard(
  chart: CandleChart | 'failed' | undefined,
  candles: readonly Candle[],
  legendOf: (candle: Candle) => string,
) {
  const { announce } = usePage()
  const at = useRef<number | undefined>(undefined)
  const spoken = useRef({ atMs: 0, timer: 0 })
  const speak = (text: string): void => {
    clearTimeout(spoken.current.timer)
    const waitMs = Math.max(0, spoken.current.atMs + speakMs - Date.now())
    spoken.current.timer = window.setTimeout(() => {
      spoken.current.atMs = Date.now()
      announce(text)
    }, waitMs)
  }
  useEffect(() => () => clearTimeout(spoken.current.timer), [])
  return (event: KeyboardEvent): void => {
    const last = candles.length - 1
    const now = at.current ?? last + 1
    const next = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last }[event.key]
    if (next === undefined || typeof chart !== 'object') return
    event.preventDefault()
    const place = Math.max(0, Math.min(last, next))
    at.current = place
    const candle = candles[place]
    chart.point(candle)
    if (candle !== undefined) speak(`${crosshairText(candle.timestampSeconds)} ${legendOf(candle)}`)
  }
}

/** Lets the lines of a drawn chart be dragged. `newest`: the properties of the picture at any later time. */
function useLevelDrag(
  chart: CandleChart | 'failed' | undefined,
  place: { readonly current: HTMLDivElement | null },
  newest: { readonly current: PictureProps },
): { readonly current: LevelDrag | undefined } {
  const drag = useRef<LevelDrag | undefined>(undefined)
  useEffect(() => {
    if (typeof chart !== 'object') return undefined
    const node = place.current
    if (node === null) return undefined
    const levelOf = (key: string) => newest.current.levels.find((level) => level.key === key)
    const wantedAt = (key: string, y: number): WantedMove | undefined => {
      const level = levelOf(key)
      const text = draggedText(chart.priceAt(y) ?? Number.NaN, newest.current.places)
      return level === undefined || text === undefined ? undefined : newest.current.wantedOf(level, text)
    }
    const draw = (draft: WantedMove | undefined) =>
      chart.setLines(linesOf(newest.current.levels, newest.current.moving, draft))
    const end = () => {
      chart.setFree(true)
      draw(newest.current.wanted)
    }
    const created = createLevelDrag(node, {
      reached: (y) =>
        newest.current.mayMove
          ? reachedLevel(newest.current.levels, chart.yOf, y, new Set(newest.current.moving.keys()))?.key
          : undefined,
      begun: () => chart.setFree(false),
      moved: (key, y) => draw(wantedAt(key, y)),
      released(key, y) {
        const asked = wantedAt(key, y)
        end()
        if (asked !== undefined && asked.priceUsd !== asked.level.priceUsd) newest.current.onWanted(asked)
      },
      putBack: end,
    })
    drag.current = created
    return () => created.close()
  }, [chart])
  return drag
}

/** The picture. */
export function CandlePicture(props: PictureProps): VNode {
  const { report, levels, fills, indicators, places, mark, nowMs, moving, wanted, mayMove, priceOf } = props
  const { candles, period, symbol } = report
  const { show } = usePage()
  const place = useRef<HTMLDivElement>(null)
  const legend = useRef<HTMLParagraphElement>(null)
  const newest = useRef(props)
  newest.current = props
  const starts = useMemo(() => candles.map(({ timestampSeconds }) => timestampSeconds), [candles])
  const seen = useRef({ from: 0, to: 0, frame: 0 })
  const first = useRef<number | undefined>(undefined)

  const legendOf = ({ timestampSeconds, open, high, low, close }: Candle): string =>
    [
      words.legend(priceOf(open), priceOf(high), priceOf(low), priceOf(close)),
      ...newest.current.indicators.map((each) => indicatorText(each, timestampSeconds, priceOf)),
    ].join('')
  const showLegend = (candle: Candle | undefined): void => {
    const shown = candle ?? newest.current.report.candles.at(-1)
    if (legend.current !== null && shown !== undefined) legend.current.textContent = legendOf(shown)
  }
  const showMarkers = (): void => {
    if (typeof chart !== 'object') return
    const { from, to } = seen.current
    const stepSeconds = periodSeconds[period]
    const inSight = {
      from: starts[Math.max(0, from)] ?? 0,
      to: starts[Math.min(starts.length - 1, to)] ?? 0,
      textSeconds: ((to - from) * stepSeconds * textPx) / Math.max(1, place.current?.clientWidth ?? 1),
    }
    chart.setMarkers(markersOf(newest.current.fills, { starts, stepSeconds }, inSight))
  }
  const listener = useRef<ChartListener>({ onCandle: showLegend, onSeen: () => undefined, onFill: show })
  const chart = useChart(place, listener)
  listener.current = {
    onCandle: showLegend,
    onFill: show,
    onSeen(from, to) {
      cancelAnimationFrame(seen.current.frame)
      seen.current = { from, to, frame: requestAnimationFrame(showMarkers) }
      if (from < fewLeft) newest.current.onOlder()
    },
  }

  const drag = useLevelDrag(chart, place, newest)
  useEffect(() => {
    if (!mayMove) drag.current?.cancel()
  }, [mayMove])
  useEffect(() => {
    if (typeof chart !== 'object') return
    const before = first.current
    first.current = starts[0]
    const added = before === undefined ? 0 : Math.max(0, starts.indexOf(before))
    chart.setCandles(candles, places, added)
    showMarkers()
    showLegend(undefined)
  }, [chart, candles, places])
  useEffect(() => {
    if (typeof chart !== 'object') return
    chart.setIndicators(indicators)
    showLegend(undefined)
  }, [chart, indicators, candles])
  useEffect(() => {
    if (typeof chart === 'object') showMarkers()
  }, [chart, fills])
  useEffect(() => {
    if (typeof chart !== 'object' || drag.current?.isDragging() === true) return
    const drawn = indicators.flatMap(({ points }) => points.slice(-1).map(([, at]) => ({ price: at })))
    chart.setRange((own) => shownRange(own, [...levels, ...drawn]))
    chart.setLines(linesOf(levels, moving, wanted))
  }, [chart, levels, moving, wanted, indicators])
  const price = mark === undefined ? undefined : chartNumber(mark)
  useEffect(() => {
    if (typeof chart !== 'object' || price === undefined) return
    const running = runningCandle(candles.at(-1), { price, atSeconds: nowMs / 1_000 }, period)
    if (running !== undefined) chart.setRunning(running)
  }, [chart, price, candles, period])

  const onKeyDown = useKeyboard(chart, candles, legendOf)
  const close = candles.at(-1)?.close
  const sentence = words.frame(symbol, period, close === undefined ? '' : priceOf(close), levels.length)
  return html`<p class="legend num" ref=${legend} aria-hidden="true"></p>
    <div class="candles" role="img" tabindex="0" aria-label=${sentence} ref=${place} onKeyDown=${onKeyDown}></div>
    ${chart === undefined ? html`<p class="muted">${words.loading}</p>` : chart === 'failed' ? html`<p class="warn">${words.unloaded}</p>` : ''}`
}
