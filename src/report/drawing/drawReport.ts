/** Draws the charts of a report's page and shows the story of the trade that is selected. Runs in the browser alone; all texts go in as text. */
import type UPlot from 'uplot'

declare const uPlot: typeof UPlot

type Numbers = readonly (number | null)[]

type Bucket = Readonly<Record<'from' | 'to' | 'count', number>>

interface TradeData {
  readonly market: string
  readonly side: 'long' | 'short'
  readonly opened: number
  readonly closed: number | null
  readonly entry: number | null
  readonly exit: number | null
  readonly intentIds: readonly string[]
  readonly title: string
  readonly text: string
  readonly openReason: string
  readonly closeReason: string
}

interface StoryData {
  readonly title: string
  readonly parts: readonly { readonly title: string; readonly texts: readonly string[] }[]
}

type CandleData = Readonly<Record<'seconds' | 'open' | 'high' | 'low' | 'close', readonly number[]>>

/** The data block; a page that compares has curves alone. */
interface PageData {
  readonly equity?: Readonly<Record<'seconds' | 'equity' | 'hold' | 'falls' | 'long' | 'short', Numbers>>
  readonly hours?: Numbers
  readonly tradeReturns?: readonly Bucket[]
  readonly dayReturns?: readonly Bucket[]
  readonly trades?: readonly TradeData[]
  readonly candles?: Readonly<Record<string, CandleData>>
  readonly journal?: string
  readonly stories?: Readonly<Record<string, StoryData>>
  readonly curves?: readonly {
    readonly title: string
    readonly seconds: readonly number[]
    readonly percent: Numbers
  }[]
}

type Draw = (width: number) => { readonly options: UPlot.Options; readonly data: UPlot.AlignedData }

const data = JSON.parse(document.getElementById('data')?.textContent ?? '{}') as PageData
const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim()

const axis = (): UPlot.Axis => ({
  stroke: colour('--muted'),
  grid: { stroke: colour('--line'), width: 1 },
  ticks: { show: false },
})
const figures = (digits?: number): UPlot.Axis => ({
  ...axis(),
  size: 68,
  values: (_, splits) =>
    splits.map((value) =>
      value.toLocaleString('en-US', digits === undefined ? {} : { maximumFractionDigits: digits }),
    ),
})
/** Moments in UTC: days where the splits are days apart, else hours with the day where it changes. */
const times = (): UPlot.Axis => ({
  ...axis(),
  space: 74,
  values(_, splits) {
    const isDaily = (splits[1] ?? 0) - (splits[0] ?? 0) >= 86_400
    let before = ''
    return splits.map((second) => {
      const [day = '', time = ''] = new Date(second * 1_000).toISOString().split('T')
      const isNew = day !== before
      before = day
      return isDaily ? day : isNew ? `${time.slice(0, 5)}\n${day}` : time.slice(0, 5)
    })
  },
})
const utc = (seconds: number): Date => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC')

function plain(
  width: number,
  height: number,
  series: UPlot.Series[],
  y: UPlot.Axis = figures(),
): UPlot.Options {
  return {
    width,
    height,
    tzDate: utc,
    padding: [8, 36, 0, 0],
    legend: { show: false },
    axes: [times(), y],
    series: [{}, ...series],
  }
}

const line = (label: string, name: string, more: Partial<UPlot.Series> = {}): UPlot.Series => ({
  label,
  stroke: colour(name),
  width: 1.5,
  points: { show: false },
  ...more,
})

/** Bars over numbered places, whose names stand under them. */
function bars(values: Numbers, names: readonly string[]): Draw {
  return (width) => ({
    options: {
      ...plain(width, 200, [
        {
          stroke: colour('--accent'),
          fill: colour('--accent'),
          paths: uPlot.paths.bars?.({ size: [0.8, 40] }) ?? (() => null),
          points: { show: false },
        },
      ]),
      scales: { x: { time: false, range: () => [-0.6, names.length - 0.4] } },
      axes: [
        {
          ...axis(),
          space: 46,
          incrs: [1, 2, 3, 4, 6, 12],
          values: (_, splits) => splits.map((at) => (Number.isInteger(at) ? (names[at] ?? '') : '')),
        },
        figures(),
      ],
    },
    data: [names.map((_, at) => at), [...values]] as UPlot.AlignedData,
  })
}
const places = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 4 })

