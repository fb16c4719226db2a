/** Where a chart is drawn: in the colours of the page, and as wide as its place. */
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { axisTexts, momentText, zoneInForce } from '../shownTimes.ts'

/** A colour of the page's own sheet. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

/** Style of the axes of all charts. */
export function plainAxis() {
  return {
    stroke: colour('--muted'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  }
}

/** An axis of moments in the zone that is shown, or of UTC days (`utcText`). */
export function timeAxis(textOf = momentText): uPlot.Axis {
  const values: uPlot.Axis['values'] = (_, splits) => [
    ...axisTexts(
      splits.map((seconds) => seconds * 1_000),
      textOf,
    ),
  ]
  return { ...plainAxis(), space: 70, values }
}

/** Moments as they are on that axis. */
export const axisDate = (seconds: number): Date =>
  zoneInForce() === 'utc' ? utcDate(seconds) : new Date(seconds * 1_000)

/** Moments of an axis whose days are UTC days. */
export const utcDate = (seconds: number): Date => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC')

/** Instructions for one drawing. They stay the same for as long as its place on the page exists. */
export interface Drawing<T> {
  readonly heightPx: number
  /** Asked whenever the chart is drawn anew; `newest` gives what is shown at any later time. */
  readonly optionsOf: (
    size: { readonly width: number; readonly height: number },
    newest: () => T,
  ) => uPlot.Options
  readonly dataOf: (shown: T) => uPlot.AlignedData
}

/** Draws a chart into a place for as long as that is there, and again when it gets wider or the colours change. */
export function useChart<T>(shown: T, drawing: Drawing<T>): RefObject<HTMLDivElement | null> {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot | undefined>(undefined)
  const newest = useRef(shown)
  newest.current = shown
  useEffect(() => {
    const node = place.current
    if (node === null) return undefined
    const size = () => ({ width: node.clientWidth, height: drawing.heightPx })
    const draw = () => {
      chart.current?.destroy()
      const options = drawing.optionsOf(size(), () => newest.current)
      chart.current = new uPlot(options, drawing.dataOf(newest.current), node)
    }
    draw()
    const sizes = new ResizeObserver(() => chart.current?.setSize(size()))
    sizes.observe(node)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    return () => {
      sizes.disconnect()
      scheme.removeEventListener('change', draw)
      chart.current?.destroy()
      chart.current = undefined
    }
  }, [drawing])
  useEffect(() => chart.current?.setData(drawing.dataOf(shown)), [shown])
  return place
}
