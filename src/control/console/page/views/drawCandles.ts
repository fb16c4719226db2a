/** Draws candles into a chart: hollow where the price rose, filled where it fell, so that colour is not the only sign. */
import type uPlot from 'uplot'
import type { PriceChart } from '../shownChart.ts'
import { colour } from './chartPlace.ts'

/** Share of a candle's time that its body is wide. */
const bodyShare = 0.7

/** Draws the candles of a chart within its frame. A body is at least a pixel high and wide. */
export function drawCandles(plot: uPlot, { candles, stepSeconds }: PriceChart): void {
  const { ctx, bbox } = plot
  const x = (seconds: number): number => plot.valToPos(seconds, 'x', true)
  const y = (price: number): number => plot.valToPos(price, 'y', true)
  const [first] = candles
  if (first === undefined) return
  const thin = devicePixelRatio
  const width = Math.max(thin, (x(first.at + stepSeconds) - x(first.at)) * bodyShare)
  const [up, down, sheet] = [colour('--up'), colour('--down'), colour('--sheet')]
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  ctx.lineWidth = thin
  for (const { at, open, high, low, close } of candles) {
    const isUp = close >= open
    const middle = x(at + stepSeconds / 2)
    const [top, bottom] = [y(Math.max(open, close)), y(Math.min(open, close))]
    ctx.strokeStyle = isUp ? up : down
    ctx.fillStyle = isUp ? sheet : down
    ctx.beginPath()
    ctx.moveTo(middle, y(high))
    ctx.lineTo(middle, y(low))
    ctx.stroke()
    ctx.fillRect(middle - width / 2, top, width, Math.max(thin, bottom - top))
    ctx.strokeRect(middle - width / 2, top, width, Math.max(thin, bottom - top))
  }
  ctx.restore()
}