function buckets(all: readonly Bucket[]): Draw {
  return bars(
    all.map(({ count }) => count),
    all.map(({ from }) => places(from)),
  )
}

/** The entry or the exit of a trade on the chart of its market. */
interface Mark {
  readonly trade: number
  readonly second: number
  readonly price: number
  readonly isBuy: boolean
  readonly word: 'in' | 'out'
  readonly intentId: string | undefined
}

/** The marks of all trades of a market. */
function marksIn(market: string): readonly Mark[] {
  return (data.trades ?? []).flatMap((trade, index): readonly Mark[] => {
    const { opened, closed, entry, exit, intentIds } = trade
    if (trade.market !== market || entry === null) return []
    const isLong = trade.side === 'long'
    const of = { trade: index, second: opened, price: entry, isBuy: isLong }
    const into: Mark = { ...of, word: 'in', intentId: intentIds[0] }
    if (closed === null || exit === null) return [into]
    const end = { trade: index, second: closed, price: exit, isBuy: !isLong }
    return [into, { ...end, word: 'out', intentId: intentIds.at(-1) }]
  })
}

/** Shows the trade of the mark at a place of the chart, with the story of its order unfolded. */
function openMark(plot: UPlot, marks: readonly Mark[], { offsetX, offsetY }: MouseEvent): void {
  const away = ({ second, price }: Mark): number =>
    Math.hypot(plot.valToPos(second, 'x') - offsetX, plot.valToPos(price, 'y') - offsetY)
  const [nearest] = marks.toSorted((one, other) => away(one) - away(other))
  if (nearest === undefined || away(nearest) > 20) return
  if (nearest.trade !== selected) select(nearest.trade, false)
  const story = document.getElementById(`order-${nearest.intentId}`)
  story?.setAttribute('open', '')
  story?.scrollIntoView({ block: 'nearest' })
}

/** Draws candles, and the entries and exits of trades over them. */
function drawCandles(plot: UPlot, candles: CandleData, marks: readonly Mark[]): void {
  const { ctx, bbox } = plot
  const { seconds, open, high, low, close } = candles
  const ratio = devicePixelRatio
  const step = seconds.length > 1 ? (seconds[1] ?? 0) - (seconds[0] ?? 0) : 60
  const x = (at: number): number => plot.valToPos(at, 'x', true)
  const y = (value: number): number => plot.valToPos(value, 'y', true)
  const width = Math.max(ratio, Math.abs(x((seconds[0] ?? 0) + step) - x(seconds[0] ?? 0)) * 0.7)
  const [least, most] = [plot.scales.x?.min ?? 0, plot.scales.x?.max ?? 0]
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  ctx.lineWidth = ratio
  for (let at = 0; at < seconds.length; at += 1) {
    const second = seconds[at] ?? 0
    if (second < least - step || second > most + step) continue
    const isUp = (close[at] ?? 0) >= (open[at] ?? 0)
    const middle = x(second + step / 2)
    ctx.strokeStyle = colour(isUp ? '--up' : '--down')
    ctx.fillStyle = isUp ? colour('--sheet') : ctx.strokeStyle
    ctx.beginPath()
    ctx.moveTo(middle, y(high[at] ?? 0))
    ctx.lineTo(middle, y(low[at] ?? 0))
    ctx.stroke()
    const [top, bottom] = [
      y(Math.max(open[at] ?? 0, close[at] ?? 0)),
      y(Math.min(open[at] ?? 0, close[at] ?? 0)),
    ]
    ctx.fillRect(middle - width / 2, top, width, Math.max(ratio, bottom - top))
    ctx.strokeRect(middle - width / 2, top, width, Math.max(ratio, bottom - top))
  }
  for (const mark of marks) drawMark(ctx, [x(mark.second), y(mark.price)], mark)
  ctx.restore()
}

