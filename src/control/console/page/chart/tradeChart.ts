/** The chart of one market: candles with own fills, and every level as a line and as a row; orders that rest are moved here. */
import type { VNode } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { html, useDaemonNow, useMayCommand, usePage, useSlice } from '../markup.ts'
import { shownPositions } from '../shownFigures.ts'
import { zonedText } from '../shownTimes.ts'
import { useStream } from '../streamAge.ts'
import { type Candle, oldPricesText, periods } from './candleList.ts'
import { CandlePicture } from './candlePicture.ts'
import { CandlesTable } from './candlesTable.ts'
import { type Level, type LevelFacts, levelsOf, markOf, placesOfMarket } from './chartLevels.ts'
import { fillsOf, fillsSinceMs } from './chartMarkers.ts'
import { chartTexts as words } from './chartTexts.ts'
import { useIndicators } from './decisionLines.ts'
import { fateOf, type SentMove, type WantedMove, wantedMove } from './levelMoves.ts'
import { LevelsTable } from './levelsTable.ts'
import { MoveSheet } from './moveSheet.ts'
import { MoveStrip } from './moveStrip.ts'
import { useCandles } from './useCandles.ts'

type Period = (typeof periods)[number]
const periodKey = 'perpd.period'

/** The interval that this browser showed last. */
function lastPeriod(): Period {
  const last = localStorage.getItem(periodKey)
  return periods.find((each) => each === last) ?? '5m'
}

/** Levels of a market, with what they are made of; undefined before the status came. */
function useLevels(
  market: string,
  candles: readonly Candle[] | undefined,
): { readonly facts: LevelFacts; readonly levels: readonly Level[] } | undefined {
  const status = useSlice((state) => state.status)
  const markets = useSlice((state) => state.markets)
  const close = candles?.at(-1)?.close
  return useMemo(() => {
    if (status === undefined) return undefined
    const positions = shownPositions(status, [], markets)
    const places = placesOfMarket({ status, markets }, market, close) ?? 2
    const facts = { status, positions, market, places }
    return { facts, levels: levelsOf(facts) }
  }, [status, markets, market, close === undefined])
}

/** Moves that were sent and are not shown yet, by order; one that ends leaves, and one that failed is told. */
function useMoves(places: number, onFailed: (problem: string) => void): ReadonlyMap<string, string> {
  const { store, announce } = usePage()
  const moves = useSlice((state) => state.moves)
  const resting = useSlice((state) => state.status)?.restingOrders
  const orders = useSlice((state) => state.orders)
  const nowMs = useDaemonNow(5_000)
  useEffect(() => {
    for (const move of moves) {
      const fate = fateOf(move, { resting: resting ?? [], orders, nowMs, places })
      if (fate === 'moving') continue
      store.take({ type: 'move-over', orderKey: move.orderKey })
      if (fate === 'rests') continue
      const problem = words.failed(move.name, move.text, fate.failed)
      announce(problem)
      onFailed(problem)
    }
  }, [moves, resting, orders, nowMs, places])
  return useMemo(() => new Map(moves.map(({ orderKey, text }) => [orderKey, text])), [moves])
}

/** A move that is being decided on: in its sheet, or in the strip. */
interface Deciding {
  readonly sheet: Level | undefined
  readonly wanted: WantedMove | undefined
  readonly problem: string | undefined
}
const nothing: Deciding = { sheet: undefined, wanted: undefined, problem: undefined }

function Intervals({
  period,
  onPeriod,
}: {
  readonly period: Period
  readonly onPeriod: (period: Period) => void
}): VNode {
  return html`<div class="intervals tools" role="group" aria-label=${words.intervals}>
    ${periods.map(
      (each) =>
        html`<button key=${each} aria-pressed=${each === period} onClick=${() => onPeriod(each)}>${each}</button>`,
    )}
  </div>`
}