/** A triangle that points up where something was bought; the selected trade's has a word, since colour is not the only sign. */
function drawMark(
  ctx: CanvasRenderingContext2D,
  [x, y]: readonly [x: number, y: number],
  { isBuy, word, trade }: Mark,
): void {
  const size = 7 * devicePixelRatio * (isBuy ? 1 : -1)
  ctx.fillStyle = colour(trade === selected ? '--accent' : '--muted')
  ctx.beginPath()
  ctx.moveTo(x, y)
  ctx.lineTo(x - Math.abs(size), y + 2 * size)
  ctx.lineTo(x + Math.abs(size), y + 2 * size)
  ctx.closePath()
  ctx.fill()
  if (trade !== selected) return
  ctx.fillStyle = colour('--ink')
  ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`
  ctx.textAlign = 'center'
  ctx.textBaseline = isBuy ? 'top' : 'bottom'
  ctx.fillText(word, x, y + 2.2 * size)
}

/** Candles around a trade: as long before and after it as it lasted, and no fewer than forty. */
function around(candles: CandleData, { opened, closed }: TradeData): readonly [from: number, to: number] {
  const { seconds } = candles
  const step = seconds.length > 1 ? (seconds[1] ?? 0) - (seconds[0] ?? 0) : 60
  const end = closed ?? seconds.at(-1) ?? opened
  const margin = Math.max(20 * step, (end - opened) * 0.5)
  return [opened - margin, end + margin]
}

function candleChart(trade: TradeData): Draw {
  const candles = data.candles?.[trade.market] ?? { seconds: [], open: [], high: [], low: [], close: [] }
  const [from, to] = around(candles, trade)
  const inside = candles.seconds.map((second) => second >= from && second <= to)
  const prices = [...candles.high, ...candles.low].filter((_, at) => inside[at % inside.length])
  const all = [...prices, trade.entry, trade.exit].filter((price) => price !== null)
  const [least, most] = [Math.min(...all), Math.max(...all)]
  const margin = Math.max((most - least) * 0.12, most * 0.0005)
  const marks = marksIn(trade.market)
  const listen = (plot: UPlot): void =>
    plot.over.addEventListener('click', (event) => openMark(plot, marks, event))
  return (width) => ({
    options: {
      ...plain(width, 320, [line('Close', '--accent', { paths: () => null })]),
      scales: { x: { range: () => [from, to] }, y: { range: () => [least - margin, most + margin] } },
      hooks: { ready: [listen], draw: [(plot) => drawCandles(plot, candles, marks)] },
    },
    data: [[...candles.seconds], [...candles.close]] as UPlot.AlignedData,
  })
}

/** Curves of several reports over the moments of all of them. */
function comparison(curves: NonNullable<PageData['curves']>): Draw {
  const tables = curves.map(({ seconds, percent }) => [[...seconds], [...percent]] as UPlot.AlignedData)
  const names = ['--accent', '--warn', '--up', '--down']
  const dashes = [[], [6, 3], [2, 3], [8, 3, 2, 3]]
  return (width) => ({
    options: {
      ...plain(
        width,
        280,
        curves.map(({ title }, at) =>
          line(title, names[at % 4] ?? '--ink', { dash: dashes[at % 4] ?? [], spanGaps: true }),
        ),
      ),
      legend: { show: true, live: false },
    },
    data: uPlot.join(tables),
  })
}

let selected = 0

function drawings(): Readonly<Record<string, Draw | undefined>> {
  const { equity: curve, trades = [] } = data
  const of =
    (series: readonly (readonly [Numbers | undefined, UPlot.Series])[], height: number): Draw =>
    (width) => ({
      options: plain(
        width,
        height,
        series.map(([, each]) => each),
      ),
      data: [curve?.seconds ?? [], ...series.map(([values]) => values ?? [])] as UPlot.AlignedData,
    })
  const trade = trades[selected]
  const soft = (name: string): Partial<UPlot.Series> => ({ fill: colour(name) })
  return {
    equity: of(
      [
        [curve?.equity, line('Equity', '--accent')],
        [curve?.hold, line('Holding', '--muted', { dash: [6, 4] })],
      ],
      260,
    ),
    falls: of([[curve?.falls, line('Drawdown', '--down', soft('--down-sheet'))]], 130),
    exposure: of(
      [
        [curve?.long, line('Long', '--up', soft('--up-sheet'))],
        [curve?.short, line('Short', '--down', soft('--down-sheet'))],
      ],
      160,
    ),
    hours: bars(
      data.hours ?? [],
      (data.hours ?? []).map((_, hour) => String(hour).padStart(2, '0')),
    ),
    tradeReturns: buckets(data.tradeReturns ?? []),
    dayReturns: buckets(data.dayReturns ?? []),
    trade: trade === undefined ? undefined : candleChart(trade),
    curves: data.curves === undefined ? undefined : comparison(data.curves),
  }
}

const drawn = new Map<Element, UPlot>()

function drawAll(only?: string): void {
  const all = drawings()
  for (const place of document.querySelectorAll<HTMLElement>('[data-chart]')) {
    const name = place.dataset.chart ?? ''
    const draw = only === undefined || only === name ? all[name] : undefined
    if (draw === undefined) continue
    drawn.get(place)?.destroy()
    const { options, data: values } = draw(place.clientWidth)
    drawn.set(place, new uPlot(options, values, place))
  }
}

function element(text: string, tag = 'p'): HTMLElement {
  const node = document.createElement(tag)
  node.textContent = text
  return node
}

/** An order: its story, folded, and the command that prints all of it. */
function orderOf(id: string): readonly HTMLElement[] {
  const command = element(`perpd explain ${id} --journal.path ${data.journal ?? ''}`, 'code')
  const story = data.stories?.[id]
  if (story === undefined) return [command]
  const list = document.createElement('dl')
  for (const { title, texts } of story.parts)
    list.append(element(title, 'dt'), ...texts.map((text) => element(text, 'dd')))
  const details = document.createElement('details')
  details.id = `order-${id}`
  details.append(element(story.title, 'summary'), list, command)
  return [details]
}

/** Shows a trade: its chart, its reasons, and its orders' stories. */
function select(index: number, isAsked: boolean): void {
  const trade = data.trades?.[index]
  const story = document.getElementById('story')
  if (trade === undefined || story === null) return
  selected = index
  for (const button of document.querySelectorAll<HTMLElement>('button[data-trade]')) {
    const isOwn = button.dataset.trade === String(index)
    button.setAttribute('aria-pressed', String(isOwn))
    button.closest('tr')?.classList.toggle('selected', isOwn)
  }
  story.replaceChildren(
    element(trade.title, 'h3'),
    element(trade.text),
    ...(trade.openReason === '' ? [] : [element(`Reason for opening: ${trade.openReason}`)]),
    ...(trade.closeReason === '' ? [] : [element(`Reason for closing: ${trade.closeReason}`)]),
    ...trade.intentIds.flatMap(orderOf),
  )
  drawAll('trade')
  if (isAsked) document.querySelector('[data-chart=trade]')?.scrollIntoView({ block: 'nearest' })
}

document.addEventListener('click', ({ target }) => {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-trade]') : null
  if (row !== null) select(Number(row.dataset.trade), true)
})
let width = document.documentElement.clientWidth
addEventListener('resize', () => {
  if (width === document.documentElement.clientWidth) return
  width = document.documentElement.clientWidth
  drawAll()
})
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => drawAll())
drawAll()
select((data.trades?.length ?? 0) - 1, false)