/** The chart of a market with its table of levels. */
export function TradeChart({ market }: { readonly market: string }): VNode {
  const { store } = usePage()
  const [period, setPeriod] = useState(lastPeriod)
  const [prices, loadOlder] = useCandles(market, period)
  const report = typeof prices === 'object' ? prices : undefined
  const [indicators, indicatorList] = useIndicators(report)
  const known = useLevels(market, report?.candles)
  const orders = useSlice((state) => state.orders)
  const isAllOrders = useSlice((state) => state.isAllOrders)
  const allSince = useSlice((state) => state.allSince)
  const mayCommand = useMayCommand()
  const { isOld } = useStream()
  const nowMs = useDaemonNow()
  const [isTable, setTable] = useState(false)
  // A desk has the positions below in sight; on a phone the table is the way to move an order.
  const [isNarrow] = useState(() => matchMedia('(max-width: 720px)').matches)
  const [deciding, decide] = useState<Deciding>(nothing)
  const places = known?.facts.places ?? 2
  const moving = useMoves(places, (problem) => decide({ ...nothing, problem }))
  const fills = useMemo(() => fillsOf(orders, market, places), [orders, market, places])
  const facts = useRef(known?.facts)
  facts.current = known?.facts

  // A move begun on figures that are old is not sent.
  useEffect(() => {
    if (isOld)
      decide((now) =>
        now.wanted === undefined && now.sheet === undefined ? now : { ...nothing, problem: words.stale },
      )
  }, [isOld])
  useEffect(() => decide(nothing), [market])

  const wantedOf = useCallback(
    (level: Level, text: string) =>
      facts.current === undefined ? undefined : wantedMove(level, text, facts.current),
    [],
  )
  const want = useCallback((wanted: WantedMove) => decide({ ...nothing, wanted }), [])
  const choose = (each: Period) => {
    localStorage.setItem(periodKey, each)
    setPeriod(each)
  }
  const sent = (move: SentMove) => {
    store.take({ type: 'moved', move })
    decide(nothing)
  }
  const levels = known?.levels ?? []
  const status = known?.facts.status
  const mark = status === undefined || isOld ? undefined : markOf(status, market)
  const sinceMs = fillsSinceMs(report?.candles[0]?.timestampSeconds, { allSince, isAllOrders })
  const priceOf = (price: number) =>
    price.toLocaleString('en-US', { minimumFractionDigits: places, maximumFractionDigits: places })
  const old = report === undefined ? undefined : oldPricesText(report, nowMs)
  const why = typeof prices === 'string' ? words[prices] : words.waiting
  return html`<div class="trade-chart">
    <div class="over">
      <${Intervals} period=${period} onPeriod=${choose} />
      <button aria-expanded=${isTable} onClick=${() => setTable(!isTable)}>${words.asTable}</button>
    </div>
    ${
      report === undefined || report.candles.length === 0
        ? html`<p class="muted">${why}</p>`
        : html`<${CandlePicture} key=${`${market} ${period}`} report=${report} levels=${levels} fills=${fills} indicators=${indicators} places=${places}
            mark=${mark} nowMs=${nowMs} moving=${moving} wanted=${deciding.wanted} mayMove=${mayCommand && !isOld}
            priceOf=${priceOf} wantedOf=${wantedOf} onWanted=${want} onOlder=${loadOlder} />`
    }
    ${indicatorList}
    <p class="credits muted"><small>
      <a href="https://www.tradingview.com/" target="_blank" rel="noopener noreferrer">${words.credit}</a>
      · ${words.noVolume}${sinceMs === undefined ? '' : html` · <span class="warn">${words.fillsSince(zonedText(sinceMs))}</span>`}
    </small></p>
    ${old === undefined ? '' : html`<p class="warn">${old}</p>`}
    ${deciding.problem === undefined ? '' : html`<p class="problem down" role="alert">${deciding.problem}</p>`}
    ${
      deciding.wanted === undefined
        ? ''
        : html`<${MoveStrip} key=${`${deciding.wanted.level.key} ${deciding.wanted.typed}`} wanted=${deciding.wanted} market=${market}
            places=${places} onSent=${sent}
            onEnd=${(problem?: string) => decide({ ...nothing, problem })} />`
    }
    <details class="level-list" open=${isNarrow}>
      <summary>${words.levelsAsTable(levels.length)}</summary>
      <${LevelsTable} levels=${levels} moving=${moving} isOld=${isOld}
      onMove=${(sheet: Level) => decide({ ...nothing, sheet })} />
    </details>
    ${isTable && report !== undefined ? html`<${CandlesTable} candles=${report.candles} priceOf=${priceOf} />` : ''}
    ${
      deciding.sheet === undefined
        ? ''
        : html`<${MoveSheet} key=${deciding.sheet.key} level=${deciding.sheet} market=${market} places=${places}
            wantedOf=${(text: string) => deciding.sheet && wantedOf(deciding.sheet, text)} onWanted=${want}
            onEnd=${() => decide((now) => (now.sheet === undefined ? now : nothing))} />`
    }
  </div>`
}
